#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// One "buffer:distance:locality" of a loop's prefetch annotation.
struct PrefetchHint {
  std::string_view buffer;
  std::int64_t distance = 0, locality = 0;
};

inline std::vector<PrefetchHint> prefetch_hints(std::string_view text) {
  std::vector<PrefetchHint> hints;
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(one.size() + (one.size() < text.size()));
    std::size_t last = one.rfind(':'), middle = last == 0 ? 0 : one.rfind(':', last - 1);
    PrefetchHint hint{one.substr(0, middle)};
    bool good = middle != std::string_view::npos &&
                parse_int(one.substr(middle + 1, last - middle - 1), hint.distance) &&
                parse_int(one.substr(last + 1), hint.locality);
    invariant(good, "a prefetch annotation that does not parse");
    hints.push_back(hint);
  }
  return hints;
}

/// Whether computing an index reads memory: ahead of its iteration it could read past the end.
inline bool indirect(const LoadNode& load) {
  struct FindLoad : Visitor {
    bool found = false;
    void expr(const AnyExpr& e) override {
      found = found || e.kind() == ExprKind::Load;
      descend(e);
    }
  } find;
  for (const auto& i : load.indices) find.expr(i);
  return find.found;
}

// The elements of a buffer that one iteration reads first, with the loops inside at their start.
class FirstElements : public Visitor {
 public:
  explicit FirstElements(std::string_view name) : name_(name) {}
  std::vector<AnyExpr> loads;

  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      starts_.emplace_back(f->var, substitute(f->min, starts_));
      stmt(f->body);
      starts_.pop_back();
      return;
    }
    // A value that is bound inside is not known at the loop's start, nor is a buffer of its own.
    if (s.kind() == StmtKind::LetStmt) return;
    if (const auto* a = s.as<AllocNode>(); a && a->buffer->name == name_) return;
    descend(s);
  }
  void expr(const AnyExpr& e) override {
    if (e.kind() == ExprKind::Let) return;
    descend(e);
    const auto* n = e.as<LoadNode>();
    if (n && n->buffer->name == name_ && !indirect(*n))
      loads.push_back(substitute(make_load(n->buffer, n->indices), starts_));
  }

 private:
  std::string_view name_;
  Substitution starts_;
};

class PlacePrefetches : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    Stmt out = descend(s);
    const auto* f = out.as<ForNode>();
    const auto* hints = f ? find_annotation(f->annotations, "prefetch") : nullptr;
    if (!hints) return out;
    std::vector<Stmt> body;
    for (const auto& hint : prefetch_hints(hints->text)) {
      FirstElements first(hint.buffer);
      first.stmt(f->body);
      for (const auto& load : first.loads) {
        AnyExpr ahead = substitute(load, {{f->var, AnyExpr(f->var) + hint.distance}});
        body.push_back(
            make_ref<EvaluateNode>(make_call(CallOp::prefetch, {ahead, AnyExpr(hint.locality)})));
      }
    }
    body.push_back(f->body);
    Annotations rest;
    for (const auto& a : f->annotations)
      if (a.key != "prefetch") rest.push_back(a);
    return make_for(f->var, f->min, f->extent, make_seq(std::move(body)), f->loop_kind, rest);
  }
};

}  // namespace detail

LATHE_DECL Program place_prefetches(const Program& program) {
  return program.with(detail::PlacePrefetches().stmt(program->body));
}

}  // namespace lathe

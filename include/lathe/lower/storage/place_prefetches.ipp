#pragma once

#include <algorithm>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/support/text.hpp>
#include <numeric>

namespace lathe {
namespace detail {

/// Whether computing an index reads memory: ahead of its iteration it could read past the end.
inline bool indirect(const LoadNode& load) {
  for (const auto& i : load.indices)
    if (find_load(i)) return true;
  return false;
}

/// An index apart from what is added to it.
struct SplitIndex {
  AnyExpr base;
  std::int64_t offset = 0;

  explicit SplitIndex(const AnyExpr& index) : base(simplify(index)) {
    const auto* sum = base.as<BinaryNode>();
    const std::int64_t* c =
        sum && sum->op == BinaryOp::add ? as_const_int(sum->b) : as_const_int(base);
    if (!c) return;
    offset = *c;
    base = sum ? sum->a : AnyExpr(0);
  }
};

/// A load by the address that it reads.
struct LoadAddress {
  Buffer buffer;
  Vec<SplitIndex> at;

  explicit LoadAddress(const LoadNode& load) : buffer(load.buffer) {
    for (const auto& index : load.indices) at.emplace_back(index);
  }
  /// Whether the two are less than `elements` apart along the last axis, and the same along others.
  bool within(const LoadAddress& other, std::int64_t elements) const {
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::int64_t apart = at[k].offset - other.at[k].offset;
      const std::int64_t most = k + 1 == at.size() ? elements - 1 : 0;
      if (apart > most || apart < -most || !structurally_equal(at[k].base, other.at[k].base))
        return false;
    }
    return true;
  }
};

inline bool is_step(const ForNode& f) {
  return f.loop_kind == ForKind::serial || f.loop_kind == ForKind::parallel;
}

/// Whether a loop whose iterations come one after the other, below s, reads the buffer.
inline bool has_reading_step(const Stmt& s, std::string_view buffer) {
  struct Find : Visitor {
    std::string_view name;
    int steps = 0;
    bool found = false;
    void stmt(const Stmt& s) override {
      const auto* f = s.as<ForNode>();
      const bool step = f && is_step(*f);
      steps += step;
      descend(s);
      steps -= step;
    }
    void expr(const AnyExpr& e) override {
      const auto* n = e.as<LoadNode>();
      found |= n && steps > 0 && n->buffer->name == name;
      descend(e);
    }
  } find;
  find.name = buffer;
  find.stmt(s);
  return find.found;
}

// What one iteration reads of a buffer: copies and lanes each, other loops inside at their start.
class LoadsOfIteration : public Visitor {
 public:
  explicit LoadsOfIteration(std::string_view name) : name_(name) {}
  Vec<AnyExpr> loads;

  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) return loop(*f);
    // A value that is bound inside is not known at the loop's start, nor is a buffer of its own.
    if (s.kind() == StmtKind::LetStmt) return;
    if (const auto* a = s.as<AllocNode>(); a && a->buffer->name == name_) return;
    descend(s);
  }
  void expr(const AnyExpr& e) override {
    if (e.kind() == ExprKind::Let || loads.size() >= kMostLoads) return;
    descend(e);
    const auto* n = e.as<LoadNode>();
    if (n && n->buffer->name == name_ && !indirect(*n)) note(*n);
  }

 private:
  // A vector by its first lane.
  void note(const LoadNode& n) {
    Vec<AnyExpr> at;
    for (const auto& index : n.indices) {
      auto lanes = lane_offsets(index);
      if (!lanes && index.dtype().is_vector()) return;
      at.push_back(lanes ? fold_add(lanes->base, AnyExpr(lanes->offsets[0])) : index);
    }
    loads.push_back(substitute(make_load(n.buffer, at), starts_));
  }
  void loop(const ForNode& f) {
    const std::int64_t* extent = is_step(f) ? nullptr : as_const_int(f.extent);
    const std::int64_t step = f.loop_kind == ForKind::vectorized ? kLanesApart : 1;
    const AnyExpr start = substitute(f.min, starts_);
    for (std::int64_t k = 0; k < (extent ? *extent : 1); k += step) {
      starts_.emplace_back(f.var, start + k);
      stmt(f.body);
      starts_.pop_back();
    }
  }

  // Beyond it the code only grows; lanes are looked at where a line of bytes may start.
  static constexpr std::size_t kMostLoads = 256;
  static constexpr std::int64_t kLanesApart = 8;
  std::string_view name_;
  Substitution starts_;
};

// Each iteration of the innermost loops fetches what it will read `distance` iterations of an outer
// loop later, once a line. What the iterations of a loop in between all read, they fetch in turn.
class SpreadHint : public Mutator {
 public:
  SpreadHint(const ForNode& outer, const PrefetchAttr& hint, int line_bytes)
      : outer_(outer), hint_(hint), line_bytes_(line_bytes) {}

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f || !(is_step(*f) || f == &outer_)) return descend(s);
    if (has_reading_step(f->body, hint_.buffer)) return inside(*f, s);
    const Vec<AnyExpr> fetched = lines(*f);
    if (fetched.empty()) return s;
    const Turn turn = turn_of(*f, fetched);
    if (turn.parts > 1) return in_turn(*f, fetched, turn);
    return make_for(f->var, f->min, f->extent, make_seq({hints(fetched), f->body}), f->loop_kind,
                    f->attributes);
  }

 private:
  /// Which of `parts` equal parts an iteration of the loops around fetches.
  struct Turn {
    AnyExpr index{0};
    std::int64_t parts = 1;
  };

  Stmt inside(const ForNode& f, const Stmt& s) {
    around_.push_back(&f);
    Stmt out = descend(s);
    around_.pop_back();
    return out;
  }

  Stmt hints(const Vec<AnyExpr>& fetched) const {
    Vec<Stmt> out;
    for (const auto& load : fetched)
      out.push_back(
          make_ref<EvaluateNode>(make_call(CallOp::prefetch, {load, AnyExpr(hint_.locality)})));
    return make_seq(std::move(out));
  }

  Turn turn_of(const ForNode& f, const Vec<AnyExpr>& fetched) const {
    Turn turn;
    const std::int64_t* steps = as_const_int(f.extent);
    if (!steps || *steps < 1 || f.loop_kind != ForKind::serial || &f == &outer_) return turn;
    std::int64_t repeats = 1;
    for (const ForNode* loop : around_) {
      const std::int64_t* extent = as_const_int(loop->extent);
      const auto moves = [&](const AnyExpr& load) { return uses_var(load, loop->var); };
      // Iterations of a parallel loop may run on processors that do not share this cache.
      if (!extent || loop->loop_kind != ForKind::serial || loop == &outer_ ||
          std::any_of(fetched.begin(), fetched.end(), moves))
        continue;
      turn.index = turn.index * *extent + (AnyExpr(loop->var) - loop->min);
      repeats *= *extent;
      if (repeats > *steps) return {};
    }
    turn.parts = std::gcd(repeats, *steps);
    if (turn.parts != repeats) turn.index = floormod(turn.index, turn.parts);
    return turn;
  }

  // for k < n: S  →  for g < n / parts: fetch step turn * (n / parts) + g; for k < parts: S. Hints
  // in a loop of their own leave the inner one as LLVM schedules it best.
  Stmt in_turn(const ForNode& f, const Vec<AnyExpr>& fetched, const Turn& turn) const {
    const std::int64_t groups = *as_const_int(f.extent) / turn.parts;
    const VarRef group = make_var(f.var->name, f.var->dtype),
                 step = make_var(f.var->name, f.var->dtype);
    const AnyExpr its_step = f.min + turn.index * groups + AnyExpr(group),
                  here = f.min + AnyExpr(group) * turn.parts + AnyExpr(step);
    Vec<AnyExpr> share;
    for (const auto& load : fetched) share.push_back(substitute(load, {{f.var, its_step}}));
    Stmt inner = make_for(step, 0, turn.parts, substitute(f.body, {{f.var, here}}), f.loop_kind,
                          f.attributes);
    return make_for(group, 0, groups, make_seq({hints(share), inner}), ForKind::serial, {});
  }

  Vec<AnyExpr> lines(const ForNode& f) const {
    LoadsOfIteration iteration(hint_.buffer);
    iteration.stmt(f.body);
    Vec<LoadAddress> now, fetched;
    for (const auto& load : iteration.loads) now.emplace_back(*load.as<LoadNode>());
    Vec<AnyExpr> out;
    for (const auto& load : iteration.loads) {
      if (!uses_var(load, outer_.var) || out.size() >= kMostLines) continue;
      AnyExpr ahead = substitute(load, {{outer_.var, AnyExpr(outer_.var) + hint_.distance}});
      const LoadAddress address(*ahead.as<LoadNode>());
      const std::int64_t line = line_bytes_ / address.buffer->dtype.element_bytes();
      // Along the line, what is fetched may begin in the line that is read now.
      const bool along = uses_var(load.as<LoadNode>()->indices.back(), outer_.var);
      const auto near = [&](std::int64_t apart) {
        return [&address, apart](const LoadAddress& a) { return a.within(address, apart); };
      };
      if (std::any_of(fetched.begin(), fetched.end(), near(line)) ||
          std::any_of(now.begin(), now.end(), near(along ? 1 : line)))
        continue;
      fetched.push_back(address);
      out.push_back(ahead);
    }
    return out;
  }

  static constexpr std::size_t kMostLines = 32;
  const ForNode& outer_;
  const PrefetchAttr& hint_;
  Vec<const ForNode*> around_;
  std::int64_t line_bytes_;
};

class PlacePrefetches : public Mutator {
 public:
  explicit PlacePrefetches(int line_bytes) : line_bytes_(line_bytes) {}

  Stmt stmt(const Stmt& s) override {
    Stmt out = descend(s);
    const auto* f = out.as<ForNode>();
    if (!f || !f->attributes.has<PrefetchAttr>()) return out;
    const Attributes marked = f->attributes;
    Attributes rest = marked;
    rest.erase<PrefetchAttr>();
    out = make_for(f->var, f->min, f->extent, f->body, f->loop_kind, rest);
    for (const auto& a : marked)
      if (const auto* hint = a.as<PrefetchAttr>()) {
        const ForRef loop(out.as<ForNode>());
        out = SpreadHint(*loop, *hint, line_bytes_).stmt(out);
      }
    return out;
  }

 private:
  int line_bytes_;
};

}  // namespace detail

LATHE_DECL Program place_prefetches(const Program& program, const Target& target) {
  return program.with(detail::PlacePrefetches(target.line_bytes).stmt(program->body));
}

}  // namespace lathe

#pragma once

#include <algorithm>
#include <lathe/analysis/find.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/vector/clone.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// Whether steps of one statement wait for each other in a loop below, and no copies of it do: what
// they store has lanes, or is their own.
class WorthJamming : public Visitor {
 public:
  static bool holds(const Stmt& s) {
    WorthJamming look;
    look.stmt(s);
    return look.loops_ && !look.shared_;
  }

  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) loops_ = loops_ || f->loop_kind == ForKind::serial;
    if (const auto* a = s.as<AllocNode>()) own_.push_back(a->buffer);
    if (const auto* n = s.as<StoreNode>())
      shared_ = shared_ || (n->value.dtype().lanes == 1 && !contains(own_, n->buffer));
    descend(s);
  }

 private:
  Vec<Buffer> own_;
  bool loops_ = false, shared_ = false;
};

/// Copies of a statement that do not need each other, in step: a loop in all of them becomes one
/// loop, whose body has theirs in turn.
inline Stmt jam(Vec<Stmt> copies) {
  const auto inner = [&](auto&& part) {
    Vec<Stmt> parts;
    for (const Stmt& copy : copies) parts.push_back(part(copy));
    return jam(std::move(parts));
  };
  switch (copies[0].kind()) {
    case StmtKind::Alloc: {
      Stmt out = inner([](const Stmt& s) { return s.as<AllocNode>()->body; });
      for (const Stmt& copy : reversed(copies))
        out = make_alloc(copy.as<AllocNode>()->buffer, std::move(out));
      return out;
    }
    case StmtKind::Seq: {
      Vec<Stmt> out;
      for (std::size_t k = 0; k < copies[0].as<SeqNode>()->stmts.size(); ++k)
        out.push_back(inner([&](const Stmt& s) { return s.as<SeqNode>()->stmts[k]; }));
      return make_seq(std::move(out));
    }
    case StmtKind::For: {
      const auto* first = copies[0].as<ForNode>();
      const auto in_step = [&](const Stmt& s) {
        const auto* f = s.as<ForNode>();
        return f->loop_kind == ForKind::serial && f->attributes == first->attributes &&
               is_load_free(f->min) && is_load_free(f->extent) &&
               structurally_equal(f->min, first->min) &&
               structurally_equal(f->extent, first->extent);
      };
      if (!std::all_of(copies.begin(), copies.end(), in_step)) break;
      Stmt body = inner([&](const Stmt& s) {
        const auto* f = s.as<ForNode>();
        return f == first ? f->body : CloneFresh(f->var, AnyExpr(first->var)).stmt(f->body);
      });
      return make_for(first->var, first->min, first->extent, body, ForKind::serial,
                      first->attributes);
    }
    default:
      break;
  }
  return make_seq(std::move(copies));
}

}  // namespace detail
}  // namespace lathe

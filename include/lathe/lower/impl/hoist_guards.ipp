#pragma once

#include <lathe/arith/interval.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/clone.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

class HasLoad : public Visitor {
 public:
  bool found = false;
  void expr(const AnyExpr& e) override {
    found |= e.kind() == ExprKind::Load;
    if (!found) descend(e);
  }
};

// A condition that may be evaluated where the guarded statement is not reached: it reads no memory.
inline bool is_load_free(const AnyExpr& e) {
  HasLoad walk;
  walk.expr(e);
  return !walk.found;
}

// Step 1. for i: if (c) S → if (c) for i: S, for every conjunct c that i does not occur in.
class LiftInvariantGuards : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    Stmt body = stmt(f->body);
    std::vector<AnyExpr> lifted, kept;
    while (const auto* guard = body.as<IfNode>()) {
      if (guard->else_body || !is_load_free(guard->condition)) break;
      (uses_var(guard->condition, f->var) ? kept : lifted).push_back(guard->condition);
      body = guard->then_body;
    }
    body = make_for(f->var, f->min, f->extent, nest(kept, body), f->loop_kind, f->annotations);
    return nest(lifted, body);
  }

 private:
  static Stmt nest(const std::vector<AnyExpr>& conditions, Stmt body) {
    for (auto it = conditions.rbegin(); it != conditions.rend(); ++it) body = make_if(*it, body);
    return body;
  }
};

// A guard, and the condition over outer variables under which it holds for all values of the tile
// loops below.
struct TileGuard {
  const IfNode* guard;
  AnyExpr full;
};

// The guards of a statement that depend on tile loops inside it: unrolled and vectorized ones, or,
// for a guard that none of these occurs in, the loop with the smallest coefficient (the inner loop
// of a split).
class TileGuards : public Visitor {
 public:
  explicit TileGuards(const Facts& facts) : facts_(facts) {}
  std::vector<TileGuard> guards;

  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      if (f->loop_kind == ForKind::parallel) return;
      Facts outer = facts_;
      facts_.bind(*f);
      loops_.push_back(f);
      stmt(f->body);
      loops_.pop_back();
      facts_ = outer;
      return;
    }
    if (const auto* g = s.as<IfNode>(); g && !g->else_body) note(*g);
    descend(s);
  }
  void expr(const AnyExpr&) override {}

 private:
  void note(const IfNode& g) {
    std::vector<VarRef> tile;
    for (const auto* f : loops_)
      if ((f->loop_kind == ForKind::unrolled || f->loop_kind == ForKind::vectorized) &&
          uses_var(g.condition, f->var))
        tile.push_back(f->var);
    for (auto it = loops_.rbegin(); tile.empty() && it != loops_.rend(); ++it)
      if (as_const_int((*it)->extent) && uses_var(g.condition, (*it)->var))
        tile.push_back((*it)->var);
    if (tile.empty()) return;
    AnyExpr full = holds_for_all(g.condition, tile);
    if (full.get()) guards.push_back({&g, full});
  }

  // A comparison with the tile loops at the values that make it hardest to fulfil; none if that is
  // not known.
  AnyExpr holds_for_all(const AnyExpr& condition, const std::vector<VarRef>& tile) const {
    const auto* n = condition.as<BinaryNode>();
    if (!n || n->a.dtype() != kIndex) return {};
    Interval gap = bounds(n->a - n->b, tile, facts_);
    switch (n->op) {
      case BinaryOp::lt:
        return gap.max.get() ? simplify(gap.max < 0, facts_) : AnyExpr();
      case BinaryOp::le:
        return gap.max.get() ? simplify(gap.max <= 0, facts_) : AnyExpr();
      case BinaryOp::gt:
        return gap.min.get() ? simplify(gap.min > 0, facts_) : AnyExpr();
      case BinaryOp::ge:
        return gap.min.get() ? simplify(gap.min >= 0, facts_) : AnyExpr();
      default:
        return {};
    }
  }

  Facts facts_;
  std::vector<const ForNode*> loops_;
};

class DropGuards : public Mutator {
 public:
  explicit DropGuards(const std::vector<const IfNode*>& dropped) : dropped_(dropped) {}
  Stmt stmt(const Stmt& s) override {
    for (const auto* g : dropped_)
      if (s.get() == g) return stmt(g->then_body);
    return descend(s);
  }

 private:
  const std::vector<const IfNode*>& dropped_;
};

// Step 2. In the body of the innermost loop that tile guards depend on, statements with such guards
// become if (all of them hold for the whole tile) { without guards } else { as it was }. One such
// split a path: the copy for border tiles stays as it is, so that code at most doubles however many
// guards there are.
class SplitBorderTiles : public Mutator {
 public:
  explicit SplitBorderTiles(const Program& program) : facts_(program) {}

  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      Facts outer = facts_;
      facts_.bind(*f);
      known_.push_back(f->var);
      Stmt body = in_scope(f->body, f->var);
      known_.pop_back();
      facts_ = outer;
      if (body.same_as(f->body)) return s;
      return make_for(f->var, f->min, f->extent, body, f->loop_kind, f->annotations);
    }
    return descend(s);
  }

  Stmt run(const Stmt& body) { return in_scope(body, VarRef()); }

 private:
  // The body of a loop: first the loops inside, then what is left for this one.
  Stmt in_scope(const Stmt& body, const VarRef& loop) {
    if (const auto* a = body.as<AllocNode>()) {
      Stmt inner = in_scope(a->body, loop);
      return inner.same_as(a->body) ? body : make_alloc(a->buffer, inner);
    }
    std::vector<Stmt> parts = seq_of(body), out;
    std::vector<Stmt> group;
    std::vector<AnyExpr> conditions;
    std::vector<const IfNode*> dropped;
    auto flush = [&] {
      if (!group.empty()) out.push_back(versions(make_seq(group), conditions, dropped));
      group.clear(), conditions.clear(), dropped.clear();
    };
    for (const auto& part : parts) {
      Stmt inner = is_split(part) ? part : stmt(part);
      std::size_t before = dropped.size();
      if (!is_split(inner)) collect(inner, loop, conditions, dropped);
      if (dropped.size() == before) {
        flush();
        out.push_back(inner);
      } else {
        group.push_back(inner);
      }
    }
    flush();
    return make_seq(std::move(out));
  }

  // Guards of `part` that can be decided here, if one of them could not be decided further out.
  void collect(const Stmt& part, const VarRef& loop, std::vector<AnyExpr>& conditions,
               std::vector<const IfNode*>& dropped) const {
    TileGuards found(facts_);
    found.stmt(part);
    std::vector<const TileGuard*> here;
    bool ours = !loop.get();
    for (const auto& g : found.guards) {
      if (inside_split(part, g.guard) || !decidable(g.full)) continue;
      here.push_back(&g);
      ours = ours || uses_var(g.full, loop);
    }
    if (!ours) return;
    for (const auto* g : here) {
      if (is_const(g->full, 0)) continue;
      dropped.push_back(g->guard);
      bool twice = is_const(g->full, 1);
      for (const auto& c : conditions) twice |= same_expr(c, g->full);
      if (!twice) conditions.push_back(g->full);
    }
  }

  bool decidable(const AnyExpr& e) const {
    for (const auto& v : free_vars(e)) {
      bool known = is_parameter(v);
      for (const auto& k : known_) known |= k == v;
      if (!known) return false;
    }
    return true;
  }
  // Dims, strides and scalar parameters are bound by no statement.
  bool is_parameter(const VarRef& v) const {
    for (const auto& b : bound_)
      if (b == v) return false;
    return true;
  }

  Stmt versions(const Stmt& s, const std::vector<AnyExpr>& conditions,
                const std::vector<const IfNode*>& dropped) {
    Stmt fast = CloneFresh().stmt(DropGuards(dropped).stmt(s));
    AnyExpr all;
    for (const auto& c : conditions) all = fold_and(all, c);
    if (!all.get() || is_const(all, 1)) return fast;
    Stmt split = make_if(all, fast, s);
    splits_.push_back(split);
    return split;
  }

  bool is_split(const Stmt& s) const {
    for (const auto& split : splits_)
      if (split.same_as(s)) return true;
    return false;
  }

  // True if the guard lies in a statement that was split already.
  bool inside_split(const Stmt& root, const IfNode* guard) const {
    class Find : public Visitor {
     public:
      Find(const std::vector<Stmt>& splits, const IfNode* guard) : splits(splits), guard(guard) {}
      const std::vector<Stmt>& splits;
      const IfNode* guard;
      int depth = 0;
      bool inside = false;
      void expr(const AnyExpr&) override {}
      void stmt(const Stmt& s) override {
        bool split = false;
        for (const auto& x : splits) split |= x.same_as(s);
        depth += split;
        if (s.get() == guard) inside |= depth > 0;
        descend(s);
        depth -= split;
      }
    } find(splits_, guard);
    find.stmt(root);
    return find.inside;
  }

  friend class CollectBound;
  Facts facts_;
  std::vector<VarRef> known_, bound_;
  std::vector<Stmt> splits_;

 public:
  void note_bound(const VarRef& v) { bound_.push_back(v); }
};

class BoundVars : public Visitor {
 public:
  explicit BoundVars(SplitBorderTiles& pass) : pass_(pass) {}
  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) pass_.note_bound(f->var);
    if (const auto* let = s.as<LetStmtNode>()) pass_.note_bound(let->var);
    descend(s);
  }

 private:
  SplitBorderTiles& pass_;
};

}  // namespace detail

LATHE_DECL Program hoist_guards(const Program& program) {
  Stmt body = detail::LiftInvariantGuards().stmt(program->body);
  detail::SplitBorderTiles split(program);
  detail::BoundVars(split).stmt(body);
  return program.with(split.run(body));
}

}  // namespace lathe

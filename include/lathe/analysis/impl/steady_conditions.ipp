#pragma once

#include <lathe/analysis/borders.hpp>
#include <lathe/analysis/partition.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

LATHE_DECL Partition partition_of(const ForNode& loop) {
  const auto* mark = loop.attributes.find<PartitionAttr>();
  return mark ? mark->policy : Partition::automatic;
}

LATHE_DECL Tail tail_of(const ForNode& loop) {
  const auto* mark = loop.attributes.find<TailAttr>();
  return mark ? mark->tail : Tail::exact;
}

class SteadyConditions : public Visitor {
 public:
  SteadyConditions(const ForNode& loop, const Facts& around, const Vec<VarRef>& known)
      : loop_(loop), known_(known), facts_(around) {
    known_.push_back(loop.var);
    facts_.bind(loop);
    facts_.keep_unit_vars();
  }

  Vec<SteadyCondition> guards, others;

  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) return inside(*f);
    if (const auto* b = s.as<BlockNode>()) return inside(*b);
    if (const auto* n = s.as<IfNode>()) {
      into_ = &guards, guards_ = true;
      note(n->condition, true);
      into_ = &others, guards_ = false;
    }
    descend(s);
  }

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<SelectNode>()) note(n->condition, !is_either(n->condition));
    if (const auto* n = e.as<BinaryNode>(); n && n->a.dtype() == kIndex) {
      if (n->op == BinaryOp::min) note_bound(n->b - unclamped(n->a));
      if (n->op == BinaryOp::max) note_bound(unclamped(n->a) - n->b);
      if (const auto w = wrapped(e, facts_)) {
        note_bound(w->dividend - w->shift);
        note_bound(w->end - 1 - w->dividend);
      }
    }
    if (const AnyExpr x = turned_at_zero(e)) note_bound(x);
    descend(e);
  }

 private:
  void inside(const ForNode& f) {
    expr(f.min), expr(f.extent);
    Facts outer = facts_;
    facts_.bind(f);
    inner_.push_back(&f);
    stmt(f.body);
    inner_.pop_back();
    facts_ = outer;
  }

  // What lowering makes of a block: tests that its iterators lie in their domains, and its body.
  void inside(const BlockNode& block) {
    Substitution at;
    for (const auto& it : block.iters) at.emplace_back(it.var, it.binding);
    guards_ = true;
    for (const auto& it : block.iters) {
      const AnyExpr end = substitute(fold_add(it.min, it.extent), at);
      note_bound(fold_sub(it.binding, substitute(it.min, at)));
      note_bound(fold_sub(fold_sub(end, AnyExpr(1)), it.binding));
    }
    if (block.predicate) note(substitute(block.predicate, at), true);
    guards_ = false;
    stmt(substitute(block.body, at));
  }

  static bool is_either(const AnyExpr& condition) {
    const auto* n = condition.as<BinaryNode>();
    return n && n->op == BinaryOp::or_;
  }

  void note(const AnyExpr& condition, bool value) {
    const auto* n = condition.as<BinaryNode>();
    if (!n) return;
    if (n->op == (value ? BinaryOp::and_ : BinaryOp::or_)) {
      note(n->a, value), note(n->b, value);
      return;
    }
    if (!is_comparison(n->op) || n->a.dtype() != kIndex) return;
    const bool less = n->op == BinaryOp::lt || n->op == BinaryOp::le;
    if (!less && n->op != BinaryOp::gt && n->op != BinaryOp::ge) return;
    const bool strict = n->op == BinaryOp::lt || n->op == BinaryOp::gt;
    // At least 0 where the comparison is as wanted; the negation of < is ≥.
    AnyExpr slack = less == value ? fold_sub(n->b, n->a) : fold_sub(n->a, n->b);
    if (strict == value) slack = fold_sub(slack, AnyExpr(1));
    note_bound(slack, n, value);
  }

  // Where slack >= 0 for whatever the loops inside do.
  void note_bound(const AnyExpr& slack, const ExprNode* node = nullptr, bool value = true) {
    bool peeled = false;
    Vec<VarRef> inner;
    for (const ForNode* f : inner_) {
      inner.push_back(f->var);
      if (!uses_var(slack, f->var)) continue;
      const Tail tail = guards_ ? tail_of(*f) : Tail::exact;
      if (partition_of(*f) == Partition::never || tail == Tail::mask) return;
      peeled |= tail == Tail::peel;
    }
    if (!Simplifier(facts_).safe(slack)) return;  // a side may wrap, its order change
    const AnyExpr least = bounds(slack, inner, facts_).min;
    if (!least || !uses_var(least, loop_.var) || !is_load_free(least)) return;
    for (const auto& var : free_vars(least))
      if (!contains(known_, var)) return;
    auto map = affine_of(least, {loop_.var}, facts_);
    if (!map || !map->coef(0) || *map->coef(0) == 0) return;
    const std::int64_t c = *map->coef(0);
    if (c == ConstInterval::kNegInf) return;
    // What the facts of loops inside say is not known outside: least itself may say something else.
    AnyExpr full = AnyExpr(0) <= fold_add(fold_mul(AnyExpr(c), AnyExpr(loop_.var)), map->rest);
    SteadyCondition found{node, value, true, peeled, std::move(full), {}, {}};
    for (const auto& var : inner) found.exact &= !uses_var(slack, var);
    // c * v + rest >= 0
    if (c > 0)
      found.from = fold_sub(AnyExpr(0), fold_floordiv(map->rest, AnyExpr(c)));
    else
      found.to = fold_add(fold_floordiv(map->rest, AnyExpr(-c)), AnyExpr(1));
    if (differs(found)) into_->push_back(std::move(found));
  }

  // In the loop's range there is room for iterations of both kinds, as far as is known.
  bool differs(const SteadyCondition& c) const {
    const AnyExpr end = fold_add(loop_.min, loop_.extent);
    if (c.from) return !prove_le(c.from, loop_.min, facts_) && !prove_le(end, c.from, facts_);
    return !prove_le(end, c.to, facts_) && !prove_le(c.to, loop_.min, facts_);
  }

  const ForNode& loop_;
  Vec<VarRef> known_;
  Vec<const ForNode*> inner_;
  Facts facts_;
  bool guards_ = false;  ///< what is noted keeps a statement from running
  Vec<SteadyCondition>* into_ = &others;
};

LATHE_DECL Vec<SteadyCondition> steady_conditions(const ForNode& loop, const Facts& around,
                                                  const Vec<VarRef>& known) {
  SteadyConditions walk(loop, around, known);
  if (partition_of(loop) == Partition::never || !is_load_free(loop.min) ||
      !is_load_free(loop.extent))
    return {};
  walk.stmt(loop.body);
  walk.guards.append(walk.others);
  return walk.guards;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

class OwnsInit : public Visitor {
 public:
  using Visitor::expr;
  void stmt(const Stmt& s) override {
    const auto* b = s.as<BlockNode>();
    found = found || (b && b->init);
    if (!found) descend(s);
  }
  void expr(const AnyExpr&) override {}
  bool found = false;
};

/// Each load as a query of its own, for computations that are over the budget of one.
class SimplifyLoads : public Mutator {
 public:
  explicit SimplifyLoads(const Facts& facts) : facts_(facts) {}

  AnyExpr expr(const AnyExpr& e) override {
    return e.kind() == ExprKind::Load ? Simplifier(facts_).expr(e) : descend(e);
  }

 private:
  const Facts& facts_;
};

/// Carries the facts of the scope along; each scope restores what it found.
class SimplifyStmt : public Mutator {
 public:
  explicit SimplifyStmt(const Facts& facts) : facts_(facts) {}

  AnyExpr expr(const AnyExpr& e) override {
    Simplifier whole(facts_);
    const AnyExpr out = whole.expr(e);
    return whole.exhausted() ? SimplifyLoads(facts_).expr(out) : out;
  }
  Stmt stmt(const Stmt& s) override {
    switch (s.kind()) {
      case StmtKind::For:
        return loop(s);
      case StmtKind::Block:
        return block(s);
      case StmtKind::If:
        return branch(s);
      case StmtKind::Store:
        return store(s);
      case StmtKind::LetStmt:
        return let(s);
      case StmtKind::While:
        return repeat(s);
      case StmtKind::Assert: {
        AnyExpr condition = expr(s.as<AssertNode>()->condition);
        return is_const(condition, 1) ? make_seq({}) : descend(s);
      }
      default:
        return descend(s);
    }
  }

 private:
  Stmt within(const Facts& inner, const Stmt& body) {
    Facts outer = facts_;
    facts_ = inner;
    Stmt out = stmt(body);
    facts_ = std::move(outer);
    return out;
  }
  static bool nothing(const Stmt& s) { return s.as<SeqNode>() && s.as<SeqNode>()->stmts.empty(); }

  Stmt loop(const Stmt& s) {
    const auto* n = s.as<ForNode>();
    AnyExpr min = expr(n->min), extent = expr(n->extent);
    const auto* c = as_const_int(extent);
    if (c ? *c <= 0 : prove(extent <= 0, facts_)) {
      // The init of a reduction runs even if its reduce domain is empty.
      OwnsInit init;
      init.stmt(n->body);
      if (!init.found) return make_seq({});
    }
    Facts inner = facts_;
    inner.bind(*n);
    Stmt body = within(inner, n->body);
    if (nothing(body)) return body;
    if (min.same_as(n->min) && extent.same_as(n->extent) && body.same_as(n->body)) return s;
    return make_for(n->var, min, extent, body, n->loop_kind, n->attributes);
  }

  Stmt block(const Stmt& s) {
    const auto* n = s.as<BlockNode>();
    BlockNode next = *n;
    bool changed = false;
    auto go = [&](AnyExpr& e, const Facts& facts) {
      if (!e.get()) return;
      AnyExpr x = Simplifier(facts).expr(e);
      changed = changed || !x.same_as(e);
      e = std::move(x);
    };
    // Unit loops stay visible in bindings: they carry the structure that later steps match.
    Facts outer = facts_, inner = facts_;
    outer.keep_unit_vars();
    for (auto& it : next.iters) {
      go(it.binding, outer);
      go(it.min, inner), go(it.extent, inner);
      inner.bind(it);
    }
    for (auto* regions : {&next.reads, &next.writes})
      for (auto& region : *regions)
        for (auto& range : region.ranges) go(range.min, inner), go(range.extent, inner);
    go(next.predicate, inner);
    if (next.predicate.get() && is_const(next.predicate, 1)) next.predicate = {};
    if (next.predicate.get()) inner.assume(next.predicate);
    inner.keep_unit_vars(facts_.keeps_unit_vars());
    next.body = within(inner, n->body);
    changed = changed || !next.body.same_as(n->body);
    return changed ? make_block(std::move(next)) : s;
  }

  Stmt branch(const Stmt& s) {
    const auto* n = s.as<IfNode>();
    AnyExpr condition = expr(n->condition);
    if (const auto* c = as_const_int(condition)) {
      if (*c) return stmt(n->then_body);
      return n->else_body ? stmt(n->else_body) : make_seq({});
    }
    Facts yes = facts_, no = facts_;
    yes.assume_before(condition);
    no.assume_before(expr(logical_not(condition)));
    Stmt then_body = within(yes, n->then_body), else_body;
    if (n->else_body) else_body = within(no, n->else_body);
    if (else_body.get() && nothing(else_body)) else_body = {};
    if (nothing(then_body)) {
      if (!else_body) return then_body;
      return make_if(expr(logical_not(condition)), else_body);
    }
    if (condition.same_as(n->condition) && then_body.same_as(n->then_body) &&
        else_body.same_as(n->else_body))
      return s;
    return make_if(condition, then_body, else_body);
  }

  Stmt store(const Stmt& s) {
    const auto* n = s.as<StoreNode>();
    if (!n->mask) return descend(s);
    AnyExpr mask = expr(n->mask);
    const auto* c = as_const_int(mask);
    if (c && *c == 0) return make_seq({});
    Stmt next = descend(s);
    if (!c) return next;
    const auto* m = next.as<StoreNode>();
    return make_ref<StoreNode>(m->buffer, m->indices, m->value, AnyExpr(), m->streaming);
  }

  Stmt let(const Stmt& s) {
    const auto* n = s.as<LetStmtNode>();
    AnyExpr value = expr(n->value);
    if (value.kind() == ExprKind::Const || value.kind() == ExprKind::Var)
      return stmt(substitute(n->body, {{n->var, value}}));
    Facts inner = facts_;
    Simplifier engine(facts_);
    if (value.dtype() == kIndex)
      engine.note_let(n->var, value, inner);
    else if (value.dtype().is_int() && !value.dtype().is_vector())
      inner.bind(n->var, engine.range(value));
    Stmt body = within(inner, n->body);
    if (value.same_as(n->value) && body.same_as(n->body)) return s;
    return make_let_stmt(n->var, value, body);
  }

  Stmt repeat(const Stmt& s) {
    const auto* n = s.as<WhileNode>();
    AnyExpr condition = expr(n->condition);
    if (is_const(condition, 0)) return make_seq({});
    Facts inner = facts_;
    inner.assume_before(condition);
    Stmt body = within(inner, n->body);
    if (condition.same_as(n->condition) && body.same_as(n->body)) return s;
    return make_ref<WhileNode>(condition, body);
  }

  Facts facts_;
};

}  // namespace detail

LATHE_DECL Stmt simplify(const Stmt& s, const Facts& facts) {
  return detail::SimplifyStmt(facts).stmt(s);
}

}  // namespace lathe

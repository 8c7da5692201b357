#pragma once

#include <lathe/arith/facts.hpp>
#include <lathe/arith/index_loads.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

class WritesBuffer : public Visitor {
 public:
  explicit WritesBuffer(const Vec<Buffer>& buffers) : buffers_(buffers) {}
  using Visitor::expr;
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>()) check(n->buffer);
    if (const auto* n = s.as<AtomicNode>()) check(n->buffer);
    if (const auto* n = s.as<BlockNode>())
      for (const auto& r : n->writes) check(r.buffer);
    if (!found) descend(s);
  }
  void expr(const AnyExpr&) override {}
  bool found = false;

 private:
  void check(const Buffer& b) {
    for (const auto& x : buffers_) found = found || x == b;
  }
  const Vec<Buffer>& buffers_;
};

// What f >= 0 says about each variable in it, given the ranges of the others.
class Tighten {
 public:
  Tighten(const Facts& facts, const Poly& f, Simplifier& whole)
      : engine_(facts, whole), facts_(facts), f_(f) {}
  // The improved range of the variable of term k; false if nothing is learnt.
  bool term(std::size_t k, VarRef& var, ConstInterval& out) {
    const Mono& t = f_.terms[k];
    if (!t.more.empty() || t.coef == ConstInterval::kNegInf) return false;
    std::int64_t unit = 1;
    const auto* v = t.atom.as<VarNode>();
    if (const auto* div = t.atom.as<BinaryNode>();
        div && div->op == BinaryOp::floordiv && div->b.as<ConstNode>()) {
      v = div->a.as<VarNode>();
      unit = div->b.as<ConstNode>()->i;
      if (!v || unit <= 0 || facts_.factor(v) % unit != 0) return false;
    }
    if (!v) return false;
    Poly rest = f_;
    rest.terms.erase_at(k);
    ConstInterval r = engine_.range(rest);
    if (!r.has_max()) return false;
    ConstInterval old = facts_.range(v);
    out = {};
    if (t.coef > 0)
      out.min = range_scale({-floor_div(r.max, t.coef), ConstInterval::kPosInf}, unit).min;
    else
      out.max = range_scale({ConstInterval::kNegInf, floor_div(r.max, -t.coef)}, unit).max;
    var = VarRef(v);
    return out.min > old.min || out.max < old.max;
  }
  // The factors that may be 0 of a product that can't: none is, if none is negative.
  Vec<VarRef> positive_factors(std::size_t k) {
    const Mono& t = f_.terms[k];
    Poly rest = f_;
    rest.terms.erase_at(k);
    if (t.coef <= 0 || t.degree() < 2 || engine_.range(rest).max >= 0) return {};
    Vec<VarRef> out;
    for (std::size_t j = 0; j < t.degree(); ++j) {
      const ConstInterval r = engine_.range(t.factor(j));
      if (r.min < 0) return {};
      const auto* v = t.factor(j).as<VarNode>();
      if (v && r.min == 0) out.push_back(VarRef(v));
    }
    return out;
  }

 private:
  Simplifier engine_;
  const Facts& facts_;
  const Poly& f_;
};

}  // namespace detail

LATHE_DECL Facts::Facts(const Program& program) {
  for (const auto& dim : program->dims) bind(dim);
  for (const auto& p : program->params)
    if (!p.buffer && p.var->dtype == kIndex) data(p.var);
}

LATHE_DECL void Facts::push(Node node) {
  node.next = head_;
  head_ = Ref<Node>(new Node(std::move(node)));
}

LATHE_DECL void Facts::bind(const VarRef& var, ConstInterval range) {
  Node node;
  node.kind = Kind::constant;
  node.var = var;
  node.interval = range;
  push(std::move(node));
}

LATHE_DECL void Facts::bind(const DimRef& dim) {
  bind(dim->var, ConstInterval{dim->min, dim->max});
  if (dim->multiple_of > 1) multiple_of(dim->var, dim->multiple_of);
}

LATHE_DECL void Facts::multiple_of(const VarRef& var, std::int64_t factor) {
  Node node;
  node.kind = Kind::factor;
  node.var = var;
  node.interval.min = factor;
  push(std::move(node));
}

LATHE_DECL void Facts::data(const VarRef& var) {
  Node node;
  node.kind = Kind::data;
  node.var = var;
  push(std::move(node));
}

LATHE_DECL void Facts::bind(const VarRef& var, const AnyExpr& min, const AnyExpr& extent) {
  const std::int64_t *lo = as_const_int(min), *size = as_const_int(extent);
  std::int64_t last;
  if (lo && size && !__builtin_add_overflow(*lo, *size, &last) && last != ConstInterval::kNegInf) {
    Node node;
    node.kind = Kind::symbolic;
    node.var = var;
    node.min = min;
    node.max = make_int(var->dtype, last - 1);
    node.interval = {*lo, last - 1};
    return push(std::move(node));
  }
  if (var->dtype != kIndex) return;
  detail::IndexLoads loads;
  loads.expr(min), loads.expr(extent);
  for (const auto* end : {&min, &extent})
    for (const auto& v : free_vars(*end))
      if (is_data(v.get())) loads.found.push_back(v);
  for (auto& value : loads.found) {
    Node node;
    node.kind = Kind::index;
    node.min = std::move(value);
    push(std::move(node));
  }
  const Facts before = *this;
  detail::Simplifier engine(before);
  detail::Poly first = engine.poly(min), size_minus_1 = engine.poly(extent), end = first;
  if (!detail::poly_add(size_minus_1, detail::poly_const(-1)) ||
      !detail::poly_add(end, size_minus_1))
    return;
  if (!engine.safe(first) || !engine.safe(end)) return;
  if (!engine.nonneg(size_minus_1)) assume(engine.emit(size_minus_1) >= 0);
  const Facts nonempty = *this;
  detail::Simplifier ranges(nonempty);
  Node node;
  node.kind = Kind::symbolic;
  node.var = var;
  node.min = engine.emit(first);
  node.max = engine.emit(end);
  node.interval = {ranges.range(first).min, ranges.range(end).max};
  push(std::move(node));
}

LATHE_DECL void Facts::bind(const ForNode& loop) {
  detail::LoadedBuffers loads;
  loads.expr(loop.min), loads.expr(loop.extent);
  if (!loads.found.empty()) {
    detail::WritesBuffer writes(loads.found);
    writes.stmt(loop.body);
    if (writes.found) return;
  }
  bind(loop.var, loop.min, loop.extent);
}

LATHE_DECL void Facts::assume_before(const AnyExpr& condition) {
  const auto* n = condition.as<BinaryNode>();
  if (n && n->op == BinaryOp::and_) {
    assume_before(n->a);
    return assume_before(n->b);
  }
  if (detail::is_load_free(condition)) assume(condition);
}

LATHE_DECL void Facts::assume(const AnyExpr& condition) {
  if (!condition.get() || condition.dtype() != kBool) return;
  const auto* given = condition.as<BinaryNode>();
  if (given && given->op == BinaryOp::and_) {
    assume(given->a);
    return assume(given->b);
  }
  const Facts before = *this;
  detail::Simplifier engine(before);
  learn(engine.expr(condition), engine);
}

LATHE_DECL void Facts::learn(const AnyExpr& condition, detail::Simplifier& asker) {
  const auto* n = condition.as<BinaryNode>();
  if (condition.kind() == ExprKind::Const) return;
  if (n && n->op == BinaryOp::and_) {
    learn(n->a, asker);
    return learn(n->b, asker);
  }
  if (n && is_comparison(n->op) && n->a.dtype() == kIndex && learn_comparison(*n, asker)) return;
  Node truth;
  truth.kind = Kind::truth;
  truth.min = condition;
  push(std::move(truth));
}

// Reads a comparison of indices as a sum that is >= 0 or == 0; false if that can't be done or isn't
// all that it says.
LATHE_DECL bool Facts::learn_comparison(const BinaryNode& n, detail::Simplifier& asker) {
  const Facts before = *this;
  detail::Simplifier engine(before, asker);
  const bool less = n.op == BinaryOp::lt || n.op == BinaryOp::le;
  const bool strict = n.op == BinaryOp::lt || n.op == BinaryOp::gt;
  detail::Poly a = engine.poly_of_emitted(n.a), b = engine.poly_of_emitted(n.b), f = less ? b : a;
  if (!engine.safe(a) || !engine.safe(b)) return false;
  if (!detail::poly_add(f, less ? a : b, -1) || f.is_const()) return false;
  if (strict && !detail::poly_add(f, detail::poly_const(-1))) return false;
  detail::Poly minus = f;
  if (!detail::poly_scale(minus, -1)) return false;
  if (n.op == BinaryOp::ne) {
    // a != b where a >= b is a > b.
    if (engine.nonneg(minus))
      f = minus;
    else if (!engine.nonneg(f))
      return false;
    if (!detail::poly_add(f, detail::poly_const(-1))) return false;
  }
  Node fact;
  fact.kind = n.op == BinaryOp::eq ? Kind::zero : Kind::nonneg;
  fact.min = engine.emit(f);
  if (fact.kind == Kind::zero && f.terms.size() == 1 && f.constant == 0)
    learn_factor(f.terms[0].atom);
  const bool variable = f.terms[0].more.empty() && f.terms[0].atom.kind() == ExprKind::Var;
  if (f.terms.size() > 1 || !variable) push(std::move(fact));
  for (const auto* side : {&f, &minus}) {
    if (side == &minus && n.op != BinaryOp::eq) break;
    detail::Tighten tighten(before, *side, engine);
    for (std::size_t k = 0; k < side->terms.size(); ++k) {
      VarRef var;
      ConstInterval range;
      if (tighten.term(k, var, range)) bind(var, range);
      for (const VarRef& factor : tighten.positive_factors(k))
        bind(factor, {1, ConstInterval::kPosInf});
    }
  }
  return n.op != BinaryOp::ne;
}

// v floormod c == 0; or (v floordiv a) floormod c == 0, where a divides v: a * c does then.
LATHE_DECL void Facts::learn_factor(const AnyExpr& atom) {
  const auto* mod = atom.as<BinaryNode>();
  const auto* c = mod && mod->op == BinaryOp::floormod ? mod->b.as<ConstNode>() : nullptr;
  if (!c) return;
  if (const auto* var = mod->a.as<VarNode>()) return multiple_of(VarRef(var), c->i);
  const auto* div = mod->a.as<BinaryNode>();
  const auto* a = div && div->op == BinaryOp::floordiv ? div->b.as<ConstNode>() : nullptr;
  const auto* var = a ? div->a.as<VarNode>() : nullptr;
  std::int64_t whole;
  if (var && a->i > 0 && factor(var) % a->i == 0 && !__builtin_mul_overflow(a->i, c->i, &whole))
    multiple_of(VarRef(var), whole);
}

LATHE_DECL ConstInterval Facts::range(const VarNode* var) const {
  ConstInterval out = detail::range_of_type(var->dtype);
  for (const auto* f = newest(); f; f = f->next.get())
    if (f->var.get() == var && (f->kind == Kind::symbolic || f->kind == Kind::constant))
      out = detail::range_meet(out, f->interval);
  return out;
}

LATHE_DECL std::int64_t Facts::factor(const VarNode* var) const {
  std::int64_t out = 1;
  for (const auto* f = newest(); f; f = f->next.get()) {
    if (f->kind != Kind::factor || f->var.get() != var || f->interval.min < 1) continue;
    std::int64_t lcm;
    std::int64_t g = detail::gcd64(out, f->interval.min);
    if (!__builtin_mul_overflow(out / g, f->interval.min, &lcm)) out = lcm;
  }
  return out;
}

LATHE_DECL bool Facts::is_data(const VarNode* var) const {
  if (var->data) return true;
  for (const auto* f = newest(); f; f = f->next.get())
    if (f->kind == Kind::data && f->var.get() == var) return true;
  return false;
}

}  // namespace lathe

#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// Node by node, so that an unchanged result can share the input.
inline bool same_expr_ordered(const AnyExpr& a, const AnyExpr& b) {
  if (a.same_as(b)) return true;
  const auto *x = a.as<BinaryNode>(), *y = b.as<BinaryNode>();
  if (x && y)
    return x->op == y->op && same_expr_ordered(x->a, y->a) && same_expr_ordered(x->b, y->b);
  const auto *c = a.as<ConstNode>(), *d = b.as<ConstNode>();
  return c && d && c->dtype == d->dtype && !c->dtype.is_float() && c->i == d->i;
}

LATHE_DECL AnyExpr Simplifier::expr(const AnyExpr& e) {
  if (e.kind() == ExprKind::Const || budget_ <= 0) return e;
  if (e.dtype().is_vector()) return vector(e);
  if (e.dtype() == kIndex) {
    if (e.kind() == ExprKind::Var && !facts_.newest()) return e;
    AnyExpr out = emit(poly(e));
    return same_expr_ordered(out, e) ? e : out;
  }
  if (e.dtype().is_bool()) return boolean(e);
  --budget_;
  if (e.kind() == ExprKind::Var) {
    ConstInterval r = e.dtype().is_int() ? range(e) : ConstInterval();
    return r.is_point() && !facts_.keeps_unit_vars() ? make_int(e.dtype(), r.min) : e;
  }
  if (const auto* n = e.as<BinaryNode>()) {
    AnyExpr a = expr(n->a), b = expr(n->b);
    AnyExpr out = binary_data(n->op, a, b);
    const auto* m = out.as<BinaryNode>();
    return m && m->op == n->op && m->a.same_as(n->a) && m->b.same_as(n->b) ? e : out;
  }
  return structural(e);
}

// An order that the ranges of its parts decide as they stand: nine tenths of what is proven, for a
// fifth of the time that a canonical form takes.
inline bool holds_by_range(const AnyExpr& condition, const Facts& facts) {
  const auto* n = condition.as<BinaryNode>();
  if (!n || !is_comparison(n->op) || n->a.dtype() != kIndex) return false;
  if (n->op == BinaryOp::eq || n->op == BinaryOp::ne) return false;
  const bool less = n->op == BinaryOp::lt || n->op == BinaryOp::le;
  const bool strict = n->op == BinaryOp::lt || n->op == BinaryOp::gt;
  Simplifier engine(facts);
  const Poly small = poly_shallow(less ? n->a : n->b);
  Poly gap = poly_shallow(less ? n->b : n->a);
  if (!engine.safe(small) || !engine.safe(gap) || !poly_add(gap, small, -1)) return false;
  if (strict && !poly_add(gap, poly_const(-1))) return false;
  return engine.range(gap).min >= 0 && engine.safe(gap);
}

}  // namespace detail

LATHE_DECL AnyExpr simplify(const AnyExpr& e, const Facts& facts) {
  return detail::Simplifier(facts).expr(e);
}

LATHE_DECL bool prove(const AnyExpr& condition, const Facts& facts) {
  if (!condition.get()) return false;
  return detail::holds_by_range(condition, facts) ||
         is_const(detail::Simplifier(facts).expr(condition), 1);
}
LATHE_DECL bool prove_eq(const AnyExpr& a, const AnyExpr& b, const Facts& facts) {
  return same_expr(a, b) || prove(eq(a, b), facts);
}
LATHE_DECL bool prove_le(const AnyExpr& a, const AnyExpr& b, const Facts& facts) {
  return prove(a <= b, facts);
}
LATHE_DECL bool prove_lt(const AnyExpr& a, const AnyExpr& b, const Facts& facts) {
  return prove(a < b, facts);
}

LATHE_DECL bool prove_divides(const AnyExpr& factor, const AnyExpr& a, const Facts& facts) {
  detail::Simplifier engine(facts);
  AnyExpr f = engine.expr(factor), v = engine.expr(a);
  if (is_const(v, 0)) return true;
  // Here 0 divides only 0, while x floormod 0 is 0.
  if (!prove(ne(f, AnyExpr(0)), facts)) return same_expr(f, v);
  return is_const(engine.expr(floormod(v, f)), 0);
}

LATHE_DECL std::optional<std::int64_t> const_int(const AnyExpr& e, const Facts& facts) {
  if (!e.get() || e.dtype().is_float()) return std::nullopt;
  if (const auto* c = as_const_int(e)) return *c;
  AnyExpr s = simplify(e, facts);
  if (const auto* c = as_const_int(s)) return *c;
  ConstInterval r = detail::Simplifier(facts).range(s);
  return r.is_point() ? std::optional<std::int64_t>(r.min) : std::nullopt;
}

LATHE_DECL AnyExpr fold_add(const AnyExpr& a, const AnyExpr& b) {
  if (is_const(a, 0)) return b;
  if (is_const(b, 0)) return a;
  const auto *x = as_const_int(a), *y = as_const_int(b);
  std::int64_t v;
  return x && y && !__builtin_add_overflow(*x, *y, &v) ? AnyExpr(v) : a + b;
}
LATHE_DECL AnyExpr fold_sub(const AnyExpr& a, const AnyExpr& b) {
  if (is_const(b, 0)) return a;
  const auto *x = as_const_int(a), *y = as_const_int(b);
  std::int64_t v;
  return x && y && !__builtin_sub_overflow(*x, *y, &v) ? AnyExpr(v) : a - b;
}
LATHE_DECL AnyExpr fold_mul(const AnyExpr& a, const AnyExpr& b) {
  if (is_const(a, 1) || is_const(b, 0)) return b;
  if (is_const(b, 1) || is_const(a, 0)) return a;
  const auto *x = as_const_int(a), *y = as_const_int(b);
  std::int64_t v;
  return x && y && !__builtin_mul_overflow(*x, *y, &v) ? AnyExpr(v) : a * b;
}
LATHE_DECL AnyExpr fold_floordiv(const AnyExpr& a, const AnyExpr& b) {
  if (is_const(b, 1) || is_const(a, 0)) return a;
  const auto *x = as_const_int(a), *y = as_const_int(b);
  return x && y ? AnyExpr(detail::floor_div(*x, *y)) : floordiv(a, b);
}
LATHE_DECL AnyExpr fold_floormod(const AnyExpr& a, const AnyExpr& b) {
  if (is_const(b, 1)) return AnyExpr(0);
  const auto *x = as_const_int(a), *y = as_const_int(b);
  return x && y ? AnyExpr(detail::floor_mod(*x, *y)) : floormod(a, b);
}
LATHE_DECL AnyExpr fold_min(const AnyExpr& a, const AnyExpr& b) {
  const auto *x = as_const_int(a), *y = as_const_int(b);
  if (x && y) return *x < *y ? a : b;
  return same_expr(a, b) ? a : make_binary(BinaryOp::min, a, b);
}
LATHE_DECL AnyExpr fold_max(const AnyExpr& a, const AnyExpr& b) {
  const auto *x = as_const_int(a), *y = as_const_int(b);
  if (x && y) return *x < *y ? b : a;
  return same_expr(a, b) ? a : make_binary(BinaryOp::max, a, b);
}
LATHE_DECL AnyExpr fold_and(const AnyExpr& a, const AnyExpr& b) {
  if (!a.get() || is_const(a, 1)) return b;
  if (!b.get() || is_const(b, 1)) return a;
  if (is_const(a, 0)) return a;
  return is_const(b, 0) ? b : logical_and(a, b);
}

}  // namespace lathe

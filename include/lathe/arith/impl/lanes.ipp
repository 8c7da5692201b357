#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>

namespace lathe {
namespace detail {

/// base + lane * stride with scalar base and stride; stride is none for a broadcast.
struct Lanes {
  AnyExpr base, stride;
  int count = 0;
};

inline bool as_lanes(const AnyExpr& e, Lanes& out) {
  if (const auto* b = e.as<BroadcastNode>(); b && !b->value.dtype().is_vector())
    return out = {b->value, {}, b->lanes}, true;
  if (const auto* r = e.as<RampNode>();
      r && !r->base.dtype().is_vector() && !r->stride.dtype().is_vector())
    return out = {r->base, r->stride, r->lanes}, true;
  return false;
}

// Of ramps of numbers that stay within a type, where all lanes compare alike: that is told by the
// two ends.
inline std::optional<bool> order_of_numbers(BinaryOp op, DType t, const Lanes& a, const Lanes& b) {
  if (op != BinaryOp::lt && op != BinaryOp::le && op != BinaryOp::gt && op != BinaryOp::ge)
    return {};
  const ConstInterval all = range_of_type(t);
  const auto at = [&](const Lanes& x, int lane) -> std::optional<std::int64_t> {
    const auto *base = as_const_int(x.base),
               *step = x.stride.get() ? as_const_int(x.stride) : nullptr;
    if (!base || (x.stride.get() && !step)) return {};
    std::int64_t end = 0;
    if (__builtin_mul_overflow(step ? *step : 0, lane, &end) ||
        __builtin_add_overflow(end, *base, &end) || end < all.min || end > all.max)
      return {};
    return end;
  };
  std::optional<bool> decided;
  for (int lane : {0, a.count - 1}) {
    const auto x = at(a, lane), y = at(b, lane);
    if (!x || !y) return {};
    std::int64_t holds = 0;
    if (!fold_int(op, kIndex, *x, *y, holds)) return {};
    if (decided && *decided != (holds != 0)) return {};
    decided = holds != 0;
  }
  return decided;
}

LATHE_DECL AnyExpr Simplifier::ramp(const AnyExpr& base, const AnyExpr& stride, int lanes) {
  return is_const(stride, 0) ? make_broadcast(base, lanes) : make_ramp(base, stride, lanes);
}

LATHE_DECL AnyExpr Simplifier::vector(const AnyExpr& e) {
  if (const auto* n = e.as<BinaryNode>()) return vector_binary(n->op, expr(n->a), expr(n->b));
  if (const auto* r = e.as<RampNode>()) {
    AnyExpr base = expr(r->base), stride = expr(r->stride);
    if (base.dtype().is_vector())
      return base.same_as(r->base) && stride.same_as(r->stride) ? e
                                                                : make_ramp(base, stride, r->lanes);
    return ramp(base, stride, r->lanes);
  }
  if (const auto* b = e.as<BroadcastNode>()) {
    AnyExpr value = expr(b->value);
    if (const auto* inner = value.as<BroadcastNode>())
      return make_broadcast(inner->value, inner->lanes * b->lanes);
    return value.same_as(b->value) ? e : make_broadcast(value, b->lanes);
  }
  if (const auto* u = e.as<UnaryNode>()) {
    AnyExpr a = expr(u->a);
    Lanes x;
    if (const auto* b = a.as<BroadcastNode>())
      return make_broadcast(expr(make_unary(u->op, b->value)), b->lanes);
    if (u->op == UnaryOp::neg && a.dtype().is_int() && as_lanes(a, x))
      return ramp(expr(-x.base), expr(-x.stride), x.count);
    return u->op == UnaryOp::not_ ? negation(a) : unary_data(u->op, a);
  }
  if (const auto* c = e.as<CastNode>()) {
    AnyExpr a = expr(c->value);
    if (const auto* b = a.as<BroadcastNode>())
      return make_broadcast(expr(make_cast(e.dtype().with_lanes(b->value.dtype().lanes), b->value)),
                            b->lanes);
    return cast(e.dtype(), a);
  }
  if (const auto* s = e.as<SelectNode>()) {
    AnyExpr condition = expr(s->condition);
    const auto* b = condition.as<BroadcastNode>();
    if (b && !b->value.dtype().is_vector()) return expr(make_select(b->value, s->yes, s->no));
  }
  return structural(e);
}

// Operands are simplified.
LATHE_DECL AnyExpr Simplifier::vector_binary(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  const auto *x = a.as<BroadcastNode>(), *y = b.as<BroadcastNode>();
  if (x && y && x->lanes == y->lanes)
    return make_broadcast(expr(make_binary(op, x->value, y->value)), x->lanes);
  Lanes p, q;
  const bool linear = a.dtype().is_int() && as_lanes(a, p) && as_lanes(b, q);
  if (!linear) return binary_data(op, a, b);
  const AnyExpr zero = make_int(p.base.dtype(), 0);
  AnyExpr sa = p.stride ? p.stride : zero, sb = q.stride ? q.stride : zero;
  if (op == BinaryOp::add || op == BinaryOp::sub)
    return ramp(expr(make_binary(op, p.base, q.base)), expr(make_binary(op, sa, sb)), p.count);
  if (op == BinaryOp::mul && (x || y)) {
    const AnyExpr& factor = x ? p.base : q.base;
    const Lanes& r = x ? q : p;
    return ramp(expr(r.base * factor), expr(r.stride * factor), p.count);
  }
  if (const auto decided = order_of_numbers(op, a.dtype().scalar(), p, q))
    return make_int(kBool.with_lanes(p.count), *decided);
  if (a.dtype().scalar() != kIndex) return binary_data(op, a, b);
  const auto* c = y ? as_const_int(q.base) : nullptr;
  if ((op == BinaryOp::floordiv || op == BinaryOp::floormod) && c && *c > 0 && p.stride.get())
    if (AnyExpr e = ramp_divmod(op, *a.as<RampNode>(), *c)) return e;
  if (is_comparison(op) || op == BinaryOp::min || op == BinaryOp::max)
    if (AnyExpr e = ramp_compare(op, a, b)) return e;
  return binary_data(op, a, b);
}

// A ramp that stays within one period of c divides to a broadcast; one that steps by multiples of c
// divides lane-wise.
LATHE_DECL AnyExpr Simplifier::ramp_divmod(BinaryOp op, const RampNode& r, std::int64_t c) {
  const auto* stride = as_const_int(r.stride);
  if (!stride) return {};
  Poly base = poly(r.base);
  if (!safe(base) || reach(r.base).size + reach(r.stride).size * r.lanes > kReachSafe) return {};
  const bool div = op == BinaryOp::floordiv;
  if (*stride % c == 0) {
    if (div) return ramp(emit(floordiv(base, poly_const(c))), AnyExpr(*stride / c), r.lanes);
    return make_broadcast(emit(floormod(base, poly_const(c))), r.lanes);
  }
  Poly low = floormod(base, poly_const(c));
  ConstInterval first = range(low),
                last = range_add(first, range_scale({*stride, *stride}, r.lanes - 1));
  if (first.min < 0 || last.min < 0 || first.max >= c || last.max >= c) return {};
  if (div) return make_broadcast(emit(floordiv(base, poly_const(c))), r.lanes);
  return make_ramp(emit(low), r.stride, r.lanes);
}

// Decided by the two ends, since the difference of two ramps is linear in the lane.
LATHE_DECL AnyExpr Simplifier::ramp_compare(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  Lanes p, q;
  if (!as_lanes(a, p) || !as_lanes(b, q) || !safe(a) || !safe(b)) return {};
  const AnyExpr zero(0);
  AnyExpr last_a = p.base + (p.stride ? p.stride : zero) * AnyExpr(p.count - 1);
  AnyExpr last_b = q.base + (q.stride ? q.stride : zero) * AnyExpr(q.count - 1);
  const bool extremum = !is_comparison(op);
  BinaryOp test = extremum ? BinaryOp::le : op;
  AnyExpr first = expr(make_binary(test, p.base, q.base)),
          last = expr(make_binary(test, last_a, last_b));
  const auto *x = as_const_int(first), *y = as_const_int(last);
  // At one end a is larger. If both are equal at the other one, it is nowhere smaller.
  if (extremum && x && y && *x != *y) {
    const AnyExpr apart = *x != 0 ? p.base - q.base : last_a - last_b;
    if (is_const(expr(apart), 0)) return op == BinaryOp::min ? b : a;
  }
  if (x && y && *x == *y) {
    // Equal at both ends is equal throughout; different at both ends may still meet between them.
    const bool meets = op == BinaryOp::eq ? *x == 0 : op == BinaryOp::ne ? *x != 0 : false;
    if (extremum) return (*x != 0) == (op == BinaryOp::min) ? a : b;
    if (!meets) return make_int(kBool.with_lanes(p.count), *x);
    AnyExpr below = expr(logical_and(p.base < q.base, last_a < last_b)),
            above = expr(logical_and(p.base > q.base, last_a > last_b));
    if (is_const(below, 1) || is_const(above, 1)) return make_int(kBool.with_lanes(p.count), *x);
  }
  return {};
}

}  // namespace detail
}  // namespace lathe

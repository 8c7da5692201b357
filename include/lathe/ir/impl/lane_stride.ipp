#pragma once

#include <lathe/ir/lane_stride.hpp>

namespace lathe::detail {

LATHE_DECL bool lane_stride(const AnyExpr& e, std::int64_t& stride) {
  if (const auto* n = e.as<BroadcastNode>()) return stride = 0, n->value.dtype().lanes == 1;
  if (const auto* n = e.as<RampNode>()) {
    const std::int64_t* step = as_const_int(n->stride);
    if (!step || n->base.dtype().lanes == 1) return stride = step ? *step : 0, step;
    std::int64_t inner = 0;
    return lane_stride(n->base, stride) &&
           !__builtin_mul_overflow(stride, n->base.dtype().lanes, &inner) && *step == inner;
  }
  const auto* n = e.as<BinaryNode>();
  std::int64_t a = 0, b = 0;
  if (!n || !lane_stride(n->a, a) || !lane_stride(n->b, b)) return false;
  if (n->op == BinaryOp::add) return !__builtin_add_overflow(a, b, &stride);
  if (n->op == BinaryOp::sub) return !__builtin_sub_overflow(a, b, &stride);
  if (n->op != BinaryOp::mul) return false;
  const std::int64_t *left = as_const_int(n->a), *right = as_const_int(n->b);
  stride = 0;
  if (right) return !__builtin_mul_overflow(a, *right, &stride);
  if (left) return !__builtin_mul_overflow(b, *left, &stride);
  return a == 0 && b == 0;
}

LATHE_DECL AnyExpr lane_step(const AnyExpr& e) {
  std::int64_t constant = 0;
  if (lane_stride(e, constant)) return AnyExpr(constant);
  const auto* ramp = e.as<RampNode>();
  if (ramp && ramp->base.dtype().lanes == 1) return ramp->stride;
  const auto* n = e.as<BinaryNode>();
  if (!n || n->op != BinaryOp::add) return {};
  AnyExpr a = lane_step(n->a), b = lane_step(n->b);
  if (!a || !b) return {};
  if (is_const(a, 0)) return b;
  return is_const(b, 0) ? a : AnyExpr();
}

LATHE_DECL AnyExpr lane_base(const AnyExpr& e) {
  if (e.dtype().lanes == 1) return e;
  if (const auto* n = e.as<BroadcastNode>()) return n->value;
  if (const auto* n = e.as<RampNode>()) return lane_base(n->base);
  const auto* n = e.as<BinaryNode>();
  AnyExpr a = lane_base(n->a), b = lane_base(n->b);
  if (is_const(b, 0) && n->op != BinaryOp::mul) return a;
  if (is_const(a, 0) && n->op == BinaryOp::add) return b;
  return make_binary(n->op, std::move(a), std::move(b));
}

}  // namespace lathe::detail

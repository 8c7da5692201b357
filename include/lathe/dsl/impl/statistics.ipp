#pragma once

#include <lathe/dsl/any.hpp>
#include <lathe/dsl/statistics.hpp>
#include <limits>

namespace lathe {
namespace detail {

// An empty part changes nothing, to the last bit: its weight is 0 / n, the other's n / n.
inline Vec<AnyExpr> join_moments(std::span<const VarRef> a, std::span<const VarRef> b) {
  const DType t = a[0]->dtype;
  const AnyExpr count_a(a[0]), mean_a(a[1]), m2_a(a[2]), count_b(b[0]), mean_b(b[1]), m2_b(b[2]);
  const AnyExpr count = count_a + count_b, delta = mean_b - mean_a;
  const AnyExpr weight = make_select(eq(count, make_const(t, 0)), make_const(t, 0),
                                     make_binary(BinaryOp::div, count_b, count));
  return {count, mean_a + delta * weight, m2_a + m2_b + delta * delta * count_a * weight};
}

// The smaller top's part is scaled, by one exponential for both. Equal tops need no factor, which
// for infinities would be exp(inf - inf).
inline Vec<AnyExpr> join_exponentials(std::span<const VarRef> a, std::span<const VarRef> b) {
  const DType t = a[0]->dtype;
  const AnyExpr top = make_binary(BinaryOp::max, a[0], b[0]),
                apart = make_call(CallOp::abs, {AnyExpr(a[0]) - AnyExpr(b[0])}),
                factor = make_call(CallOp::exp, {make_const(t, 0) - apart});
  const auto scaled = [&](std::span<const VarRef> part) {
    return AnyExpr(part[1]) * make_select(eq(AnyExpr(part[0]), top), make_const(t, 1), factor);
  };
  return {top, scaled(a) + scaled(b)};
}

}  // namespace detail

LATHE_DECL ReducerRef welford_reducer(DType t) {
  const AnyExpr zero = make_const(t, 0);
  return make_reducer("welford", {zero, zero, zero}, detail::join_moments, true, true);
}

LATHE_DECL ReducerRef log_sum_exp_reducer(DType t) {
  const AnyExpr least = make_const(t, -std::numeric_limits<double>::infinity());
  return make_reducer("log_sum_exp", {least, make_const(t, 0)}, detail::join_exponentials, true,
                      true);
}

}  // namespace lathe

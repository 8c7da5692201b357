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

// The smaller top's part is scaled, by an exponential that every lane needs: in an arm of a select
// it would be a branch. Equal tops need no factor, which for infinities would be exp(inf - inf).
inline Vec<AnyExpr> join_exponentials(std::span<const VarRef> a, std::span<const VarRef> b) {
  const DType t = a[0]->dtype;
  const AnyExpr top_a(a[0]), sum_a(a[1]), top_b(b[0]), sum_b(b[1]), zero = make_const(t, 0);
  const AnyExpr of_b = logical_or(make_binary(BinaryOp::lt, top_a, top_b),
                                  make_call(CallOp::is_nan, {top_b})),
                apart = make_call(CallOp::abs, {top_a - top_b}),
                factor =
                    make_call(CallOp::exp, {make_select(eq(top_a, top_b), zero, zero - apart)});
  return {make_select(of_b, top_b, top_a),
          make_select(of_b, sum_b, sum_a) + make_select(of_b, sum_a, sum_b) * factor};
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

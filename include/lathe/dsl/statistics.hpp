// Folds that take two passes in other words: mean and variance, the logarithm of a sum of
// exponentials. Both are associative, so schedules may split them (rfactor) and run parts in
// parallel; that changes the rounding, and `strict` forbids it.
#pragma once

#include <lathe/dsl/reduction.hpp>

namespace lathe {

/// (count, mean, m2) of f32 or f64; m2 is the sum of squared deviations from the mean. Two parts
/// join as in Chan, Golub, LeVeque, "Algorithms for computing the sample variance" (1983).
ReducerRef welford_reducer(DType dtype);
/// (top, sum) stands for sum * exp(top), top the largest value: Milakov, Gimelshein, "Online
/// normalizer calculation for softmax" (2018). Infinite values count as such; NaN spreads.
ReducerRef log_sum_exp_reducer(DType dtype);

/// Mean and variance in one pass (Welford). Three outputs: get<0>() the count, get<1>() the mean,
/// get<2>() the sum of squared deviations; the variance is get<2>() / get<0>(). Over nothing:
/// zeros.
///     auto w = lt::compute("w", {m}, [&](lt::Var i) { return lt::welford(X(i, r), r); });
template <detail::IsOperand A, class... R>
requires detail::ReduceAxes<R...>
auto welford(const A& term, const R&... axes) {
  using T = typename detail::ElementOf<A>::type;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "lathe: welford takes f32 or f64");
  return Reduction<T, T, T>(detail::reduction_value(
      welford_reducer(dtype_of<T>),
      {make_const(dtype_of<T>, 1), detail::operand<T>(term), make_const(dtype_of<T>, 0)},
      {axes.axis()...}));
}

/// log(sum(exp(x))) without overflow, in one pass. Two outputs: get<0>() the largest value `top`,
/// get<1>() the sum of exp(x - top); the logarithm is get<0>() + log(get<1>()), a softmax
/// exp(x - get<0>()) / get<1>(). Over nothing: (-inf, 0).
template <detail::IsOperand A, class... R>
requires detail::ReduceAxes<R...>
auto log_sum_exp(const A& term, const R&... axes) {
  using T = typename detail::ElementOf<A>::type;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "lathe: log_sum_exp takes f32 or f64");
  return Reduction<T, T>(detail::reduction_value(
      log_sum_exp_reducer(dtype_of<T>), {detail::operand<T>(term), make_const(dtype_of<T>, 1)},
      {axes.axis()...}));
}

}  // namespace lathe

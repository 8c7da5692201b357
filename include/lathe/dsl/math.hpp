// Functions of expressions: elementwise mathematics, minima and maxima, integer division and bits.
#pragma once

#include <lathe/dsl/expr.hpp>

namespace lathe {

// Of floating types. round is to nearest even; is_nan gives a bool. pow, exp, log, … have the error
// bounds of the docs.
#define LATHE_DSL_UNARY(X) \
  X(exp)                   \
  X(exp2)                  \
  X(expm1)                 \
  X(log)                   \
  X(log2)                  \
  X(log1p)                 \
  X(sin) X(cos) X(tan) X(atan) X(tanh) X(erf) X(sqrt) X(cbrt) X(floor) X(ceil) X(trunc) X(round)
#define LATHE_DSL_FUNCTION(name)                                                                  \
  template <detail::IsOperand A>                                                                  \
  auto name(const A& x) {                                                                         \
    using T = typename detail::ElementOf<A>::type;                                                \
    static_assert(detail::is_float_element<T>, "lathe: " #name " needs a floating element type"); \
    return Expr<T>(make_call(CallOp::name, {detail::operand<T>(x)}));                             \
  }
LATHE_DSL_UNARY(LATHE_DSL_FUNCTION)
#undef LATHE_DSL_FUNCTION
#undef LATHE_DSL_UNARY

/// Of signed and floating types; the most negative integer stays itself.
template <detail::IsOperand A>
auto abs(const A& x) {
  using T = typename detail::ElementOf<A>::type;
  static_assert(detail::is_float_element<T> || dtype_of<T>.is_signed(),
                "lathe: abs needs a signed element type");
  return Expr<T>(make_call(CallOp::abs, {detail::operand<T>(x)}));
}
template <detail::IsOperand A>
Expr<bool> is_nan(const A& x) {
  using T = typename detail::ElementOf<A>::type;
  static_assert(detail::is_float_element<T>, "lathe: is_nan needs a floating element type");
  return Expr<bool>(make_call(CallOp::is_nan, {detail::operand<T>(x)}));
}
template <detail::IsOperand A>
auto popcount(const A& x) {
  using T = typename detail::ElementOf<A>::type;
  static_assert(detail::is_int_element<T>, "lathe: popcount needs an integer element type");
  return Expr<T>(make_call(CallOp::popcount, {detail::operand<T>(x)}));
}

// min and max propagate NaN and order -0 < +0; fast_min is a < b ? a : b, fast_max is a > b ? a :
// b. floordiv and floormod round down; a divisor of 0 gives 0.
#define LATHE_DSL_BINARY(X) \
  X(min, true)              \
  X(max, true)              \
  X(fast_min, true)         \
  X(fast_max, true) X(floordiv, detail::is_int_element<T>) X(floormod, detail::is_int_element<T>)
#define LATHE_DSL_FUNCTION(name, condition)                                            \
  template <class A, class B>                                                          \
  requires detail::Operands<A, B>                                                      \
  auto name(const A& a, const B& b) {                                                  \
    using T = detail::Common<A, B>;                                                    \
    static_assert(condition, "lathe: " #name " is not defined for this element type"); \
    return detail::binary<T>(BinaryOp::name, a, b);                                    \
  }
LATHE_DSL_BINARY(LATHE_DSL_FUNCTION)
#undef LATHE_DSL_FUNCTION
#undef LATHE_DSL_BINARY

#define LATHE_DSL_CALLS(X) X(pow) X(atan2) X(copysign)
#define LATHE_DSL_FUNCTION(name)                                                                  \
  template <class A, class B>                                                                     \
  requires detail::Operands<A, B>                                                                 \
  auto name(const A& a, const B& b) {                                                             \
    using T = detail::Common<A, B>;                                                               \
    static_assert(detail::is_float_element<T>, "lathe: " #name " needs a floating element type"); \
    return Expr<T>(make_call(CallOp::name, {detail::operand<T>(a), detail::operand<T>(b)}));      \
  }
LATHE_DSL_CALLS(LATHE_DSL_FUNCTION)
#undef LATHE_DSL_FUNCTION
#undef LATHE_DSL_CALLS

/// a * b + c with one rounding.
template <class A, class B, class C>
requires detail::Operands3<A, B, C>
auto fma(const A& a, const B& b, const C& c) {
  using T = detail::Common3<A, B, C>;
  static_assert(detail::is_float_element<T>, "lathe: fma needs a floating element type");
  return Expr<T>(make_call(CallOp::fma,
                           {detail::operand<T>(a), detail::operand<T>(b), detail::operand<T>(c)}));
}

/// x limited to [low, high].
template <detail::IsExpr A, class B, class C>
auto clip(const A& x, const B& low, const C& high) {
  return min(max(x, low), high);
}
/// The same by its name in C++. (clamp of a tensor is in boundary.hpp.)
template <detail::IsExpr A, class B, class C>
auto clamp(const A& x, const B& low, const C& high) {
  return clip(x, low, high);
}
template <detail::IsExpr A>
auto relu(const A& x) {
  return max(x, 0);
}
template <detail::IsExpr A>
auto sigmoid(const A& x) {
  // e/(1+e) keeps subnormal results, which 1/(1+1/e) loses. From the limit on 1+e is e in all
  // types, and e not yet infinite.
  constexpr int limit = dtype_of<typename detail::ElementOf<A>::type>.bits * 5 / 8;
  auto e = exp(fast_min(limit, x));
  return e / (1 + e);
}
template <detail::IsExpr A>
auto silu(const A& x) {
  return x * sigmoid(x);
}
template <detail::IsExpr A>
auto rsqrt(const A& x) {
  return 1 / sqrt(x);
}
/// x/2 * (1 + erf(x / sqrt(2))).
template <detail::IsExpr A>
auto gelu(const A& x) {
  auto half = x * 0.5;  // not x/2 * (1 + erf): as a sum it is one fma
  return half * erf(x * 0.70710678118654752440) + half;
}
/// The same with tanh: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), which is x * sigmoid of
/// twice that.
template <detail::IsExpr A>
auto gelu_tanh(const A& x) {
  return x * sigmoid(x * 1.59576912160573071176 * (1 + 0.044715 * x * x));
}

}  // namespace lathe

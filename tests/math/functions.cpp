#include "functions.hpp"

namespace test {
namespace {

template <class W>
W exact_sigmoid(W x) {
  return 1 / (1 + std::exp(-x));
}
// erfc keeps what 1 + erf loses.
template <class W>
W exact_gelu(W x) {
  return x * std::erfc(x * W(-0.70710678118654752440L)) / 2;
}
template <class W>
W exact_gelu_tanh(W x) {
  const W c = W(1.59576912160573071176L);
  return x / (1 + std::exp(-c * (x + W(0.044715L) * x * x * x)));
}

// A function that Lathe and the C library have by one name.
#define UNARY(NAME, ...)                                                                          \
  {                                                                                               \
#NAME, 1, [](const E& x, const E&) -> E { return lathe::NAME(x); }, [](Wide <T> x,            \
                                                                           Wide <T>) -> Wide < T> \
    { return std::NAME(x); }, {                                                                   \
      __VA_ARGS__                                                                                 \
    }                                                                                             \
  }
// One that the C library has not.
#define OTHER(NAME, EXACT, ...)                                                                   \
  {                                                                                               \
#NAME, 1, [](const E& x, const E&) -> E { return lathe::NAME(x); }, [](Wide <T> x,            \
                                                                           Wide <T>) -> Wide < T> \
    { return EXACT; }, __VA_ARGS__                                                                \
  }
#define BINARY(NAME, ...)                                                                          \
  {                                                                                                \
#NAME, 2,                                                                                      \
        [](const E& x, const E& y) -> E { return lathe::NAME(x, y); }, [](Wide <T> x,              \
                                                                          Wide <T> y) -> Wide < T> \
    { return std::NAME(x, y); }, {                                                                 \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

template <class T>
std::vector<MathFunction<T>> functions() {
  using E = lathe::Expr<T>;
  constexpr bool f32 = sizeof(T) == 4;
  // Of f32: f64 rounded, where that is not normal. Of f64: what has no accurate version.
  constexpr double rounded = f32 ? 0.51 : kNone;
  return {UNARY(exp, 1.0, 1.0, 1.0),
          UNARY(exp2, 1.0, 1.0, 1.0),
          UNARY(expm1, rounded, f32 ? 1.6 : 2.0, f32 ? 1.6 : 2.0),
          UNARY(log, 1.0, f32 ? 1.6 : 1.0, f32 ? 1.6 : 1.0),
          UNARY(log2, 1.0, f32 ? 2.3 : 1.0, f32 ? 2.3 : 1.0),
          UNARY(log1p, f32 ? 1.0 : kNone, f32 ? 1.8 : 1.6, f32 ? 1.8 : 1.6),
          UNARY(sin, rounded, f32 ? 2.2 : 1.8, f32 ? 2.2 : 1.8),
          UNARY(cos, rounded, 2.2, 2.2),
          UNARY(tan, rounded, 4.0, 4.0),
          UNARY(atan, rounded, f32 ? 1.6 : 2.2, f32 ? 1.6 : 2.2),
          UNARY(tanh, rounded, 2.7, f32 ? 12 : 2.7),
          UNARY(erf, rounded, f32 ? 1.7 : 1.5, f32 ? 12 : 1.5),
          UNARY(cbrt, 1.0, 1.0, 1.0),
          UNARY(sqrt, 0.5, 0.5, f32 ? 1.0 : 0.5),
          BINARY(pow, f32 ? 0.6 : kNone, f32 ? 0.6 : 1.4, f32 ? 0.6 : 1.4),
          BINARY(atan2, rounded, 2.2, 2.2),
          OTHER(rsqrt, 1 / std::sqrt(x), {1.5, 1.5, 1.5}),
          OTHER(sigmoid, exact_sigmoid(x), {2.5, 2.5, 2.5}),
          OTHER(silu, x / (1 + std::exp(-x)), {2.5, 2.5, 2.5}, true),
          OTHER(gelu, exact_gelu(x), {f32 ? 1.5 : kNone, 1.5, f32 ? 6 : 1.5}, true),
          OTHER(gelu_tanh, exact_gelu_tanh(x), {2.5, 2.5, 2.5}, true)};
}

#undef UNARY
#undef OTHER
#undef BINARY

}  // namespace

template <>
std::vector<MathFunction<float>> math_functions<float>() {
  return functions<float>();
}
template <>
std::vector<MathFunction<double>> math_functions<double>() {
  return functions<double>();
}

}  // namespace test

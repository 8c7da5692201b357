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
#define UNARY(NAME, BOUND)                                                                        \
  {                                                                                               \
#NAME, 1, [](const E& x, const E&) -> E { return lathe::NAME(x); }, [](Wide <T> x,            \
                                                                           Wide <T>) -> Wide < T> \
    { return std::NAME(x); }, BOUND                                                               \
  }
// One that the C library has not.
#define OTHER(NAME, EXACT, ...)                                                                   \
  {                                                                                               \
#NAME, 1, [](const E& x, const E&) -> E { return lathe::NAME(x); }, [](Wide <T> x,            \
                                                                           Wide <T>) -> Wide < T> \
    { return EXACT; }, __VA_ARGS__                                                                \
  }
#define BINARY(NAME, BOUND)                                                                        \
  {                                                                                                \
#NAME, 2,                                                                                      \
        [](const E& x, const E& y) -> E { return lathe::NAME(x, y); }, [](Wide <T> x,              \
                                                                          Wide <T> y) -> Wide < T> \
    { return std::NAME(x, y); }, BOUND                                                             \
  }

template <class T>
std::vector<MathFunction<T>> functions() {
  using E = lathe::Expr<T>;
  constexpr bool f32 = sizeof(T) == 4;
  return {UNARY(exp, 1.0),
          UNARY(exp2, 1.0),
          UNARY(log, f32 ? 1.9 : 1.0),
          UNARY(log2, f32 ? 2.0 : 1.0),
          UNARY(expm1, 2.0),
          UNARY(log1p, 2.0),
          UNARY(atan, f32 ? 1.6 : 2.2),
          UNARY(cbrt, 1.0),
          UNARY(sin, f32 ? 2.2 : 1.8),
          UNARY(cos, 2.2),
          UNARY(tan, 4.0),
          UNARY(tanh, 2.7),
          UNARY(erf, f32 ? 1.7 : 1.5),
          UNARY(sqrt, 0.5),
          OTHER(rsqrt, 1 / std::sqrt(x), 1.5),
          OTHER(sigmoid, exact_sigmoid(x), 2.5),
          OTHER(silu, x / (1 + std::exp(-x)), 2.5, true),
          OTHER(gelu, exact_gelu(x), 1.5, true),
          OTHER(gelu_tanh, exact_gelu_tanh(x), 2.0, true),
          BINARY(pow, f32 ? 0.6 : 1.0),
          BINARY(atan2, 2.2)};
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

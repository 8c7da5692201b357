// The bounds of docs/math.md, on a sample of what math_error measures.
#include <doctest/doctest.h>

#include <lathe/runtime/llvm.hpp>

#include "measure.hpp"
#include "support/skip.hpp"

using namespace test;

namespace {

template <class T>
void check_bound(const MathFunction<T>& function, const Worst<T>& worst) {
  CAPTURE(std::string(function.name));
  CAPTURE(worst.x);
  CAPTURE(worst.y);
  CAPTURE(worst.got);
  CHECK(worst.ulp <= function.bound);
}

}  // namespace

TEST_CASE("f32 functions keep their bounds on 2^22 arguments") {
  if (!lathe::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (const auto& function : math_functions<float>()) {
    MeasuredFunction<float> measured(function);
    if (function.arguments == 1)
      measured.measure(1 << 22, [](std::int64_t n) { return std::pair(spread_float(n, 22), 1.f); });
    else
      measured.measure(1 << 20, RandomArguments<float>(5));
    check_bound(function, measured.worst());
  }
}

TEST_CASE("f64 functions keep their bounds on 2^18 arguments") {
  if (!lathe::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (const auto& function : math_functions<double>()) {
    MeasuredFunction<double> measured(function);
    measured.measure(1 << 18, RandomArguments<double>(6));
    check_bound(function, measured.worst());
  }
}

namespace {

template <class T>
std::vector<T> results(std::string_view name, std::vector<T> x) {
  std::vector<T> out(x.size());
  for (const auto& function : math_functions<T>()) {
    if (function.name != name) continue;
    const auto kernel = MeasuredFunction<T>::compiled(function);
    kernel(x, x, out);
  }
  return out;
}

template <class T>
void check_limits() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (std::string_view name : {"sigmoid", "silu", "gelu", "gelu_tanh", "rsqrt"})
    CHECK(std::isnan(results<T>(name, {nan})[0]));
  CHECK(results<T>("sigmoid", {inf, -inf, 0, 1000}) == std::vector<T>{1, 0, T(0.5), 1});
  for (std::string_view name : {"silu", "gelu", "gelu_tanh"})
    CHECK(results<T>(name, {inf, 0, 1000}) == std::vector<T>{inf, 0, 1000});
  CHECK(results<T>("rsqrt", {inf, 0, T(-0.0), 4}) == std::vector<T>{0, inf, -inf, T(0.5)});
}

}  // namespace

TEST_CASE("functions that are made of others have the limits of what they are made of") {
  if (!lathe::Llvm::find()) LATHE_SKIP("no LLVM here");
  check_limits<float>();
  check_limits<double>();
}

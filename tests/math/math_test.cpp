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

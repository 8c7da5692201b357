// Sums of bf16 products as instructions round them.
#pragma once

#include <bit>
#include <cmath>
#include <lathe/ir/scalar.hpp>

namespace lathe::detail {

LATHE_DECL double sum_to_odd(double x, double y) {
  const double sum = x + y, part = sum - x, rest = (x - (sum - part)) + (y - part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (!(rest < 0 || rest > 0) || bits % 2 == 1) return sum;
  return std::bit_cast<double>((rest < 0) == (sum < 0) ? bits + 1 : bits - 1);
}

inline float without_subnormal(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

// The least normal number is also what a result below it rounds to, if its exponent has an end:
// the same sum of larger numbers tells them apart. Where a is then infinite, b can only be zero.
LATHE_DECL float scalar_dot2_step(float sum, float a, float b) {
  sum = without_subnormal(sum), a = without_subnormal(a), b = without_subnormal(b);
  const float result = std::fma(a, b, sum);
  if (!(std::fabs(result) <= 0x1p-126f)) return result;
  const float larger = std::fma(a * 0x1p32f, b, sum * 0x1p32f);
  return std::fabs(larger) < 0x1p-94f ? std::copysign(0.0f, result) : result;
}

// To odd, or infinite; no subnormal numbers.
inline float scalar_odd_sum(float x, float y) {
  const double sum = sum_to_odd(without_subnormal(x), without_subnormal(y));
  const double size = std::fabs(sum);
  if (size < 0x1p-126) return std::copysign(0.0f, static_cast<float>(sum));
  if (!(size < 0x1p128)) return static_cast<float>(sum);
  constexpr std::uint64_t kLost = (std::uint64_t{1} << 29) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  const auto kept = static_cast<float>(std::bit_cast<double>(bits & ~kLost));
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(kept) | ((bits & kLost) != 0));
}

LATHE_DECL float scalar_odd_dot2(float sum, const float* a, const float* b) {
  const auto product = [&](int k) { return without_subnormal(a[k]) * without_subnormal(b[k]); };
  return scalar_odd_sum(sum, scalar_odd_sum(product(0), product(1)));
}

}  // namespace lathe::detail

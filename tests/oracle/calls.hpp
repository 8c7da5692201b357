// What the calls that work lane by lane make of their arguments, and one step of dot2.
#pragma once

#include <cfloat>

#include "operators.hpp"

namespace oracle {

using lathe::CallOp;

/// The C library's function in f64.
inline double library_function(CallOp op, double x, double y) {
  switch (op) {
    case CallOp::exp:
      return std::exp(x);
    case CallOp::exp2:
      return std::exp2(x);
    case CallOp::log:
      return std::log(x);
    case CallOp::log2:
      return std::log2(x);
    case CallOp::sin:
      return std::sin(x);
    case CallOp::cos:
      return std::cos(x);
    case CallOp::tan:
      return std::tan(x);
    case CallOp::tanh:
      return std::tanh(x);
    case CallOp::erf:
      return std::erf(x);
    case CallOp::expm1:
      return std::expm1(x);
    case CallOp::log1p:
      return std::log1p(x);
    case CallOp::atan:
      return std::atan(x);
    case CallOp::atan2:
      return std::atan2(x, y);
    case CallOp::cbrt:
      return std::cbrt(x);
    case CallOp::sqrt:
      return std::sqrt(x);
    case CallOp::pow:
      return std::pow(x, y);
    case CallOp::abs:
      return std::fabs(x);
    case CallOp::floor:
      return std::floor(x);
    case CallOp::ceil:
      return std::ceil(x);
    case CallOp::trunc:
      return std::trunc(x);
    case CallOp::round:
      return std::rint(x);
    case CallOp::copysign:
      return std::copysign(x, y);
    default:
      no_meaning("this call");
  }
}

/// x * 2^n, n rounded down, before the one rounding: a wide float has exponents to spare.
inline Wide scaled(double x, double n) {
  static_assert(std::numeric_limits<Wide>::min_exponent < -8000, "exponents to spare");
  if (std::isnan(n)) return std::numeric_limits<Wide>::quiet_NaN();
  if (std::isinf(n)) return static_cast<Wide>(x) * (n > 0 ? static_cast<Wide>(n) : 0);
  return std::scalbln(static_cast<Wide>(x),
                      static_cast<long>(std::floor(std::clamp(n, -5000.0, 5000.0))));
}

/// x by powers of two to [3/4, 3/2): its significand, and how often it was halved.
struct Parts {
  double significand = 1;
  int halved = 0;
};
inline Parts parts_of(double x) {
  Parts p{x, 0};
  for (; p.significand >= 1.5; ++p.halved) p.significand /= 2;
  for (; p.significand < 0.75; --p.halved) p.significand *= 2;
  return p;
}

inline double exponent_of(double x) {
  if (std::isnan(x)) return x;
  const double size = std::fabs(x);
  if (size == 0 || std::isinf(x)) return size == 0 ? -HUGE_VAL : HUGE_VAL;
  const Parts p = parts_of(size);
  return p.significand < 1 ? p.halved - 1 : p.halved;
}

inline double significand_of(double x) {
  if (x == 0 || x == HUGE_VAL) return 1;
  return x > 0 ? parts_of(x).significand : std::numeric_limits<double>::quiet_NaN();
}

/// x + y to so many bits with any exponent: of the two neighbours that whose last bit is set.
inline double odd_sum(double x, double y, int bits) {
  const double high = x + y;
  if (!std::isfinite(high) || high == 0) return high;
  const double part = high - x, low = (x - (high - part)) + (y - part);
  int exponent = 0;
  const double units = std::ldexp(std::frexp(std::fabs(high), &exponent), bits);
  double whole = std::floor(units);
  const double below = std::copysign(1.0, high) * low;
  if (units == whole && below < 0) whole -= 1;
  const bool exact = units == whole && below == 0;
  if (!exact && std::fmod(whole, 2) == 0) whole += 1;
  return std::copysign(std::ldexp(whole, exponent - bits), high);
}

inline Number fused(DType t, Number a, Number b, Number c) {
  if (t.bits == 64) return real_number(std::fma(a.real, b.real, c.real));
  if (t.bits == 32)
    return real_number(std::fma(static_cast<float>(a.real), static_cast<float>(b.real),
                                static_cast<float>(c.real)));
  return real_number(rounded(t, odd_sum(a.real * b.real, c.real, 53)));  // the product is exact
}

inline Whole ones_in(std::uint64_t bits) {
  Whole count = 0;
  for (; bits != 0; bits >>= 1) count += bits & 1;
  return count;
}

/// t is the type of the arguments.
inline Number call(CallOp op, DType t, const std::vector<Number>& args) {
  const Number x = args[0];
  if (op == CallOp::popcount) return whole_number(wrapped(t, ones_in(bits_of(t, x))));
  if (!t.is_float()) {
    if (op != CallOp::abs) no_meaning("this call on integers");
    return whole_number(wrapped(t, x.whole < 0 ? -x.whole : x.whole));
  }
  if (op == CallOp::is_nan) return whole_number(std::isnan(x.real));
  if (op == CallOp::fma) return fused(t, x, args[1], args[2]);
  if (op == CallOp::scalb) return real_number(rounded(t, scaled(x.real, args[1].real)));
  if (op == CallOp::logb) return real_number(rounded(t, exponent_of(x.real)));
  if (op == CallOp::significand) return real_number(rounded(t, significand_of(x.real)));
  if (op == CallOp::reciprocal_estimate) return real_number(rounded(t, 1 / x.real));
  if (op == CallOp::rsqrt_estimate) return real_number(rounded(t, 1 / std::sqrt(x.real)));
  const double y = args.size() > 1 ? args[1].real : 0;
  return real_number(rounded(t, library_function(op, x.real, y)));
}

/// A subnormal of f32 as a zero of its sign.
inline double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

/// high + low, of which low is less than half a unit of high in f64, to 24 bits with any exponent.
inline double to_24_bits(double high, double low) {
  if (high == 0) return high;
  int exponent = 0;
  const double scaled_up = std::ldexp(std::frexp(std::fabs(high), &exponent), 24);
  const double rest = std::copysign(1.0, high) * low;
  double units = std::floor(scaled_up), fraction = scaled_up - units;
  const bool above = fraction > 0.5 || (fraction == 0.5 && rest > 0);
  const bool tie = fraction == 0.5 && rest == 0;
  if (above || (tie && std::fmod(units, 2) == 1)) units += 1;
  return std::copysign(std::ldexp(units, exponent - 24), high);
}

/// fma(a, b, sum) of bf16 and f32 as dot2 has it: operands that are subnormal, and results that
/// would be with any exponent, are zeros of their sign.
inline double dot2_step(double sum, double a, double b) {
  sum = flushed(sum), a = flushed(a), b = flushed(b);
  const double product = a * b;  // 16 bits: exact
  const double high = product + sum;
  if (!std::isfinite(high)) return high;
  const double part = high - product;
  const double low = (product - (high - part)) + (sum - part);
  const double result = flushed(to_24_bits(high, low));
  return std::fabs(result) > FLT_MAX ? std::copysign(HUGE_VAL, result) : result;
}

/// sum + (a0*b0 + a1*b1) as odd_dot2 has it.
inline double odd_dot2(double sum, double a0, double b0, double a1, double b1) {
  const auto add = [](double x, double y) {
    const double total = odd_sum(flushed(x), flushed(y), 24);
    if (std::fabs(total) >= 0x1p128) return std::copysign(HUGE_VAL, total);
    return flushed(total);
  };
  const auto times = [](double x, double y) {
    const double product = flushed(flushed(x) * flushed(y));
    return std::fabs(product) >= 0x1p128 ? std::copysign(HUGE_VAL, product) : product;
  };
  return add(sum, add(times(a0, b0), times(a1, b1)));
}

}  // namespace oracle

// What a number of an element type is: its value, how it rounds or wraps to the type, and its bits.
//
// Written from the semantics in ir/expr.hpp alone. An integer is carried without a width (128 bits
// hold what any operator makes of two operands of 64), a float as the double that it equals.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <lathe/ir/dtype.hpp>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

namespace oracle {

using lathe::DType;
using lathe::TypeCode;

__extension__ typedef __int128 Whole;
__extension__ typedef unsigned __int128 WholeBits;

// Every integer of 64 bits is one of these, so that each conversion rounds once.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits >= 64, "a wide float holds all 64-bit integers");

/// An integer or boolean in `whole`, a float in `real`; the type says which.
struct Number {
  Whole whole = 0;
  double real = 0;
};

inline Number whole_number(Whole value) { return {value, 0}; }
inline Number real_number(double value) { return {0, value}; }

/// value modulo 2^bits, from -2^(bits-1) for signed types, from 0 for others.
inline Whole wrapped(DType t, Whole value) {
  const Whole modulus = Whole{1} << t.bits;
  const Whole rest = (value % modulus + modulus) % modulus;
  return t.is_signed() && rest >= modulus / 2 ? rest - modulus : rest;
}

/// All values of a float type of at most 16 bits that are finite and not negative, by bit pattern:
/// the patterns are in the order of the values.
struct NarrowFormat {
  int exponent_bits, mantissa_bits;
  bool has_infinity;           ///< else the last pattern is NaN, and overflow gives it
  std::vector<double> values;  ///< one more than there are: where overflow begins

  NarrowFormat(int its_exponent_bits, int its_mantissa_bits, bool its_infinity)
      : exponent_bits(its_exponent_bits),
        mantissa_bits(its_mantissa_bits),
        has_infinity(its_infinity) {
    const unsigned top = ((1u << exponent_bits) - 1) << mantissa_bits;
    const unsigned count = has_infinity ? top : top + (1u << mantissa_bits) - 1;
    for (unsigned pattern = 0; pattern <= count; ++pattern) values.push_back(value_of(pattern));
  }
  unsigned finite_count() const { return static_cast<unsigned>(values.size()) - 1; }
  unsigned sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  unsigned overflow_pattern() const { return finite_count(); }
  unsigned nan_pattern() const { return has_infinity ? finite_count() + 1 : finite_count(); }

 private:
  double value_of(unsigned pattern) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const unsigned hidden = 1u << mantissa_bits;
    const unsigned fraction = pattern % hidden;
    const int exponent = static_cast<int>(pattern / hidden);
    if (exponent == 0) return std::ldexp(fraction, 1 - bias - mantissa_bits);
    return std::ldexp(hidden + fraction, exponent - bias - mantissa_bits);
  }
};

/// Of f16, bf16, f8e4m3 and f8e5m2.
inline const NarrowFormat& narrow_format(DType t) {
  static const NarrowFormat half(5, 10, true), brain(8, 7, true), e4m3(4, 3, false),
      e5m2(5, 2, true);
  switch (t.code) {
    case TypeCode::bfloat:
      return brain;
    case TypeCode::e4m3:
      return e4m3;
    case TypeCode::e5m2:
      return e5m2;
    default:
      return half;
  }
}

/// The pattern, without sign, of the value next to a magnitude; of two equally near, the even one.
inline unsigned nearest_pattern(const NarrowFormat& f, Wide magnitude) {
  const auto above = std::upper_bound(f.values.begin(), f.values.end(), magnitude);
  if (above == f.values.end()) return f.overflow_pattern();
  const auto high = static_cast<unsigned>(above - f.values.begin()), low = high - 1;
  const Wide middle = (static_cast<Wide>(f.values[low]) + f.values[high]) / 2;
  if (magnitude != middle) return magnitude < middle ? low : high;
  return low % 2 == 0 ? low : high;
}

inline double overflow_value(const NarrowFormat& f) {
  return f.has_infinity ? std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN();
}

/// value rounded once to a float type, to nearest even.
inline double rounded(DType t, Wide value) {
  if (t.bits == 64) return static_cast<double>(value);
  if (t.bits == 32) return static_cast<double>(static_cast<float>(value));
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  const NarrowFormat& f = narrow_format(t);
  const unsigned pattern = nearest_pattern(f, std::fabs(value));
  const double magnitude = pattern >= f.overflow_pattern() ? overflow_value(f) : f.values[pattern];
  return std::copysign(magnitude, std::signbit(value) ? -1.0 : 1.0);
}

/// The bits of a number, the low ones of the result; a NaN has one pattern.
inline std::uint64_t bits_of(DType t, Number n) {
  if (!t.is_float()) {
    const auto all = static_cast<WholeBits>(n.whole);
    return static_cast<std::uint64_t>(all & ((WholeBits{1} << t.bits) - 1));
  }
  if (t.bits == 64) return std::bit_cast<std::uint64_t>(n.real);
  if (t.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(n.real));
  const NarrowFormat& f = narrow_format(t);
  const unsigned sign = std::signbit(n.real) ? f.sign_bit() : 0;
  if (std::isnan(n.real)) return sign | f.nan_pattern();
  return sign | nearest_pattern(f, std::fabs(n.real));
}

inline Number from_bits(DType t, std::uint64_t bits) {
  if (!t.is_float()) return whole_number(wrapped(t, static_cast<Whole>(bits)));
  if (t.bits == 64) return real_number(std::bit_cast<double>(bits));
  if (t.bits == 32) return real_number(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const NarrowFormat& f = narrow_format(t);
  const auto pattern = static_cast<unsigned>(bits) % f.sign_bit();
  double magnitude = std::numeric_limits<double>::quiet_NaN();
  if (pattern < f.finite_count()) magnitude = f.values[pattern];
  if (pattern == f.overflow_pattern()) magnitude = overflow_value(f);
  const bool negative = static_cast<unsigned>(bits) & f.sign_bit();
  return real_number(std::copysign(magnitude, negative ? -1.0 : 1.0));
}

/// An element in memory: numbers of less than 8 bits take a byte, with their sign.
inline Number read_bytes(DType t, const char* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(t.element_bytes()));
  if (t.is_bool()) return whole_number(bits != 0);
  return from_bits(t, bits);
}
inline void write_bytes(DType t, char* at, Number n) {
  const std::uint64_t bits =
      t.is_float() ? bits_of(t, n) : static_cast<std::uint64_t>(static_cast<WholeBits>(n.whole));
  std::memcpy(at, &bits, static_cast<std::size_t>(t.element_bytes()));
}

/// The same value; NaNs are alike, zeros of two signs are not.
inline bool same(DType t, Number a, Number b) {
  if (!t.is_float()) return a.whole == b.whole;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && std::isnan(b.real);
  return a.real == b.real && std::signbit(a.real) == std::signbit(b.real);
}

}  // namespace oracle

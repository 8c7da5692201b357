// Numbers narrower than a machine type, their rounding and storage in C++: f16, bf16, f8e4m3,
// f8e5m2, i4, u4.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <lathe/ir/dtype.hpp>
#include <lathe/support/element_type.hpp>
#include <limits>
#include <type_traits>

namespace lathe {
namespace detail {

/// What a small float format is made of. Finite: no infinity, one NaN per sign (e4m3).
struct FloatFormat {
  int exponent_bits, mantissa_bits;
  bool finite;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr FloatFormat float_format(DType t) {
  switch (t.code) {
    case TypeCode::bfloat:
      return {8, 7, false};
    case TypeCode::e4m3:
      return {4, 3, true};
    case TypeCode::e5m2:
      return {5, 2, false};
    default:
      return t.bits == 16 ? FloatFormat{5, 10, false} : FloatFormat{8, 23, false};
  }
}

/// The bits of value in a format of at most 16 bits, rounded to nearest even; overflow gives
/// infinity, or NaN if finite.
inline std::uint32_t encode_float(FloatFormat f, double value) {
  const std::uint32_t sign = std::signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  const std::uint32_t top = (1u << f.exponent_bits) - 1;
  const std::uint32_t nan = f.finite ? (top << f.mantissa_bits) | ((1u << f.mantissa_bits) - 1)
                                     : (top << f.mantissa_bits) | (1u << (f.mantissa_bits - 1));
  if (std::isnan(value)) return sign | nan;
  const std::uint32_t overflow = f.finite ? nan : top << f.mantissa_bits;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | overflow;
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - f.bias()) exponent = 1 - f.bias();
  // An integer number of units in the last place; nearbyint rounds to nearest even in the default
  // environment.
  auto units =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent)));
  // units carries into the exponent field by plain addition, also from subnormal to normal.
  std::uint32_t bits =
      (static_cast<std::uint32_t>(exponent + f.bias() - 1) << f.mantissa_bits) + units;
  const std::uint32_t largest = f.finite ? nan - 1 : (top << f.mantissa_bits) - 1;
  return sign | (bits > largest ? overflow : bits);
}

inline double decode_float(FloatFormat f, std::uint32_t bits) {
  const std::uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const std::uint32_t top = (1u << f.exponent_bits) - 1;
  const std::uint32_t exponent = (bits >> f.mantissa_bits) & top;
  const bool negative = (bits >> (f.exponent_bits + f.mantissa_bits)) & 1;
  double magnitude;
  if (exponent == top && !f.finite) {
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  } else if (f.finite && exponent == top && mantissa == (1u << f.mantissa_bits) - 1) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, 1 - f.bias() - f.mantissa_bits);
  } else {
    magnitude = std::ldexp(mantissa + (1u << f.mantissa_bits),
                           static_cast<int>(exponent) - f.bias() - f.mantissa_bits);
  }
  return std::copysign(magnitude, negative ? -1.0 : 1.0);
}

/// value rounded to a scalar floating type, as a double.
inline double round_to(DType t, double value) {
  if (t.bits == 64) return value;
  if (t.bits == 32) return static_cast<double>(static_cast<float>(value));
  return decode_float(float_format(t), encode_float(float_format(t), value));
}

}  // namespace detail

/// A float of 8 or 16 bits as C++ stores it; converts to float exactly and from float with one
/// rounding.
template <TypeCode Code, class Storage>
struct SmallFloat {
  Storage bits = 0;

  static constexpr DType dtype{Code, sizeof(Storage) * 8};
  SmallFloat() = default;
  SmallFloat(float value)
      : bits(static_cast<Storage>(detail::encode_float(detail::float_format(dtype), value))) {}
  operator float() const {
    return static_cast<float>(detail::decode_float(detail::float_format(dtype), bits));
  }
};
using f16 = SmallFloat<TypeCode::ieee, std::uint16_t>;
using bf16 = SmallFloat<TypeCode::bfloat, std::uint16_t>;
using f8e4m3 = SmallFloat<TypeCode::e4m3, std::uint8_t>;
using f8e5m2 = SmallFloat<TypeCode::e5m2, std::uint8_t>;

/// A 4-bit integer in one byte; a value outside its range wraps.
struct i4 {
  std::int8_t value = 0;
  i4() = default;
  i4(int v) : value(static_cast<std::int8_t>(static_cast<std::int8_t>(v << 4) >> 4)) {}
  operator int() const { return value; }
};
struct u4 {
  std::uint8_t value = 0;
  u4() = default;
  u4(int v) : value(static_cast<std::uint8_t>(v & 15)) {}
  operator int() const { return value; }
};

/// Which element type carries T; incomplete for a T that none carries.
template <class T>
struct DTypeOf;
#define LATHE_DTYPE_OF(type, constant)       \
  template <>                                \
  struct DTypeOf<type> {                     \
    static constexpr DType value = constant; \
  };
LATHE_DTYPE_OF(bool, kBool)
LATHE_DTYPE_OF(std::int8_t, kI8)
LATHE_DTYPE_OF(std::uint8_t, kU8)
LATHE_DTYPE_OF(std::int16_t, kI16)
LATHE_DTYPE_OF(std::uint16_t, kU16)
LATHE_DTYPE_OF(std::int32_t, kI32)
LATHE_DTYPE_OF(std::uint32_t, kU32)
LATHE_DTYPE_OF(std::int64_t, kI64)
LATHE_DTYPE_OF(std::uint64_t, kU64)
LATHE_DTYPE_OF(float, kF32)
LATHE_DTYPE_OF(double, kF64)
LATHE_DTYPE_OF(i4, kI4)
LATHE_DTYPE_OF(u4, kU4)
LATHE_DTYPE_OF(f16, kF16)
LATHE_DTYPE_OF(bf16, kBF16)
LATHE_DTYPE_OF(f8e4m3, kE4M3)
LATHE_DTYPE_OF(f8e5m2, kE5M2)
#undef LATHE_DTYPE_OF

namespace detail {

// One of long and long long is std::int64_t; the other has the same values, but is another type.
template <class T>
concept LongInteger = std::is_same_v<T, long> || std::is_same_v<T, long long> ||
    std::is_same_v<T, unsigned long> || std::is_same_v<T, unsigned long long>;

}  // namespace detail

template <detail::LongInteger T>
struct DTypeOf<T> {
  static constexpr DType value{std::is_signed_v<T> ? TypeCode::sint : TypeCode::uint,
                               sizeof(T) * 8};
};

/// A C++ type that an element type carries.
template <class T>
concept HasDType = requires {
  DTypeOf<std::remove_const_t<T>>::value;
};

namespace detail {

template <class T>
constexpr DType checked_dtype() {
  static_assert(HasDType<T>,
                "lathe: this C++ type is no element type. There are bool, the integers of 8, 16, "
                "32 and 64 bits, float, double, lt::f16, lt::bf16, lt::f8e4m3, lt::f8e5m2, lt::i4 "
                "and lt::u4");
  if constexpr (HasDType<T>)
    return DTypeOf<std::remove_const_t<T>>::value;
  else
    return {};
}

}  // namespace detail

/// The element type that carries T.
template <class T>
inline constexpr DType dtype_of = detail::checked_dtype<T>();

/// Two C++ types that one element type carries: std::int64_t and long long, where they differ.
template <class A, class B>
concept SameDType = HasDType<A> && HasDType<B> && dtype_of<A>
== dtype_of<B>;

/// What views of an element type's values say that they hold.
constexpr ElementType element_type_of(DType t) {
  ElementType out{ElementType::floating, t.bits};
  if (t.is_signed()) out.code = ElementType::integer;
  if (t.is_unsigned()) out.code = ElementType::unsigned_integer;
  if (t.code == TypeCode::bfloat) out.code = ElementType::bfloat;
  if (t.code == TypeCode::e4m3) out.code = ElementType::float8_e4m3;
  if (t.code == TypeCode::e5m2) out.code = ElementType::float8_e5m2;
  if (t.is_bool()) out = {ElementType::boolean, 8};
  return out;
}

template <TypeCode Code, class Storage>
struct ElementTypeOf<SmallFloat<Code, Storage>> {
  static constexpr ElementType value = element_type_of(SmallFloat<Code, Storage>::dtype);
};
template <>
struct ElementTypeOf<i4> {
  static constexpr ElementType value = element_type_of(kI4);
};
template <>
struct ElementTypeOf<u4> {
  static constexpr ElementType value = element_type_of(kU4);
};

}  // namespace lathe

// Types of elements in memory, as numbers for layers that share no types.
#pragma once

#include <cstdint>
#include <type_traits>

namespace lathe {

/// DLPack's codes, and the bits of one lane.
struct ElementType {
  enum Code : std::uint8_t {
    integer = 0,
    unsigned_integer = 1,
    floating = 2,
    bfloat = 4,
    boolean = 6,
    float8_e4m3 = 10,
    float8_e5m2 = 12,
    other = 255  ///< matches no parameter
  };
  Code code = other;
  std::uint8_t bits = 0;

  friend constexpr bool operator==(ElementType a, ElementType b) {
    return a.code == b.code && a.bits == b.bits;
  }
};

/// ElementType of T. Specialise for number types of your own (a half, a bfloat16):
///     template <> struct lathe::ElementTypeOf<Half> {
///       static constexpr ElementType value{ElementType::floating, 16};
///     };
template <class T>
struct ElementTypeOf {
  static constexpr ElementType value{
      std::is_same_v<T, bool>       ? ElementType::boolean
      : std::is_floating_point_v<T> ? ElementType::floating
      : !std::is_integral_v<T>      ? ElementType::other
      : std::is_signed_v<T>         ? ElementType::integer
                                    : ElementType::unsigned_integer,
      static_cast<std::uint8_t>(std::is_same_v<T, bool> ? 8 : sizeof(T) * 8)};
};

}  // namespace lathe

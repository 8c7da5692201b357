// Element types: their widths, and the C++ type that carries each.
#pragma once

#include <cstdint>
#include <lathe/support/config.hpp>
#include <string>
#include <string_view>

namespace lathe {

enum class TypeCode : std::uint8_t { boolean, sint, uint, ieee, bfloat, e4m3, e5m2 };

/// A scalar type times a number of lanes. A boolean, a 4-bit integer and an 8-bit float take one
/// byte in memory (4-bit integers are kept one a byte, sign- or zero-extended).
struct DType {
  TypeCode code = TypeCode::sint;
  std::uint8_t bits = 64;
  std::uint16_t lanes = 1;
  bool scalable = false;  ///< lanes × vscale

  constexpr bool operator==(const DType&) const = default;

  constexpr bool is_bool() const { return code == TypeCode::boolean; }
  constexpr bool is_signed() const { return code == TypeCode::sint; }
  constexpr bool is_unsigned() const { return code == TypeCode::uint; }
  constexpr bool is_int() const { return is_signed() || is_unsigned(); }
  constexpr bool is_float() const { return code >= TypeCode::ieee; }
  constexpr bool is_vector() const { return lanes != 1 || scalable; }
  constexpr DType with_lanes(int n) const {
    return {code, bits, static_cast<std::uint16_t>(n), false};
  }
  constexpr DType scalar() const { return {code, bits, 1, false}; }
  /// Bytes that one element of the scalar type takes in memory.
  constexpr int element_bytes() const { return bits < 8 ? 1 : bits / 8; }
  constexpr int bytes() const { return element_bytes() * lanes; }
  /// "f32", "bool", "i64x4", "f8e4m3".
  std::string str() const;
};

/// The inverse of DType::str; false if the text names no type.
bool parse_dtype(std::string_view text, DType& out);

inline constexpr DType kBool{TypeCode::boolean, 1};
inline constexpr DType kI4{TypeCode::sint, 4}, kI8{TypeCode::sint, 8}, kI16{TypeCode::sint, 16},
    kI32{TypeCode::sint, 32}, kI64{TypeCode::sint, 64};
inline constexpr DType kU4{TypeCode::uint, 4}, kU8{TypeCode::uint, 8}, kU16{TypeCode::uint, 16},
    kU32{TypeCode::uint, 32}, kU64{TypeCode::uint, 64};
inline constexpr DType kF16{TypeCode::ieee, 16}, kF32{TypeCode::ieee, 32}, kF64{TypeCode::ieee, 64};
inline constexpr DType kBF16{TypeCode::bfloat, 16};
inline constexpr DType kE4M3{TypeCode::e4m3, 8}, kE5M2{TypeCode::e5m2, 8};

/// The type of every index, extent and loop variable.
inline constexpr DType kIndex = kI64;

}  // namespace lathe

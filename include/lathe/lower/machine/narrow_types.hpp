// Arithmetic of types narrower than a machine type, on their bits as integer expressions.
#pragma once

#include <lathe/ir/machine_form.hpp>

namespace lathe::detail {

/// The integer type that carries its bits: u16 or u8 of a float, i8 of i4, u8 of u4.
constexpr DType carrier_of(DType t) {
  if (t.bits == 4) return DType{t.code, 8, t.lanes, false};
  return DType{TypeCode::uint, t.bits, t.lanes, false};
}

/// The f32 value of a narrow float's bits.
AnyExpr decode_narrow(DType narrow, const AnyExpr& bits, const TargetCaps& caps);
/// The bits of an f32 or f64 value rounded to nearest even, as encode_float of ir/narrow.hpp.
AnyExpr encode_narrow(DType narrow, const AnyExpr& value, const TargetCaps& caps);
/// x + y of f64, rounded to odd: rounded again to half as many bits it is rounded once.
AnyExpr sum_to_odd(const AnyExpr& x, const AnyExpr& y);
/// The f64 value as f32, rounded to odd.
AnyExpr f32_to_odd(const AnyExpr& value);
/// The value of an i8 or u8 wrapped to four bits.
AnyExpr wrap_narrow(DType narrow, const AnyExpr& bits);

}  // namespace lathe::detail

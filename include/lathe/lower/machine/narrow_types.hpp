// Arithmetic of types narrower than a machine type, on their bits as integer expressions.
#pragma once

#include <lathe/ir/expr.hpp>
#include <lathe/support/target.hpp>

namespace lathe::detail {

/// Whether legalize_types replaces the type.
constexpr bool is_narrow(DType t) { return t.bits == 4 || (t.is_float() && t.bits < 32); }
/// The integer type that carries its bits: u16 or u8 of a float, i8 of i4, u8 of u4.
constexpr DType carrier_of(DType t) {
  if (t.bits == 4) return DType{t.code, 8, t.lanes, false};
  return DType{TypeCode::uint, t.bits, t.lanes, false};
}

/// The f32 value of a narrow float's bits.
AnyExpr decode_narrow(DType narrow, const AnyExpr& bits, const Target& target);
/// The bits of an f32 or f64 value rounded to nearest even, as encode_float of ir/narrow.hpp.
AnyExpr encode_narrow(DType narrow, const AnyExpr& value, const Target& target);
/// The value of an i8 or u8 wrapped to four bits.
AnyExpr wrap_narrow(DType narrow, const AnyExpr& bits);

/// body(x) with x bound to a variable unless it is one already, so that it is computed once.
template <class F>
AnyExpr with_value(const char* name, const AnyExpr& x, F body) {
  if (x.kind() == ExprKind::Var || x.kind() == ExprKind::Const) return body(x);
  VarRef var = make_var(name, x.dtype());
  return make_let(var, x, body(AnyExpr(var)));
}

}  // namespace lathe::detail

// What Stage::machine asks of single nodes, and the same values in nodes that keep it: operators
// whose meaning no machine has become ones that all have.
//
// An emitter maps each node to what the machine does, so at Stage::machine these mean no more:
//   div mod      of integers: by a constant other than 0 (and, signed, -1), or by the
//                divisor with 1 in the place of these; fmod of floats
//   shl shr      by a count that is a constant below the width, or "count & mask" with mask below
//   it min max      of integers; of floats only fast_min and fast_max, which are a comparison each
//   cast         of a float to an integer: of a value that fast_min, fast_max and selects by "<"
//                with constants hold inside of the integer's range
//   calls        that kMathTable calls native, or a call
//   select       by lanes computes both arms: loads in them have masks, or happened before
// and there are no floordiv and floormod, no min and max of bool, no abs of integers, and no values
// of narrow types, except that f16 comes from and goes to its bits and f32 where there are casts.
#pragma once

#include <lathe/ir/expr.hpp>
#include <lathe/ir/math_table.hpp>
#include <string_view>

namespace lathe::detail {

/// Whether legalize_types replaces the type.
constexpr bool is_narrow(DType t) { return t.bits == 4 || (t.is_float() && t.bits < 32); }

/// Which of these rules the node itself breaks; empty: none.
std::string_view machine_problem(const AnyExpr& e, const TargetCaps& caps);

/// The value of `a op b` in nodes that keep the rules; a and b keep them.
AnyExpr machine_binary(BinaryOp op, const AnyExpr& a, const AnyExpr& b);
/// Likewise of a cast of a float to an integer, and of the abs of an integer.
AnyExpr machine_conversion(DType to, const AnyExpr& value);
AnyExpr machine_abs(const AnyExpr& value);

/// body(x) with x bound to a variable unless it is one already, so that it is computed once.
template <class F>
AnyExpr with_value(const char* name, const AnyExpr& x, F body) {
  if (x.kind() == ExprKind::Var || x.kind() == ExprKind::Const) return body(x);
  VarRef var = make_var(name, x.dtype());
  return make_let(var, x, body(AnyExpr(var)));
}

}  // namespace lathe::detail

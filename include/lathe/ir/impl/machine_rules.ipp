#pragma once

#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/tile.hpp>

namespace lathe::detail {

inline bool is_at_least(const AnyExpr& e, std::int64_t least) {
  const auto* n = e.as<BinaryNode>();
  return n && n->op == BinaryOp::max && n->dtype.is_unsigned() && is_const(n->b, least);
}

/// A constant, or what `nontrivial` writes.
inline bool legal_divisor(const AnyExpr& b) {
  if (const std::int64_t* known = as_const_int(b)) return divides_alone(b.dtype(), *known);
  if (b.dtype().is_unsigned()) return is_at_least(b, 1);
  const auto* same = b.as<CastNode>();
  const auto* less = same ? same->value.as<BinaryNode>() : nullptr;
  return less && less->op == BinaryOp::sub && is_const(less->b, 1) && is_at_least(less->a, 2) &&
         less->dtype.bits == b.dtype().bits;
}

inline bool legal_count(const AnyExpr& count) {
  const auto below_width = [&](const AnyExpr& e) {
    const std::int64_t* known = as_const_int(e);
    return known && *known >= 0 && *known < count.dtype().bits;
  };
  const auto* n = count.as<BinaryNode>();
  return below_width(count) || (n && n->op == BinaryOp::bit_and && below_width(n->b));
}

/// What constants say about a float: not below the range's low end, below its upper end.
struct Held {
  bool low = false, high = false;
};
inline Held held_in(const AnyExpr& e, const IntegerRange& range) {
  if (const ConstNode* c = float_constant(e)) return {c->f >= range.low, c->f < range.above};
  if (const auto* n = e.as<BinaryNode>();
      n && (n->op == BinaryOp::fast_min || n->op == BinaryOp::fast_max)) {
    // The constant on the right is what a NaN becomes.
    const Held a = held_in(n->a, range), b = held_in(n->b, range);
    if (!float_constant(n->b)) return {};
    if (n->op == BinaryOp::fast_min) return {a.low && b.low, b.high};
    return {b.low, a.high && b.high};
  }
  // What is less than half below the end is not rounded to it.
  if (const auto* n = e.as<CallNode>(); n && n->op == CallOp::round)
    return held_in(n->args[0], {range.low, range.above - 0.5, range.exact});
  const auto* n = e.as<SelectNode>();
  if (const auto* test = n ? n->condition.as<CallNode>() : nullptr;
      test && test->op == CallOp::is_nan) {
    const Held yes = held_in(n->yes, range), no = held_in(n->no, range);
    return {yes.low && no.low, yes.high && no.high};
  }
  const auto* less = n ? n->condition.as<BinaryNode>() : nullptr;
  const ConstNode* limit = less ? float_constant(less->b) : nullptr;
  if (!limit || less->op != BinaryOp::lt || !less->a.same_as(n->yes)) return {};
  const Held no = held_in(n->no, range);
  return {false, limit->f <= range.above && no.high};
}

inline std::string_view binary_rule(const BinaryNode& n) {
  const DType t = n.a.dtype();
  switch (n.op) {
    case BinaryOp::div:
    case BinaryOp::mod:
      return t.is_float() || legal_divisor(n.b) ? "" : "a division whose divisor may be 0 or -1";
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      return "a floor division";
    case BinaryOp::shl:
    case BinaryOp::shr:
      return legal_count(n.b) ? "" : "a shift whose count may reach the width";
    case BinaryOp::min:
    case BinaryOp::max:
      return t.is_int() ? "" : "min or max of no integers";
    default:
      return {};
  }
}

/// Of an f16 nothing is computed but fma; it may have a name until it is cast.
inline bool legal_narrow(const AnyExpr& e, const TargetCaps& caps) {
  if (!caps.half || e.dtype().scalar() != kF16) return false;
  const auto* call = e.as<CallNode>();
  return e.kind() != ExprKind::Binary && e.kind() != ExprKind::Unary &&
         (!call || call->op == CallOp::reinterpret || (call->op == CallOp::fma && caps.half_fma));
}

inline std::string_view cast_rule(const CastNode& n) {
  const DType from = n.value.dtype(), to = n.dtype;
  if (!from.is_float() || !to.is_int()) return {};
  const Held held = held_in(n.value, range_in_floats(to, from));
  return held.low && held.high ? ""
                               : "a cast of a float that may lie outside of the integer's range";
}

LATHE_DECL std::string_view machine_problem(const AnyExpr& e, const TargetCaps& caps) {
  if (is_narrow(e.dtype()) && !legal_narrow(e, caps)) return "a value of a narrow type";
  if (const auto* n = e.as<BinaryNode>()) return binary_rule(*n);
  if (const auto* n = e.as<CastNode>()) return cast_rule(*n);
  const auto* n = e.as<CallNode>();
  if (!n) return {};
  if (is_tile(n->op) && !has_tiles(caps, *n)) return "a tile that the target does not have";
  if (n->op == CallOp::abs && n->dtype.is_int()) return "abs of an integer";
  return math_form(n->op, caps) == MathForm::expanded ? "a call that the target does not have" : "";
}

}  // namespace lathe::detail

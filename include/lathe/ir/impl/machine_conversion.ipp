#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/ir/impl/machine_form.ipp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/support/reversed.hpp>
#include <utility>

namespace lathe::detail {

/// A limit by a constant that `ordered` wrote: `op` is what gives the constant in the place of a
/// NaN, which here stays.
struct Limit {
  BinaryOp op;
  AnyExpr constant, of;
};
inline Limit limit_of(const AnyExpr& e) {
  if (const auto* n = e.as<BinaryNode>();
      n && (n->op == BinaryOp::fast_min || n->op == BinaryOp::fast_max) && float_constant(n->a))
    return {n->op, n->a, n->b};
  const auto* n = e.as<SelectNode>();
  const auto* order = n ? n->condition.as<BinaryNode>() : nullptr;
  if (!order || !float_constant(n->yes) || !order->a.same_as(n->no) || !order->b.same_as(n->yes) ||
      float_constant(n->yes)->f != 0)
    return {};
  if (order->op == BinaryOp::le) return {BinaryOp::fast_max, n->yes, n->no};
  if (order->op == BinaryOp::ge) return {BinaryOp::fast_min, n->yes, n->no};
  return {};
}

/// The limits of a value from outside in, with what they name on the way.
struct Limits {
  Vec<Limit> limits;
  Vec<Ref<LetNode>> lets;
  bool low = false, high = false;  ///< whether they hold a number in the range
};
inline Limits limits_of(AnyExpr value, const IntegerRange& range) {
  Limits found;
  std::size_t around = 0;  // of the lets; the others belong to what is limited
  for (;;) {
    if (const auto* let = value.as<LetNode>()) {
      found.lets.push_back(Ref<LetNode>(let));
      value = let->body;
      continue;
    }
    const Limit limit = limit_of(value);
    const ConstNode* c = limit.of ? float_constant(limit.constant) : nullptr;
    if (!c || std::isnan(c->f) || c->f < range.low || c->f >= range.above) {
      found.lets.resize(around);
      return found;
    }
    around = found.lets.size();
    (limit.op == BinaryOp::fast_max ? found.low : found.high) = true;
    value = limit.of;
    found.limits.push_back(limit);
  }
}

/// Whether a value is rounded to an integer that conversions to this one reach: those round too,
/// if the rounding stands next to them.
inline const CallNode* rounded(DType to, const AnyExpr& value) {
  const auto* n = value.as<CallNode>();
  const bool reached = to.bits < 32 || (to.bits == 32 && to.is_signed());
  return n && n->op == CallOp::round && value.dtype().scalar() == kF32 && reached ? n : nullptr;
}
inline AnyExpr converted(DType to, AnyExpr number, bool rounds) {
  return make_cast(to, rounds ? make_call(CallOp::round, {std::move(number)}) : std::move(number));
}

/// What limits make of a number.
inline double limited(double number, const Vec<Limit>& limits) {
  for (const Limit& limit : reversed(limits)) {
    const double c = float_constant(limit.constant)->f;
    number = limit.op == BinaryOp::fast_min ? std::min(number, c) : std::max(number, c);
  }
  return number;
}

/// The conversion of a value that the program itself limits to the integer's range; empty: it does
/// not. The limits become those that turn a NaN into a constant, which a conversion may have. What
/// is rounded before limits that are integers may be rounded behind them.
inline AnyExpr limited_conversion(DType to, const AnyExpr& value, const IntegerRange& range) {
  const Limits found = limits_of(value, range);
  if (!found.low || !found.high) return {};
  const CallNode* round = rounded(to, found.limits.back().of);
  for (const Limit& limit : found.limits)
    if (const double c = float_constant(limit.constant)->f; c != std::floor(c)) round = nullptr;
  const AnyExpr& of = round ? round->args[0] : found.limits.back().of;
  AnyExpr out = with_value("x", of, [&](const AnyExpr& x) {
    const AnyExpr is_nan = make_call(CallOp::is_nan, {x});
    const auto inside = [&](bool zero_of_nan) {
      AnyExpr number = x;
      for (const Limit& limit : reversed(found.limits)) {
        number = make_binary(limit.op, std::move(number), limit.constant);
        // Behind the first limit the choice is a mask of that instruction.
        if (std::exchange(zero_of_nan, false))
          number = make_select(is_nan, make_float(x.dtype(), 0), number);
      }
      return converted(to, std::move(number), round != nullptr);
    };
    // The innermost limit takes the place of a NaN.
    const double of_nan = limited(float_constant(found.limits.back().constant)->f, found.limits);
    if (std::abs(of_nan) < 1) return inside(false);
    if (limited(0, found.limits) == 0) return inside(true);
    return make_select(is_nan, make_int(to, 0), inside(false));
  });
  for (const auto& let : reversed(found.lets)) out = make_let(let->bindings, std::move(out));
  return out;
}

LATHE_DECL AnyExpr machine_conversion(DType to, const AnyExpr& value) {
  const DType t = value.dtype();
  if (const ConstNode* c = float_constant(value)) {
    Scalar number;
    number.f = c->f;
    return make_int(to, scalar_cast(to.scalar(), kF64, number).i);
  }
  const IntegerRange range = range_in_floats(to, t);
  if (AnyExpr limited = limited_conversion(to, value, range)) return limited;
  const AnyExpr low = make_float(t, range.low);
  if (range.exact) {
    const CallNode* round = rounded(to, value);
    return with_value("x", round ? round->args[0] : value, [&](const AnyExpr& x) {
      AnyExpr number = make_binary(BinaryOp::fast_max, x, low);
      if (to.is_signed())
        number = make_select(make_call(CallOp::is_nan, {x}), make_float(t, 0), number);
      number = make_binary(BinaryOp::fast_min, std::move(number), make_float(t, range.above - 1));
      return converted(to, std::move(number), round != nullptr);
    });
  }
  return with_value("x", value, [&](const AnyExpr& x) {
    // NaN and what is too large become 0, which converts safely.
    const AnyExpr limit = make_float(t, range.above);
    AnyExpr below = make_select(make_binary(BinaryOp::lt, x, limit), x, make_float(t, 0));
    AnyExpr inside = make_cast(to, make_binary(BinaryOp::fast_max, below, low));
    const std::int64_t largest = to.is_signed() ? INT64_MAX >> (64 - to.bits) : -1;
    return make_select(make_binary(BinaryOp::ge, x, limit), make_int(to, largest), inside);
  });
}

}  // namespace lathe::detail

#pragma once

#include <bit>
#include <cmath>
#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/scalar.hpp>

namespace lathe::detail {

/// x / 0 is 0 and MIN / -1 is MIN, so that both are decided before the machine divides.
inline bool divides_alone(DType t, std::int64_t divisor) {
  return divisor != 0 && !(t.is_signed() && divisor == -1);
}

/// The divisor, 1 in the place of 0 and, signed, -1. Arithmetic, since of a choice between vectors
/// of constants LLVM 16 to 19 divide by both as a whole: where one lane of a choice that is not
/// taken is 0, all lanes of the result may be anything.
inline AnyExpr nontrivial(const AnyExpr& y) {
  DType bits = y.dtype();
  bits.code = TypeCode::uint;
  if (y.dtype().is_unsigned()) return make_binary(BinaryOp::max, y, make_int(bits, 1));
  const AnyExpr above = make_binary(BinaryOp::max, make_cast(bits, y) + 1, make_int(bits, 2));
  return make_cast(y.dtype(), above - 1);
}

struct IntegerRange {
  double low, above;  ///< the least integer, and the first number past the greatest
  bool exact;         ///< whether the greatest one is a float too
};
inline IntegerRange range_in_floats(DType to, DType from) {
  const int digits = to.is_signed() ? to.bits - 1 : to.bits;
  return {to.is_signed() ? -std::ldexp(1.0, to.bits - 1) : 0.0, std::ldexp(1.0, digits),
          digits <= (from.bits == 64 ? 53 : 24)};
}

// Vector units divide floats only; LLVM takes vectors of integers apart. A quotient of floats
// that have more digits than the integers reaches no integer by rounding that it is not: the
// distance of a / b to the next one is at least 1 / |b|, the error below |a / b| / 2^digits.
inline AnyExpr quotient_of_floats(const AnyExpr& x, const AnyExpr& y) {
  const DType t = x.dtype(), wide = (t.bits <= 16 ? kF32 : kF64).with_lanes(t.lanes);
  const IntegerRange range = range_in_floats(t, wide);
  const AnyExpr above_low = make_binary(BinaryOp::fast_max, make_cast(wide, x) / make_cast(wide, y),
                                        make_float(wide, range.low));
  return make_cast(t,
                   make_binary(BinaryOp::fast_min, above_low, make_float(wide, range.above - 1)));
}

// y is neither 0 nor, signed, -1.
inline AnyExpr divided_by_nontrivial(BinaryOp op, const AnyExpr& x, const AnyExpr& y) {
  if (!x.dtype().is_vector() || x.dtype().bits > 32) return make_binary(op, x, y);
  if (op == BinaryOp::div) return quotient_of_floats(x, y);
  return with_value("by", y, [&](const AnyExpr& by) { return x - quotient_of_floats(x, by) * by; });
}

inline AnyExpr divided(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  const DType t = a.dtype();
  const bool is_div = op == BinaryOp::div;
  const AnyExpr zero = make_int(t, 0);
  if (const std::int64_t* known = as_const_int(b)) {
    if (divides_alone(t, *known)) return make_binary(op, a, b);
    return is_div && *known != 0 ? zero - a : zero;
  }
  return with_value("a", a, [&](const AnyExpr& x) {
    return with_value("b", b, [&](const AnyExpr& y) {
      const AnyExpr is_zero = make_binary(BinaryOp::eq, y, zero);
      AnyExpr trivial = is_zero;
      if (t.is_signed()) {
        DType bits = t;
        bits.code = TypeCode::uint;
        trivial = make_binary(BinaryOp::lt, make_cast(bits, y) + 1, make_int(bits, 2));
      }
      // A remainder by 1 is the 0 that a remainder by 0 or -1 has to be.
      AnyExpr result = divided_by_nontrivial(op, x, nontrivial(y));
      if (!is_div) return result;
      return with_value("quotient", result, [&](const AnyExpr& quotient) {
        AnyExpr otherwise = t.is_signed() ? make_select(is_zero, zero, zero - x) : zero;
        return make_select(trivial, otherwise, quotient);
      });
    });
  });
}

// The truncated result, corrected where remainder and divisor have different signs. x % 0 is 0,
// which needs nothing.
inline AnyExpr floored(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  const bool is_div = op == BinaryOp::floordiv;
  const std::int64_t* known = as_const_int(b);
  if (known && *known > 0 && std::has_single_bit(static_cast<std::uint64_t>(*known))) {
    if (!is_div) return make_binary(BinaryOp::bit_and, a, make_int(a.dtype(), *known - 1));
    const int shift = std::countr_zero(static_cast<std::uint64_t>(*known));
    return make_binary(BinaryOp::shr, a, make_int(a.dtype(), shift));
  }
  if (!a.dtype().is_signed()) return divided(is_div ? BinaryOp::div : BinaryOp::mod, a, b);
  const AnyExpr zero = make_int(a.dtype(), 0);
  return with_value("a", a, [&](const AnyExpr& x) {
    return with_value("b", b, [&](const AnyExpr& y) {
      return with_value("rest", divided(BinaryOp::mod, x, y), [&](const AnyExpr& rest) {
        AnyExpr apart = make_binary(BinaryOp::lt, make_binary(BinaryOp::bit_xor, rest, y), zero);
        AnyExpr wrong = logical_and(apart, make_binary(BinaryOp::ne, rest, zero));
        if (!is_div) return rest + make_select(wrong, y, zero);
        return divided(BinaryOp::div, x, y) + make_select(wrong, make_int(x.dtype(), -1), zero);
      });
    });
  });
}

inline AnyExpr shifted_by(BinaryOp op, const AnyExpr& a, const AnyExpr& count) {
  const DType t = a.dtype();
  const std::int64_t* known = as_const_int(count);
  AnyExpr below = known ? make_int(t, *known & (t.bits - 1))
                        : make_binary(BinaryOp::bit_and, count, make_int(t, t.bits - 1));
  return make_binary(op, a, below);
}

inline const ConstNode* float_constant(const AnyExpr& e) {
  const AnyExpr* core = &e;
  while (const auto* b = core->as<BroadcastNode>()) core = &b->value;
  return core->dtype().is_float() ? core->as<ConstNode>() : nullptr;
}

// A constant that is neither NaN nor the zero whose sign a comparison can't see.
inline bool orders_alone(const ConstNode* c, BinaryOp op) {
  if (!c || std::isnan(c->f)) return false;
  return c->f != 0 || std::signbit(c->f) == (op == BinaryOp::max);
}

// Of two comparisons in both orders, which give the second operand where one is NaN and of zeros:
// they differ in a NaN and what is beside it, or in the sign of a zero, and are one number
// otherwise. The bits that either has are a NaN if one is, and -0 if one is. A maximum wants +0
// then: subtracting the bits in which they differ takes -0 from -0, +0 from any other number, and
// leaves NaN what it is. (As V8 compiles f32x4.max of WebAssembly.)
inline AnyExpr joined(bool is_min, const AnyExpr& one, const AnyExpr& other) {
  const DType t = one.dtype(), bits{TypeCode::uint, t.bits, t.lanes, false};
  const auto merged = [&](BinaryOp op, const AnyExpr& x, const AnyExpr& y) {
    return make_reinterpret(t,
                            make_binary(op, make_reinterpret(bits, x), make_reinterpret(bits, y)));
  };
  if (is_min) return merged(BinaryOp::bit_or, one, other);
  return with_value("one", one, [&](const AnyExpr& x) {
    return with_value("other", other, [&](const AnyExpr& y) {
      return merged(BinaryOp::bit_or, x, y) - merged(BinaryOp::bit_xor, x, y);
    });
  });
}

inline AnyExpr ordered(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  const bool is_min = op == BinaryOp::min;
  const BinaryOp fast = is_min ? BinaryOp::fast_min : BinaryOp::fast_max;
  const ConstNode *left = float_constant(a), *right = float_constant(b);
  // x86 has c > x ? c : x as one instruction, and it gives x if x is NaN or an equal zero.
  if (orders_alone(left, op)) return make_binary(fast, a, b);
  if (orders_alone(right, op)) return make_binary(fast, b, a);
  return with_value("a", a, [&](const AnyExpr& x) {
    // max(x, +0) and min(x, -0): take the constant also where x is the other zero, and never for
    // NaN.
    if (right && right->f == 0)
      return make_select(make_binary(is_min ? BinaryOp::ge : BinaryOp::le, x, b), b, x);
    return with_value("b", b, [&](const AnyExpr& y) {
      return joined(is_min, make_binary(fast, x, y), make_binary(fast, y, x));
    });
  });
}

LATHE_DECL AnyExpr machine_binary(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  const DType t = a.dtype();
  switch (op) {
    case BinaryOp::div:
    case BinaryOp::mod:
      return t.is_float() ? make_binary(op, a, b) : divided(op, a, b);
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      return floored(op, a, b);
    case BinaryOp::shl:
    case BinaryOp::shr:
      return shifted_by(op, a, b);
    case BinaryOp::min:
    case BinaryOp::max:
      if (t.is_bool())
        return make_binary(op == BinaryOp::min ? BinaryOp::and_ : BinaryOp::or_, a, b);
      return t.is_float() ? ordered(op, a, b) : make_binary(op, a, b);
    default:
      return make_binary(op, a, b);
  }
}

LATHE_DECL AnyExpr machine_abs(const AnyExpr& value) {
  if (!value.dtype().is_signed()) return value;
  const AnyExpr zero = make_int(value.dtype(), 0);
  return with_value("x", value, [&](const AnyExpr& x) {
    return make_select(make_binary(BinaryOp::lt, x, zero), zero - x, x);
  });
}

}  // namespace lathe::detail

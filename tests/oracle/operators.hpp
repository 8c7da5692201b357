// What the operators and casts make of one number or two, of calls see calls.hpp.
#pragma once

#include <lathe/ir/expr.hpp>

#include "number.hpp"

namespace oracle {

using lathe::BinaryOp;
using lathe::UnaryOp;

[[noreturn]] inline void no_meaning(const char* what) {
  throw std::logic_error(std::string("oracle: no meaning is given to ") + what);
}

template <class Value>
bool compared(BinaryOp op, Value a, Value b) {
  switch (op) {
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::gt:
      return a > b;
    case BinaryOp::ge:
      return a >= b;
    default:
      no_meaning("this comparison");
  }
}

/// The quotient that is not above a / b.
inline Whole floor_quotient(Whole a, Whole b) {
  const Whole q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/// x/0 and x%0 are 0; what a type cannot hold (MIN/-1) wraps like any other result.
inline Whole divided(BinaryOp op, Whole a, Whole b) {
  if (b == 0) return 0;
  switch (op) {
    case BinaryOp::div:
      return a / b;
    case BinaryOp::mod:
      return a - a / b * b;
    case BinaryOp::floordiv:
      return floor_quotient(a, b);
    default:
      return a - floor_quotient(a, b) * b;
  }
}

/// 2^(b modulo the width).
inline Whole shift_factor(DType t, Whole b) {
  const Whole width = t.bits;
  return Whole{1} << static_cast<int>((b % width + width) % width);
}

inline Whole whole_product(Whole a, Whole b) {
  return static_cast<Whole>(static_cast<WholeBits>(a) * static_cast<WholeBits>(b));
}

/// Before it wraps to the type.
inline Whole whole_result(BinaryOp op, DType t, Whole a, Whole b) {
  switch (op) {
    case BinaryOp::add:
      return a + b;
    case BinaryOp::sub:
      return a - b;
    case BinaryOp::mul:
      return whole_product(a, b);
    case BinaryOp::div:
    case BinaryOp::mod:
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      return divided(op, a, b);
    case BinaryOp::min:
    case BinaryOp::fast_min:
      return a < b ? a : b;
    case BinaryOp::max:
    case BinaryOp::fast_max:
      return a > b ? a : b;
    case BinaryOp::and_:
      return a != 0 && b != 0;
    case BinaryOp::or_:
      return a != 0 || b != 0;
    case BinaryOp::bit_and:
      return a & b;
    case BinaryOp::bit_or:
      return a | b;
    case BinaryOp::bit_xor:
      return a ^ b;
    case BinaryOp::shl:
      return whole_product(a, shift_factor(t, b));
    case BinaryOp::shr:
      return floor_quotient(a, shift_factor(t, b));
    default:
      no_meaning("this operator on integers");
  }
}

/// min and max: a NaN wins, and -0 is below +0.
template <class Real>
bool below(Real a, Real b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
template <class Real>
Real least(Real a, Real b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Real>::quiet_NaN();
  return below(b, a) ? b : a;
}
template <class Real>
Real largest(Real a, Real b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Real>::quiet_NaN();
  return below(a, b) ? b : a;
}

/// In the precision of Real: double for f64, float for all others.
template <class Real>
Real real_result(BinaryOp op, Real a, Real b) {
  switch (op) {
    case BinaryOp::add:
      return a + b;
    case BinaryOp::sub:
      return a - b;
    case BinaryOp::mul:
      return a * b;
    case BinaryOp::div:
      return a / b;
    case BinaryOp::mod:
      return std::fmod(a, b);
    case BinaryOp::min:
      return least(a, b);
    case BinaryOp::max:
      return largest(a, b);
    case BinaryOp::fast_min:
      return a < b ? a : b;
    case BinaryOp::fast_max:
      return a > b ? a : b;
    default:
      no_meaning("this operator on floats");
  }
}

/// t is the type of the operands.
inline Number binary(BinaryOp op, DType t, Number a, Number b) {
  if (lathe::is_comparison(op))
    return whole_number(t.is_float() ? compared(op, a.real, b.real)
                                     : compared(op, a.whole, b.whole));
  if (!t.is_float()) return whole_number(wrapped(t, whole_result(op, t, a.whole, b.whole)));
  if (t.bits == 64) return real_number(real_result(op, a.real, b.real));
  const float result = real_result(op, static_cast<float>(a.real), static_cast<float>(b.real));
  return real_number(rounded(t, result));
}

inline Number unary(UnaryOp op, DType t, Number a) {
  switch (op) {
    case UnaryOp::not_:
      return whole_number(a.whole == 0);
    case UnaryOp::bit_not:
      return whole_number(wrapped(t, ~a.whole));
    default:
      return t.is_float() ? real_number(-a.real) : whole_number(wrapped(t, -a.whole));
  }
}

/// Truncated; what is too large for the type gives its nearest value, NaN gives 0.
inline Whole saturated(DType to, double value) {
  if (std::isnan(value)) return 0;
  const Whole modulus = Whole{1} << to.bits;
  const Whole low = to.is_signed() ? -(modulus / 2) : 0, high = low + modulus - 1;
  // Doubles beyond 2^100 do not fit a Whole; the types end long before.
  const double held = std::clamp(std::trunc(value), -0x1p100, 0x1p100);
  return std::clamp(static_cast<Whole>(held), low, high);
}

inline Number cast(DType to, DType from, Number a) {
  if (to.is_bool()) return whole_number(from.is_float() ? a.real != 0 : a.whole != 0);
  if (to.is_float())
    return real_number(
        rounded(to, from.is_float() ? static_cast<Wide>(a.real) : static_cast<Wide>(a.whole)));
  return whole_number(from.is_float() ? saturated(to, a.real) : wrapped(to, a.whole));
}

}  // namespace oracle

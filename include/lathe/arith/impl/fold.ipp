#pragma once

#include <cmath>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/narrow.hpp>

namespace lathe {
namespace detail {

inline std::int64_t fold_wrap(DType t, std::uint64_t bits) {
  if (t.is_bool()) return bits != 0;
  if (t.bits == 64) return static_cast<std::int64_t>(bits);
  bits <<= 64 - t.bits;
  if (t.is_signed()) return static_cast<std::int64_t>(bits) >> (64 - t.bits);
  return static_cast<std::int64_t>(bits >> (64 - t.bits));
}

inline bool fold_division(BinaryOp op, DType t, std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b == 0) return out = 0, true;
  const bool quotient = op == BinaryOp::div || op == BinaryOp::floordiv;
  if (t.is_unsigned()) {
    auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return out = static_cast<std::int64_t>(quotient ? x / y : x % y), true;
  }
  if (b == -1) {
    out = quotient ? fold_wrap(t, 0 - static_cast<std::uint64_t>(a)) : 0;
    return true;
  }
  if (op == BinaryOp::div)
    out = a / b;
  else if (op == BinaryOp::mod)
    out = a % b;
  else
    out = quotient ? floor_div(a, b) : floor_mod(a, b);
  return true;
}

LATHE_DECL bool fold_int(BinaryOp op, DType t, std::int64_t a, std::int64_t b, std::int64_t& out) {
  auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  const bool wide_unsigned = t.is_unsigned() && t.bits == 64;
  const bool less = wide_unsigned ? x < y : a < b;
  const auto shift = t.bits ? y % t.bits : 0;
  switch (op) {
    case BinaryOp::add:
      return out = fold_wrap(t, x + y), true;
    case BinaryOp::sub:
      return out = fold_wrap(t, x - y), true;
    case BinaryOp::mul:
      return out = fold_wrap(t, x * y), true;
    case BinaryOp::div:
    case BinaryOp::mod:
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      return !t.is_bool() && fold_division(op, t, a, b, out);
    case BinaryOp::min:
    case BinaryOp::fast_min:
      return out = less ? a : b, true;
    case BinaryOp::max:
    case BinaryOp::fast_max:
      return out = less ? b : a, true;
    case BinaryOp::and_:
      return out = a && b, true;
    case BinaryOp::or_:
      return out = a || b, true;
    case BinaryOp::bit_and:
      return out = a & b, true;
    case BinaryOp::bit_or:
      return out = a | b, true;
    case BinaryOp::bit_xor:
      return out = fold_wrap(t, x ^ y), true;
    case BinaryOp::shl:
      return out = fold_wrap(t, x << shift), !t.is_bool();
    case BinaryOp::shr:
      out = wide_unsigned ? static_cast<std::int64_t>(x >> shift) : a >> shift;
      return !t.is_bool();
    case BinaryOp::eq:
      return out = a == b, true;
    case BinaryOp::ne:
      return out = a != b, true;
    case BinaryOp::lt:
      return out = less, true;
    case BinaryOp::ge:
      return out = !less, true;
    case BinaryOp::gt:
      return out = !less && a != b, true;
    case BinaryOp::le:
      return out = less || a == b, true;
  }
  return false;
}

LATHE_DECL bool fold_float(BinaryOp op, DType t, double a, double b, double& out) {
  const bool nan = std::isnan(a) || std::isnan(b);
  // -0 counts as less than +0.
  const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  switch (op) {
    case BinaryOp::add:
      out = a + b;
      break;
    case BinaryOp::sub:
      out = a - b;
      break;
    case BinaryOp::mul:
      out = a * b;
      break;
    case BinaryOp::div:
      out = a / b;
      break;
    case BinaryOp::min:
      out = less ? a : b;
      break;
    case BinaryOp::max:
      out = less ? b : a;
      break;
    case BinaryOp::fast_min:
      out = a < b ? a : b;
      break;
    case BinaryOp::fast_max:
      out = a > b ? a : b;
      break;
    default:
      return false;
  }
  // A NaN's payload is the back end's business.
  if (nan || std::isnan(out)) return false;
  out = round_to(t.scalar(), out);
  return !std::isnan(out);
}

LATHE_DECL bool fold_float_compare(BinaryOp op, double a, double b, bool& out) {
  switch (op) {
    case BinaryOp::eq:
      return out = a == b, true;
    case BinaryOp::ne:
      return out = a != b, true;
    case BinaryOp::lt:
      return out = a < b, true;
    case BinaryOp::le:
      return out = a <= b, true;
    case BinaryOp::gt:
      return out = a > b, true;
    case BinaryOp::ge:
      return out = a >= b, true;
    default:
      return false;
  }
}

}  // namespace detail
}  // namespace lathe

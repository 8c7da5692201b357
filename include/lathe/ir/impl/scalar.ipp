#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/scalar.hpp>
#include <limits>

namespace lathe::detail {

inline Scalar scalar_int(std::int64_t i) {
  Scalar out;
  out.i = i;
  return out;
}

// A double that is the exact result, rounded to a type narrower than f64.
inline float round_scalar(DType t, double value) {
  return t.bits == 32 ? static_cast<float>(value) : static_cast<float>(round_to(t, value));
}

template <class F>
F float_min(F a, F b) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class F>
F float_max(F a, F b) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class F>
F float_arithmetic(BinaryOp op, F a, F b) {
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
      return float_min(a, b);
    case BinaryOp::max:
      return float_max(a, b);
    case BinaryOp::fast_min:
      return a < b ? a : b;
    case BinaryOp::fast_max:
      return a > b ? a : b;
    default:
      unreachable("evaluator: integer operator on floats");
  }
}

template <class N>
bool compare_numbers(BinaryOp op, N a, N b) {
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
      unreachable("evaluator: not a comparison");
  }
}

inline std::int64_t signed_division(BinaryOp op, std::int64_t a, std::int64_t b) {
  const bool quotient = op == BinaryOp::div || op == BinaryOp::floordiv;
  if (b == 0) return 0;
  if (b == -1) return quotient ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)) : 0;
  std::int64_t q = a / b, r = a % b;
  if ((op == BinaryOp::floordiv || op == BinaryOp::floormod) && r != 0 && (r < 0) != (b < 0)) {
    q -= 1;
    r += b;
  }
  return quotient ? q : r;
}

inline std::int64_t unsigned_division(BinaryOp op, std::uint64_t a, std::uint64_t b) {
  if (b == 0) return 0;
  return static_cast<std::int64_t>(op == BinaryOp::div || op == BinaryOp::floordiv ? a / b : a % b);
}

inline std::int64_t int_arithmetic(BinaryOp op, DType t, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  const unsigned count = static_cast<unsigned>(y) & static_cast<unsigned>(t.bits - 1);
  const bool less = t.is_signed() ? a < b : x < y;
  switch (op) {
    case BinaryOp::add:
      return static_cast<std::int64_t>(x + y);
    case BinaryOp::sub:
      return static_cast<std::int64_t>(x - y);
    case BinaryOp::mul:
      return static_cast<std::int64_t>(x * y);
    case BinaryOp::div:
    case BinaryOp::mod:
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      return t.is_signed() ? signed_division(op, a, b) : unsigned_division(op, x, y);
    case BinaryOp::min:
    case BinaryOp::fast_min:
      return less ? a : b;
    case BinaryOp::max:
    case BinaryOp::fast_max:
      return less ? b : a;
    case BinaryOp::and_:
    case BinaryOp::bit_and:
      return a & b;
    case BinaryOp::or_:
    case BinaryOp::bit_or:
      return a | b;
    case BinaryOp::bit_xor:
      return a ^ b;
    case BinaryOp::shl:
      return static_cast<std::int64_t>(x << count);
    case BinaryOp::shr:
      return t.is_signed() ? a >> count : static_cast<std::int64_t>(x >> count);
    default:
      unreachable("evaluator: not an integer operator");
  }
}

LATHE_DECL Scalar scalar_binary(BinaryOp op, DType t, Scalar a, Scalar b) {
  Scalar out;
  if (is_comparison(op)) {
    bool yes = t.is_float()
                   ? (t.bits == 64 ? compare_numbers(op, a.f, b.f) : compare_numbers(op, a.s, b.s))
               : t.is_signed() ? compare_numbers(op, a.i, b.i)
                               : compare_numbers(op, static_cast<std::uint64_t>(a.i),
                                                 static_cast<std::uint64_t>(b.i));
    out.i = yes;
  } else if (!t.is_float()) {
    out.i = wrap_int(t, int_arithmetic(op, t, a.i, b.i));
  } else if (t.bits == 64) {
    out.f = float_arithmetic(op, a.f, b.f);
  } else {
    out.s = float_arithmetic(op, a.s, b.s);
    if (t.bits != 32) out.s = round_scalar(t, out.s);
  }
  return out;
}

LATHE_DECL Scalar scalar_unary(UnaryOp op, DType t, Scalar a) {
  if (op == UnaryOp::not_) return scalar_int(!a.i);
  if (op == UnaryOp::bit_not) return scalar_int(wrap_int(t, ~a.i));
  Scalar out;
  if (!t.is_float())
    out.i = wrap_int(t, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a.i)));
  else if (t.bits == 64)
    out.f = -a.f;
  else
    out.s = -a.s;
  return out;
}

inline std::int64_t float_to_int(DType to, double value) {
  if (value != value) return 0;
  value = std::trunc(value);
  if (to.is_unsigned()) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, to.bits)) return wrap_int(to, -1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
  }
  const double limit = std::ldexp(1.0, to.bits - 1);
  if (value >= limit) return static_cast<std::int64_t>((std::uint64_t{1} << (to.bits - 1)) - 1);
  if (value < -limit)
    return wrap_int(to, static_cast<std::int64_t>(std::uint64_t{1} << (to.bits - 1)));
  return static_cast<std::int64_t>(value);
}

// A double that rounds to any type of at most 32 bits as the integer itself would: where 53 bits do
// not hold it, the last bit says that something was cut off.
inline double sticky_double(bool is_signed, std::int64_t i) {
  const bool negative = is_signed && i < 0;
  std::uint64_t magnitude =
      negative ? 0 - static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(i);
  if (magnitude >> 53) {
    bool cut = (magnitude & 0x7FF) != 0;
    magnitude = (magnitude & ~std::uint64_t{0x7FF}) | (cut ? std::uint64_t{0x800} : 0);
  }
  double out = static_cast<double>(magnitude);
  return negative ? -out : out;
}

inline Scalar int_to_float(DType to, DType from, std::int64_t i) {
  Scalar out;
  if (to.bits == 64)
    out.f = from.is_signed() ? static_cast<double>(i)
                             : static_cast<double>(static_cast<std::uint64_t>(i));
  else if (to.bits == 32)
    out.s = from.is_signed() ? static_cast<float>(i)
                             : static_cast<float>(static_cast<std::uint64_t>(i));
  else
    out.s = round_scalar(to, sticky_double(from.is_signed(), i));
  return out;
}

LATHE_DECL Scalar scalar_cast(DType to, DType from, Scalar a) {
  if (!from.is_float()) {
    if (to.is_bool()) return scalar_int(a.i != 0);
    return to.is_float() ? int_to_float(to, from, a.i) : scalar_int(wrap_int(to, a.i));
  }
  const double value = from.bits == 64 ? a.f : static_cast<double>(a.s);
  if (to.is_bool()) return scalar_int(value != 0);
  if (!to.is_float()) return scalar_int(float_to_int(to, value));
  return scalar_of(to, 0, value);
}

LATHE_DECL Scalar scalar_of(DType t, std::int64_t i, double f) {
  Scalar out;
  if (!t.is_float())
    out.i = wrap_int(t, i);
  else if (t.bits == 64)
    out.f = f;
  else
    out.s = round_scalar(t, f);
  return out;
}

inline double times_power_of_two(double x, double n) {
  if (!std::isfinite(n)) return x * (n < 0 ? 0 : n);
  // Past these bounds the result is 0 or infinite whatever x is.
  constexpr double most = 5000;
  return std::ldexp(x, static_cast<int>(std::floor(std::clamp(n, -most, most))));
}

inline double significand_of(double x) {
  if (x == 0 || x == std::numeric_limits<double>::infinity()) return 1;
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  int exponent = 0;
  const double half_to_one = std::frexp(x, &exponent);
  return half_to_one < 0.75 ? 2 * half_to_one : half_to_one;
}

// The C library's function in f64.
inline double math_call(CallOp op, double x, double y) {
  switch (op) {
    case CallOp::exp:
      return std::exp(x);
    case CallOp::exp2:
      return std::exp2(x);
    case CallOp::log:
      return std::log(x);
    case CallOp::log2:
      return std::log2(x);
    case CallOp::sin:
      return std::sin(x);
    case CallOp::cos:
      return std::cos(x);
    case CallOp::tan:
      return std::tan(x);
    case CallOp::tanh:
      return std::tanh(x);
    case CallOp::erf:
      return std::erf(x);
    case CallOp::expm1:
      return std::expm1(x);
    case CallOp::log1p:
      return std::log1p(x);
    case CallOp::atan:
      return std::atan(x);
    case CallOp::atan2:
      return std::atan2(x, y);
    case CallOp::cbrt:
      return std::cbrt(x);
    case CallOp::sqrt:
      return std::sqrt(x);
    case CallOp::pow:
      return std::pow(x, y);
    case CallOp::abs:
      return std::fabs(x);
    case CallOp::floor:
      return std::floor(x);
    case CallOp::ceil:
      return std::ceil(x);
    case CallOp::trunc:
      return std::trunc(x);
    case CallOp::round:
      return std::nearbyint(x);
    case CallOp::copysign:
      return std::copysign(x, y);
    case CallOp::scalb:
      return times_power_of_two(x, y);
    case CallOp::logb:
      return std::logb(x);
    case CallOp::significand:
      return significand_of(x);
    case CallOp::reciprocal_estimate:
      return 1 / x;
    case CallOp::rsqrt_estimate:
      return 1 / std::sqrt(x);
    default:
      unreachable("evaluator: unknown call");
  }
}

inline Scalar int_call(CallOp op, DType t, Scalar a) {
  if (op == CallOp::abs) return t.is_signed() && a.i < 0 ? scalar_unary(UnaryOp::neg, t, a) : a;
  invariant(op == CallOp::popcount, "evaluator: floating call on integers");
  return scalar_int(wrap_int(t, std::popcount(scalar_bits(t, a))));
}

LATHE_DECL Scalar scalar_call(CallOp op, DType t, const Scalar* args) {
  if (!t.is_float()) return int_call(op, t, args[0]);
  const bool wide = t.bits == 64;
  if (op == CallOp::is_nan)
    return scalar_int(wide ? args[0].f != args[0].f : args[0].s != args[0].s);
  const double x = wide ? args[0].f : static_cast<double>(args[0].s);
  if (op == CallOp::fma) {
    Scalar out;
    if (wide)
      out.f = std::fma(args[0].f, args[1].f, args[2].f);
    else if (t.bits == 32)
      out.s = std::fma(args[0].s, args[1].s, args[2].s);
    else  // the product is exact
      out.s = round_scalar(t, sum_to_odd(x * static_cast<double>(args[1].s), args[2].s));
    return out;
  }
  double y = 0;
  if (op_arity(op) == 2) y = wide ? args[1].f : static_cast<double>(args[1].s);
  return scalar_of(t, 0, math_call(op, x, y));
}

LATHE_DECL std::uint64_t scalar_bits(DType t, Scalar a) {
  if (t.is_float()) {
    if (t.bits == 64) return std::bit_cast<std::uint64_t>(a.f);
    if (t.bits == 32) return std::bit_cast<std::uint32_t>(a.s);
    return encode_float(float_format(t), a.s);
  }
  auto bits = static_cast<std::uint64_t>(a.i);
  return t.bits == 64 ? bits : bits & ((std::uint64_t{1} << t.bits) - 1);
}

LATHE_DECL Scalar scalar_from_bits(DType t, std::uint64_t bits) {
  Scalar out;
  if (!t.is_float())
    out.i = wrap_int(t, static_cast<std::int64_t>(bits));
  else if (t.bits == 64)
    out.f = std::bit_cast<double>(bits);
  else if (t.bits == 32)
    out.s = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else
    out.s = static_cast<float>(decode_float(float_format(t), static_cast<std::uint32_t>(bits)));
  return out;
}

LATHE_DECL Scalar read_element(DType t, const char* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(t.element_bytes()));
  if (t.is_bool()) return scalar_int(bits != 0);
  return scalar_from_bits(t, bits);
}

LATHE_DECL void write_element(DType t, char* at, Scalar a) {
  // A 4-bit integer is kept sign- or zero-extended.
  std::uint64_t bits = t.is_float() ? scalar_bits(t, a) : static_cast<std::uint64_t>(a.i);
  std::memcpy(at, &bits, static_cast<std::size_t>(t.element_bytes()));
}

}  // namespace lathe::detail

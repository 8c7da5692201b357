// One operation on one lane, exactly as ir/expr.hpp says.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe::detail {

/// One lane of a value. Which member holds it follows from the dtype: i for integers (canonical:
/// sign- or zero-extended, u64 as its bits) and bool (0 or 1), f for f64, s for f32 and every
/// narrower float.
union Scalar {
  std::int64_t i;
  double f;
  float s;
};

Scalar scalar_binary(BinaryOp op, DType operands, Scalar a, Scalar b);
Scalar scalar_unary(UnaryOp op, DType t, Scalar a);
Scalar scalar_cast(DType to, DType from, Scalar a);
/// Of a call other than reinterpret and prefetch; t is the dtype of the first argument.
Scalar scalar_call(CallOp op, DType t, const Scalar* args);
/// x + y, rounded to odd (of the two neighbours that whose last bit is set): rounded again to half
/// as many bits it is rounded once (Boldo and Melquiond, Emulation of FMA and correctly rounded
/// sums, 2008).
double sum_to_odd(double x, double y);
/// One fma of dot2, which knows no subnormal numbers.
float scalar_dot2_step(float sum, float a, float b);
/// sum + (a[0]*b[0] + a[1]*b[1]) as odd_dot2 has it.
float scalar_odd_dot2(float sum, const float* a, const float* b);
/// A constant or any number as a value of a type; floats are rounded to it.
Scalar scalar_of(DType t, std::int64_t i, double f);

/// The bits of a value in its low bits, and back; with four bits for i4 and u4, one for bool.
std::uint64_t scalar_bits(DType t, Scalar a);
Scalar scalar_from_bits(DType t, std::uint64_t bits);
/// An element in memory: t.element_bytes() bytes.
Scalar read_element(DType t, const char* at);
void write_element(DType t, char* at, Scalar a);

/// value modulo 2^bits, sign- or zero-extended.
inline std::int64_t wrap_int(DType t, std::int64_t value) {
  if (t.bits == 64) return value;
  if (t.is_bool()) return value & 1;
  auto shift = static_cast<unsigned>(64 - t.bits);
  auto bits = static_cast<std::uint64_t>(value) << shift;
  return t.is_signed() ? static_cast<std::int64_t>(bits) >> shift
                       : static_cast<std::int64_t>(bits >> shift);
}

}  // namespace lathe::detail

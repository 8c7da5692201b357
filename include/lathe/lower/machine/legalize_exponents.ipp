// The exponents and significands of floats from their bits, where no instruction has them.
#pragma once

#include <cmath>
#include <lathe/ir/expr.hpp>
#include <lathe/ir/ops.hpp>
#include <lathe/lower/machine/narrow_types.hpp>
#include <limits>

namespace lathe::detail {

/// Where a float of 32 or 64 bits has its parts.
struct FloatLayout {
  explicit FloatLayout(DType its_t)
      : t(its_t), bits((t.bits == 64 ? kI64 : kI32).with_lanes(t.lanes)) {}

  const DType t, bits;
  const int mantissa = t.bits == 64 ? 52 : 23, bias = t.bits == 64 ? 1023 : 127;

  AnyExpr c(double value) const { return make_float(t, value); }
  AnyExpr inf() const { return c(std::numeric_limits<double>::infinity()); }
  /// Whether |x| is subnormal or 0.
  AnyExpr is_small(const AnyExpr& size) const {
    return make_binary(BinaryOp::lt, size, c(std::ldexp(1, 1 - bias)));
  }
  /// The bits of |x|, of subnormals those of 2^mantissa times as much.
  AnyExpr normal_bits(const AnyExpr& size, const AnyExpr& small) const {
    return make_reinterpret(bits, make_select(small, size * c(std::ldexp(1, mantissa)), size));
  }
};

inline AnyExpr legal_logb(const AnyExpr& x) {
  const FloatLayout f(x.dtype());
  return with_value("size", make_call(CallOp::abs, {x}), [&](const AnyExpr& size) {
    return with_value("small", f.is_small(size), [&](const AnyExpr& small) {
      const AnyExpr biased =
          make_binary(BinaryOp::shr, f.normal_bits(size, small), make_int(f.bits, f.mantissa));
      const AnyExpr exponent =
          make_cast(f.t, biased) - make_select(small, f.c(f.bias + f.mantissa), f.c(f.bias));
      const AnyExpr finite =
          make_select(make_binary(BinaryOp::eq, size, f.c(0)), -f.inf(), exponent);
      return make_select(make_binary(BinaryOp::lt, size, f.inf()), finite, size);
    });
  });
}

inline AnyExpr legal_significand(const AnyExpr& x) {
  const FloatLayout f(x.dtype());
  return with_value("bits", f.normal_bits(x, f.is_small(x)), [&](const AnyExpr& bits) {
    // What the exponent is over that of 3/4, left in place.
    const AnyExpr start = make_reinterpret(f.bits, f.c(0.75));
    const AnyExpr over = make_binary(BinaryOp::shr, bits - start, make_int(f.bits, f.mantissa));
    const AnyExpr scaled = make_reinterpret(
        f.t, bits - make_binary(BinaryOp::shl, over, make_int(f.bits, f.mantissa)));
    const AnyExpr none = f.c(std::numeric_limits<double>::quiet_NaN());
    const AnyExpr positive =
        make_select(make_binary(BinaryOp::lt, x, f.inf()), scaled,
                    make_select(make_binary(BinaryOp::eq, x, f.inf()), f.c(1), none));
    return make_select(make_binary(BinaryOp::gt, x, f.c(0)), positive,
                       make_select(make_binary(BinaryOp::eq, x, f.c(0)), f.c(1), none));
  });
}

}  // namespace lathe::detail

#pragma once

#include <lathe/lower/math/math_builder.hpp>
#include <limits>

namespace lathe::detail {

// size = 8^third * mantissa, mantissa in [1, 8), for size > 0 and finite, also subnormal.
struct MathCubeParts {
  AnyExpr third, mantissa;
};

inline MathCubeParts math_cube_parts(MathBuilder& b, const AnyExpr& size) {
  const bool wide = b.wide();
  const int width = wide ? 52 : 23, up = wide ? 54 : 24;
  AnyExpr small = b.let(b.op(BinaryOp::lt, size, b.c(wide ? 0x1p-1022 : 0x1p-126)));
  AnyExpr normal = make_select(small, size * b.c(wide ? 0x1p54 : 0x1p24), size);
  AnyExpr bits = b.let(b.bits(normal));
  // floor((e + bias) / 3) for a sum that is not negative: 43691 / 2^17 is a third and 2^-18 of it.
  // 1023 divides by 3, 127 needs 2 more.
  AnyExpr biased = b.op(BinaryOp::shr, bits, b.i(width)) + b.i(wide ? 0 : 2);
  AnyExpr k = b.let(b.op(BinaryOp::shr, biased * b.i(43691), b.i(17)) - b.i(wide ? 341 : 43));
  AnyExpr mantissa = b.of_bits(bits - b.op(BinaryOp::shl, k * b.i(3), b.i(width)));
  return {b.let(k - make_select(small, b.i(up / 3), b.i(0))), b.let(mantissa)};
}

// m^(-1/3) by a polynomial (tools/fit_math.py: Remez on the relative error, 0.003 on [1, 8)) and
// Newton's steps, which need no division; then m^(1/3) by one step of Newton's whose residue is
// exact with fma.
LATHE_DECL AnyExpr math_cbrt(MathBuilder& b, const AnyExpr& x) {
  AnyExpr size = b.let(b.abs(x));
  auto [k, m] = math_cube_parts(b, size);
  AnyExpr r = b.let(b.horner(m, {0x1.6cc68p+0, -0x1.31802p-1, 0x1.a171a4p-3, -0x1.3c4e8ep-5,
                                 0x1.e47354p-9, -0x1.2459cep-13}));
  for (int step = 0; step < (b.wide() ? 2 : 1); ++step) {
    AnyExpr cube = b.let(r * r * r);
    AnyExpr left = b.fma(-m, cube, b.c(1));
    r = b.let(b.fma(r * b.c(1.0 / 3), left, r));
  }
  AnyExpr slope = b.let(r * r), root = b.let(m * slope);
  AnyExpr residue = b.fma(-(root * root), root, m);
  AnyExpr result = b.fma(residue, slope * b.c(1.0 / 3), root) * b.power_of_two(k);
  AnyExpr finite = b.op(BinaryOp::lt, size, b.c(std::numeric_limits<double>::infinity()));
  AnyExpr ordinary = logical_and(finite, b.op(BinaryOp::gt, size, b.c(0)));
  return make_select(ordinary, make_call(CallOp::copysign, {result, x}), x);
}

}  // namespace lathe::detail

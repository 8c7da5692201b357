#pragma once

#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/math/math_exp.ipp>

namespace lathe::detail {

// f64, x <= 1: (erf(x) - x) / x as a polynomial of z = x^2.
inline AnyExpr math_erf_small(MathBuilder& b, const AnyExpr& z) {
  return b.horner(z, {0x1.06eba8214db68p-3, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d16p-4,
                      -0x1.b82ce311fa93dp-6, 0x1.565bccf92b229p-8, -0x1.c02db03dd4139p-11,
                      0x1.f9a2baa8a53abp-14, -0x1.f4ca4d692930ap-17, 0x1.b97fd398764e4p-20,
                      -0x1.5c07254973b7ep-23, 0x1.d71b032944773p-27, -0x1.abae2434b2ffbp-31});
}

// f64: -log2(1 - erf(x)) for x from 1 to where erf rounds to 1.
inline AnyExpr math_erf_large(MathBuilder& b, const AnyExpr& x) {
  return b.horner(x, {0x1.85837a4033055p-21, 0x1.a0be08ef7ae46p+0, 0x1.d6435a35a7c08p-1,
                      0x1.2f739d3419368p-3, -0x1.c0df7076d2513p-6, -0x1.369acf8904cddp-11,
                      0x1.6a4d4869ec3c3p-9, -0x1.237514878c8b5p-10, 0x1.98a089e29ac69p-13,
                      0x1.ea6fe985132b4p-16, -0x1.142e56805b9cbp-15, 0x1.a38a1c38b07c2p-17,
                      -0x1.9d83d7899511dp-19, 0x1.211e22880cfefp-21, -0x1.1fa0ebf3f3b06p-24,
                      0x1.8603403bc7bfep-28, -0x1.445a149d2c659p-32, 0x1.f44d19bf026a7p-38});
}

inline AnyExpr math_erf64(MathBuilder& b, const AnyExpr& x) {
  AnyExpr size = b.let(b.abs(x));
  AnyExpr near = b.fma(math_erf_small(b, b.let(x * x)), x, x);
  AnyExpr capped = b.let(b.min(size, 5.9375));
  AnyExpr rest = b.let(math_exp2(b, b.let(-math_erf_large(b, capped))));
  AnyExpr far = make_call(CallOp::copysign, {b.c(1) - rest, x});
  return make_select(b.op(BinaryOp::lt, size, b.c(1)), near, far);
}

// 1 - e^-g with g = -ln(1 - erf(x)), which is x and a polynomial more. What g is wrong by counts
// for less the larger it is, so 9 coefficients (Remez with that weight, then climbed together with
// those of e^r - 1) serve all x; and e^r - 1 keeps what 1 - e^-g would lose near 0.
inline AnyExpr math_erf32(MathBuilder& b, const AnyExpr& x) {
  AnyExpr size = b.let(b.min(b.abs(x), 3.92));
  AnyExpr more =
      b.horner(size, {0x1.06eba8p-3, 0x1.45f2fep-1, 0x1.a4f97ep-4, -0x1.39c47p-6, -0x1.56fd9ap-13,
                      0x1.b5b186p-10, -0x1.4c31a8p-11, 0x1.eca6bp-14, -0x1.33744p-17});
  AnyExpr g = b.let(b.fma(size, more, size));
  auto n = b.round_power(g, -math_log2e);
  AnyExpr r = b.let(b.fma(n.number, b.c(-math_ln2), -g));
  AnyExpr q =
      b.horner(r, {0x1.ffffeap-2, 0x1.5553a4p-3, 0x1.555974p-5, 0x1.12c74cp-7, 0x1.6fff0ap-10});
  AnyExpr power = b.let(b.power_of_biased(n.raw));
  AnyExpr result = b.fma(-power, b.fma(r * r, q, r), b.c(1) - power);
  return make_call(CallOp::copysign, {result, x});
}

// x * P(x^2) / Q(x^2) up to where erf rounds to 1 (tools/fit_math.py): 3.6 units, and roundings.
inline AnyExpr math_erf_rational(MathBuilder& b, const AnyExpr& x) {
  AnyExpr at = b.let(b.min(b.max(x, -3.83), 3.83)), z = b.let(at * at);
  AnyExpr p =
      b.horner(z, {0x1.20dd7p+0, 0x1.2e6228p-2, 0x1.08eddap-4, 0x1.fa505cp-8, 0x1.250a08p-12});
  AnyExpr q =
      b.horner(z, {1, 0x1.30a746p-1, 0x1.3ede26p-3, 0x1.789a08p-6, 0x1.fe3b2ap-10, 0x1.165a3cp-16});
  return at * p / q;
}

LATHE_DECL AnyExpr math_erf(MathBuilder& b, const AnyExpr& x) {
  if (b.fast()) return math_erf_rational(b, x);
  return b.wide() ? math_erf64(b, x) : math_erf32(b, x);
}

}  // namespace lathe::detail

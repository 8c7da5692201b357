#pragma once

#include <lathe/lower/math_builder.hpp>

namespace lathe::detail {

// (erf(x) - x) / x as a polynomial of z = x^2 <= 1.
inline AnyExpr math_erf_small(MathBuilder& b, const AnyExpr& z) {
  if (!b.wide())
    return b.horner(z, {0x1.06eba2p-3, -0x1.812674p-2, 0x1.ce094p-4, -0x1.b5a35ep-6, 0x1.4246cep-8,
                        -0x1.273fb8p-11});
  return b.horner(z, {0x1.06eba8214db68p-3, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d16p-4,
                      -0x1.b82ce311fa93dp-6, 0x1.565bccf92b229p-8, -0x1.c02db03dd4139p-11,
                      0x1.f9a2baa8a53abp-14, -0x1.f4ca4d692930ap-17, 0x1.b97fd398764e4p-20,
                      -0x1.5c07254973b7ep-23, 0x1.d71b032944773p-27, -0x1.abae2434b2ffbp-31});
}

// -log2(1 - erf(x)) for x from 1 to where erf rounds to 1.
inline AnyExpr math_erf_large(MathBuilder& b, const AnyExpr& x) {
  if (!b.wide())
    return b.horner(x, {0x1.ef4754p-9, 0x1.9cc55ep+0, 0x1.e342ccp-1, 0x1.065efep-3, -0x1.5e94f8p-6,
                        0x1.b5a74ap-10});
  return b.horner(x, {0x1.85837a4033055p-21, 0x1.a0be08ef7ae46p+0, 0x1.d6435a35a7c08p-1,
                      0x1.2f739d3419368p-3, -0x1.c0df7076d2513p-6, -0x1.369acf8904cddp-11,
                      0x1.6a4d4869ec3c3p-9, -0x1.237514878c8b5p-10, 0x1.98a089e29ac69p-13,
                      0x1.ea6fe985132b4p-16, -0x1.142e56805b9cbp-15, 0x1.a38a1c38b07c2p-17,
                      -0x1.9d83d7899511dp-19, 0x1.211e22880cfefp-21, -0x1.1fa0ebf3f3b06p-24,
                      0x1.8603403bc7bfep-28, -0x1.445a149d2c659p-32, 0x1.f44d19bf026a7p-38});
}

LATHE_DECL AnyExpr math_erf(MathBuilder& b, const AnyExpr& x) {
  AnyExpr size = b.let(b.abs(x));
  AnyExpr near = b.fma(math_erf_small(b, b.let(x * x)), x, x);
  AnyExpr capped = b.let(b.min(size, b.wide() ? 5.9375 : 3.92));
  AnyExpr power = b.let(-math_erf_large(b, capped));
  AnyExpr rest = b.let(math_exp2(b, power));
  AnyExpr far = make_call(CallOp::copysign, {b.c(1) - rest, x});
  return make_select(b.op(BinaryOp::lt, size, b.c(1)), near, far);
}

}  // namespace lathe::detail

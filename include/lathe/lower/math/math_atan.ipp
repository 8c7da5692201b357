#pragma once

#include <lathe/lower/math/math_builder.hpp>

namespace lathe::detail {

// (atan(z) - z) / z^3 as a polynomial of s = z^2, 0 <= z <= 1: Remez (tools/fit_math.py) on the
// relative error of atan, 2^-26 for f32, 2^-55 for f64, 2^-34 for f64 that is rounded to f32.
inline AnyExpr math_atan_tail(MathBuilder& b, const AnyExpr& s) {
  if (!b.wide())
    return b.horner(s, {-0x1.5554dcp-2, 0x1.9978f4p-3, -0x1.230adcp-3, 0x1.b4e13p-4, -0x1.3556cp-4,
                        0x1.61fdeep-5, -0x1.0c2c2ap-6, 0x1.7ed25ap-9});
  if (b.rounded())
    return b.horner(s, {-0x1.555554873fb15p-2, 0x1.999937f23eb53p-3, -0x1.248a2cacc32e5p-3,
                        0x1.c66e4c99f2caap-4, -0x1.700b23b6b22aap-4, 0x1.2958ab9474478p-4,
                        -0x1.be980ec28d4d2p-5, 0x1.1a6ce5cdd06bep-5, -0x1.0b0c796dc7fa3p-6,
                        0x1.42d9eaef47bd6p-8, -0x1.6ded50109011dp-11});
  return b.horner(
      s, {-0x1.555555555544cp-2, 0x1.99999999840dap-3, -0x1.2492491fa18ebp-3, 0x1.c71c709e03ca1p-4,
          -0x1.745d022fdc8e8p-4, 0x1.3b12b2de5e568p-4, -0x1.11089cbeb603dp-4, 0x1.e17814a94d678p-5,
          -0x1.ad32b116ed6b8p-5, 0x1.7ee3dca1d71eep-5, -0x1.4f44eb0e964eap-5, 0x1.171580249d69dp-5,
          -0x1.a725c026af213p-6, 0x1.162b595738422p-6, -0x1.2cf61c967f156p-7, 0x1.f969fc709c808p-9,
          -0x1.3128359cca67ep-10, 0x1.d3b76dd67d47ep-13, -0x1.53e2c9766e7e7p-16});
}

// factor * pi - a, in two steps.
inline AnyExpr math_from_pi(MathBuilder& b, double factor, const AnyExpr& a) {
  double high = b.wide() ? 0x1.921fb54442d18p+1 : 0x1.921fb6p+1;
  double low = b.wide() ? 0x1.1a62633145c07p-53 : -0x1.777a5cp-24;
  return (b.c(factor * high) - a) + b.c(factor * low);
}

// The angle of (x, y) in the first quadrant: x and y >= 0, each 0 or infinite too if `any`.
inline AnyExpr math_first_quadrant(MathBuilder& b, const AnyExpr& y, const AnyExpr& x, bool any) {
  AnyExpr steep = b.let(b.op(BinaryOp::gt, y, x));
  AnyExpr low = b.let(make_select(steep, x, y)), high = b.let(make_select(steep, y, x));
  AnyExpr z = low / high;
  if (any) {
    // 0/0 counts as 0, inf/inf as 1.
    AnyExpr alike = make_select(b.op(BinaryOp::eq, high, b.c(0)), b.c(0), b.c(1));
    z = make_select(b.op(BinaryOp::eq, low, high), alike, z);
  }
  z = b.let(z);
  AnyExpr s = b.let(z * z);
  AnyExpr a = b.let(b.fma(z * s, math_atan_tail(b, s), z));
  return make_select(steep, math_from_pi(b, 0.5, a), a);
}

LATHE_DECL AnyExpr math_atan(MathBuilder& b, const AnyExpr& x) {
  AnyExpr angle = math_first_quadrant(b, b.let(b.abs(x)), b.c(1), false);
  return make_call(CallOp::copysign, {angle, x});
}

LATHE_DECL AnyExpr math_atan2(MathBuilder& b, const AnyExpr& y, const AnyExpr& x) {
  AnyExpr angle = b.let(math_first_quadrant(b, b.let(b.abs(y)), b.let(b.abs(x)), true));
  AnyExpr left = b.op(BinaryOp::lt, b.bits(x), b.i(0));  // -0 too
  return make_call(CallOp::copysign, {make_select(left, math_from_pi(b, 1, angle), angle), y});
}

}  // namespace lathe::detail

#pragma once

#include <cmath>
#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/math/math_trig.hpp>
#include <limits>

namespace lathe::detail {

// x - n * turn * pi, turn a power of two; the parts of pi are such that each step is exact or
// rounds once relative to its result.
inline AnyExpr math_trig_reduce(MathBuilder& b, const AnyExpr& x, const AnyExpr& n, double turn) {
  AnyExpr r = x;
  auto step = [&](double part) { r = b.let(b.fma(n, b.c(-part * turn), r)); };
  if (!b.wide()) {
    step(0x1.921fb6p+1), step(-0x1.777a5cp-24), step(-0x1.ee58p-49);
  } else if (b.caps.fma) {
    step(0x1.921fb54442d18p+1), step(0x1.1a62633145c07p-53);
    // No f32 is so near to a multiple of pi that more bits would count.
    if (!b.rounded()) step(-0x1.f1976b7ed8fbcp-109);
  } else {
    // Thirty bits a part: the products are exact.
    step(0x1.921fb548p+1), step(-0x1.de973dc8p-30), step(-0x1.9d9cceb8p-61);
    step(-0x1.1fc8f8c8p-92);
  }
  return r;
}

// sin(r) for |r| <= pi / 2.
LATHE_DECL AnyExpr math_sin_core(MathBuilder& b, const AnyExpr& r) {
  AnyExpr z = b.let(r * r);
  // 2^-35 (tools/fit_math.py).
  if (b.rounded())
    return b.fma(r * z,
                 b.horner(z, {-0x1.5555554769732p-3, 0x1.11110c4a01c02p-7, -0x1.a017d9a02e087p-13,
                              0x1.7170801c398bcp-19, -0x1.9a6886c4a0908p-26}),
                 r);
  AnyExpr q =
      b.wide() ? b.horner(z, {-0x1.5555555555555p-3, 0x1.11111111110c1p-7, -0x1.a01a01a014880p-13,
                              0x1.71de3a5286135p-19, -0x1.ae6454ca86f82p-26, 0x1.6123caf2c3527p-33,
                              -0x1.ae430f09a459cp-41, 0x1.88280fac590f3p-49})
               : b.horner(z, {-0x1.55554cp-3, 0x1.110ed4p-7, -0x1.9f6fe2p-13, 0x1.5dbe3ap-19});
  return b.fma(r * z, q, r);
}

// Sine or cosine of size = |x| by Cody and Waite's reduction: below the limit of math_trig.
inline AnyExpr math_trig_near(MathBuilder& b, const AnyExpr& size, const AnyExpr& sign,
                              bool cosine) {
  constexpr double inverse_pi = 0x1.45f306dc9c883p-2;
  // cos is an odd function around each of its zeros (k - 1/2) pi, as sin is around k pi.
  auto k = b.round(size, inverse_pi, cosine ? 0.5 : 0);
  AnyExpr n = cosine ? b.let(k.number - b.c(0.5)) : k.number;
  AnyExpr value = math_sin_core(b, math_trig_reduce(b, size, n, 1));
  AnyExpr flip = b.op(BinaryOp::shl, k.raw, b.i(b.t.bits - 1));
  if (!cosine) flip = b.op(BinaryOp::bit_xor, flip, sign);
  return b.of_bits(b.op(BinaryOp::bit_xor, b.bits(value), flip));
}

// sin(r) and cos(r) for |r| <= pi / 4, whose square is z (tools/fit_math.py).
inline AnyExpr math_sin_quarter(MathBuilder& b, const AnyExpr& r, const AnyExpr& z) {
  AnyExpr q =
      !b.wide() ? b.horner(z, {-0x1.555546p-3, 0x1.11073cp-7, -0x1.9943e2p-13})
      : b.rounded()
          ? b.horner(z, {-0x1.5555554c71d6dp-3, 0x1.1111086a6571fp-7, -0x1.a00f7f2b9b71p-13,
                         0x1.6cd1f34122bc9p-19})
          : b.horner(z, {-0x1.5555555555548p-3, 0x1.111111110f7dp-7, -0x1.a01a019bfdf1dp-13,
                         0x1.71de3567d5b7p-19, -0x1.ae5e5a936c186p-26, 0x1.5d8fd23abb2c6p-33});
  return b.fma(r * z, q, r);
}
inline AnyExpr math_cos_quarter(MathBuilder& b, const AnyExpr& z) {
  AnyExpr q =
      !b.wide() ? b.horner(z, {0x1.55554ap-5, -0x1.6c0c34p-10, 0x1.99eb9cp-16})
      : b.rounded()
          ? b.horner(z, {0x1.5555554ed9917p-5, -0x1.6c16b82a21877p-10, 0x1.a010ded7b4f72p-16,
                         -0x1.241e9d81fcf53p-22})
          : b.horner(z, {0x1.555555555554bp-5, -0x1.6c16c16c14f92p-10, 0x1.a01a019c84543p-16,
                         -0x1.27e4f7eac7bf4p-22, 0x1.1ee9d7b6aeaaep-29, -0x1.8fa49adab8927p-37});
  return b.fma(z * z, q, b.fma(z, b.c(-0.5), b.c(1)));
}

// Of size = |x| below the limit of math_trig, by quarter turns: after an odd number of them the
// tangent is -cos(r) / sin(r).
inline AnyExpr math_tan_near(MathBuilder& b, const AnyExpr& size, const AnyExpr& sign) {
  constexpr double inverse_half_pi = 0x1.45f306dc9c883p-1;
  auto k = b.round(size, inverse_half_pi);
  AnyExpr r = math_trig_reduce(b, size, k.number, 0.5), z = b.let(r * r);
  AnyExpr sine = b.let(math_sin_quarter(b, r, z)), cosine = b.let(math_cos_quarter(b, z));
  AnyExpr odd = b.op(BinaryOp::bit_and, k.raw, b.i(1));
  AnyExpr is_odd = b.let(b.op(BinaryOp::ne, odd, b.i(0)));
  AnyExpr value = make_select(is_odd, cosine, sine) / make_select(is_odd, sine, cosine);
  AnyExpr flip = b.op(BinaryOp::bit_xor, b.op(BinaryOp::shl, k.raw, b.i(b.t.bits - 1)), sign);
  return b.of_bits(b.op(BinaryOp::bit_xor, b.bits(value), flip));
}

// What the reduction above is good for: above, Payne and Hanek's takes over in the lanes that need
// it.
inline double math_trig_limit(const MathBuilder& b) {
  return !b.wide() ? 6e4 : b.caps.fma ? 1e9 : 4e6;
}

enum class MathTrig { sine, cosine, tangent };

inline AnyExpr math_trig_far(MathBuilder& b, const AnyExpr& size, const AnyExpr& sign,
                             MathTrig which) {
  MathPayneHanek far(b.t, b.caps, size);
  AnyExpr value = far.sine(which == MathTrig::cosine);
  if (which == MathTrig::tangent) value = value / far.sine(true);
  value = make_cast(b.t, far.b.finish(value));
  if (which != MathTrig::cosine) value = b.of_bits(b.op(BinaryOp::bit_xor, b.bits(value), sign));
  double inf = std::numeric_limits<double>::infinity();
  return make_select(b.op(BinaryOp::lt, size, b.c(inf)), value, b.c(std::nan("")));
}

inline AnyExpr math_trig(MathBuilder& b, const AnyExpr& x, MathTrig which) {
  if (!b.wide() && !b.caps.fma) {
    // Without fma the products would need four parts: in f64 they need none.
    MathBuilder f64(kF64.with_lanes(b.t.lanes), b.caps, MathBuilder::Digits::rounded);
    AnyExpr result = math_trig(f64, f64.let(make_cast(f64.t, x)), which);
    return make_cast(b.t, f64.finish(result));
  }
  AnyExpr size = b.let(b.abs(x)), sign_bit = b.i(std::int64_t(std::uint64_t{1} << (b.t.bits - 1)));
  AnyExpr sign = b.let(b.op(BinaryOp::bit_and, b.bits(x), sign_bit));
  AnyExpr near =
      b.let(which == MathTrig::tangent ? math_tan_near(b, size, sign)
                                       : math_trig_near(b, size, sign, which == MathTrig::cosine));
  AnyExpr is_far = b.op(BinaryOp::gt, size, b.c(math_trig_limit(b)));
  return make_select(is_far, math_trig_far(b, size, sign, which), near);
}

LATHE_DECL AnyExpr math_sin(MathBuilder& b, const AnyExpr& x) {
  return math_trig(b, x, MathTrig::sine);
}

LATHE_DECL AnyExpr math_cos(MathBuilder& b, const AnyExpr& x) {
  return math_trig(b, x, MathTrig::cosine);
}

LATHE_DECL AnyExpr math_tan(MathBuilder& b, const AnyExpr& x) {
  return math_trig(b, x, MathTrig::tangent);
}

}  // namespace lathe::detail

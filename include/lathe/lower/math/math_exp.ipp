#pragma once

#include <lathe/lower/math/math_builder.hpp>

// Coefficients: Remez on the relative error (f32: then climbed by units in the last place against
// the true error).
namespace lathe::detail {

// n * high is exact for every n that occurs, with and without fma.
inline constexpr double math_ln2_high32 = 0x1.62e4p-1, math_ln2_low32 = 0x1.7f7d1cp-20;
inline constexpr double math_ln2_high64 = 0x1.62e42feep-1, math_ln2_low64 = 0x1.a39ef35793c76p-33;
inline constexpr double math_log2e = 0x1.71547652b82fep+0, math_ln2 = 0x1.62e42fefa39efp-1;

// x - n * ln 2
inline AnyExpr math_exp_reduce(MathBuilder& b, const AnyExpr& x, const AnyExpr& n) {
  double high = b.wide() ? math_ln2_high64 : math_ln2_high32;
  double low = b.wide() ? math_ln2_low64 : math_ln2_low32;
  return b.let(b.fma(n, b.c(-low), b.let(b.fma(n, b.c(-high), x))));
}

// (e^r - 1) / r for |r| <= ln 2 / 2, f64 to 2^-37.
inline AnyExpr math_expm1_rounded(MathBuilder& b, const AnyExpr& r) {
  return b.horner(r, {0x1p+0, 0x1.00000027f142ep-1, 0x1.5555558955326p-3, 0x1.5554ad97adc55p-5,
                      0x1.11108f2c38ef5p-7, 0x1.6d74c7db28552p-10, 0x1.a1a1f73b62657p-13});
}

// e^r for |r| <= ln 2 / 2.
inline AnyExpr math_exp_core(MathBuilder& b, const AnyExpr& r) {
  if (!b.wide()) {
    AnyExpr p = b.horner(
        r, {0x1p+0, 0x1.fffffap-2, 0x1.55544ap-3, 0x1.55590ap-5, 0x1.126bd6p-7, 0x1.6ae408p-10});
    return b.fma(p, r, b.c(1));
  }
  if (b.rounded()) return b.fma(math_expm1_rounded(b, r), r, b.c(1));
  AnyExpr q = b.horner(r, {0x1p+0, 0x1p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5,
                           0x1.111111110f69ap-7, 0x1.6c16c16c14442p-10, 0x1.a01a01afee537p-13,
                           0x1.a01a01b0bb38ep-16, 0x1.71ddf839ca922p-19, 0x1.27e4c5981fc3cp-22,
                           0x1.af5ef05e442f2p-26, 0x1.1f9570a3c551bp-29});
  return b.fma(q, r, b.c(1));
}

// e^r - 1 for |r| <= ln 2 / 2, good to the last place near 0.
inline AnyExpr math_expm1_core(MathBuilder& b, const AnyExpr& r) {
  if (b.rounded()) return math_expm1_rounded(b, r) * r;
  AnyExpr q =
      b.wide() ? b.horner(r, {0x1p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5,
                              0x1.111111110f69ap-7, 0x1.6c16c16c14442p-10, 0x1.a01a01afee537p-13,
                              0x1.a01a01b0bb38ep-16, 0x1.71ddf839ca922p-19, 0x1.27e4c5981fc3cp-22,
                              0x1.af5ef05e442f2p-26, 0x1.1f9570a3c551bp-29})
               : b.horner(r, {0x1.fffffep-2, 0x1.5554acp-3, 0x1.5556c8p-5, 0x1.122b82p-7,
                              0x1.6bebaap-10});
  return b.fma(r * r, q, r);
}

// 2^(x * factor) of an x that is at most `high`, beyond which it is infinite; 0 below `low`, which
// asks where one instruction scales. Results that leave the normal numbers downwards cost Intel's
// cores 150 cycles each, also those that become 0 (the optimization manual: assists), as of masked
// softmax: operands below are replaced. A constant operand keeps NaN.
template <class F>
AnyExpr math_power(MathBuilder& b, const AnyExpr& x, double low, double high, double factor,
                   const F& reduced) {
  const AnyExpr most = b.min(x, high);
  // Of a power so low, scalb tells 0 without computing it.
  const AnyExpr at =
      b.let(b.caps.scales ? make_select(x < b.c(low), b.c(b.wide() ? -10000 : -1000), most)
                          : b.max(most, -b.zero_power() / factor));
  const auto n = b.round_power(at, factor, 0, 2);
  return b.scale(math_exp_core(b, reduced(at, n.number)), at, factor, n);
}

LATHE_DECL AnyExpr math_exp(MathBuilder& b, const AnyExpr& x) {
  return math_power(b, x, b.wide() ? -746 : -104, b.wide() ? 710 : 89, math_log2e,
                    [&](const AnyExpr& at, const AnyExpr& n) { return math_exp_reduce(b, at, n); });
}

LATHE_DECL AnyExpr math_exp2(MathBuilder& b, const AnyExpr& x) {
  return math_power(
      b, x, b.wide() ? -1076 : -151, b.wide() ? 1025 : 129, 1,
      [&](const AnyExpr& at, const AnyExpr& n) { return b.let((at - n) * b.c(math_ln2)); });
}

// Half of it, doubled, as 2^n is infinite for the last results; where n is 0 nothing is halved,
// which keeps subnormal arguments.
LATHE_DECL AnyExpr math_expm1(MathBuilder& b, const AnyExpr& x) {
  AnyExpr at = b.let(b.min(b.max(x, b.wide() ? -38 : -18), b.wide() ? 710 : 89));
  auto n = b.round_power(at, math_log2e, -1);
  AnyExpr p = b.let(math_expm1_core(b, math_exp_reduce(b, at, n.number)));
  AnyExpr power = b.let(b.power_of_biased(n.raw));
  AnyExpr half = b.let(b.fma(power, p, power - b.c(0.5)));
  AnyExpr result = make_select(b.op(BinaryOp::eq, n.number, b.c(0)), p, half + half);
  return make_call(CallOp::copysign, {result, x});
}

// x * P(x^2) / Q(x^2) up to where tanh rounds to 1 (tools/fit_math.py): 6.4 units, and roundings.
inline AnyExpr math_tanh_rational(MathBuilder& b, const AnyExpr& x) {
  AnyExpr at = b.let(b.min(b.max(x, -9), 9)), z = b.let(at * at);
  AnyExpr p = b.horner(z, {0x1.fffff4p-1, 0x1.06de1ep-3, 0x1.76394cp-9, 0x1.5dc5fcp-17});
  AnyExpr q = b.horner(z, {1, 0x1.d8c3a4p-2, 0x1.7fb69ep-6, 0x1.d87672p-13, 0x1.ccc6a6p-23});
  return at * p / q;
}

// With t = e^(2|x|) - 1 this is t / (t + 2), which loses nothing near 0.
LATHE_DECL AnyExpr math_tanh(MathBuilder& b, const AnyExpr& x) {
  if (b.fast()) return math_tanh_rational(b, x);
  AnyExpr size = b.min(b.abs(x), b.wide() ? 22 : 9.2);
  AnyExpr at = b.let(size + size);
  auto n = b.round_power(at, math_log2e);
  AnyExpr p = math_expm1_core(b, math_exp_reduce(b, at, n.number));
  AnyExpr power = b.let(b.power_of_biased(n.raw));
  AnyExpr t = b.let(b.fma(power, p, power - b.c(1)));
  return make_call(CallOp::copysign, {t / (t + b.c(2)), x});
}

}  // namespace lathe::detail

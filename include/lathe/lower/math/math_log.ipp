#pragma once

#include <cmath>
#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/math/math_exp.ipp>
#include <limits>

namespace lathe::detail {

// x = 2^exponent * (1 + fraction), for x > 0 and finite, also denormal.
struct MathLogParts {
  AnyExpr exponent, fraction;
};

// The exponent of a positive normal number, given by its bits, whose mantissa starts at 2/3 for
// f32, at sqrt(1/2) for f64.
inline AnyExpr math_log_exponent(MathBuilder& b, const AnyExpr& bits) {
  AnyExpr start = b.wide() ? b.i(0x3fe6a09e667f3bcd) : b.i(0x3f2aaaab);
  return b.op(BinaryOp::shr, bits - start, b.i(b.wide() ? 52 : 23));
}

inline MathLogParts math_log_parts(MathBuilder& b, const AnyExpr& x) {
  bool wide = b.wide();
  double smallest = wide ? 0x1p-1022 : 0x1p-126, up = wide ? 0x1p52 : 0x1p23;
  AnyExpr small = b.let(b.op(BinaryOp::lt, x, b.c(smallest)));
  AnyExpr bits = b.let(b.bits(make_select(small, x * b.c(up), x)));
  int width = wide ? 52 : 23;
  AnyExpr k = b.let(math_log_exponent(b, bits));
  AnyExpr mantissa = b.of_bits(bits - b.op(BinaryOp::shl, k, b.i(width)));
  AnyExpr exponent = make_cast(b.t, k) - make_select(small, b.c(width), b.c(0));
  return {b.let(exponent), b.let(mantissa - b.c(1))};
}

// What log gives where there is no logarithm: -inf at 0, NaN below; inf and NaN stay.
inline AnyExpr math_log_special(MathBuilder& b, const AnyExpr& x, const AnyExpr& result) {
  double inf = std::numeric_limits<double>::infinity();
  AnyExpr high = make_select(b.op(BinaryOp::lt, x, b.c(inf)), result, x);
  AnyExpr low = make_select(b.op(BinaryOp::eq, x, b.c(0)), b.c(-inf), b.c(std::nan("")));
  return make_select(b.op(BinaryOp::gt, x, b.c(0)), high, low);
}

// log(1 + f) - f of an f32 f in [-1/3, 1/3].
inline AnyExpr math_log_tail32(MathBuilder& b, const AnyExpr& f) {
  AnyExpr q = b.horner(f, {-0x1.ffffd4p-2, 0x1.5554fap-2, -0x1.00148ap-2, 0x1.99d432p-3,
                           -0x1.50331ep-3, 0x1.1ea27cp-3, -0x1.3b2864p-3, 0x1.1f429ep-3});
  return b.let(f * f * q);
}

// With s = f / (2 + f): log(1 + f) = 2s + s * (this), |s| <= 0.172.
inline AnyExpr math_log_series64(MathBuilder& b, const AnyExpr& s) {
  AnyExpr z = b.let(s * s);
  if (b.rounded())
    return z * b.horner(z, {0x1.555554fd6cfa2p-1, 0x1.999a7affc8ae3p-2, 0x1.2438b4cff9fc2p-2,
                            0x1.e2fc3b5229f57p-3});
  return z * b.horner(z, {0x1.5555555555592p-1, 0x1.999999997fcc6p-2, 0x1.2492494204f62p-2,
                          0x1.c71c51f530f7cp-3, 0x1.746643be1f8eep-3, 0x1.39a12e4c222fbp-3,
                          0x1.2f0b783c4adf6p-3});
}

// log(1 + f) to 2^-37.
inline AnyExpr math_log_rounded(MathBuilder& b, const AnyExpr& f) {
  AnyExpr s = b.let(f / (f + b.c(2)));
  return b.fma(math_log_series64(b, s), s, s + s);
}

// log(2^k * (1 + f)).
inline AnyExpr math_log_of_parts(MathBuilder& b, const MathLogParts& parts) {
  const AnyExpr &k = parts.exponent, &f = parts.fraction;
  if (!b.wide()) {
    AnyExpr tail = math_log_tail32(b, f);
    return b.fma(k, b.c(0x1.62e4p-1), f) + b.fma(k, b.c(0x1.7f7d1cp-20), tail);
  }
  if (b.rounded()) return b.fma(k, b.c(math_ln2), math_log_rounded(b, f));
  // f - f^2/2 is kept apart from what is small against it.
  AnyExpr s = b.let(f / (f + b.c(2))), half = b.let(f * f * b.c(0.5));
  AnyExpr small = s * (half + math_log_series64(b, s)) + k * b.c(0x1.a39ef35793c76p-33);
  return k * b.c(0x1.62e42feep-1) - ((half - small) - f);
}

LATHE_DECL AnyExpr math_log(MathBuilder& b, const AnyExpr& x) {
  return math_log_special(b, x, math_log_of_parts(b, math_log_parts(b, x)));
}

// k is that of 1 + x, but f = (1 + x) * 2^-k - 1 from x itself: what 1 + x loses stays.
LATHE_DECL AnyExpr math_log1p(MathBuilder& b, const AnyExpr& x) {
  AnyExpr sum = b.let(x + b.c(1));
  AnyExpr bits = b.bits(sum), k = b.let(math_log_exponent(b, bits));
  // A quarter of x by four times 2^-k, which is a normal number for all k.
  AnyExpr up = b.let(b.power_of_two(b.i(2) - k));
  AnyExpr scaled = b.fma(x * b.c(0.25), up, b.fma(up, b.c(0.25), b.c(-1)));
  AnyExpr f = b.let(make_select(b.op(BinaryOp::eq, k, b.i(0)), x, scaled));
  AnyExpr result = math_log_of_parts(b, {b.let(make_cast(b.t, k)), f});
  return math_log_special(b, sum, make_call(CallOp::copysign, {result, x}));
}

LATHE_DECL AnyExpr math_log2(MathBuilder& b, const AnyExpr& x) {
  auto [k, f] = math_log_parts(b, x);
  if (!b.wide()) {
    AnyExpr tail = math_log_tail32(b, f);
    AnyExpr low = b.fma(f, b.c(0x1.4ae0cp-26), tail * b.c(0x1.715476p+0));
    return math_log_special(b, x, k + b.fma(f, b.c(0x1.715476p+0), low));
  }
  if (b.rounded()) return math_log_special(b, x, b.fma(math_log_rounded(b, f), b.c(math_log2e), k));
  // high has 21 bits fewer, so that its product with the 32-bit part of log2(e) is exact.
  AnyExpr s = b.let(f / (f + b.c(2))), half = b.let(f * f * b.c(0.5));
  AnyExpr cut = b.op(BinaryOp::bit_and, b.bits(f - half), b.i(-(std::int64_t{1} << 32)));
  AnyExpr high = b.let(b.of_bits(cut));
  AnyExpr low = b.let((f - high) - half + s * (half + math_log_series64(b, s)));
  AnyExpr main = b.let(high * b.c(0x1.71547652p+0));
  AnyExpr rest = (low + high) * b.c(0x1.705fc2eefa2p-33) + low * b.c(0x1.71547652p+0);
  AnyExpr sum = b.let(k + main);
  return math_log_special(b, x, sum + (rest + ((k - sum) + main)));
}

}  // namespace lathe::detail

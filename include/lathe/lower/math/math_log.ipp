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

// The exponent of a positive normal number, given by its bits, whose mantissa starts at 3/4 for
// f32, at sqrt(1/2) for f64.
inline AnyExpr math_log_exponent(MathBuilder& b, const AnyExpr& bits) {
  AnyExpr start = b.wide() ? b.i(0x3fe6a09e667f3bcd) : b.i(0x3f400000);
  return b.op(BinaryOp::shr, bits - start, b.i(b.wide() ? 52 : 23));
}

// Whether instructions take exponents and mantissas off, which also say what 0, inf, NaN and
// negative numbers have: -inf and inf, and 1, or NaN. A mantissa of f64 would start at 3/4, too.
inline bool math_log_by_instructions(const MathBuilder& b) { return b.caps.scales && !b.wide(); }

// The exponent of an f32 whose mantissa is given.
inline AnyExpr math_log_exponent(MathBuilder& b, const AnyExpr& x, const AnyExpr& mantissa) {
  AnyExpr k = b.let(make_call(CallOp::logb, {x}));
  return b.let(make_select(b.op(BinaryOp::lt, mantissa, b.c(1)), k + b.c(1), k));
}

// The same, NaN where the mantissa is: what log gives wherever it is not finite.
inline AnyExpr math_log_whole_exponent(MathBuilder& b, const AnyExpr& x, const AnyExpr& mantissa) {
  return b.let(b.fma(mantissa, b.c(0), math_log_exponent(b, x, mantissa)));
}

inline MathLogParts math_log_parts(MathBuilder& b, const AnyExpr& x) {
  if (math_log_by_instructions(b)) {
    AnyExpr mantissa = b.let(make_call(CallOp::significand, {x}));
    AnyExpr k =
        b.accurate() ? math_log_whole_exponent(b, x, mantissa) : math_log_exponent(b, x, mantissa);
    return {k, b.let(mantissa - b.c(1))};
  }
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

// The result where the whole exponent is finite.
inline AnyExpr math_log_finite(MathBuilder& b, const AnyExpr& exponent, const AnyExpr& result) {
  AnyExpr inf = b.c(std::numeric_limits<double>::infinity());
  return make_select(b.op(BinaryOp::lt, b.abs(exponent), inf), result, exponent);
}

// The same of the sum that math_log32 and math_log2_32 have, where it does not say so itself.
inline AnyExpr math_log_special(MathBuilder& b, const AnyExpr& x, const AnyExpr& exponent,
                                const AnyExpr& result) {
  if (!math_log_by_instructions(b)) return math_log_special(b, x, result);
  return b.accurate() ? math_log_finite(b, exponent, result) : result;
}

// (ln(1 + f) - f) / f^2 of an f32 f in [-1/4, 1/2] to 2^-25.0, accurate 2^-27.5 (of ln(1 + f);
// tools/fit_math.py).
inline AnyExpr math_log_tail32(MathBuilder& b, const AnyExpr& f, const AnyExpr& square) {
  if (b.accurate())
    return b.horner(f, {-0.5, 0x1.5555a6p-2, -0x1.00002ep-2, 0x1.996874p-3, -0x1.54f23ap-3,
                        0x1.28986p-3, -0x1.0d9106p-3, 0x1.abf7bp-4, -0x1.6fec3cp-5});
  return b.horner(f, square,
                  {-0x1.000014p-1, 0x1.5555e4p-2, -0x1.ffddb6p-3, 0x1.9921a6p-3, -0x1.58881ap-3,
                   0x1.32df32p-3, -0x1.ee4898p-4, 0x1.bb74d8p-5});
}

// The same over ln(2), to 2^-25.1; accurate on [-1/3, 1/3], to 2^-27.3.
inline AnyExpr math_log2_tail32(MathBuilder& b, const AnyExpr& f, const AnyExpr& square) {
  if (b.accurate())
    return b.horner(f,
                    {-0x1.715476p-1, 0x1.ec7024p-2, -0x1.71538cp-2, 0x1.279f88p-2, -0x1.ece67ep-3,
                     0x1.9dac3cp-3, -0x1.677752p-3, 0x1.9ddaf4p-3, -0x1.7e81a4p-3});
  return b.horner(f, square,
                  {-0x1.715494p-1, 0x1.ec716ep-2, -0x1.713ba2p-2, 0x1.27200ep-2, -0x1.f10d9ap-3,
                   0x1.bab852p-3, -0x1.648bdp-3, 0x1.3fe09p-4});
}

// log(2^k * (1 + f)) of f32. Products of k with the high part of ln(2) are exact, so that what
// their sum with f loses can be added again (Dekker): 1.3 of 1.8 units become 0.8.
inline AnyExpr math_log32(MathBuilder& b, const MathLogParts& parts) {
  const AnyExpr &k = parts.exponent, &f = parts.fraction, high = b.c(0x1.62e4p-1);
  AnyExpr square = b.let(f * f), tail = math_log_tail32(b, f, square);
  AnyExpr low = k * b.c(0x1.7f7d1cp-20), sum = b.fma(k, high, f);
  if (!b.accurate()) return sum + b.fma(square, tail, low);
  sum = b.let(sum);
  low = b.fma(k, b.c(0x1.7f7d1cp-20), f + b.fma(k, high, -sum));
  return sum + b.fma(square, tail, low);
}

inline AnyExpr math_log2_32(MathBuilder& b, const MathLogParts& parts) {
  AnyExpr k = parts.exponent, f = parts.fraction, high = b.c(0x1.715476p+0);
  if (b.accurate()) {
    // From -1 and a large fraction little would be left, and all of what that has lost.
    AnyExpr large = b.let(b.op(BinaryOp::ge, f, b.c(0x1.555556p-2)));
    k = b.let(make_select(large, k + b.c(1), k));
    f = b.let(make_select(large, b.fma(f, b.c(0.5), b.c(-0.5)), f));
  }
  AnyExpr square = b.let(f * f), tail = math_log2_tail32(b, f, square);
  AnyExpr low = f * b.c(0x1.4ae0cp-26);
  if (!b.accurate()) return k + b.fma(f, high, b.fma(square, tail, low));
  AnyExpr product = b.let(f * high), sum = b.let(k + product);
  AnyExpr lost = b.fma(f, high, -product) + (product - (sum - k));
  return sum + b.fma(square, tail, b.fma(f, b.c(0x1.4ae0cp-26), lost));
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
  if (!b.wide()) return math_log32(b, parts);
  const AnyExpr &k = parts.exponent, &f = parts.fraction;
  if (b.rounded()) return b.fma(k, b.c(math_ln2), math_log_rounded(b, f));
  // f - f^2/2 is kept apart from what is small against it.
  AnyExpr s = b.let(f / (f + b.c(2))), half = b.let(f * f * b.c(0.5));
  AnyExpr small = s * (half + math_log_series64(b, s)) + k * b.c(0x1.a39ef35793c76p-33);
  return k * b.c(0x1.62e42feep-1) - ((half - small) - f);
}

LATHE_DECL AnyExpr math_log(MathBuilder& b, const AnyExpr& x) {
  const MathLogParts parts = math_log_parts(b, x);
  return math_log_special(b, x, parts.exponent, math_log_of_parts(b, parts));
}

// The exponent k of sum = 1 + x, and f = 2^-k * (1 + x) - 1 from x itself: what the sum loses
// stays. Nothing is rounded for k from -24 to 24: the two addends are near each other, of different
// signs.
inline MathLogParts math_log1p_parts(MathBuilder& b, const AnyExpr& x, const AnyExpr& sum) {
  if (math_log_by_instructions(b)) {
    AnyExpr mantissa = b.let(make_call(CallOp::significand, {sum}));
    AnyExpr k = math_log_whole_exponent(b, sum, mantissa);
    // Of numbers that 1 does not change, x is the sum; beyond 2^126 the factor would not be one.
    AnyExpr down = b.let(b.of_bits(b.bits(mantissa) - b.bits(sum) + b.bits(b.c(1))));
    AnyExpr small = b.op(BinaryOp::lt, sum, b.c(0x1p64));
    AnyExpr scaled = b.fma(x, down, down - b.c(1));
    return {k, b.let(make_select(small, scaled, mantissa - b.c(1)))};
  }
  AnyExpr k = b.let(math_log_exponent(b, b.bits(sum)));
  // A quarter of x by four times 2^-k, which is a normal number for all k.
  AnyExpr up = b.let(b.power_of_two(b.i(2) - k));
  AnyExpr scaled = b.fma(x * b.c(0.25), up, b.fma(up, b.c(0.25), b.c(-1)));
  AnyExpr f = b.let(make_select(b.op(BinaryOp::eq, k, b.i(0)), x, scaled));
  return {b.let(make_cast(b.t, k)), f};
}

LATHE_DECL AnyExpr math_log1p(MathBuilder& b, const AnyExpr& x) {
  AnyExpr sum = b.let(x + b.c(1));
  const MathLogParts parts = math_log1p_parts(b, x, sum);
  AnyExpr result = make_call(CallOp::copysign, {math_log_of_parts(b, parts), x});
  return math_log_by_instructions(b) ? math_log_finite(b, parts.exponent, result)
                                     : math_log_special(b, sum, result);
}

LATHE_DECL AnyExpr math_log2(MathBuilder& b, const AnyExpr& x) {
  auto [k, f] = math_log_parts(b, x);
  if (!b.wide()) return math_log_special(b, x, k, math_log2_32(b, {k, f}));
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

#pragma once

#include <cmath>
#include <lathe/lower/math/math_builder.hpp>
#include <limits>

namespace lathe::detail {

// A value as a sum of two, the second below the first's last place.
struct MathPair {
  AnyExpr high, low;
};

inline MathPair math_two_sum(MathBuilder& b, const AnyExpr& x, const AnyExpr& y) {
  AnyExpr sum = b.let(x + y), part = b.let(sum - x);
  return {sum, b.let((x - (sum - part)) + (y - part))};
}

// x + y where |x| >= |y| or x is 0.
inline MathPair math_fast_sum(MathBuilder& b, const AnyExpr& x, const AnyExpr& y) {
  AnyExpr sum = b.let(x + y);
  return {sum, b.let(y - (sum - x))};
}

inline MathPair math_two_product(MathBuilder& b, const AnyExpr& x, const AnyExpr& y) {
  AnyExpr product = b.let(x * y);
  if (b.caps.fma) return {product, b.let(b.fma(x, y, -product))};
  // Veltkamp's halves of 26 bits.
  auto split = [&](const AnyExpr& v) {
    AnyExpr cut = b.op(BinaryOp::bit_and, b.bits(v), b.i(-(std::int64_t{1} << 27)));
    AnyExpr high = b.let(b.of_bits(cut));
    return MathPair{high, b.let(v - high)};
  };
  MathPair p = split(x), q = split(y);
  AnyExpr cross = (p.high * q.high - product) + p.high * q.low + p.low * q.high;
  return {product, b.let(cross + p.low * q.low)};
}

// log(x) of an f64 x > 0 to about 2^-64: s = f / (2 + f) as a pair, then 2s + 2/3 s^3 + s^5 *
// (series).
inline MathPair math_log_pair(MathBuilder& b, const MathLogParts& parts) {
  const AnyExpr &k = parts.exponent, &f = parts.fraction;
  MathPair below = math_two_sum(b, b.c(2), f);
  AnyExpr s = b.let(f / below.high);
  MathPair back = math_two_product(b, s, below.high);
  AnyExpr s_low = b.let((((f - back.high) - back.low) - s * below.low) / below.high);
  MathPair z = math_two_product(b, s, s);
  AnyExpr z_low = b.let(z.low + s * s_low * b.c(2));
  AnyExpr series =
      z.high * z.high *
      b.horner(z.high, {0x1.9999999999b0bp-2, 0x1.249249245b5d3p-2, 0x1.c71c72293a113p-3,
                        0x1.745ceb2051edcp-3, 0x1.3b1eb9b52baf3p-3, 0x1.0f8400c8b12f1p-3,
                        0x1.0e206f3be2ae6p-3});
  // s * z * 2/3 as a pair, the rest in f64.
  MathPair third = math_two_product(b, z.high, b.c(0x1.5555555555555p-1));
  AnyExpr third_low = b.let(third.low + z.high * b.c(0x1.5555555555555p-55) +
                            z_low * b.c(0x1.5555555555555p-1) + series);
  MathPair cube = math_two_product(b, s, third.high);
  AnyExpr cube_low = cube.low + s * third_low + s_low * third.high;
  MathPair turn = math_fast_sum(b, k * b.c(0x1.62e42feep-1), s + s);
  MathPair sum = math_two_sum(b, turn.high, cube.high);
  AnyExpr low = turn.low + sum.low + cube_low + (s_low + s_low) + k * b.c(0x1.a39ef35793c76p-33) +
                k * b.c(0x1.cc01f97b57a08p-87);
  return math_fast_sum(b, sum.high, b.let(low));
}

// |x|^y of f64, where the logarithm of x is a pair.
inline AnyExpr math_pow64(MathBuilder& b, const AnyExpr& size, const AnyExpr& y,
                          const AnyExpr& is_one) {
  double inf = std::numeric_limits<double>::infinity();
  MathPair log = math_log_pair(b, math_log_parts(b, size));
  MathPair p = math_two_product(b, log.high, y);
  // Beyond these ends the result is 0 or infinite, and the low part means nothing.
  AnyExpr ordinary =
      logical_and(b.op(BinaryOp::gt, size, b.c(0)), b.op(BinaryOp::lt, size, b.c(inf)));
  AnyExpr edge = make_select(b.op(BinaryOp::eq, size, b.c(0)), b.c(-inf), size) * y;
  AnyExpr chosen = make_select(is_one, b.c(0), make_select(ordinary, p.high, edge));
  AnyExpr at = b.let(b.min(b.max(chosen, -b.zero_power() / math_log2e), 710));
  AnyExpr inside = b.op(BinaryOp::eq, at, p.high);
  AnyExpr low = make_select(inside, b.fma(log.low, y, p.low), b.c(0));
  auto n = b.round_power(at, math_log2e, 0, 2);
  AnyExpr r = b.let(b.fma(n.number, b.c(-math_ln2_high64), at));
  AnyExpr tail = b.let(b.fma(n.number, b.c(-math_ln2_low64), b.let(low)));
  AnyExpr e = math_exp_core(b, b.let(r + tail));
  return b.scale(e, at, math_log2e, n);
}

// |x|^y of f32 in f64.
inline AnyExpr math_pow32(MathBuilder& b, const AnyExpr& size, const AnyExpr& y,
                          const AnyExpr& is_one) {
  AnyExpr p = make_select(is_one, b.c(0), math_log2(b, size) * y);
  AnyExpr at = b.let(b.min(b.max(p, -200), 200));
  auto n = b.round_power(at, 1);
  AnyExpr r = b.let((at - n.number) * b.c(math_ln2));
  return math_exp_core(b, r) * b.power_of_biased(n.raw);
}

LATHE_DECL AnyExpr math_pow(MathBuilder& b, const AnyExpr& x, const AnyExpr& y) {
  double inf = std::numeric_limits<double>::infinity();
  AnyExpr size = b.let(b.abs(x)), zero = b.c(0);
  AnyExpr is_one = logical_or(b.op(BinaryOp::eq, size, b.c(1)), b.op(BinaryOp::eq, y, zero));
  AnyExpr value;
  if (b.wide()) {
    value = math_pow64(b, size, y, b.let(is_one));
  } else {
    MathBuilder f64(kF64.with_lanes(b.t.lanes), b.caps, MathBuilder::Digits::rounded);
    AnyExpr wide_size = f64.let(make_cast(f64.t, size)), wide_y = f64.let(make_cast(f64.t, y));
    value = make_cast(b.t, f64.finish(math_pow32(f64, wide_size, wide_y, b.let(is_one))));
  }
  // An odd integer keeps the sign, an even one drops it, any other exponent of a negative number
  // has no result.
  AnyExpr half = b.let(y * b.c(0.5));
  AnyExpr whole = b.op(BinaryOp::eq, make_call(CallOp::floor, {y}), y);
  AnyExpr odd = b.op(BinaryOp::ne, make_call(CallOp::floor, {half}), half);
  AnyExpr whole_y = b.let(whole);
  AnyExpr sign =
      b.op(BinaryOp::bit_and, b.bits(x), b.i(std::int64_t(std::uint64_t{1} << (b.t.bits - 1))));
  AnyExpr keep = make_select(logical_and(whole_y, odd), sign, b.i(0));
  AnyExpr result = b.of_bits(b.op(BinaryOp::bit_or, b.bits(value), keep));
  AnyExpr negative = logical_and(b.op(BinaryOp::lt, x, zero), b.op(BinaryOp::gt, x, b.c(-inf)));
  AnyExpr none = logical_and(negative, logical_not(whole_y));
  // 1 to any power is 1, also to NaN.
  AnyExpr one = b.op(BinaryOp::eq, x, b.c(1));
  AnyExpr either = make_select(none, b.c(std::nan("")), result);
  AnyExpr lost = logical_and(b.op(BinaryOp::ne, y, y), logical_not(one));
  return make_select(lost, y, either);
}

}  // namespace lathe::detail

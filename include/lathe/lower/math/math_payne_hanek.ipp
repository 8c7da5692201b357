#pragma once

#include <cmath>
#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/math/math_trig.hpp>
#include <limits>

namespace lathe::detail {

// The 32-bit words of 2 / pi, from its first bit on.
inline constexpr std::uint32_t math_two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};

// The bits of 2^(exponent - 2 - 32 * limbs) * 2/pi after the binary point, in words of 32: a barrel
// shifter over the table. In front of the table stand as many zero bits as exponent 0 asks for.
LATHE_DECL Vec<AnyExpr> MathPayneHanek::window(const AnyExpr& exponent) {
  Vec<AnyExpr> list;
  for (int w = 0; w < limbs_; ++w) list.push_back(word(0));
  std::uint64_t before = 0;
  for (int w = 0; w < top_word_ + words_ + 2; ++w) {
    std::uint64_t next = w < 40 ? math_two_over_pi[w] : 0;
    list.push_back(word((before << 30 | next >> 2) & 0xFFFFFFFF));
    before = next & 3;
  }
  AnyExpr index = b.let(b.op(BinaryOp::shr, exponent, word(5)));
  // top_word_ is a power of two and the largest index: where its bit is set no other is.
  int keep = words_ + 1;
  for (int step = top_word_; step > 0; step /= 2) {
    AnyExpr bit = b.op(BinaryOp::bit_and, index, word(static_cast<std::uint64_t>(step)));
    AnyExpr skip = b.let(b.op(BinaryOp::ne, bit, word(0)));
    for (int w = 0; w < keep; ++w) {
      auto at = static_cast<std::size_t>(w), from = static_cast<std::size_t>(w + step);
      list[at] = b.let(make_select(skip, list[from], list[at]));
    }
    keep = words_ + step / 2;
  }
  AnyExpr shift = b.let(make_cast(u64_, b.op(BinaryOp::bit_and, exponent, word(31))));
  Vec<AnyExpr> out;
  for (std::size_t w = 0; w < static_cast<std::size_t>(words_); ++w) {
    AnyExpr high = b.op(BinaryOp::shl, make_cast(u64_, list[w]), dword(32));
    AnyExpr pair = b.op(BinaryOp::bit_or, high, make_cast(u64_, list[w + 1]));
    out.push_back(b.let(b.op(BinaryOp::shr, b.op(BinaryOp::shl, pair, shift), dword(32))));
  }
  return out;
}

// The product modulo 1, by columns of 32 bits from the lowest; truncation spoils only the last
// `limbs` words.
LATHE_DECL void MathPayneHanek::multiply(const Vec<AnyExpr>& mantissa, const Vec<AnyExpr>& bits) {
  Vec<AnyExpr> columns(static_cast<std::size_t>(words_));
  AnyExpr carry = dword(0), low = dword(0xFFFFFFFF);
  for (int column = words_ - 1; column >= 0; --column) {
    AnyExpr sum = carry, high = dword(0);
    for (int limb = 0; limb < limbs_; ++limb) {
      int at = column + limbs_ - 1 - limb;
      if (at >= words_) continue;
      AnyExpr product =
          b.let(mantissa[static_cast<std::size_t>(limb)] * bits[static_cast<std::size_t>(at)]);
      sum = sum + b.op(BinaryOp::bit_and, product, low);
      high = high + b.op(BinaryOp::shr, product, dword(32));
    }
    sum = b.let(sum);
    columns[static_cast<std::size_t>(column)] = b.op(BinaryOp::bit_and, sum, low);
    carry = b.let(high + b.op(BinaryOp::shr, sum, dword(32)));
  }
  auto join = [&](std::size_t w) {
    return b.let(
        b.op(BinaryOp::bit_or, b.op(BinaryOp::shl, columns[w], dword(32)), columns[w + 1]));
  };
  high_ = join(0);
  low_ = limbs_ == 2 ? join(2) : AnyExpr();
}

LATHE_DECL MathPayneHanek::MathPayneHanek(DType t, const TargetCaps& caps, const AnyExpr& size)
    : b(kF64.with_lanes(t.lanes), caps),
      u32_(kU32.with_lanes(t.lanes)),
      u64_(kU64.with_lanes(t.lanes)) {
  bool wide = t.bits == 64;
  limbs_ = wide ? 2 : 1, words_ = wide ? 6 : 3, top_word_ = wide ? 32 : 4;
  Vec<AnyExpr> mantissa;
  AnyExpr exponent;
  if (wide) {
    AnyExpr bits = b.let(make_reinterpret(u64_, size));
    AnyExpr aligned = b.let(b.op(BinaryOp::bit_or, b.op(BinaryOp::shl, bits, dword(11)),
                                 dword(std::uint64_t{1} << 63)));
    mantissa = {b.let(b.op(BinaryOp::shr, aligned, dword(32))),
                b.let(b.op(BinaryOp::bit_and, aligned, dword(0xFFFFFFFF)))};
    exponent = make_cast(u32_, b.op(BinaryOp::shr, bits, dword(52))) - word(1022);
  } else {
    AnyExpr bits = b.let(make_reinterpret(u32_, size));
    AnyExpr aligned = b.op(BinaryOp::bit_or, b.op(BinaryOp::shl, bits, word(8)), word(1u << 31));
    mantissa = {b.let(make_cast(u64_, aligned))};
    exponent = b.op(BinaryOp::shr, bits, word(23)) - word(126);
  }
  multiply(mantissa, window(b.let(exponent)));
}

// high_ and low_ are the fraction of x / (2 pi); its nearest half-turn decides the sign.
LATHE_DECL AnyExpr MathPayneHanek::sine(bool cosine) {
  AnyExpr turn = cosine ? b.let(high_ + dword(std::uint64_t{1} << 62)) : high_;
  AnyExpr top = dword(std::uint64_t{1} << 63);
  AnyExpr half = b.let(b.op(BinaryOp::bit_and, turn + dword(std::uint64_t{1} << 62), top));
  AnyExpr rest = b.let(make_reinterpret(b.bits_type(), b.op(BinaryOp::bit_xor, turn, half)));
  AnyExpr main = b.let(make_cast(b.t, rest)), r = main * b.c(0x1.921fb54442d18p-62);
  if (limbs_ == 2) {
    AnyExpr left = make_cast(b.t, rest - make_cast(b.bits_type(), main));
    AnyExpr tail = b.let(b.fma(make_cast(b.t, low_), b.c(0x1p-64), left));
    AnyExpr small = b.fma(main, b.c(0x1.1a62633145c07p-116), tail * b.c(0x1.921fb54442d18p-62));
    r = b.fma(main, b.c(0x1.921fb54442d18p-62), small);
  }
  AnyExpr value = math_sin_core(b, b.let(r));
  AnyExpr sign = make_reinterpret(b.bits_type(), half);
  return b.of_bits(b.op(BinaryOp::bit_xor, b.bits(value), sign));
}

}  // namespace lathe::detail

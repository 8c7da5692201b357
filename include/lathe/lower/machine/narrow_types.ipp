#pragma once

#include <cmath>
#include <lathe/ir/narrow.hpp>
#include <lathe/lower/machine/narrow_types.hpp>

namespace lathe::detail {

inline AnyExpr bits_const(const AnyExpr& like, std::uint32_t value) {
  return make_int(kU32.with_lanes(like.dtype().lanes), static_cast<std::int64_t>(value));
}

inline AnyExpr bit_op(BinaryOp op, const AnyExpr& a, std::uint32_t b) {
  return make_binary(op, a, bits_const(a, b));
}

inline AnyExpr float_of_bits(const AnyExpr& bits) {
  return make_reinterpret(kF32.with_lanes(bits.dtype().lanes), bits);
}

inline AnyExpr bits_of_float(const AnyExpr& value) {
  return make_reinterpret(kU32.with_lanes(value.dtype().lanes), value);
}

LATHE_DECL AnyExpr decode_narrow(DType narrow, const AnyExpr& bits, const TargetCaps& caps) {
  FloatFormat f = float_format(narrow);
  int lanes = bits.dtype().lanes, shift = 23 - f.mantissa_bits;
  DType f32 = kF32.with_lanes(lanes), u32 = kU32.with_lanes(lanes);
  bool half = narrow.code == TypeCode::ieee;
  if (half && caps.half) return make_cast(f32, make_reinterpret(kF16.with_lanes(lanes), bits));
  if (narrow.code == TypeCode::bfloat)
    return float_of_bits(bit_op(BinaryOp::shl, make_cast(u32, bits), 16));
  int width = narrow.bits;
  std::uint32_t magnitude_mask = (1u << (width - 1)) - 1;
  return with_value("bits", make_cast(u32, bits), [&](const AnyExpr& x) {
    AnyExpr sign = bit_op(BinaryOp::shl, bit_op(BinaryOp::bit_and, x, 1u << (width - 1)),
                          static_cast<std::uint32_t>(32 - width));
    AnyExpr magnitude = bit_op(BinaryOp::bit_and, x, magnitude_mask);
    // With the exponent field in place only the bias is wrong, also of subnormals: a product
    // corrects it exactly.
    AnyExpr value =
        float_of_bits(bit_op(BinaryOp::shl, magnitude, static_cast<std::uint32_t>(shift)));
    value = value * make_float(f32, std::ldexp(1.0, 127 - f.bias()));
    std::uint32_t first_special =
        f.finite ? magnitude_mask : ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
    AnyExpr is_special = make_binary(BinaryOp::ge, magnitude, bits_const(x, first_special));
    AnyExpr special =
        f.finite ? bits_const(x, 0x7FC00000u)
                 : bit_op(BinaryOp::bit_or,
                          bit_op(BinaryOp::shl, magnitude, static_cast<std::uint32_t>(shift)),
                          0x7F800000u);
    AnyExpr result = make_select(is_special, special, bits_of_float(value));
    return float_of_bits(make_binary(BinaryOp::bit_or, result, sign));
  });
}

LATHE_DECL AnyExpr sum_to_odd(const AnyExpr& x, const AnyExpr& y) {
  const DType u64 = kU64.with_lanes(x.dtype().lanes);
  const AnyExpr zero = make_float(x.dtype(), 0), one = make_int(u64, 1);
  const auto below = [](const AnyExpr& a, const AnyExpr& b) {
    return make_binary(BinaryOp::lt, a, b);
  };
  return with_value("x", x, [&](const AnyExpr& a) {
    return with_value("y", y, [&](const AnyExpr& b) {
      return with_value("sum", a + b, [&](const AnyExpr& sum) {
        const AnyExpr lost = with_value(
            "part", sum - a, [&](const AnyExpr& part) { return (a - (sum - part)) + (b - part); });
        return with_value("lost", lost, [&](const AnyExpr& rest) {
          const AnyExpr bits = make_reinterpret(u64, sum);
          const AnyExpr even = make_binary(BinaryOp::eq, make_binary(BinaryOp::bit_and, bits, one),
                                           make_int(u64, 0));
          const AnyExpr cut = logical_or(below(rest, zero), below(zero, rest));
          const AnyExpr outwards = make_binary(BinaryOp::eq, below(rest, zero), below(sum, zero));
          const AnyExpr moved =
              make_reinterpret(x.dtype(), make_select(outwards, bits + one, bits - one));
          return make_select(logical_and(cut, even), moved, sum);
        });
      });
    });
  });
}

LATHE_DECL AnyExpr f32_to_odd(const AnyExpr& value) {
  int lanes = value.dtype().lanes;
  DType f32 = kF32.with_lanes(lanes), f64 = kF64.with_lanes(lanes);
  return with_value("wide", value, [&](const AnyExpr& x) {
    return with_value("near", make_cast(f32, x), [&](const AnyExpr& near) {
      AnyExpr bits = bits_of_float(near), back = make_cast(f64, near);
      AnyExpr short_of =
          make_binary(BinaryOp::lt, make_call(CallOp::abs, {back}), make_call(CallOp::abs, {x}));
      AnyExpr odd = bit_op(BinaryOp::bit_and, bits, 1);
      AnyExpr even = make_binary(BinaryOp::eq, odd, bits_const(bits, 0));
      AnyExpr cut =
          logical_or(make_binary(BinaryOp::lt, back, x), make_binary(BinaryOp::gt, back, x));
      AnyExpr moved =
          make_select(short_of, bit_op(BinaryOp::add, bits, 1), bit_op(BinaryOp::sub, bits, 1));
      return float_of_bits(make_select(logical_and(cut, even), moved, bits));
    });
  });
}

inline AnyExpr rounded_bits(FloatFormat f, const AnyExpr& magnitude) {
  auto shift = static_cast<std::uint32_t>(23 - f.mantissa_bits);
  AnyExpr odd = bit_op(BinaryOp::bit_and, bit_op(BinaryOp::shr, magnitude, shift), 1);
  AnyExpr half = bit_op(BinaryOp::add, magnitude, (1u << (shift - 1)) - 1);
  AnyExpr normal = bit_op(BinaryOp::shr, half + odd, shift);
  if (f.bias() == 127) return normal;
  normal =
      bit_op(BinaryOp::sub, normal, static_cast<std::uint32_t>(127 - f.bias()) << f.mantissa_bits);
  // The sum with this constant has the format's smallest step as its last place.
  double step = std::ldexp(1.0, 1 - f.bias() - f.mantissa_bits + 23);
  DType f32 = kF32.with_lanes(magnitude.dtype().lanes);
  AnyExpr sum = float_of_bits(magnitude) + make_float(f32, step);
  auto step_bits = std::bit_cast<std::uint32_t>(static_cast<float>(step));
  AnyExpr subnormal = bit_op(BinaryOp::sub, bits_of_float(sum), step_bits);
  auto first_normal = static_cast<std::uint32_t>(127 + 1 - f.bias()) << 23;
  return make_select(make_binary(BinaryOp::lt, magnitude, bits_const(magnitude, first_normal)),
                     subnormal, normal);
}

inline AnyExpr encode_bits(DType narrow, const AnyExpr& bits, const TargetCaps& caps) {
  FloatFormat f = float_format(narrow);
  int lanes = bits.dtype().lanes;
  DType carrier = carrier_of(narrow).with_lanes(lanes), u32 = kU32.with_lanes(lanes);
  std::uint32_t top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  std::uint32_t nan =
      f.finite ? top | ((1u << f.mantissa_bits) - 1) : top | (1u << (f.mantissa_bits - 1));
  AnyExpr magnitude = bit_op(BinaryOp::bit_and, bits, 0x7FFFFFFFu);
  AnyExpr sign = bit_op(BinaryOp::bit_and,
                        bit_op(BinaryOp::shr, bits, static_cast<std::uint32_t>(32 - narrow.bits)),
                        1u << (narrow.bits - 1));
  AnyExpr is_nan = make_binary(BinaryOp::gt, magnitude, bits_const(bits, 0x7F800000u));
  AnyExpr rounded;
  if (narrow.code == TypeCode::ieee && caps.half) {
    AnyExpr half = make_cast(kF16.with_lanes(lanes), float_of_bits(magnitude));
    rounded = make_cast(u32, make_reinterpret(carrier, half));
  } else {
    std::uint32_t overflow = f.finite ? nan : top;
    rounded = make_binary(BinaryOp::min, rounded_bits(f, magnitude), bits_const(bits, overflow));
  }
  AnyExpr chosen = make_select(is_nan, bits_const(bits, nan), rounded);
  return make_cast(carrier, make_binary(BinaryOp::bit_or, chosen, sign));
}

LATHE_DECL AnyExpr encode_narrow(DType narrow, const AnyExpr& value, const TargetCaps& caps) {
  AnyExpr f32 = value.dtype().bits == 64 ? f32_to_odd(value) : value;
  return with_value("bits", bits_of_float(f32),
                    [&](const AnyExpr& bits) { return encode_bits(narrow, bits, caps); });
}

LATHE_DECL AnyExpr wrap_narrow(DType narrow, const AnyExpr& bits) {
  AnyExpr four = make_int(bits.dtype(), 4), mask = make_int(bits.dtype(), 15);
  if (narrow.is_unsigned()) return make_binary(BinaryOp::bit_and, bits, mask);
  return make_binary(BinaryOp::shr, make_binary(BinaryOp::shl, bits, four), four);
}

}  // namespace lathe::detail

// LLVM 15 to 22 (x86 with AVX2) fill vectors of bytes up to a register, divide them by a constant
// through high halves of products, and where the quotients are permuted and multiplied take the low
// halves, all 0. Such bytes are divided as words here.
#pragma once

#include <bit>
#include <lathe/ir/machine_form.hpp>

namespace lathe::detail {

inline bool llvm_loses_quotients(DType t, std::int64_t divisor) {
  auto is_power = [](std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); };
  return t.bits == 8 && t.lanes > 1 && (t.lanes < 16 || !is_power(t.lanes)) &&
         !is_power(divisor < 0 ? -divisor : divisor);
}

// With m the first whole number above 2^16 / |divisor|, a * m / 2^16 rounded down is the quotient
// for all bytes a >= 0 and one less for a < 0, since 255 * |divisor| < 2^16 (Granlund and
// Montgomery 1994).
inline AnyExpr divided_as_words(BinaryOp op, const AnyExpr& a, std::int64_t divisor) {
  const DType t = a.dtype(), wide = (t.is_signed() ? kI32 : kU32).with_lanes(t.lanes);
  const std::int64_t m = 65536 / (divisor < 0 ? -divisor : divisor) + 1;
  return with_value("a", make_cast(wide, a), [&](const AnyExpr& x) {
    AnyExpr quotient = make_binary(BinaryOp::shr, x * m, make_int(wide, 16));
    if (t.is_signed()) quotient = quotient - make_binary(BinaryOp::shr, x, make_int(wide, 31));
    if (divisor < 0) quotient = 0 - quotient;
    return make_cast(t, op == BinaryOp::div ? quotient : x - quotient * divisor);
  });
}

}  // namespace lathe::detail

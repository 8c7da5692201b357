#pragma once

#include <cmath>
#include <lathe/codegen/llvm/emitter.hpp>

namespace lathe::detail {

LATHE_DECL LlvmValue LlvmEmitter::cast(const CastNode& n) {
  LlvmValue v = value(n.value);
  DType from = v.dtype, to = n.dtype;
  if (to.is_bool()) {
    if (from.is_bool()) return v;
    return f_.compare(from.is_float() ? "fcmp une" : "icmp ne", v, llvm_zero(from));
  }
  if (from.is_float() && to.is_float())
    return f_.convert(to.bits > from.bits ? "fpext" : "fptrunc", v, to);
  if (from.is_float()) return to_integer(v, to);
  if (to.is_float()) return f_.convert(from.is_signed() ? "sitofp" : "uitofp", v, to);
  if (llvm_type(from) == llvm_type(to)) return {to, v.text};
  if (to.bits < from.bits) return f_.convert("trunc", v, to);
  return f_.convert(from.is_signed() ? "sext" : "zext", v, to);
}

// LLVM's own saturating conversion unrolls vectors; this is compares and one conversion.
LATHE_DECL LlvmValue LlvmEmitter::to_integer(const LlvmValue& v, DType to) {
  DType t = v.dtype;
  double low = to.is_signed() ? -std::ldexp(1.0, to.bits - 1) : 0.0;
  double above = std::ldexp(1.0, to.is_signed() ? to.bits - 1 : to.bits);
  std::string_view convert = to.is_signed() ? "fptosi" : "fptoui";
  int precision = t.bits == 64 ? 53 : 24;
  int digits = to.is_signed() ? to.bits - 1 : to.bits;
  LlvmValue lowest = f_.real(t, low);
  if (digits <= precision) {
    // The largest integer is a float too. NaN takes the constant of the first comparison.
    LlvmValue highest = f_.real(t, above - 1);
    LlvmValue x = f_.select(f_.compare("fcmp ogt", v, lowest), v, lowest);
    x = f_.select(f_.compare("fcmp olt", x, highest), x, highest);
    LlvmValue result = f_.convert(convert, x, to);
    if (!to.is_signed()) return result;
    return f_.select(f_.compare("fcmp uno", v, v), llvm_zero(to), result);
  }
  LlvmValue limit = f_.real(t, above);
  // NaN and what is too large become 0, which converts safely.
  LlvmValue x = f_.select(f_.compare("fcmp olt", v, limit), v, llvm_zero(t));
  x = f_.select(f_.compare("fcmp ogt", x, lowest), x, lowest);
  LlvmValue result = f_.convert(convert, x, to);
  std::int64_t largest = to.is_signed() ? static_cast<std::int64_t>((1ull << digits) - 1) : -1;
  return f_.select(f_.compare("fcmp oge", v, limit), f_.integer(to, largest), result);
}

}  // namespace lathe::detail

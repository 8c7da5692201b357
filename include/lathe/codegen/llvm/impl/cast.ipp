#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/codegen/llvm/workarounds/half_compares.ipp>

namespace lathe::detail {

LATHE_DECL LlvmValue LlvmEmitter::cast(const CastNode& n) {
  LlvmValue v = value(n.value);
  DType from = v.dtype, to = n.dtype;
  if (to.is_bool()) {
    if (from.is_bool()) return v;
    return f_.compare(from.is_float() ? "fcmp une" : "icmp ne", v, llvm_zero(from));
  }
  if (from.is_float() && to.is_float()) {
    const LlvmValue out = f_.convert(to.bits > from.bits ? "fpext" : "fptrunc", v, to);
    return llvm_narrows_compares_of(from, module_.target) ? llvm_stays_wide(f_, out) : out;
  }
  if (from.is_float()) return f_.convert(to.is_signed() ? "fptosi" : "fptoui", v, to);
  if (to.is_float()) return f_.convert(from.is_signed() ? "sitofp" : "uitofp", v, to);
  if (llvm_type(from) == llvm_type(to)) return {to, v.text};
  if (to.bits < from.bits) return f_.convert("trunc", v, to);
  return f_.convert(from.is_signed() ? "sext" : "zext", v, to);
}

}  // namespace lathe::detail

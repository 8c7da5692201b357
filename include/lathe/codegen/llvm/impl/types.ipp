#pragma once

#include <bit>
#include <lathe/codegen/llvm/builder.hpp>
#include <lathe/ir/narrow.hpp>

namespace lathe::detail {

inline std::string_view llvm_scalar_type(DType t) {
  if (t.is_bool()) return "i1";
  if (t.is_int()) return t.bits == 64 ? "i64" : t.bits == 32 ? "i32" : t.bits == 16 ? "i16" : "i8";
  if (t.code == TypeCode::bfloat) return "bfloat";
  invariant(t.code == TypeCode::ieee, "a float of 8 bits has no LLVM type");
  return t.bits == 64 ? "double" : t.bits == 32 ? "float" : "half";
}

LATHE_DECL std::string llvm_type(DType t) {
  std::string_view scalar = llvm_scalar_type(t);
  if (t.lanes == 1) return std::string(scalar);
  return cat("<", t.lanes, " x ", scalar, ">");
}

LATHE_DECL DType memory_type(DType t) { return t.is_bool() ? kU8.with_lanes(t.lanes) : t; }

LATHE_DECL std::string llvm_mangled(DType t) {
  std::string lanes = t.lanes == 1 ? std::string() : cat("v", t.lanes);
  if (t.is_bool()) return lanes + "i1";
  if (t.code == TypeCode::bfloat) return lanes + "bf16";
  return cat(lanes, t.is_float() ? "f" : "i", static_cast<int>(t.bits));
}

inline LlvmValue llvm_splat_const(DType t, std::string scalar, int llvm_major) {
  if (t.lanes == 1) return {t, std::move(scalar)};
  std::string_view type = llvm_scalar_type(t);
  // LLVM reads the short form from 19 on.
  if (llvm_major >= 19) return {t, cat("splat (", type, " ", scalar, ")")};
  std::string text = "<";
  for (int lane = 0; lane < t.lanes; ++lane) append(text, lane ? ", " : "", type, " ", scalar);
  return {t, text + ">"};
}

LATHE_DECL LlvmValue llvm_int(DType t, std::int64_t value, int llvm_major) {
  if (value == 0 && t.lanes > 1) return llvm_zero(t);
  if (t.is_bool()) return llvm_splat_const(t, value ? "true" : "false", llvm_major);
  if (t.bits < 64) {
    int shift = 64 - t.bits;
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
  }
  return llvm_splat_const(t, format_int(value), llvm_major);
}

LATHE_DECL LlvmValue llvm_float(DType t, double value, int llvm_major) {
  if (value == 0 && !std::signbit(value)) return llvm_zero(t);
  // LLVM refuses bits that a float has no room for, those of a NaN too.
  if (t.bits == 32) value = static_cast<double>(static_cast<float>(value));
  if (t.bits >= 32) return llvm_splat_const(t, format_hex_bits(value), llvm_major);
  std::uint32_t bits = encode_float(float_format(t), value);
  std::string text = t.code == TypeCode::bfloat ? "0xR" : "0xH";
  for (int digit = 12; digit >= 0; digit -= 4) text += "0123456789ABCDEF"[(bits >> digit) & 15];
  return llvm_splat_const(t, std::move(text), llvm_major);
}

LATHE_DECL LlvmValue llvm_zero(DType t) {
  if (t.lanes > 1) return {t, "zeroinitializer"};
  if (t.is_float()) return {t, t.bits == 16 && t.code == TypeCode::bfloat ? "0xR0000" : "0.0"};
  return {t, t.is_bool() ? "false" : "0"};
}

// Intrinsics by name, the feature without which LLVM aborts, and the first major with this form.
inline constexpr LlvmIntrinsic llvm_intrinsic_table[] = {
    {"sqrt", "", 16},
    {"fabs", "", 16},
    {"floor", "", 16},
    {"ceil", "", 16},
    {"trunc", "", 16},
    {"roundeven", "", 16},
    {"arithmetic.fence", "", 16},
    {"fma", "", 16},
    {"copysign", "", 16},
    {"ctpop", "", 16},
    {"smin", "", 16},
    {"smax", "", 16},
    {"umin", "", 16},
    {"umax", "", 16},
    {"prefetch", "", 16},
    {"masked.load", "", 16},
    {"masked.store", "", 16},
    {"masked.gather", "", 16},
    {"masked.scatter", "", 16},
    {"x86.sse.sfence", "sse", 16},
    {"x86.avx512.mask.scalef.ps.512", "avx512f", 16},
    {"x86.avx512.mask.scalef.pd.512", "avx512f", 16},
    {"x86.avx512.mask.getexp.ps.512", "avx512f", 16},
    {"x86.avx512.mask.getexp.pd.512", "avx512f", 16},
    {"x86.avx512.mask.getmant.ps.512", "avx512f", 16},
    {"x86.avx512.mask.getmant.pd.512", "avx512f", 16},
    {"x86.avx512.rcp14.ps.256", "avx512vl", 16},
    {"x86.avx512.rcp14.ps.512", "avx512f", 16},
    {"x86.avx512.rsqrt14.ps.256", "avx512vl", 16},
    {"x86.avx512.rsqrt14.ps.512", "avx512f", 16},
    {"x86.ldtilecfg", "amx-tile", 16},
    {"x86.tilerelease", "amx-tile", 16},
    {"x86.tilezero", "amx-tile", 16},
    {"x86.tileloadd64", "amx-tile", 16},
    {"x86.tilestored64", "amx-tile", 16},
    {"x86.tdpbf16ps", "amx-bf16", 16},
    {"x86.tdpbssd", "amx-int8", 16},
    {"x86.tdpbsud", "amx-int8", 16},
    {"x86.tdpbusd", "amx-int8", 16},
    {"x86.tdpbuud", "amx-int8", 16},
};

LATHE_DECL const LlvmIntrinsic* find_llvm_intrinsic(std::string_view name) {
  for (const auto& row : llvm_intrinsic_table)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace lathe::detail

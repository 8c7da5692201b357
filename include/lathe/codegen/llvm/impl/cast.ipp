#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/codegen/llvm/workarounds/half_compares.ipp>

namespace lathe::detail {

/// An instruction that rounds floats to the nearest integers, the even one halfway.
struct LlvmNearest {
  std::string_view feature;  ///< empty: all have it
  std::string_view name;
  int lanes;
};
inline constexpr LlvmNearest kLlvmNearest[] = {
    {"avx512f", "x86.avx512.mask.cvtps2dq.512", 16},
    {"avx", "x86.avx.cvt.ps2dq.256", 8},
    {"", "x86.sse2.cvtps2dq", 4},
};

// In pieces as large as instructions take; text empty: there is none for so many lanes.
LATHE_DECL LlvmValue LlvmEmitter::to_nearest(const CallNode& round, DType to) {
  const DType from = round.dtype;
  if (from.scalar() != kF32 || to.bits > 32 || (to.bits == 32 && !to.is_signed())) return {};
  const LlvmNearest* row = nullptr;
  for (const LlvmNearest& one : kLlvmNearest)
    if (!row && module_.target.arch == "x86_64" && from.lanes % one.lanes == 0 &&
        (one.feature.empty() || module_.target.has(one.feature)))
      row = &one;
  if (!row) return {};
  const DType words = kI32.with_lanes(row->lanes);
  const std::string floats = llvm_type(kF32.with_lanes(row->lanes)), integers = llvm_type(words);
  // Of the masked one: what lanes are that it leaves out, which it takes, and 4: as MXCSR says.
  const bool masked = row->lanes == 16;
  module_.declare(integers, cat("llvm.", row->name),
                  masked ? cat(floats, ", ", integers, ", i16, i32") : floats);
  const LlvmValue v = value(round.args[0]);
  LlvmValue out;
  for (int first = 0; first < from.lanes; first += row->lanes) {
    const LlvmValue piece =
        from.lanes == row->lanes ? v : f_.shuffle(v, llvm_lane_range(first, row->lanes));
    const LlvmValue part =
        f_.op(words, "call ", integers, " @llvm.", row->name, "(", floats, " ", piece.text,
              masked ? cat(", ", integers, " zeroinitializer, i16 -1, i32 4") : "", ")");
    out = first == 0 ? part : f_.concat(out, part);
  }
  if (to.bits < 32) return f_.convert("trunc", out, to);
  return {to, out.text};
}

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
  if (from.is_float())
    if (const auto* round = n.value.as<CallNode>(); round && round->op == CallOp::round)
      if (LlvmValue nearest = to_nearest(*round, to); !nearest.text.empty()) return nearest;
  if (from.is_float()) return f_.convert(to.is_signed() ? "fptosi" : "fptoui", v, to);
  if (to.is_float()) return f_.convert(from.is_signed() ? "sitofp" : "uitofp", v, to);
  if (llvm_type(from) == llvm_type(to)) return {to, v.text};
  if (to.bits < from.bits) return f_.convert("trunc", v, to);
  return f_.convert(from.is_signed() ? "sext" : "zext", v, to);
}

}  // namespace lathe::detail

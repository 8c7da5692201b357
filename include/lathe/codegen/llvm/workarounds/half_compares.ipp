// InstCombine compares and selects in f16 what was widened from f16 first, also for targets that
// cannot: vectors then fall apart into lanes, and the DAG combiner of LLVM 17 to 19 makes calls of
// fminf of selects. A fence keeps the wide values wide; it costs no instruction.
#pragma once

#include <lathe/codegen/llvm/builder.hpp>

namespace lathe::detail {

inline bool llvm_narrows_compares_of(DType from, const Target& target) {
  return from == kF16.with_lanes(from.lanes) && target.arch == "x86_64" &&
         !target.has("avx512fp16");
}

/// What was widened from that type, as LLVM can't see any more.
inline LlvmValue llvm_stays_wide(LlvmFunction& f, const LlvmValue& widened) {
  return f.intrinsic("arithmetic.fence", {widened});
}

}  // namespace lathe::detail

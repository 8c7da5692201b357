#pragma once

#include <lathe/support/target_caps.hpp>

namespace lathe {

LATHE_DECL TargetCaps::TargetCaps(const Target& target, Language language) {
  const bool x86 = target.arch == "x86_64", llvm = language == Language::llvm;
  fma = !x86 || target.has("fma");
  // C has functions that round; of the rest it spells nothing.
  rounds = !llvm || !x86 || target.has("sse4.1");
  scales = llvm && x86 && target.has("avx512f");
  half = llvm && (!x86 || target.has("f16c") || target.has("avx512f"));
  byte_dots = llvm && x86 && target.has("avx512vnni");
  bf16_dots = llvm && x86 && target.has("avx512bf16");
  mask_words = llvm && target.has("avx512f");
  byte_masks = !llvm || target.has("avx512bw");
  loses_byte_quotients = widens_masked_stores = llvm;
}

}  // namespace lathe

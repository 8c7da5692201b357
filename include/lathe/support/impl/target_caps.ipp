#pragma once

#include <lathe/support/target_caps.hpp>

namespace lathe {

namespace detail {

/// By the instructions that LLVM chooses. Below AVX-512 lanes do not cross 16 bytes in one.
inline void set_merges(const Target& target, int (&merges)[4]) {
  const auto set = [&](int bytes, int words, int others) {
    merges[0] = bytes, merges[1] = words, merges[2] = merges[3] = others;
  };
  if (target.arch != "x86_64") return set(2, 2, 2);
  if (target.has("avx512vbmi")) return set(2, 2, 1);
  if (target.has("avx512bw")) return set(7, 2, 1);
  if (target.has("avx2")) return set(7, 7, 3);
  return target.has("ssse3") ? set(3, 3, 2) : set(12, 6, 2);
}

}  // namespace detail

LATHE_DECL TargetCaps::TargetCaps(const Target& target, Language language) {
  const bool x86 = target.arch == "x86_64", llvm = language == Language::llvm;
  const bool zen = target.cpu.compare(0, 5, "znver") == 0;
  fma = !x86 || target.has("fma");
  // C has functions that round; of the rest it spells nothing.
  rounds = !llvm || !x86 || target.has("sse4.1");
  scales = estimates = llvm && x86 && target.has("avx512f");
  half = llvm && (!x86 || target.has("f16c") || target.has("avx512f"));
  mixed_dots = llvm && (target.has("avx512vnni") || target.has("avxvnni") || target.has("i8mm"));
  alike_dots = llvm && (target.has("avxvnniint8") || target.has("dotprod"));
  byte_dots = mixed_dots || alike_dots;
  odd_dots = llvm && target.has("bf16");
  half_fma = llvm && (target.has("avx512fp16") || target.has("fullfp16"));
  byte_matrices = llvm && target.has("i8mm");
  word_dots = byte_differences = llvm && x86;
  bf16_dots = llvm && x86 && target.has("avx512bf16");
  byte_tiles = llvm && x86 && target.has("amx-int8");
  bf16_tiles = llvm && x86 && target.has("amx-bf16");
  mask_words = llvm && target.has("avx512f");
  wide_conversions = !llvm || !x86 || target.has("avx512dq");
  // Zen 3: 0.47 ns an element of eight by vgatherdps, 0.40 one by one.
  gathers = !llvm || !x86 || target.has("avx512f");
  byte_masks = !llvm || target.has("avx512bw");
  detail::set_merges(target, merges);
  // vpermt2b: three operations on Intel's cores (Ice Lake to Emerald Rapids), one on AMD's.
  merges_bytes_slowly = llvm && x86 && target.has("avx512vbmi") && !zen;
  // Emerald Rapids: 10.4 and 12.4 cycles for 16 lanes. uops.info of Zen 4 and 5: half as many sums.
  if (zen) quotient_sums = 10, root_sums = 14;
  shuffles_pieces = x86 && target.has("ssse3");
  // LLVM's X86InterleavedAccess: shuffles within 16 bytes in place of merges across them.
  turns_bytes = llvm && x86 && target.has("avx") && merges[0] > 2;
  register_bytes = target.vector_bytes;
  permuted_bytes = !llvm || (x86 && !target.has("ssse3")) ? 0
                   : x86 && !target.has("avx2")           ? 16
                                                          : 32;
  narrow_masks_by_words = llvm && x86 && target.has("avx2") && !target.has("avx512bw");
  masked_bytes = !llvm || !target.has("avx")                       ? 16
                 : target.has("avx512bw") || narrow_masks_by_words ? 1
                                                                   : 4;
  loses_byte_quotients = widens_masked_stores = llvm;
}

}  // namespace lathe

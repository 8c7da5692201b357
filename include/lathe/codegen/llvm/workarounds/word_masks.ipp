// LLVM 17 to 19 can loop for ever over two masks that are made in general registers under "or": one
// rule of the DAG combiner moves the "or" before the bitcasts, another behind them (llvm-project
// issue 123333). There the bits of such a word are compared one by one.
#pragma once

#include <lathe/codegen/llvm/builder.hpp>

namespace lathe::detail {

inline bool llvm_loops_over_word_masks(int llvm_major) {
  return llvm_major >= 17 && llvm_major <= 19;
}

/// A mask from the bits of an integer of 8 or more bits.
inline LlvmValue llvm_mask_of_word(LlvmFunction& f, const LlvmValue& word, DType mask) {
  const DType bytes = kU8.with_lanes(mask.lanes);
  const LlvmValue parts = f.convert("bitcast", word, kU8.with_lanes(mask.lanes / 8));
  Vec<int> from;
  std::string bits = "<";
  for (int lane = 0; lane < mask.lanes; ++lane) {
    from.push_back(lane / 8);
    append(bits, lane ? ", " : "", "i8 ", 1 << (lane % 8));
  }
  const LlvmValue spread =
      parts.dtype.lanes == 1 ? f.splat(parts, mask.lanes) : f.shuffle(parts, from);
  const LlvmValue tested = f.binary("and", spread, {bytes, bits + ">"});
  return f.compare("icmp ne", tested, llvm_zero(bytes));
}

}  // namespace lathe::detail

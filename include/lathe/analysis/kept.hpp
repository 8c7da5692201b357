// How much of a private buffer exists at once when its program is lowered.
#pragma once

#include <lathe/analysis/footprint.hpp>

namespace lathe::detail {

/// What lowering keeps of a buffer. Sizes as in Footprint.
struct KeptBuffer {
  /// The innermost loop of which each iteration has the buffer to itself; null: there is one for
  /// the whole program.
  const ForNode* loop = nullptr;
  Vec<AnyExpr> extents;
  AnyExpr bytes;     ///< of all versions; none: unknown
  int versions = 1;  ///< two where iterations take turns (double_buffer)
};

/// The loop and the size that lowering finds, place by place: it moves a buffer into loops whose
/// iterations each fill what they read of it, and cuts it to what one of them stores.
KeptBuffer kept_of(const Program& program, const Buffer& buffer);

}  // namespace lathe::detail

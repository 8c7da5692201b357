// Which temporaries live in stack frames.
#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe::detail {

/// A temporary of at most this many bytes lives in the stack frame, as long as the frame stays
/// below the second.
inline constexpr std::int64_t kFrameBuffer = 16 << 10, kFrameTotal = 64 << 10;

/// The bytes of a flat temporary that has room in a frame of which so many are taken; -1: on the
/// heap.
inline std::int64_t frame_bytes(const BufferNode& b, std::int64_t taken) {
  const std::int64_t* extent = as_const_int(b.shape[0]);
  if (!extent || *extent < 0 || *extent > kFrameBuffer) return -1;
  const std::int64_t bytes = *extent * b.dtype.bytes();
  return bytes <= kFrameBuffer && taken + bytes <= kFrameTotal ? bytes : -1;
}

}  // namespace lathe::detail

// Orders in which the lanes of a vector may lie, and what shuffles between them take.
#pragma once

#include <lathe/ir/expr.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe::detail {

/// Lane l of a vector in this order is lane order[l] of what it stands for. None: as it is.
using LaneOrder = Vec<int>;

/// Orders that shuffles within each 16 bytes give to every s-th element of s vectors, for each
/// power of two s up to the elements of 16 bytes; none where vectors hold no more than those.
///     8 lanes of f32, s = 2:  0 1 4 5 | 2 3 6 7      s = 4:  0 2 4 6 | 1 3 5 7
Vec<LaneOrder> orders_within_pieces(int lanes, int element_bytes);

LaneOrder inverse(const LaneOrder& order);

/// Instructions of a shuffle of vectors with `lanes` lanes each into one of this type, lane l of
/// which is lane map[l] of them, side by side. Below AVX-512 one instruction moves elements within
/// each 16 bytes, or 16 bytes as a whole.
int shuffle_cost(DType type, int lanes, const Vec<int>& map, const TargetCaps& caps);

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <lathe/lower/machine/lane_masks.hpp>

namespace lathe::detail {

// As the bits of words: of the widest one, or the one that the rest fits in.
LATHE_DECL AnyExpr any_lane(const AnyExpr& mask) {
  const int lanes = mask.dtype().lanes;
  if (lanes == 1) return mask;
  AnyExpr any;
  // Fewer than 8 lanes are no integer, and LLVM finds a test of all bits in this.
  for (int l = 0; lanes < 8 && l < lanes; ++l) {
    AnyExpr set = make_shuffle({mask}, {l});
    any = any ? logical_or(any, set) : set;
  }
  if (any) return any;
  for (int first = 0; first < lanes; first += 64) {
    int width = 8;
    while (width < lanes - first && width < 64) width *= 2;
    AnyExpr part = mask;
    if (width != lanes) {
      Vec<int> picked;
      for (int l = first; l < first + width; ++l) picked.push_back(std::min(l, lanes));
      part = make_shuffle({mask, make_bool(false)}, std::move(picked));
    }
    const DType word{TypeCode::uint, static_cast<std::uint8_t>(width), 1, false};
    AnyExpr set = make_binary(BinaryOp::ne, make_reinterpret(word, part), make_int(word, 0));
    any = any ? logical_or(any, set) : set;
  }
  return any;
}

LATHE_DECL AnyExpr mask_of_lanes(const AnyExpr& mask, int lanes) {
  if (!mask || mask.dtype().lanes == lanes) return mask;
  return make_broadcast(any_lane(mask), lanes);
}

LATHE_DECL AnyExpr mask_of_operand(const AnyExpr& mask, int operand_lanes, const Vec<int>& map) {
  const int outer = static_cast<int>(map.size());
  if (!mask || mask.dtype().lanes != outer) return mask_of_lanes(mask, operand_lanes);
  if (operand_lanes == 1 && std::count(map.begin(), map.end(), 0) == outer) return any_lane(mask);
  // Round r takes, for each lane of the operand, the r-th lane that it feeds; the rounds are or-ed.
  AnyExpr result;
  Vec<bool> taken(map.size(), false);
  for (;;) {
    bool more = false;
    Vec<int> pick(static_cast<std::size_t>(operand_lanes), outer);
    for (std::size_t l = 0; l < map.size(); ++l) {
      if (map[l] < 0 || taken[l]) continue;
      int& slot = pick[static_cast<std::size_t>(map[l])];
      if (slot == outer) slot = static_cast<int>(l), taken[l] = more = true;
    }
    if (!more) break;
    AnyExpr part = make_shuffle({mask, make_bool(false)}, std::move(pick));
    result = result ? logical_or(result, part) : part;
  }
  return result ? result : make_int(kBool.with_lanes(operand_lanes), 0);
}

LATHE_DECL AnyExpr mask_and(const AnyExpr& a, const AnyExpr& b) {
  return !a ? b : !b ? a : logical_and(a, b);
}

}  // namespace lathe::detail

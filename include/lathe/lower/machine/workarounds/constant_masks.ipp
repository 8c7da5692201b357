// LLVM 22 stores 4 bytes where a constant mask keeps one lane of 1 or 2 bytes, LLVM 16 to 22 store
// 8 where the one lane of 4 bytes comes from a wider integer. Such stores become stores of fewer
// lanes without a mask.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/lower/machine/lane_masks.hpp>

namespace lathe::detail {

/// How many lanes a mask of known numbers keeps, if these are the first ones; else 0.
inline int first_lanes_kept(const AnyExpr& mask) {
  const AnyExpr count = count_of_first_lanes(mask);
  const std::int64_t* kept = count ? as_const_int(count) : nullptr;
  return kept && *kept < mask.dtype().lanes ? static_cast<int>(*kept) : 0;
}

/// The store without its mask, or none where it is another store.
inline Stmt without_constant_mask(const StoreNode& n) {
  const int kept = n.mask ? first_lanes_kept(n.mask) : 0;
  const auto* ramp = n.indices.empty() ? nullptr : n.indices[0].as<RampNode>();
  if (kept == 0 || !ramp || ramp->base.dtype().lanes != 1) return {};
  if (n.value.dtype().lanes != ramp->lanes) return {};
  if (kept > 1 && n.buffer->dtype.element_bytes() >= 4) return {};
  Vec<int> lanes;
  for (int l = 0; l < kept; ++l) lanes.push_back(l);
  AnyExpr at = kept == 1 ? ramp->base : make_ramp(ramp->base, ramp->stride, kept);
  return make_ref<StoreNode>(n.buffer, Vec<AnyExpr>{std::move(at)},
                             make_shuffle({n.value}, std::move(lanes)), AnyExpr(),
                             kept == 1 ? Streaming::none : n.streaming);
}

}  // namespace lathe::detail

// LLVM 22 stores 4 bytes where a constant mask keeps one lane of 1 or 2 bytes. Such stores become
// stores of fewer lanes without a mask.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe::detail {

/// How many lanes a mask of known numbers keeps, if these are the first ones; else 0.
inline int first_lanes_kept(const AnyExpr& mask) {
  const auto* n = mask.as<BinaryNode>();
  const auto* lane = n ? n->a.as<RampNode>() : nullptr;
  const auto* end = n ? n->b.as<BroadcastNode>() : nullptr;
  if (!lane || !end || (n->op != BinaryOp::lt && n->op != BinaryOp::le)) return 0;
  const auto *first = as_const_int(lane->base), *stop = as_const_int(end->value);
  std::int64_t kept = 0;
  if (!first || !stop || !is_const(lane->stride, 1) || __builtin_sub_overflow(*stop, *first, &kept))
    return 0;
  if (n->op == BinaryOp::le && __builtin_add_overflow(kept, 1, &kept)) return 0;
  return kept > 0 && kept < lane->lanes ? static_cast<int>(kept) : 0;
}

/// The store without its mask, or none where it is another store.
inline Stmt without_constant_mask(const StoreNode& n) {
  const int kept = n.mask ? first_lanes_kept(n.mask) : 0;
  const auto* ramp = n.indices.empty() ? nullptr : n.indices[0].as<RampNode>();
  if (kept == 0 || !ramp || ramp->base.dtype().lanes != 1) return {};
  if (n.buffer->dtype.element_bytes() >= 4 || n.value.dtype().lanes != ramp->lanes) return {};
  Vec<int> lanes;
  for (int l = 0; l < kept; ++l) lanes.push_back(l);
  AnyExpr at = kept == 1 ? ramp->base : make_ramp(ramp->base, ramp->stride, kept);
  return make_ref<StoreNode>(n.buffer, Vec<AnyExpr>{std::move(at)},
                             make_shuffle({n.value}, std::move(lanes)), AnyExpr(),
                             kept == 1 ? Streaming::none : n.streaming);
}

}  // namespace lathe::detail

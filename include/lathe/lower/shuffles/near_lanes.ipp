#pragma once

#include <algorithm>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/shuffles/deinterleave.hpp>
#include <lathe/lower/shuffles/near_lanes.hpp>

namespace lathe::detail {

LATHE_DECL bool NearLanes::set(const LoadNode& n) {
  std::int64_t stride = 0;
  if (n.dtype.lanes == 1 || n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return false;
  if (lane_stride(n.indices[0], stride)) return false;
  auto known = lane_offsets(n.indices[0]);
  if (!known || static_cast<int>(known->offsets.size()) != n.dtype.lanes) return false;
  buffer = n.buffer, type = n.dtype, mask = n.mask;
  base = known->base, offsets = std::move(known->offsets);
  return true;
}

LATHE_DECL bool NearLanes::count_active() {
  active_ = type.lanes;
  if (!mask) return true;
  const AnyExpr first = count_of_first_lanes(mask);
  if (!first) return false;
  const std::int64_t* number = as_const_int(first);
  if (!number) return count_ = first, true;
  if (*number < 1 || *number > type.lanes) return false;
  active_ = static_cast<int>(*number);
  return true;
}

LATHE_DECL bool NearLanes::group() {
  if (!count_active()) return false;
  // Two vectors of a power of two cover a group.
  std::int64_t longest = 2;
  while (longest < type.lanes) longest *= 2;
  if (longest == type.lanes) longest *= 2;
  Vec<std::int64_t> sorted(offsets.begin(), offsets.begin() + active_);
  std::sort(sorted.begin(), sorted.end());
  for (const std::int64_t offset : sorted) {
    if (groups_.empty() || offset - groups_.back().first >= longest)
      groups_.push_back({offset, offset});
    groups_.back().last = offset;
  }
  return groups_.size() <= 2;
}

LATHE_DECL bool NearLanes::follow_each_other() const {
  for (std::size_t l = 0; l < static_cast<std::size_t>(active_); ++l)
    if (offsets[l] != groups_[0].first + static_cast<std::int64_t>(l)) return false;
  return true;
}

/// Lane l of one vector or of the other.
template <class F>
AnyExpr blended(const AnyExpr& a, const AnyExpr& b, const F& takes_b) {
  const int lanes = a.dtype().lanes;
  Vec<int> from;
  for (int l = 0; l < lanes; ++l) from.push_back(takes_b(l) ? lanes + l : l);
  return make_shuffle({a, b}, std::move(from));
}

LATHE_DECL AnyExpr NearLanes::loaded(const TargetCaps& caps) const {
  if (follow_each_other()) return vector_at(groups_[0].first, type.lanes, mask);
  if (count_) return counted(caps);
  AnyExpr value = gathered(groups_[0]);
  if (groups_.size() > 1)
    value = blended(value, gathered(groups_[1]),
                    [&](int l) { return !groups_[0].holds(offset_of(l)); });
  if (active_ == type.lanes) return value;
  return blended(value, make_const(type, 0), [&](int l) { return l >= active_; });
}

LATHE_DECL int NearLanes::cost(const TargetCaps& caps) const {
  const int merge = merge_cost(type, type.element_bytes(), caps);
  if (follow_each_other()) return 1;
  const int groups = static_cast<int>(groups_.size());
  return groups * (2 + merge) + (groups - 1) + (active_ < type.lanes || count_.get() ? 1 : 0);
}

LATHE_DECL std::int64_t NearLanes::offset_of(int lane) const {
  return offsets[static_cast<std::size_t>(lane < active_ ? lane : 0)];
}

LATHE_DECL AnyExpr NearLanes::vector_at(std::int64_t first, int length,
                                        const AnyExpr& chosen) const {
  const AnyExpr from = fold_add(fresh_lets(base), AnyExpr(first));
  return make_load(buffer, {make_ramp(from, AnyExpr(1), length)}, chosen);
}

// The lanes that lie in a group, from one vector or from two that overlap, none of which reads
// beyond it; what is in the others does not matter.
LATHE_DECL AnyExpr NearLanes::gathered(const Group& group) const {
  if (group.span() == 1) {
    const AnyExpr at = fold_add(fresh_lets(base), AnyExpr(group.first));
    return make_broadcast(make_load(buffer, {at}), type.lanes);
  }
  int length = 2;
  while (length * 2 <= std::min<std::int64_t>(group.span(), type.lanes)) length *= 2;
  Vec<AnyExpr> parts{vector_at(group.first, length)};
  const std::int64_t second = group.last + 1 - length;
  if (length < group.span()) parts.push_back(vector_at(second, length));
  Vec<int> from;
  for (int l = 0; l < type.lanes; ++l) {
    const std::int64_t at = offset_of(l);
    const std::int64_t lane = !group.holds(at)            ? 0
                              : at - group.first < length ? at - group.first
                                                          : length + at - second;
    from.push_back(static_cast<int>(lane));
  }
  return make_shuffle(std::move(parts), std::move(from));
}

// A call says how many lanes there are. Of an element that several take, the first lane is there
// if any is.
LATHE_DECL AnyExpr NearLanes::counted(const TargetCaps& caps) const {
  const Group& group = groups_[0];
  if (groups_.size() > 1 || group.span() > type.lanes || type.element_bytes() < caps.masked_bytes)
    return {};
  int length = 2;
  while (length < group.span()) length *= 2;
  Vec<int> from, takers(static_cast<std::size_t>(length), type.lanes);
  for (int l = type.lanes; l-- > 0;)
    takers[static_cast<std::size_t>(offset_of(l) - group.first)] = l;
  for (int l = 0; l < type.lanes; ++l) from.push_back(static_cast<int>(offset_of(l) - group.first));
  const DType t = mask_integer(type.lanes, caps);
  const AnyExpr lane = make_ramp(make_int(t, 0), make_int(t, 1), 2 * type.lanes),
                count = make_broadcast(make_cast(t, fresh_lets(count_)), length),
                taken = make_binary(BinaryOp::lt, make_shuffle({lane}, std::move(takers)), count),
                value = vector_at(group.first, length, taken);
  // Bound outside of the select, whose arms get masks of their own.
  return with_value("near", make_shuffle({value}, std::move(from)), [&](const AnyExpr& near) {
    return make_select(fresh_lets(mask), near, make_const(type, 0));
  });
}

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/machine/strided_loads.hpp>

namespace lathe::detail {

LATHE_DECL bool StridedLoad::set(const LoadNode& n) {
  if (n.indices.size() != 1 || n.dtype.lanes == 1 || n.buffer->dtype.lanes != 1) return false;
  const AnyExpr& index = n.indices[0];
  if (index.dtype().scalar() != kIndex || !lane_stride(index, stride)) return false;
  // Beyond its lanes a run is read for fewer than one lane a vector.
  if (stride > -2 && stride < 2) return false;
  reversed = stride < 0;
  if (stride < -n.dtype.lanes || stride > n.dtype.lanes) return false;
  if (n.mask) {
    limit = count_of_first_lanes(n.mask);
    if (!limit || reversed) return false;
  }
  base = poly_shallow(lane_base(index));
  constant = std::exchange(base.constant, 0);
  if (reversed) constant += stride * (n.dtype.lanes - 1), stride = -stride;
  return constant > -kMostOffset && constant < kMostOffset;
}

LATHE_DECL StridedGroup::StridedGroup(const LoadNode& n, const StridedLoad& load)
    : buffer_(n.buffer),
      type_(n.dtype),
      mask_(n.mask),
      first_(load),
      base_(lane_base(n.indices[0])),
      least_(load.constant),
      most_(load.constant) {
  if (load.reversed) base_ = fold_add(base_, AnyExpr(-load.stride * (n.dtype.lanes - 1)));
}

LATHE_DECL AnyExpr StridedGroup::add(const LoadNode& n, const StridedLoad& load) {
  if (n.buffer.get() != buffer_.get() || n.dtype != type_ || load.stride != first_.stride)
    return {};
  const bool masked = static_cast<bool>(mask_);
  if (masked != static_cast<bool>(n.mask)) return {};
  if (masked && !structurally_equal(n.mask, mask_)) return {};
  const std::int64_t least = std::min(least_, load.constant), most = std::max(most_, load.constant);
  if (most - least >= load.stride || !poly_equal(load.base, first_.base)) return {};
  least_ = least, most_ = most;
  for (const Member& m : members_)
    if (m.constant == load.constant && m.reversed == load.reversed) return m.var;
  members_.push_back({load.constant, load.reversed, make_var("lanes", type_)});
  return members_.back().var;
}

LATHE_DECL bool StridedGroup::depends_on(const Buffer& stored) const {
  if (stored.get() == buffer_.get()) return true;
  return find_load(base_) || (mask_.get() && find_load(mask_));
}

/// Instructions. A vector of more than half a cache line is two loads, as it mostly crosses one.
LATHE_DECL int StridedGroup::cost(const Deinterleave& whole, const TargetCaps& caps) const {
  const int element = type_.element_bytes(), bytes = element * type_.lanes;
  const int registers = (bytes + caps.register_bytes - 1) / caps.register_bytes;
  const bool by_element = mask_.get() && element < caps.masked_bytes;
  const int load = by_element ? caps.kElementMove * type_.lanes : std::max(bytes / 32, 1);
  return whole.loads * load +
         whole.shuffles * registers * caps.merges[element > 4 ? 3 : element / 2];
}

LATHE_DECL Vec<LetBinding> StridedGroup::lets(const TargetCaps& caps) const {
  const std::int64_t lanes = type_.lanes, span = most_ - least_;
  Vec<LetBinding> out;
  const auto named = [&](const char* name, const AnyExpr& value) {
    if (as_const_int(value)) return value;
    out.push_back({make_var(name), value});
    return AnyExpr(out.back().var);
  };
  Run run{buffer_, {}, span + first_.stride * (lanes - 1) + 1, {}};
  run.base = named("from", fold_add(base_, AnyExpr(least_ - first_.constant)));
  // The last lane's elements end where that of the greatest offset is.
  if (first_.limit) {
    const std::int64_t unused = first_.stride - 1 - span;
    const std::int64_t* known = as_const_int(first_.limit);
    run.limit = known ? AnyExpr(*known * first_.stride - unused)
                      : named("limit", fresh_lets(first_.limit) * first_.stride - unused);
  }
  Deinterleave dense(type_, first_.stride, run, caps);
  Vec<LetBinding> results;
  for (const Member& m : members_) {
    AnyExpr value = dense.lanes_from(m.constant - least_);
    if (m.reversed) {
      Vec<int> back;
      for (int l = type_.lanes; l-- > 0;) back.push_back(l);
      value = make_shuffle({value}, std::move(back));
      ++dense.shuffles;
    }
    results.push_back({m.var, std::move(value)});
  }
  const int moves = static_cast<int>(members_.size()) * caps.kElementMove * type_.lanes;
  if (cost(dense, caps) >= moves) return {};
  for (Vec<LetBinding>* part : {&dense.lets, &results})
    for (LetBinding& b : *part) out.push_back(std::move(b));
  return out;
}

}  // namespace lathe::detail

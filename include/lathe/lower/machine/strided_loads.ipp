#pragma once

#include <algorithm>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/machine/strided_loads.hpp>
#include <lathe/lower/machine/turned_rows.hpp>

namespace lathe::detail {

LATHE_DECL bool Strided::set(const Buffer& buffer, const Vec<AnyExpr>& indices, const AnyExpr& mask,
                             int lanes) {
  if (indices.size() != 1 || lanes == 1 || buffer->dtype.lanes != 1) return false;
  const AnyExpr& index = indices[0];
  if (index.dtype() != kIndex.with_lanes(lanes) || !lane_stride(index, stride)) return false;
  if ((stride > -2 && stride < 2) || stride < -kMostOffset || stride > kMostOffset) return false;
  reversed = stride < 0;
  if (mask) {
    if (reversed || mask.dtype().lanes != lanes) return false;
    limit = count_of_first_lanes(mask);
    if (!limit) return false;
  }
  base = poly_shallow(lane_base(index));
  constant = std::exchange(base.constant, 0);
  if (reversed) constant += stride * (lanes - 1), stride = -stride;
  return constant > -kMostOffset && constant < kMostOffset;
}

// A vector of more than half a cache line is accessed twice, as it mostly crosses one.
LATHE_DECL bool dense_costs_less(DType type, int dense, int instructions, int strided, bool masked,
                                 const TargetCaps& caps) {
  const int element = type.element_bytes(), bytes = element * type.lanes;
  const int by_elements = caps.kElementMove * type.lanes;
  const int access = masked && element < caps.masked_bytes ? by_elements : std::max(bytes / 32, 1);
  return dense * access + instructions < strided * by_elements;
}

LATHE_DECL StridedGroup::StridedGroup(const LoadNode& n, const Strided& load)
    : buffer_(n.buffer),
      type_(n.dtype),
      mask_(n.mask),
      first_(load),
      base_(lane_base(n.indices[0])),
      least_(load.constant),
      most_(load.constant) {
  if (load.reversed) base_ = fold_add(base_, AnyExpr(-load.stride * (n.dtype.lanes - 1)));
}

LATHE_DECL AnyExpr StridedGroup::add(const LoadNode& n, const Strided& load) {
  if (n.buffer.get() != buffer_.get() || n.dtype != type_ || load.stride != first_.stride)
    return {};
  const bool masked = static_cast<bool>(mask_);
  if (masked != static_cast<bool>(n.mask)) return {};
  if (masked && !structurally_equal(n.mask, mask_)) return {};
  const std::int64_t least = std::min(least_, load.constant), most = std::max(most_, load.constant);
  const std::int64_t reach = std::min<std::int64_t>(load.stride, n.dtype.lanes);
  if (most - least >= reach || !poly_equal(load.base, first_.base)) return {};
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

// One vector of a run that is longer than it has lanes would hold few of its elements.
LATHE_DECL bool StridedGroup::is_matrix() const { return first_.stride > type_.lanes; }

LATHE_DECL Vec<LetBinding> StridedGroup::lets(const TargetCaps& caps) const {
  return is_matrix() ? columns(caps) : lanes(caps);
}

// Lane l of the loads is row l of a matrix.
LATHE_DECL Vec<LetBinding> StridedGroup::columns(const TargetCaps& caps) const {
  std::int64_t rows = type_.lanes;
  if (first_.limit) {
    const std::int64_t* known = as_const_int(first_.limit);
    if (!known) return {};
    rows = std::clamp<std::int64_t>(*known, 0, rows);
  }
  Vec<LetBinding> out;
  const Run run = run_of(most_ - least_ + 1, out);
  TurnedRows turned(type_, first_.stride, run, rows, caps);
  if (!turned.pays()) return {};
  Vec<LetBinding> results;
  for (const Member& m : members_)
    results.push_back({m.var, directed(turned.column(m.constant - least_), m, turned, caps)});
  const int by_elements = caps.kElementMove * type_.lanes * static_cast<int>(members_.size());
  if (turned.loads + turned.instructions >= by_elements) return {};
  out.append(turned.lets);
  out.append(results);
  return out;
}

LATHE_DECL Run StridedGroup::run_of(std::int64_t extent, Vec<LetBinding>& lets) const {
  Run run{buffer_, fold_add(base_, AnyExpr(least_ - first_.constant)), extent, {}};
  if (as_const_int(run.base)) return run;
  lets.push_back({make_var("from"), run.base});
  run.base = lets.back().var;
  return run;
}

template <class Source>
AnyExpr StridedGroup::directed(AnyExpr value, const Member& m, Source& source,
                               const TargetCaps& caps) const {
  if (!m.reversed) return value;
  Vec<int> back;
  for (int l = type_.lanes; l-- > 0;) back.push_back(l);
  source.instructions += merge_cost(type_, type_.element_bytes(), caps);
  return make_shuffle({value}, std::move(back));
}

LATHE_DECL Vec<LetBinding> StridedGroup::lanes(const TargetCaps& caps) const {
  const std::int64_t lanes = type_.lanes, span = most_ - least_;
  Vec<LetBinding> out;
  Run run = run_of(span + first_.stride * (lanes - 1) + 1, out);
  // The last lane's elements end where that of the greatest offset is.
  if (first_.limit) {
    const std::int64_t unused = first_.stride - 1 - span;
    if (const std::int64_t* known = as_const_int(first_.limit)) {
      run.limit = AnyExpr(*known * first_.stride - unused);
    } else {
      out.push_back({make_var("limit"), fresh_lets(first_.limit) * first_.stride - unused});
      run.limit = out.back().var;
    }
  }
  Deinterleave dense(type_, first_.stride, run, caps);
  Vec<LetBinding> results;
  for (const Member& m : members_)
    results.push_back({m.var, directed(dense.lanes_from(m.constant - least_), m, dense, caps)});
  const int strided = static_cast<int>(members_.size());
  if (!dense_costs_less(type_, dense.loads, dense.instructions, strided, mask_.get() != nullptr,
                        caps))
    return {};
  out.append(dense.lets);
  out.append(results);
  return out;
}

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/shuffles/strided_loads.hpp>
#include <lathe/lower/shuffles/turned_rows.hpp>

namespace lathe::detail {

LATHE_DECL bool Strided::set(const Buffer& buffer, const Vec<AnyExpr>& indices, const AnyExpr& mask,
                             int lanes) {
  if (indices.size() != 1 || lanes == 1 || buffer->dtype.lanes != 1) return false;
  const AnyExpr& index = indices[0];
  if (index.dtype() != kIndex.with_lanes(lanes)) return false;
  if (!lane_stride(index, stride)) {
    stride = 0, step = lane_step(index);
    if (!step || find_load(step)) return false;
  } else if ((stride > -2 && stride < 2) || stride < -kMostOffset || stride > kMostOffset) {
    return false;
  }
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

LATHE_DECL bool Strided::same_rows(const Strided& other) const {
  if (stride != other.stride || !step != !other.step) return false;
  return (!step || structurally_equal(step, other.step)) && poly_equal(base, other.base);
}

// A vector of more than half a cache line is accessed twice, as it mostly crosses one.
LATHE_DECL int dense_access(DType type, bool masked, const TargetCaps& caps) {
  const int element = type.element_bytes();
  if (masked && element < caps.masked_bytes) return by_elements(type, 1, caps);
  return std::max(element * type.lanes / 32, 1);
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
  if (n.buffer.get() != buffer_.get() || n.dtype != type_) return {};
  const bool masked = static_cast<bool>(mask_);
  if (masked != static_cast<bool>(n.mask)) return {};
  if (masked && !structurally_equal(n.mask, mask_)) return {};
  const std::int64_t least = std::min(least_, load.constant), most = std::max(most_, load.constant);
  const std::int64_t lanes = n.dtype.lanes,
                     reach = load.step ? lanes : std::min(load.stride, lanes);
  if (most - least >= reach || !load.same_rows(first_)) return {};
  least_ = least, most_ = most;
  for (const Member& m : members_)
    if (m.constant == load.constant && m.reversed == load.reversed) return m.var;
  members_.push_back({load.constant, load.reversed, make_var("lanes", type_)});
  return members_.back().var;
}

/// Whether a mask has no lane that the other one leaves out.
inline bool implies(const AnyExpr& mask, const AnyExpr& other) {
  if (!other) return true;
  if (!mask) return false;
  if (structurally_equal(mask, other)) return true;
  const auto* both = mask.as<BinaryNode>();
  return both && both->op == BinaryOp::and_ && (implies(both->a, other) || implies(both->b, other));
}

LATHE_DECL AnyExpr StridedGroup::shared(const LoadNode& n, const Strided& load) {
  if (load.constant < least_ || load.constant > most_ || !implies(n.mask, mask_)) return {};
  const AnyExpr plain = make_load(n.buffer, n.indices, mask_);
  const AnyExpr all = add(*plain.as<LoadNode>(), load);
  return !all || !n.mask ? all : make_select(n.mask, all, make_const(n.dtype, 0));
}

LATHE_DECL bool StridedGroup::depends_on(const Buffer& stored) const {
  if (stored.get() == buffer_.get()) return true;
  return find_load(base_) || (mask_.get() && find_load(mask_));
}

LATHE_DECL Vec<LetBinding> StridedGroup::lets(const TargetCaps& caps, const Facts& facts) const {
  Way best{{}, by_elements(type_, static_cast<int>(members_.size()), caps)};
  if (Way turned = columns(caps); turned.cost < best.cost) best = std::move(turned);
  if (first_.is_matrix(type_.lanes)) return best.lets;
  Vec<LetBinding> lets;
  const Held memory = held(lets, facts);
  if (Way dense = lanes(memory, lets, caps); dense.cost < best.cost) best = std::move(dense);
  if (Way wide = of_registers(memory, lets, caps); wide.cost < best.cost) best = std::move(wide);
  return best.lets;
}

// Lane l of the loads is row l of a matrix.
LATHE_DECL StridedGroup::Way StridedGroup::columns(const TargetCaps& caps) const {
  const Way none{{}, by_elements(type_, static_cast<int>(members_.size()), caps)};
  std::int64_t rows = type_.lanes;
  if (first_.limit) {
    const std::int64_t* known = as_const_int(first_.limit);
    if (!known) return none;
    rows = std::clamp<std::int64_t>(*known, 0, rows);
  }
  Vec<LetBinding> out;
  const Run run = run_of(most_ - least_ + 1, out);
  TurnedRows turned(type_, first_.row_stride(), run, rows, caps);
  if (!turned.pays()) return none;
  Vec<LetBinding> results;
  for (const Member& m : members_)
    results.push_back({m.var, directed(turned.column(m.constant - least_), m, turned, caps)});
  out.append(turned.lets);
  out.append(results);
  return {std::move(out), turned.loads + turned.instructions};
}

LATHE_DECL Run StridedGroup::run_of(std::int64_t extent, Vec<LetBinding>& lets,
                                    std::int64_t lead) const {
  Run run{buffer_, fold_add(base_, AnyExpr(least_ - first_.constant - lead)), extent, {}};
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

/// How many elements follow the first one of a buffer without a gap; empty: rows may lie anywhere.
inline AnyExpr dense_size(const BufferNode& b) {
  AnyExpr size(1);
  for (const AnyExpr& extent : b.shape) size = fold_mul(size, extent);
  const bool dense = b.strides.empty() || (b.rank() == 1 && is_const(b.strides[0], 1));
  return dense ? size : AnyExpr();
}

// Where each lane has all of its elements in the buffer, vectors begin with the first of these: of
// rows that begin at a line, none crosses one. None: they may not be there.
LATHE_DECL std::optional<std::int64_t> StridedGroup::whole_lead(const Facts& facts) const {
  if (first_.limit.get() || most_ - least_ + 1 == first_.stride) return {};
  const AnyExpr size = dense_size(*buffer_);
  if (!size) return {};
  const std::int64_t lead = floor_mod(least_, first_.stride);
  if (most_ - least_ + lead >= first_.stride) return {};
  const AnyExpr start = fold_add(base_, AnyExpr(least_ - first_.constant - lead));
  const AnyExpr end = fold_add(start, AnyExpr(first_.stride * type_.lanes));
  if (!prove_le(AnyExpr(0), start, facts) || !prove_le(end, size, facts)) return {};
  return lead;
}

// The last lane's elements end where that of the greatest offset is.
LATHE_DECL StridedGroup::Held StridedGroup::held(Vec<LetBinding>& lets, const Facts& facts) const {
  if (const auto lead = whole_lead(facts))
    return {run_of(first_.stride * type_.lanes, lets, *lead), *lead};
  const std::int64_t span = most_ - least_;
  Run run = run_of(span + first_.stride * (type_.lanes - 1) + 1, lets);
  if (!first_.limit) return {run};
  const std::int64_t unused = first_.stride - 1 - span;
  if (const std::int64_t* known = as_const_int(first_.limit)) {
    run.limit = AnyExpr(*known * first_.stride - unused);
  } else {
    lets.push_back({make_var("limit"), fresh_lets(first_.limit) * first_.stride - unused});
    run.limit = lets.back().var;
  }
  return {run};
}

LATHE_DECL StridedGroup::Way StridedGroup::lanes(const Held& held, Vec<LetBinding> lets,
                                                 const TargetCaps& caps) const {
  Deinterleave dense(type_, first_.stride, held.run, caps);
  Vec<LetBinding> results;
  for (const Member& m : members_)
    results.push_back(
        {m.var, directed(dense.lanes_from(held.lead + m.constant - least_), m, dense, caps)});
  lets.append(dense.lets);
  lets.append(results);
  const int access = dense_access(type_, mask_.get() != nullptr, caps);
  return {std::move(lets), dense.loads * access + dense.instructions};
}

// Vectors of half a register, as bytes that widen: two registers hold the run, and two loads are
// one shuffle of these and its halves. LLVM would write half a shuffle in four instructions. Of
// pairs it makes a shift and a mask, where these widen.
LATHE_DECL StridedGroup::Way StridedGroup::of_registers(const Held& held, Vec<LetBinding> out,
                                                        const TargetCaps& caps) const {
  const Way none{{}, by_elements(type_, static_cast<int>(members_.size()), caps)};
  const int element = type_.element_bytes(), lanes = type_.lanes;
  const Run& run = held.run;
  const DType whole = type_.with_lanes(2 * lanes);
  if (whole.bytes() != caps.register_bytes || first_.stride < 3 || run.extent > 4 * lanes)
    return none;
  const std::int64_t second = run.extent - 2 * lanes;
  const auto named = [&](AnyExpr value) {
    out.push_back({make_var("v", value.dtype()), std::move(value)});
    return AnyExpr(out.back().var);
  };
  const Vec<AnyExpr> parts{named(loaded_part(run, 0, whole, caps)),
                           named(loaded_part(run, second, whole, caps))};
  int cost = 2 * dense_access(whole, static_cast<bool>(first_.limit), caps);
  const auto lane_of = [&](std::int64_t offset, bool reversed, int l) {
    const std::int64_t at =
        std::min(offset + first_.stride * (reversed ? lanes - 1 - l : l), run.extent - 1);
    return static_cast<int>(at < 2 * lanes ? at : 2 * lanes + at - second);
  };
  for (std::size_t k = 0; k < members_.size(); k += 2) {
    const Member& m = members_[k];
    const bool pair = k + 1 < members_.size();
    // Neighbours stand in for a member that is alone.
    const std::int64_t offset = held.lead + m.constant - least_,
                       other = pair ? held.lead + members_[k + 1].constant - least_ : offset + 1;
    Vec<int> map, low, high;
    for (int l = 0; l < lanes; ++l) map.push_back(lane_of(offset, m.reversed, l));
    for (int l = 0; l < lanes; ++l)
      map.push_back(lane_of(other, pair && members_[k + 1].reversed, l));
    for (int l = 0; l < lanes; ++l) low.push_back(l), high.push_back(lanes + l);
    const AnyExpr both = named(make_shuffle(parts, std::move(map)));
    out.push_back({m.var, make_shuffle({both}, std::move(low))});
    if (pair) out.push_back({members_[k + 1].var, make_shuffle({both}, std::move(high))});
    cost += merge_cost(whole, element, caps) + (pair ? 1 : 0);
  }
  return {std::move(out), cost};
}

}  // namespace lathe::detail

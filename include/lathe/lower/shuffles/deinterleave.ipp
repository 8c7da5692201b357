#pragma once

#include <algorithm>
#include <lathe/arith/simplify.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/shuffles/deinterleave.hpp>
#include <lathe/lower/shuffles/lane_blocks.hpp>

namespace lathe::detail {

LATHE_DECL Vec<std::int64_t> prime_factors(std::int64_t n) {
  Vec<std::int64_t> out;
  for (std::int64_t p = 2; n > 1; ++p)
    for (; n % p == 0; n /= p) out.push_back(p);
  return out;
}

LATHE_DECL bool turns_bytes(DType type, const TargetCaps& caps) {
  const bool known = type.lanes == 16 || type.lanes == 32 || type.lanes == 64;
  return caps.turns_bytes && known && type.bits == 8 && type.lanes <= caps.register_bytes;
}

LATHE_DECL int merge_cost(DType type, int bytes, const TargetCaps& caps) {
  const int all = type.element_bytes() * type.lanes;
  const int registers = (all + caps.register_bytes - 1) / caps.register_bytes;
  return registers * caps.merges[bytes > 4 ? 3 : bytes / 2];
}

LATHE_DECL Deinterleave::Deinterleave(DType type, std::int64_t stride, Run run,
                                      const TargetCaps& caps)
    : type_(type),
      run_(std::move(run)),
      stride_(stride),
      caps_(caps),
      group_(group_size()),
      lanes_(type.lanes / group_),
      extent_(run_.extent / group_),
      factors_(prime_factors(stride)) {}

LATHE_DECL bool Deinterleave::is_by_blocks() const {
  return LaneBlocks::pays(type_, stride_, caps_) && run_.extent == stride_ * type_.lanes;
}

/// How many elements of an offset there are in 16 bytes, if it pays to sort by them.
LATHE_DECL int Deinterleave::group_size() const {
  const int element = type_.element_bytes(), stride = static_cast<int>(stride_);
  const bool even = kPieceBytes % (element * stride) == 0 && run_.extent % type_.lanes == 0 &&
                    element * type_.lanes % kPieceBytes == 0;
  if (!even) return 1;
  // For each of s vectors one shuffle more, and log2(s) cheaper ones.
  const int group = kPieceBytes / (element * stride);
  const int saved = merge_cost(type_, element, caps_) - merge_cost(type_, element * group, caps_);
  const int rounds = static_cast<int>(prime_factors(stride_).size());
  return rounds * saved > merge_cost(type_, kPieceBytes, caps_) ? group : 1;
}

LATHE_DECL AnyExpr Deinterleave::lanes_from(std::int64_t offset) {
  return is_by_blocks() ? by_blocks(offset) : part({factors_.size(), stride_, offset, 0});
}

LATHE_DECL AnyExpr Deinterleave::by_blocks(std::int64_t offset) {
  if (offsets_.empty()) {
    Vec<AnyExpr> vectors;
    for (std::int64_t k = 0; k < stride_; ++k) vectors.push_back(part({0, 1, 0, k}));
    LaneBlocks blocks(type_, static_cast<int>(stride_));
    offsets_ = blocks.apart(vectors);
    lets.append(blocks.lets);
    instructions += blocks.instructions;
  }
  return offsets_[static_cast<std::size_t>(offset)];
}

LATHE_DECL AnyExpr Deinterleave::sorted(AnyExpr vector) {
  if (group_ == 1) return vector;
  const int stride = static_cast<int>(stride_), sorted = group_ * stride;
  Vec<int> map;
  for (int l = 0; l < type_.lanes; ++l) {
    const int at = l % sorted;
    map.push_back(l - at + at % group_ * stride + at / group_);
  }
  instructions += merge_cost(type_, kPieceBytes, caps_);
  return named(make_shuffle({std::move(vector)}, std::move(map)));
}

LATHE_DECL AnyExpr Deinterleave::shuffled(Vec<AnyExpr> vectors, const Vec<int>& groups) {
  Vec<int> map;
  for (int at : groups)
    for (int l = 0; l < group_; ++l) map.push_back(at * group_ + l);
  instructions += merge_cost(type_, type_.element_bytes() * group_, caps_);
  return named(make_shuffle(std::move(vectors), std::move(map)));
}

// The last one ends with the run.
LATHE_DECL std::int64_t Deinterleave::first_of(std::int64_t dense_vector) const {
  return std::min(dense_vector * lanes_, extent_ - lanes_);
}

LATHE_DECL AnyExpr loaded_part(const Run& run, std::int64_t first, DType type,
                               const TargetCaps& caps) {
  const AnyExpr index = make_ramp(fold_add(run.base, AnyExpr(first)), AnyExpr(1), type.lanes);
  const AnyExpr count =
      run.limit ? lanes_before(run.limit, first, type.lanes) : AnyExpr(type.lanes);
  if (is_const(count, 0)) return make_const(type, 0);
  if (is_const(count, type.lanes)) return make_load(run.buffer, {index});
  return make_load(run.buffer, {index}, first_lanes(count, type.lanes, caps));
}

LATHE_DECL AnyExpr Deinterleave::part(const Part& p) {
  for (const Known& k : known_)
    if (k.part.level == p.level && k.part.residue == p.residue && k.part.index == p.index)
      return k.value;
  AnyExpr value;
  if (p.level == 0) {
    ++loads;
    value = sorted(named(loaded_part(run_, first_of(p.index) * group_, type_, caps_)));
  } else {
    value = merged(p);
  }
  known_.push_back({p, value});
  return value;
}

// As vector and lane of the part that this one is taken from.
LATHE_DECL Deinterleave::Source Deinterleave::source(const Part& p, std::int64_t lane) const {
  const std::int64_t factor = factors_[p.level - 1], inner = p.step / factor;
  const std::int64_t element = (p.index * lanes_ + lane) * factor + p.residue / inner;
  if (element * inner + p.residue % inner >= extent_) return {};
  std::int64_t vector = element / lanes_, first = vector * lanes_;
  if (p.level == 1) first = first_of(vector);
  return {vector, static_cast<int>(element - first)};
}

// One source after the other is merged in; a lane that is not there yet stays what it is.
LATHE_DECL AnyExpr Deinterleave::merged(const Part& p) {
  const int lanes = static_cast<int>(lanes_);
  const std::int64_t inner = p.step / factors_[p.level - 1];
  Vec<Source> from;
  for (int l = 0; l < lanes; ++l) from.push_back(source(p, l));
  AnyExpr value;
  Vec<int> picked;
  std::int64_t first = from[0].vector, last = first;
  for (const Source& s : from) last = std::max(last, s.vector);
  const auto vector = [&](std::int64_t index) {
    return part({p.level - 1, inner, p.residue % inner, index});
  };
  const auto lane_in = [&](std::int64_t index, int l, int shift, int otherwise) {
    const Source& s = from[static_cast<std::size_t>(l)];
    return s.vector == index ? s.lane + shift : otherwise;
  };
  value = vector(first);
  for (std::int64_t v = first + 1; v <= last; ++v) {
    if (std::none_of(from.begin(), from.end(), [&](const Source& s) { return s.vector == v; }))
      continue;
    Vec<int> map;
    for (int l = 0; l < lanes; ++l)
      map.push_back(lane_in(v, l, lanes, picked.empty() ? lane_in(first, l, 0, l) : l));
    value = shuffled({value, vector(v)}, map);
    picked = std::move(map);
  }
  if (!picked.empty()) return value;
  Vec<int> map;
  for (int l = 0; l < lanes; ++l) map.push_back(lane_in(first, l, 0, l));
  return shuffled({value}, map);
}

LATHE_DECL AnyExpr NamedShuffles::named(AnyExpr value) {
  lets.push_back({make_var("v", value.dtype()), std::move(value)});
  return lets.back().var;
}

}  // namespace lathe::detail

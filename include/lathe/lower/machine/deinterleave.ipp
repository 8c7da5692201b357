#pragma once

#include <algorithm>
#include <lathe/arith/simplify.hpp>
#include <lathe/lower/machine/deinterleave.hpp>
#include <lathe/lower/machine/lane_masks.hpp>

namespace lathe::detail {

LATHE_DECL Vec<std::int64_t> prime_factors(std::int64_t n) {
  Vec<std::int64_t> out;
  for (std::int64_t p = 2; n > 1; ++p)
    for (; n % p == 0; n /= p) out.push_back(p);
  return out;
}

LATHE_DECL Deinterleave::Deinterleave(DType type, std::int64_t stride, Run run,
                                      const TargetCaps& caps)
    : type_(type),
      lanes_(type.lanes),
      run_(std::move(run)),
      caps_(caps),
      factors_(prime_factors(stride)) {}

LATHE_DECL AnyExpr Deinterleave::lanes_from(std::int64_t offset) {
  std::int64_t stride = 1;
  for (std::int64_t f : factors_) stride *= f;
  return part({factors_.size(), stride, offset, 0});
}

// The last one ends with the run.
LATHE_DECL std::int64_t Deinterleave::first_of(std::int64_t dense_vector) const {
  return std::min(dense_vector * lanes_, run_.extent - lanes_);
}

LATHE_DECL AnyExpr Deinterleave::dense(std::int64_t first) const {
  const AnyExpr index = make_ramp(fold_add(run_.base, AnyExpr(first)), AnyExpr(1), type_.lanes);
  const AnyExpr count = run_.limit ? lanes_before(run_.limit, first, type_.lanes) : AnyExpr(lanes_);
  if (is_const(count, 0)) return make_const(type_, 0);
  if (is_const(count, lanes_)) return make_load(run_.buffer, {index});
  return make_load(run_.buffer, {index}, first_lanes(count, type_.lanes, caps_));
}

LATHE_DECL AnyExpr Deinterleave::part(const Part& p) {
  for (const Known& k : known_)
    if (k.part.level == p.level && k.part.residue == p.residue && k.part.index == p.index)
      return k.value;
  AnyExpr value;
  if (p.level == 0) {
    ++loads;
    value = named(dense(first_of(p.index)));
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
  if (element * inner + p.residue % inner >= run_.extent) return {};
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
    value = named(make_shuffle({value, vector(v)}, map));
    ++shuffles;
    picked = std::move(map);
  }
  if (!picked.empty()) return value;
  Vec<int> map;
  for (int l = 0; l < lanes; ++l) map.push_back(lane_in(first, l, 0, l));
  ++shuffles;
  return named(make_shuffle({value}, map));
}

LATHE_DECL AnyExpr Deinterleave::named(AnyExpr value) {
  lets.push_back({make_var("v", type_), std::move(value)});
  return lets.back().var;
}

}  // namespace lathe::detail

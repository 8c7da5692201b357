// Vectors of indices as one scalar plus a constant for each lane.
#pragma once

#include <lathe/arith/facts.hpp>
#include <optional>

namespace lathe {

/// Lane l is base + offsets[l].
struct LaneOffsets {
  AnyExpr base;
  Vec<std::int64_t> offsets;
};

/// None where lanes are not known numbers apart. A scalar has one offset, 0.
std::optional<LaneOffsets> lane_offsets(const AnyExpr& e);
/// The shortest form: a scalar for one lane, broadcasts and ramps, one in the other where it takes
/// several; empty where these do not say it.
AnyExpr with_offsets(const AnyExpr& base, const Vec<std::int64_t>& offsets);

/// What the lane of a variable number, of kIndex, has; empty where a lane takes from others.
///     X[ramp(i, 2, 8)] + broadcast(x, 8)   →   X[i + lane * 2] + x
AnyExpr in_lane(const AnyExpr& e, const VarRef& lane);

/// The vector as one ramp or broadcast, where its lanes are proved to be evenly apart; else empty.
///     ramp(x, 1, 8) / 14 * 14 + ramp(x, 1, 8) % 14   →   ramp(x, 1, 8)
AnyExpr even_lanes(const AnyExpr& e, const Facts& facts);

/// Whether a ramp or broadcast holds vectors: no simplifier and no back end sees through it.
bool has_nested_lanes(const AnyExpr& e);

namespace detail {

/// Index arithmetic that may leave 64 bits is left alone.
inline constexpr std::int64_t kMostOffset = std::int64_t{1} << 40;
inline bool all_equal(const Vec<std::int64_t>& v) {
  for (std::int64_t x : v)
    if (x != v[0]) return false;
  return true;
}

}  // namespace detail

}  // namespace lathe

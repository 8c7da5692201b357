#pragma once

#include <algorithm>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// The lanes that a load takes, as numbers: lane l < active is element base + offsets[l].
struct NearLanes {
  /// Elements first to last, which a vector is long enough for.
  struct Group {
    std::int64_t first, last;
    std::int64_t span() const { return last - first + 1; }
    bool holds(std::int64_t offset) const { return first <= offset && offset <= last; }
  };
  AnyExpr base;
  Vec<std::int64_t> offsets;
  int active = 0;
  Vec<Group> groups;

  /// Whether they are such numbers, in at most two groups.
  bool set(const LoadNode& n) {
    const int lanes = n.dtype.lanes;
    std::int64_t stride = 0;
    if (lanes == 1 || n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return false;
    if (lane_stride(n.indices[0], stride) || !count_active(n.mask, lanes)) return false;
    auto known = lane_offsets(n.indices[0]);
    if (!known || static_cast<int>(known->offsets.size()) != lanes) return false;
    base = known->base, offsets = std::move(known->offsets);
    group_offsets();
    return groups.size() <= 2;
  }
  bool follow_each_other() const {
    for (std::size_t l = 0; l < static_cast<std::size_t>(active); ++l)
      if (offsets[l] != groups[0].first + static_cast<std::int64_t>(l)) return false;
    return true;
  }

 private:
  bool count_active(const AnyExpr& mask, int lanes) {
    active = lanes;
    if (!mask) return true;
    const AnyExpr count = count_of_first_lanes(mask);
    const std::int64_t* number = count ? as_const_int(count) : nullptr;
    if (!number || *number < 1 || *number > lanes) return false;
    active = static_cast<int>(*number);
    return true;
  }
  void group_offsets() {
    Vec<std::int64_t> sorted(offsets.begin(), offsets.begin() + active);
    std::sort(sorted.begin(), sorted.end());
    for (const std::int64_t offset : sorted) {
      if (groups.empty() || offset - groups.back().first >= static_cast<int>(offsets.size()))
        groups.push_back({offset, offset});
      groups.back().last = offset;
    }
  }
};

class NearLoads : public SharingMutator {
 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    NearLanes lanes;
    if (!n || !lanes.set(*n)) return descend(e);
    if (lanes.follow_each_other())
      return vector_at(*n, lanes, lanes.groups[0].first, n->dtype.lanes, n->mask);
    AnyExpr value = gathered(*n, lanes, lanes.groups[0]);
    if (lanes.groups.size() > 1)
      value = blended(value, gathered(*n, lanes, lanes.groups[1]),
                      [&](int l) { return !lanes.groups[0].holds(offset_of(lanes, l)); });
    if (lanes.active == n->dtype.lanes) return value;
    return blended(value, make_const(n->dtype, 0), [&](int l) { return l >= lanes.active; });
  }

  static AnyExpr vector_at(const LoadNode& n, const NearLanes& lanes, std::int64_t first,
                           int length, const AnyExpr& mask = {}) {
    const AnyExpr from = fold_add(fresh_lets(lanes.base), AnyExpr(first));
    return make_load(n.buffer, {make_ramp(from, AnyExpr(1), length)}, mask);
  }
  static std::int64_t offset_of(const NearLanes& lanes, int lane) {
    return lanes.offsets[static_cast<std::size_t>(lane < lanes.active ? lane : 0)];
  }

  // The lanes that lie in a group, from one vector or from two that overlap, none of which reads
  // beyond it; what is in the others does not matter.
  static AnyExpr gathered(const LoadNode& n, const NearLanes& lanes,
                          const NearLanes::Group& group) {
    if (group.span() == 1) {
      const AnyExpr at = fold_add(fresh_lets(lanes.base), AnyExpr(group.first));
      return make_broadcast(make_load(n.buffer, {at}), n.dtype.lanes);
    }
    int length = 2;
    while (length * 2 <= group.span()) length *= 2;
    Vec<AnyExpr> parts{vector_at(n, lanes, group.first, length)};
    const std::int64_t second = group.last + 1 - length;
    if (length < group.span()) parts.push_back(vector_at(n, lanes, second, length));
    Vec<int> from;
    for (int l = 0; l < n.dtype.lanes; ++l) {
      const std::int64_t at = offset_of(lanes, l);
      const std::int64_t lane = !group.holds(at)            ? 0
                                : at - group.first < length ? at - group.first
                                                            : length + at - second;
      from.push_back(static_cast<int>(lane));
    }
    return make_shuffle(std::move(parts), std::move(from));
  }

  template <class F>
  static AnyExpr blended(const AnyExpr& a, const AnyExpr& b, const F& takes_b) {
    const int lanes = a.dtype().lanes;
    Vec<int> from;
    for (int l = 0; l < lanes; ++l) from.push_back(takes_b(l) ? lanes + l : l);
    return make_shuffle({a, b}, std::move(from));
  }
};

}  // namespace detail

LATHE_DECL Program near_loads(const Program& program) {
  return program.with(detail::NearLoads().stmt(program->body));
}

}  // namespace lathe

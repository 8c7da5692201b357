#pragma once

#include <cstdlib>
#include <lathe/analysis/borders.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/lower/borders/lane_pieces.hpp>
#include <lathe/lower/borders/mutator_in_loops.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// Lanes that are `free` modulo a period, all moved by base.
struct WrappedLanes {
  AnyExpr base, free, period;
  std::int64_t stride = 0;

  bool set(const AnyExpr& index) {
    const AnyExpr rest = without_uniform_terms(index, base);
    const auto* n = rest.as<BinaryNode>();
    if (!n || n->op != BinaryOp::floormod || !is_uniform(n->b)) return false;
    free = n->a, period = lane_base(n->b);
    return lane_stride(free, stride) && stride != 0 && std::abs(stride) < kMostOffset;
  }
  int count() const { return free.dtype().lanes; }
  bool side_by_side() const { return stride == 1 || stride == -1; }
  AnyExpr ramp(const AnyExpr& first) const { return make_ramp(first, AnyExpr(stride), count()); }

  /// All lanes in the period that starts at `start`.
  AnyExpr in_one(const AnyExpr& start) const { return ramp(base ? fold_add(base, start) : start); }
  AnyExpr are_in_one(const AnyExpr& start) const {
    const AnyExpr last = start + stride * (count() - 1);
    return stride > 0 ? last < period : last >= 0;
  }
  /// Lanes side by side in this period up to its end, and then in the next.
  AnyExpr in_two(const AnyExpr& start) const {
    const bool up = stride > 0;
    const AnyExpr here = ramp(start), next = ramp(up ? start - period : start + period),
                  end = make_broadcast(up ? period : AnyExpr(0), count()),
                  lanes = make_select(make_binary(up ? BinaryOp::lt : BinaryOp::ge, here, end),
                                      here, next);
    return base ? lanes + make_broadcast(base, count()) : lanes;
  }
};

class WrappedLoads : public MutatorInLoops {
 public:
  using MutatorInLoops::MutatorInLoops;

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    WrappedLanes lanes;
    if (!n || n->dtype.lanes == 1 || n->indices.size() != 1 || lane_offsets(n->indices[0]) ||
        !lanes.set(n->indices[0]) || !Simplifier(facts_).safe(lane_base(lanes.free)))
      return descend(e);
    // Parts of the index stand at several places.
    return fresh_lets(with_value("start", first_place(lanes),
                                 [&](const AnyExpr& start) { return loaded(*n, lanes, start); }));
  }

  AnyExpr loaded(const LoadNode& n, const WrappedLanes& lanes, const AnyExpr& start) {
    const AnyExpr mask = n.mask ? expr(n.mask) : AnyExpr();
    const auto load = [&](const AnyExpr& index) { return make_load(n.buffer, {index}, mask); };
    AnyExpr value = load(n.indices[0]);
    if (lanes.side_by_side())
      value =
          make_select(taken(n, lanes.count()) <= lanes.period, load(lanes.in_two(start)), value);
    // At a border that has been set apart lanes seldom are.
    if (lanes.side_by_side() && wrapped(scalar_form(lanes), facts_)) return value;
    return make_select(lanes.are_in_one(start), load(lanes.in_one(start)), value);
  }

  static AnyExpr scalar_form(const WrappedLanes& lanes) {
    return make_binary(BinaryOp::floormod, lane_base(lanes.free), lanes.period);
  }

  /// How many lanes there are, from the first on, that a mask takes.
  static AnyExpr taken(const LoadNode& n, int lanes) {
    const auto* below = n.mask.as<BinaryNode>();
    std::int64_t step = 0;
    if (!below || below->op != BinaryOp::lt || below->a.dtype().scalar() != kIndex ||
        !is_uniform(below->b) || !lane_stride(below->a, step) || step != 1)
      return AnyExpr(lanes);
    return fold_min(AnyExpr(lanes), fold_sub(lane_base(below->b), lane_base(below->a)));
  }

  /// The first lane's remainder, without a division where it is at most one period outside.
  AnyExpr first_place(const WrappedLanes& lanes) const {
    const AnyExpr first = lane_base(lanes.free), &period = lanes.period, zero(0);
    if (!prove_le(zero, fold_add(first, period), facts_) ||
        !prove_lt(first, fold_add(period, period), facts_))
      return scalar_form(lanes);
    AnyExpr place = first;
    if (!prove_le(zero, first, facts_))
      place = make_select(first < zero, fold_add(first, period), place);
    if (!prove_lt(first, period, facts_))
      place = make_select(first >= period, fold_sub(first, period), place);
    return place;
  }
};

}  // namespace detail

LATHE_DECL Program wrapped_loads(const Program& program) {
  return program.with(detail::WrappedLoads(program).stmt(program->body));
}

}  // namespace lathe

#pragma once

#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/lower/borders/lane_pieces.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// Indices whose lanes are known numbers apart between two ends, or one, and are the end beyond it.
struct ClampedLanes {
  AnyExpr base;  ///< scalar, added to all lanes; empty: 0
  AnyExpr free;  ///< the vector without ends
  LaneEnds ends;

  /// Whether the index is like this.
  bool set(const AnyExpr& index) {
    free = ends.inside(without_uniform_terms(index, base));
    return free.get() && !is_uniform(free) && lane_offsets(free).has_value();
  }
  int count() const { return free.dtype().lanes; }
  AnyExpr inside() const {
    const LaneOffsets known = *lane_offsets(free);
    const AnyExpr short_form = with_offsets(moved(known.base), known.offsets);
    return short_form ? short_form : free + make_broadcast(moved(AnyExpr(0)), count());
  }
  AnyExpr beyond(const AnyExpr& end) const { return make_broadcast(moved(end), count()); }
  /// Which lanes are below the lowest, or above the highest.
  AnyExpr is_beyond(bool lowest_end) const {
    return make_binary(lowest_end ? BinaryOp::lt : BinaryOp::gt, free,
                       make_broadcast(lowest_end ? ends.lowest : ends.highest, count()));
  }

 private:
  AnyExpr moved(const AnyExpr& at) const { return base ? fold_add(base, at) : at; }
};

class PiecewiseLoads : public SharingMutator {
 public:
  explicit PiecewiseLoads(const TargetCaps& caps) : caps_(caps) {}

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    const AnyExpr value = n && splits(*n) ? taken_apart(*n) : AnyExpr();
    // Parts of the index and masks stand at several places.
    return value ? fresh_lets(value) : descend(e);
  }

  /// Empty for an index that has no pieces.
  AnyExpr taken_apart(const LoadNode& n) {
    const AnyExpr mask = n.mask ? expr(n.mask) : AnyExpr();
    ClampedLanes lanes;
    if (!lanes.set(n.indices[0])) {
      const Vec<LanePiece> pieces = lane_pieces(n.indices[0]);
      return pieces.size() > 1 ? joined(n, pieces, mask) : AnyExpr();
    }
    std::int64_t stride = 0;
    return lane_stride(lanes.free, stride) && stride == 1 ? dense(n, lanes, mask)
                                                          : chosen(n, lanes, mask);
  }

  /// Three loads under masks: none is in an arm, which would ask once more whether it is taken.
  static AnyExpr dense(const LoadNode& n, const ClampedLanes& lanes, const AnyExpr& mask) {
    AnyExpr inside = mask;
    Vec<LetBinding> ends;
    Vec<AnyExpr> beyond;
    for (const bool least : {true, false}) {
      const AnyExpr& end = least ? lanes.ends.lowest : lanes.ends.highest;
      if (!end) continue;
      const AnyExpr lane = lanes.is_beyond(least);
      inside = mask_and(inside, make_unary(UnaryOp::not_, lane));
      beyond.push_back(lane);
      ends.push_back({make_var("end", n.dtype),
                      make_load(n.buffer, {lanes.beyond(end)}, mask_and(mask, lane))});
    }
    const VarRef rest = make_var("inside", n.dtype);
    AnyExpr value(rest);
    for (std::size_t k = ends.size(); k-- > 0;)
      value = make_select(beyond[k], AnyExpr(ends[k].var), value);
    ends.push_back({rest, make_load(n.buffer, {lanes.inside()}, inside)});
    return make_let(std::move(ends), value);
  }

  static AnyExpr chosen(const LoadNode& n, const ClampedLanes& lanes, const AnyExpr& mask) {
    AnyExpr value = make_load(n.buffer, {lanes.inside()}, mask);
    for (const bool least : {false, true})
      if (const AnyExpr& end = least ? lanes.ends.lowest : lanes.ends.highest; end)
        value = make_select(lanes.is_beyond(least), make_load(n.buffer, {lanes.beyond(end)}, mask),
                            value);
    return value;
  }

  /// A load for each piece, under the mask of its lanes; outside of arms, as above.
  static AnyExpr joined(const LoadNode& n, const Vec<LanePiece>& pieces, AnyExpr mask) {
    Vec<LetBinding> parts;
    for (const auto& p : pieces) {
      parts.push_back(
          {make_var("part", n.dtype), make_load(n.buffer, {p.index}, mask_and(mask, p.where))});
      if (p.where) mask = mask_and(mask, make_unary(UnaryOp::not_, p.where));
    }
    AnyExpr value(parts.back().var);
    for (std::size_t k = parts.size() - 1; k-- > 0;)
      value = make_select(pieces[k].where, AnyExpr(parts[k].var), value);
    return make_let(std::move(parts), value);
  }

  /// Lanes that are known numbers of elements apart are shuffled; a load by elements under a mask
  /// is no less than one by indices.
  bool splits(const LoadNode& n) const {
    return n.dtype.lanes > 1 && n.indices.size() == 1 && n.buffer->dtype.lanes == 1 &&
           n.dtype.element_bytes() >= caps_.masked_bytes && !lane_offsets(n.indices[0]);
  }

  const TargetCaps& caps_;
};

}  // namespace detail

LATHE_DECL Program piecewise_loads(const Program& program, const TargetCaps& caps) {
  return program.with(detail::PiecewiseLoads(caps).stmt(program->body));
}

}  // namespace lathe

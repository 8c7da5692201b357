#pragma once

#include <lathe/schedule/primitives/tensor/tile_plan.ipp>

namespace lathe::detail {

/// The implementation, with the block's buffers in the place of its parameters.
class PlaceTensors : public Mutator {
 public:
  explicit PlaceTensors(const TensorPlan& plan) : plan_(plan) {}

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    if (!n) return descend(e);
    const TileAccess& to = access(n->buffer);
    return make_load(to.buffer, place(to, n->indices), optional(n->mask));
  }
  Stmt stmt(const Stmt& s) override {
    const auto* n = s.as<StoreNode>();
    if (!n) return descend(s);
    const TileAccess& to = access(n->buffer);
    return make_store(to.buffer, place(to, n->indices), expr(n->value));
  }

 private:
  const TileAccess& access(const Buffer& buffer) const {
    for (const auto& a : plan_.accesses)
      if (plan_.intrinsic.operands[a.operand].implemented == buffer) return a;
    unreachable("an operand that is not bound");
  }

  // Element (q0, q1, …) of the operand lies q0 steps along one loop and q1 along another from where
  // the tile begins.
  Vec<AnyExpr> place(const TileAccess& to, const Vec<AnyExpr>& indices) const {
    const auto& axes = plan_.intrinsic.operands[to.operand].axes;
    Vec<Vec<std::int64_t>> at(to.indices.size());
    std::size_t lanes = 1;
    for (const auto& index : indices)
      lanes = std::max(lanes, static_cast<std::size_t>(index.dtype().lanes));
    for (auto& offsets : at) offsets = Vec<std::int64_t>(lanes, 0);
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const std::size_t loop = plan_.loop_of[axes[axis]];
      if (loop == TensorPlan::none) continue;
      auto q = lane_offsets(indices[axis]);
      for (std::size_t d = 0; d < at.size(); ++d)
        for (std::size_t l = 0; l < lanes; ++l)
          at[d][l] += to.steps[d][loop] *
                      (*as_const_int(q->base) + q->offsets[q->offsets.size() == 1 ? 0 : l]);
    }
    return in_dimensions(to.indices, at);
  }

  // A dimension in which all lanes are equal takes a scalar, if another one says how many there
  // are.
  static Vec<AnyExpr> in_dimensions(const Vec<AnyExpr>& first, const Vec<Vec<std::int64_t>>& at) {
    Vec<AnyExpr> out;
    bool vector = false;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const bool last = d + 1 == at.size();
      const bool scalar = all_equal(at[d]) && (vector || !last);
      out.push_back(scalar ? fold_add(first[d], AnyExpr(at[d][0])) : scattered(first[d], at[d]));
      vector = vector || !scalar;
    }
    return out;
  }
  // Offsets without a pattern are spelled out.
  static AnyExpr scattered(const AnyExpr& first, const Vec<std::int64_t>& offsets) {
    if (AnyExpr e = with_offsets(first, offsets)) return e;
    Vec<AnyExpr> lanes;
    Vec<int> order;
    for (std::int64_t o : offsets)
      lanes.push_back(fold_add(first, AnyExpr(o))), order.push_back(static_cast<int>(order.size()));
    return make_shuffle(std::move(lanes), std::move(order));
  }

  const TensorPlan& plan_;
};

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Few results that lie side by side, each from few terms, at many places: colours by a matrix,
// batches of small matrices. Lanes lie along the places, a vector of each result in turn, which
// are stored interleaved.
class FoldChannels : ReductionCosts {
 public:
  using ReductionCosts::ReductionCosts;

  // The loop over places, along which all reads are near; empty: there is none.
  LoopRef around(const BlockNode& block, const DefaultNest& nest, std::int64_t lanes) const {
    const std::int64_t channels = nest.unit.var.get() ? trip_of(nest, nest.unit) : 0;
    if (channels < 2 || channels > std::min(kMostChannels, lanes / 2) || nest.leaves_out ||
        nest.writes.size() != 1 || !has_const_trip(nest, nest.unit) ||
        (4 * channels > lanes && !writes_out(block, nest)))
      return {};
    return innermost(nest, [&](const LoopRef& loop) {
      return !(loop == nest.unit) && trip_of(nest, loop) >= lanes &&
             flat_stride(nest.writes[0], loop.var) == channels &&
             std::all_of(nest.reads.begin(), nest.reads.end(), [&](const AccessSite& read) {
               const auto stride = flat_stride(read, loop.var);
               return stride && *stride >= 0 && *stride <= kMostApart;
             });
    });
  }

  void run(const BlockRef& ref, const DefaultNest& nest, const LoopRef& around,
           std::int64_t lanes) {
    const std::size_t axis = axis_of(nest.writes[0], around);
    const BlockRef out = s_.cache_write(ref, Scope::reg);
    const auto places = s_.split_any(around, {infer, lanes});
    Vec<LoopRef> order;
    for (const auto& loop : nest.spatial)
      if (!(loop == nest.unit)) order.push_back(loop == around ? places[0] : loop);
    const LoopRef tile = order.back();
    order.append(nest.reduce);
    order.append({nest.unit, places[1]});
    s_.reorder(order);
    s_.reverse_compute_at(out, tile);
    const Buffer held = writes_of(*site(ref).block)[0].buffer;
    TiledAxes axes;
    axes.rank = held->shape.size(), axes.across_axis = axis, axes.across = lanes;
    s_.transform_layout(held->name, tiled_layout(axes));
    const BlockRef init = s_.decompose_reduction(ref, nest.reduce.front());
    if (writes_out(*site(ref).block, nest))
      for (const auto& loop : nest.reduce) s_.unroll(loop);
    const Vec<LoopRef> last = s_.loops(out);
    s_.reorder({last[last.size() - 1], last[last.size() - 2]});
    for (const auto& block : {ref, init, out}) write_out_vectors(block);
  }

 private:
  // Elements from one place to the next of which a few lines hold a vector's.
  static constexpr std::int64_t kMostApart = 16;
  // Terms that are written out, and nodes of all of them.
  static constexpr double kMostTerms = 16, kMostNodes = 4000;

  static bool writes_out(const BlockNode& block, const DefaultNest& nest) {
    const double terms = terms_of(nest), channels = static_cast<double>(trip_of(nest, nest.unit)),
                 nodes = static_cast<double>(node_count(block.body) + expanded_nodes(block));
    return terms <= kMostTerms && channels * terms * nodes <= kMostNodes &&
           std::all_of(nest.reduce.begin(), nest.reduce.end(),
                       [&](const LoopRef& loop) { return has_const_trip(nest, loop); });
  }
};

}  // namespace detail
}  // namespace lathe

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
    if (!nest.unit.var.get() || nest.leaves_out || nest.writes.size() != 1) return {};
    const std::int64_t channels = trips_of(nest, results_of(nest));
    if (channels < 2 || channels > std::min(kMostChannels, lanes / 2) ||
        (4 * channels > lanes && !writes_out(block, nest)))
      return {};
    return innermost(nest, [&](const LoopRef& loop) {
      return !(loop == nest.unit) && trip_of(nest, loop) >= lanes &&
             flat_stride(nest.writes[0], loop.var) == channels &&
             axis_of(nest.writes[0], loop) < nest.writes[0].indices.size() &&
             std::all_of(nest.reads.begin(), nest.reads.end(), [&](const AccessSite& read) {
               const auto stride = flat_stride(read, loop.var);
               return stride && *stride >= 0 && *stride <= kMostApart;
             });
    });
  }

  void run(const BlockRef& ref, const DefaultNest& nest, const LoopRef& around,
           std::int64_t lanes) {
    const std::size_t axis = axis_of(nest.writes[0], around);
    const Vec<LoopRef> results = results_of(nest);
    const BlockRef out = s_.cache_write(ref, Scope::reg);
    const auto places = s_.split_any(around, {infer, lanes});
    Vec<LoopRef> order;
    for (const auto& loop : nest.spatial)
      if (!contains(results, loop)) order.push_back(loop == around ? places[0] : loop);
    const LoopRef tile = order.back();
    order.append(nest.reduce);
    order.append(results);
    order.push_back(places[1]);
    s_.reorder(order);
    s_.reverse_compute_at(out, tile);
    const Buffer held = writes_of(*site(ref).block)[0].buffer;
    TiledAxes axes;
    axes.rank = held->shape.size(), axes.across_axis = axis, axes.across = lanes;
    s_.transform_layout(held->name, tiled_layout(axes));
    const BlockRef init = s_.decompose_reduction(ref, nest.reduce.front());
    if (writes_out(*site(ref).block, nest))
      for (const auto& loop : nest.reduce) s_.unroll(loop);
    const std::vector<LoopRef> loops = s_.loops(out);
    Vec<LoopRef> last(loops.end() - static_cast<std::ptrdiff_t>(results.size()), loops.end());
    last.push_back(loops[loops.size() - results.size() - 1]);
    s_.reorder(last);
    for (const auto& block : {ref, init, out}) write_out_vectors(block, results.size());
  }

 private:
  // Elements from one place to the next of which a few lines hold a vector's.
  static constexpr std::int64_t kMostApart = 16;
  // Terms that are written out, and nodes of all of them.
  static constexpr double kMostTerms = 16, kMostNodes = 4000;

  // The innermost loops whose results lie side by side, as of small matrices; the unit loop at
  // least, the last one.
  static Vec<LoopRef> results_of(const DefaultNest& nest) {
    Vec<LoopRef> out;
    std::int64_t results = 1;
    for (std::size_t k = nest.spatial.size(); k-- > 0;) {
      const LoopRef& loop = nest.spatial[k];
      const std::int64_t trips = trip_of(nest, loop);
      if (flat_stride(nest.writes[0], loop.var) != results || !has_const_trip(nest, loop) ||
          results * trips > kMostChannels)
        break;
      out.push_back(loop), results *= trips;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }
  static std::int64_t trips_of(const DefaultNest& nest, const Vec<LoopRef>& loops) {
    std::int64_t trips = 1;
    for (const auto& loop : loops) trips *= trip_of(nest, loop);
    return trips;
  }

  static bool writes_out(const BlockNode& block, const DefaultNest& nest) {
    const double terms = terms_of(nest),
                 channels = static_cast<double>(trips_of(nest, results_of(nest))),
                 nodes = static_cast<double>(node_count(block.body) + expanded_nodes(block));
    return terms <= kMostTerms && channels * terms * nodes <= kMostNodes &&
           std::all_of(nest.reduce.begin(), nest.reduce.end(),
                       [&](const LoopRef& loop) { return has_const_trip(nest, loop); });
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/schedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Vectors, window rows and streaming stores of a block without reductions.
class TileElementwise : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run(const BlockNode& block, const DefaultNest& nest, bool only_loop) {
    if (!nest.unit.var.get()) return;
    BodyCost cost = body_cost(block);
    const std::int64_t lanes = target_.lanes(cost.widest);
    const std::int64_t trips = trip_of(nest, nest.unit);
    if (trips < 2) return;
    const LoopRef last = nest.spatial.back();
    if (!(last == nest.unit))
      attempt([&] {
        std::vector<LoopRef> order = others(nest);
        order.push_back(nest.unit);
        s_.reorder(order);
      });
    std::int64_t width = lanes * (cost.math > 0 ? 2 : kElementwiseUnroll);
    while (width > lanes && width * 2 > trips) width /= 2;
    if (width > trips) {
      if (has_const_trip(nest, nest.unit)) attempt([&] { s_.vectorize(nest.unit); });
      return;
    }
    const LoopRef rows = window_rows(block, nest, cost);
    if (!rows.var.get() || !attempt([&] { tile_window(nest, rows, lanes); }))
      attempt([&] {
        const std::int64_t task = exceeds_caches(block) ? kMemoryTaskElements : kTaskElements;
        const std::int64_t per_task = task / width;
        bool tasks = only_loop && trips >= 2 * task;
        auto parts = tasks ? s_.split_any(nest.unit, {infer, per_task, width})
                           : s_.split_any(nest.unit, {infer, width});
        s_.vectorize(parts.back());
      });
    stream_large_outputs(block);
  }

 private:
  // The innermost loop, other than the lanes', whose neighbouring iterations read the same vectors.
  // Several rows at once also hide the latency of memory, so there any reuse will do.
  LoopRef window_rows(const BlockNode& block, const DefaultNest& nest, const BodyCost& cost) const {
    if (cost.math > 0 || cost.loads > kWindowLoads) return {};
    const double least = exceeds_caches(block) ? 0 : kWindowShare;
    const auto loops = others(nest);
    for (std::size_t k = loops.size(); k-- > 0;)
      for (const auto& it : block.iters)
        if (it.binding.get() == loops[k].var.get() && trip_of(nest, loops[k]) > 1 &&
            share_read_again(block, it.var) > least)
          return loops[k];
    return {};
  }

  // A few rows together, so that what two of them read is loaded once.
  void tile_window(const DefaultNest& nest, const LoopRef& rows, std::int64_t width) {
    auto lanes_of = s_.split_any(nest.unit, {infer, width});
    auto parts = s_.split_any(rows, {infer, window_height(trip_of(nest, rows))});
    std::vector<LoopRef> order;
    for (const auto& l : others(nest)) order.push_back(l == rows ? parts[0] : l);
    order.insert(order.end(), {lanes_of[0], parts[1], lanes_of[1]});
    s_.reorder(order);
    s_.unroll(parts[1]);
    s_.vectorize(lanes_of[1]);
  }

  // As many rows as leave none over; if there is no such number, tiles of nearly equal height.
  static std::int64_t window_height(std::int64_t trips) {
    if (trips <= kWindowRows) return trips;
    for (std::int64_t rows = kWindowRows; rows > kWindowRows / 2; --rows)
      if (trips % rows == 0) return rows;
    return balanced(trips, kWindowRows);
  }

  // An output that does not fit the cache is written past it, unless this program reads it again.
  void stream_large_outputs(const BlockNode& block) {
    if (!exceeds_caches(block)) return;
    for (const auto& write : writes_of(block))
      if (!readers(s_.program()->body, write.buffer).empty()) return;
    attempt([&] { s_.annotate(BlockRef(block.tag), "stream", 1); });
  }

  // Whether an output of the program that the block writes is larger than the caches.
  bool exceeds_caches(const BlockNode& block) const {
    for (const auto& write : writes_of(block)) {
      double bytes = write.buffer->dtype.element_bytes();
      for (const auto& extent : write.buffer->shape) {
        ConstInterval range = const_bounds(extent);
        bytes *= range.has_max() ? static_cast<double>(range.max) : 0;
      }
      if (bytes > static_cast<double>(target_.l3_bytes) &&
          !is_private(s_.program()->body, write.buffer))
        return true;
    }
    return false;
  }
};

}  // namespace detail
}  // namespace lathe

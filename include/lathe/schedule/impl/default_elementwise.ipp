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
    if (lanes > trips) {
      if (has_const_trip(nest, nest.unit)) attempt([&] { s_.vectorize(nest.unit); });
      return;
    }
    const WindowRows rows = window_rows(block, nest, cost);
    if (!rows.loop.var.get() || !attempt([&] { tile_window(block, nest, rows, lanes); })) {
      const std::int64_t task = exceeds_caches(block) ? kMemoryTaskElements : kTaskElements;
      const bool tasks = only_loop && trips >= 2 * task;
      attempt([&] { tile_vectors(nest, vectors_of(cost, trips), tasks ? task : 0); });
    }
    stream_large_outputs(block);
  }

 private:
  struct Vectors {
    std::int64_t lanes, count;
  };
  struct WindowRows {
    LoopRef loop;
    VarRef iter;
  };

  // Math: two registers a vector, for latency. Else a loop waits for memory, and is best off with
  // what one load moves: where a register takes two, full vectors cost up to a tenth.
  Vectors vectors_of(const BodyCost& cost, std::int64_t trips) const {
    const std::int64_t lanes = target_.lanes(cost.widest);
    if (cost.math == 0) return {target_.load_lanes(cost.widest), kElementwiseUnroll};
    return {4 * lanes > trips ? lanes : 2 * lanes, 1};
  }

  // `task`: elements of one outer iteration, 0 for no such loop.
  void tile_vectors(const DefaultNest& nest, const Vectors& v, std::int64_t task) {
    std::vector<Factor> factors{infer};
    if (task > 0) factors.push_back(task / v.lanes);
    factors.push_back(v.lanes);
    const auto parts = s_.split_any(nest.unit, factors);
    s_.vectorize(parts.back());
    if (v.count > 1) s_.unroll(parts[parts.size() - 2], v.count);
  }

  // The innermost loop, other than the lanes', whose neighbouring iterations read the same vectors.
  // Several rows at once also hide the latency of memory, so there any reuse will do.
  WindowRows window_rows(const BlockNode& block, const DefaultNest& nest,
                         const BodyCost& cost) const {
    if (cost.math > 0 || cost.loads > kWindowLoads) return {};
    const double least = exceeds_caches(block) ? 0 : kWindowShare;
    const auto loops = others(nest);
    for (std::size_t k = loops.size(); k-- > 0;)
      for (const auto& it : block.iters)
        if (it.binding.get() == loops[k].var.get() && trip_of(nest, loops[k]) > 1 &&
            share_read_again(block, it.var) > least)
          return {loops[k], it.var};
    return {};
  }

  // A few rows together, so that what two of them read is loaded once.
  void tile_window(const BlockNode& block, const DefaultNest& nest, const WindowRows& rows,
                   std::int64_t width) {
    const std::int64_t height =
        window_height(trip_of(nest, rows.loop), most_rows(block, rows.iter));
    auto lanes_of = s_.split_any(nest.unit, {infer, width});
    auto parts = s_.split_any(rows.loop, {infer, height});
    std::vector<LoopRef> order;
    for (const auto& l : others(nest)) order.push_back(l == rows.loop ? parts[0] : l);
    order.insert(order.end(), {lanes_of[0], parts[1], lanes_of[1]});
    s_.reorder(order);
    s_.unroll(parts[1]);
    s_.vectorize(lanes_of[1]);
  }

  // As many rows as leave none over; if there is no such number, tiles of nearly equal height.
  static std::int64_t window_height(std::int64_t trips, std::int64_t most) {
    if (trips <= most) return trips;
    for (std::int64_t rows = most; rows > most / 2; --rows)
      if (trips % rows == 0) return rows;
    return balanced(trips, most);
  }

  // Rows that fall on the same sets of the first cache push each other out, unless the output goes
  // past it.
  std::int64_t most_rows(const BlockNode& block, const VarRef& iter) const {
    bool crowded = false, streams = exceeds_caches(block);
    for (const auto& write : writes_of(block)) {
      const std::int64_t bytes = row_bytes(write, iter);
      crowded |= shares_sets(bytes);
      streams &= bytes % kStreamAlignment == 0;
    }
    for (const auto& read : reads_of(block)) crowded |= shares_sets(row_bytes(read, iter));
    return crowded && !streams ? kCrowdedRows : kWindowRows;
  }

  // From one row to the next of a row-major view; 0: not a number, or not one axis.
  static std::int64_t row_bytes(const AccessSite& access, const VarRef& iter) {
    std::int64_t bytes = access.buffer->dtype.element_bytes();
    for (std::size_t axis = access.indices.size(); axis-- > 0;) {
      if (uses_var(access.indices[axis], iter)) return bytes;
      const auto* extent = as_const_int(access.buffer->shape[axis]);
      if (!extent || __builtin_mul_overflow(bytes, *extent, &bytes)) return 0;
    }
    return 0;
  }

  static bool shares_sets(std::int64_t row_bytes) {
    const std::int64_t rest = row_bytes % kCacheWay;
    return row_bytes >= kCacheWay - kCacheLine &&
           (rest < kCacheLine || rest > kCacheWay - kCacheLine);
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

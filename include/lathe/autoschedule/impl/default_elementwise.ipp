#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Vectors, window rows and streaming stores of a block without reductions.
class TileElementwise : RowSteps {
 public:
  using RowSteps::RowSteps;

  // `crowded`: among so many nests that copies of vectors would fill the program.
  void run(const BlockNode& block, const DefaultNest& nest, bool only_loop, bool crowded) {
    if (!nest.unit.var.get()) return;
    const BodyCost cost = body_cost(block);
    const std::int64_t lanes = target_.lanes(cost.widest);
    const std::int64_t trips = trip_of(nest, nest.unit);
    if (trips < 2) return;
    put_unit_innermost(nest);
    if (lanes > trips) {
      if (has_const_trip(nest, nest.unit)) attempt([&] { s_.vectorize(nest.unit); });
      return;
    }
    // Math in vectors of 32 bytes and less takes longer than memory: there is nothing that streams
    // hide.
    const bool waits = cost.math == 0 || target_.vector_bytes > 32;
    const bool past_caches = waits && goes_past_caches(block);
    if (past_caches && TileStreams(s_, target_).run(block, nest)) return;
    const bool windows =
        !crowded && cost.math == 0 && cost.loads <= kWindowLoads && !past_second_caches(block);
    const Rows rows = windows ? window_rows(block, nest, kWindowShare) : Rows();
    if (!rows.loop.var.get() ||
        !attempt([&] { tile_rows(nest, rows, window_height(block, nest, rows), lanes); })) {
      const std::int64_t task = past_caches ? kMemoryTaskElements : kTaskElements;
      const bool tasks = only_loop && trips >= 2 * task;
      attempt([&] { tile_vectors(nest, vectors_of(cost, trips, crowded), tasks ? task : 0); });
    }
    if (past_caches)
      attempt([&] {
        const auto how = rows.loop.var.get() ? Streaming::lines : Streaming::any;
        s_.annotate(BlockRef(block.tag), "stream", static_cast<std::int64_t>(how));
      });
  }

 private:
  struct Vectors {
    std::int64_t lanes, count;
  };

  void put_unit_innermost(const DefaultNest& nest) {
    if (nest.spatial.back() == nest.unit) return;
    attempt([&] {
      Vec<LoopRef> order = others(nest);
      order.push_back(nest.unit);
      s_.reorder(order);
    });
  }

  // Math: registers side by side, for latency (interleave_stores); AVX2 gains another tenth from
  // four. Else a loop waits for memory, and is best off with what one load moves: where a register
  // takes two, full vectors cost up to a tenth.
  Vectors vectors_of(const BodyCost& cost, std::int64_t trips, bool crowded) const {
    const std::int64_t lanes = target_.lanes(cost.widest);
    if (cost.math == 0) return {target_.load_lanes(cost.widest), crowded ? 1 : kElementwiseUnroll};
    std::int64_t side_by_side = target_.vector_registers >= 32 ? 2 : 4;
    while (side_by_side > 1 && 2 * side_by_side * lanes > trips) side_by_side /= 2;
    return {side_by_side * lanes, 1};
  }

  // `task`: elements of one outer iteration, 0 for no such loop.
  void tile_vectors(const DefaultNest& nest, const Vectors& v, std::int64_t task) {
    Vec<Factor> factors{infer};
    if (task > 0) factors.push_back(task / v.lanes);
    factors.push_back(v.lanes);
    const auto parts = s_.split_any(nest.unit, factors);
    s_.vectorize(parts.back());
    if (v.count > 1) s_.unroll(parts[parts.size() - 2], v.count);
  }

  // As many rows as leave none over; if there is no such number, tiles of nearly equal height.
  std::int64_t window_height(const BlockNode& block, const DefaultNest& nest,
                             const Rows& rows) const {
    const std::int64_t trips = trip_of(nest, rows.loop), most = most_rows(block, rows.iter);
    if (trips <= most) return trips;
    for (std::int64_t height = most; height > most / 2; --height)
      if (trips % height == 0) return height;
    return balanced(trips, most);
  }

  // Rows that fall on the same sets of the first cache push each other out.
  std::int64_t most_rows(const BlockNode& block, const VarRef& iter) const {
    bool crowded = false;
    for (const auto& write : writes_of(block)) crowded |= shares_sets(row_bytes(write, iter));
    for (const auto& read : reads_of(block)) crowded |= shares_sets(row_bytes(read, iter));
    return crowded ? kCrowdedRows : kWindowRows;
  }

  bool shares_sets(std::int64_t row_bytes) const {
    const std::int64_t rest = row_bytes % kCacheWay, line = target_.line_bytes;
    return row_bytes >= kCacheWay - line && (rest < line || rest > kCacheWay - line);
  }
};

}  // namespace detail
}  // namespace lathe

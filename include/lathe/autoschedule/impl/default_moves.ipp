#pragma once

#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>
#include <limits>

namespace lathe {
namespace detail {

// Elements that change places.
class OrderMoves : RowSteps {
 public:
  using RowSteps::RowSteps;

  /// Lanes of memory rows: where a load jumps along the lanes, and lies side by side along another
  /// loop, vectors of that loop are loaded and turned in registers. False: nothing done.
  bool turn(const BlockNode& block, const DefaultNest& nest, std::int64_t lanes, bool past_caches) {
    const Turned turned = turned_read(nest, lanes);
    if (turned.height < 2) return false;
    const Order order =
        past_caches ? by_source(nest, turned, lanes) : by_result(nest, turned, lanes);
    return attempt([&] {
      tile(nest, turned, order, lanes);
      if (past_caches) stream(block, Streaming::lines);
    });
  }

  /// Rows that are stored past the caches in whole lines come in the order in which they are read:
  /// a load waits for memory, a store that nobody waits for does not.
  void follow_source(const DefaultNest& nest) {
    if (nest.reads.size() != 1 || !fills_lines(nest)) return;
    Vec<LoopRef> order = in_order_of(nest.reads[0], nest);
    if (order.empty() || !(order.back() == nest.unit)) return;
    attempt([&] { s_.reorder(order); });
  }

  /// Whether each row of the results is whole lines.
  bool fills_lines(const DefaultNest& nest) const {
    return std::all_of(nest.writes.begin(), nest.writes.end(),
                       [&](const AccessSite& write) { return fills_lines(nest, write); });
  }

 private:
  // What of a row of the result is written before the next one, where lines of it would be written
  // in two parts, which costs a fetch each, or where rows of what is read lie a multiple of 4 KB
  // apart: 2048 and 4096 rows, 0.65 to 0.75 of a streaming copy on Zen 4, and 0.45 to 0.6 line by
  // line, which other rows are the better for (0.97 and 0.65 of 2000). A line of bytes that is read
  // has parts of many tiles: 6400 rows of u8 0.35 line by line and 0.65 in such runs.
  static constexpr std::int64_t kRun = 1024;

  bool fills_lines(const DefaultNest& nest, const AccessSite& write) const {
    const std::int64_t bytes = write.buffer->dtype.element_bytes();
    return std::all_of(nest.spatial.begin(), nest.spatial.end(), [&](const LoopRef& loop) {
      const auto stride = flat_stride(write, loop.var);
      return loop == nest.unit ? trip_of(nest, loop) * bytes % target_.line_bytes == 0
                               : stride && *stride * bytes % target_.line_bytes == 0;
    });
  }

  struct Turned {
    LoopRef rows;
    std::int64_t height = 0;
    const AccessSite* read = nullptr;
  };
  Turned turned_read(const DefaultNest& nest, std::int64_t lanes) const {
    Turned out;
    out.rows = innermost(nest, [&](const LoopRef& loop) {
      for (const auto& read : nest.reads)
        if (!(loop == nest.unit) && step_of(read.indices, loop.var) == Step::unit &&
            step_of(read.indices, nest.unit.var) >= Step::strided)
          return out.read = &read, true;
      return false;
    });
    if (out.rows.var.get()) out.height = std::min({trip_of(nest, out.rows), kTurnedRows, lanes});
    return out;
  }

  // Loops outside of a tile, the unit loop where blocks of it stand, and elements in a block.
  struct Order {
    Vec<LoopRef> loops;
    std::int64_t run;
  };
  Order by_result(const DefaultNest& nest, const Turned& turned, std::int64_t lanes) const {
    Order out{{}, trip_of(nest, nest.unit)};
    if (is_crowded(nest, turned) || lanes > kTurnedRows) out.run = run_of(nest);
    for (const auto& loop : others(nest)) {
      if (loop == turned.rows) out.loops.push_back(nest.unit);
      out.loops.push_back(loop);
    }
    return out;
  }
  // Where memory is far: what is read comes in its order, a tile at a time, which the hardware
  // fetches ahead. What of it stays in half of the second cache is written in the order of the
  // result. 256x256x256 with its axes reversed 19.6 to 7.4 ms, a copy in the order of memory 3.7.
  Order by_source(const DefaultNest& nest, const Turned& turned, std::int64_t lanes) const {
    Order out{in_order_of(*turned.read, nest), lanes};
    if (out.loops.empty()) return by_result(nest, turned, lanes);
    const std::size_t last = out.loops.size() - 1;
    const bool one_matrix = out.loops[last - 1] == nest.unit && out.loops[last] == turned.rows,
               in_parts = !fills_lines(nest) || lanes > kTurnedRows;
    const double bytes = static_cast<double>(trip_of(nest, nest.unit) * trip_of(nest, turned.rows) *
                                             nest.writes[0].buffer->dtype.element_bytes());
    if ((one_matrix || in_parts) && 4 * bytes <= static_cast<double>(target_.l2_bytes))
      out.run = trip_of(nest, nest.unit);
    else if (in_parts || (one_matrix && is_crowded(nest, turned)))
      out.run = run_of(nest);
    return out;
  }
  bool is_crowded(const DefaultNest& nest, const Turned& turned) const {
    const auto stride = flat_stride(*turned.read, nest.unit.var);
    return stride && shares_sets(*stride * turned.read->buffer->dtype.element_bytes());
  }
  static std::int64_t run_of(const DefaultNest& nest) {
    return kRun / nest.writes[0].buffer->dtype.element_bytes();
  }

  // By how far apart in memory what a loop leads to is read; loops that the read does not name come
  // first. Empty: some strides are not known.
  static Vec<LoopRef> in_order_of(const AccessSite& read, const DefaultNest& nest) {
    Vec<std::pair<std::int64_t, LoopRef>> all;
    for (const auto& loop : nest.spatial) {
      const auto stride = flat_stride(read, loop.var);
      if (!stride) return {};
      all.emplace_back(*stride == 0 ? std::numeric_limits<std::int64_t>::max() : std::abs(*stride),
                       loop);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Vec<LoopRef> out;
    for (const auto& [stride, loop] : all) out.push_back(loop);
    return out;
  }

  // Bytes past the end of runs: how many there are is not told from the loops where a call tells
  // their number, so that each is asked for its own. LLVM takes two seconds for 16 rows of 64.
  static bool has_long_tail(const DefaultNest& nest, std::int64_t lanes) {
    return lanes > kTurnedRows && !has_const_trip(nest, nest.unit);
  }

  void tile(const DefaultNest& nest, const Turned& turned, const Order& order, std::int64_t lanes) {
    const bool whole = order.run >= trip_of(nest, nest.unit) || has_long_tail(nest, lanes);
    Vec<Factor> factors{infer};
    if (!whole && order.run > lanes) factors.push_back(order.run / lanes);
    factors.push_back(lanes);
    const auto columns = s_.split_any(nest.unit, factors);
    const auto rows = s_.split_any(turned.rows, {infer, turned.height});
    Vec<LoopRef> all;
    for (const auto& loop : order.loops) {
      if (loop == nest.unit && whole) continue;
      all.push_back(loop == nest.unit ? columns[0] : loop == turned.rows ? rows[0] : loop);
    }
    if (whole || columns.size() > 2) all.push_back(columns[whole ? 0 : 1]);
    all.append({rows[1], columns.back()});
    s_.reorder(all);
    s_.unroll(rows[1]);
    s_.vectorize(columns.back());
  }
};

}  // namespace detail
}  // namespace lathe

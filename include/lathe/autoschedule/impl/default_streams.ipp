#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Results that no cache holds. Where memory answers several streams faster than one, as each page
// costs a wait of its own, a few rows, or runs of a single loop, are taken in turn; those that
// follow are fetched into the second cache meanwhile. 1.1 to 1.4 times the speed of a streaming
// copy on Zen, as fast as one where memory is far (docs/notes/memory.md).
class TileStreams : RowSteps {
 public:
  using RowSteps::RowSteps;

  /// False: nothing done.
  bool run(const BlockNode& block, const DefaultNest& nest) {
    const BodyCost cost = body_cost(block);
    const Vec<Buffer> buffers = buffers_of(nest);
    if (buffers.empty() || buffers.size() > kBuffers || cost.math > 1 || cost.loads > kWindowLoads)
      return false;
    const std::int64_t lanes = target_.line_bytes / cost.widest;
    if (others(nest).empty()) {
      const std::int64_t run = run_bytes(buffers.size()) / cost.widest;
      return trip_of(nest, nest.unit) >= 4 * streams() * run &&
             attempt([&] { finish(block, tile_runs(nest, run, lanes), buffers); });
    }
    const LoopRef rows = long_rows(nest);
    if (!rows.var.get()) return false;
    const std::int64_t height =
        share_read_again(nest.reads, rows.var) > kWindowShare ? kMostStreams : streams();
    return attempt([&] { finish(block, tile_rows(nest, rows, height, lanes), buffers); });
  }

 private:
  static constexpr std::int64_t kMostStreams = 4;
  static constexpr std::int64_t kLongestRun = 32 << 10;
  static constexpr std::size_t kBuffers = 4;
  static constexpr int kSecondCache = 2;  // locality of a prefetch

  void finish(const BlockNode& block, const LoopRef& outer, const Vec<Buffer>& buffers) {
    for (const auto& buffer : buffers) s_.prefetch(buffer->name, outer, 1, kSecondCache);
    stream(block, Streaming::lines);
  }

  static Vec<Buffer> buffers_of(const DefaultNest& nest) {
    Vec<Buffer> out;
    for (const auto& read : nest.reads)
      if (!contains(out, read.buffer)) out.push_back(read.buffer);
    return out;
  }

  // A cache behind a mesh answers one stream of a core as fast as several.
  std::int64_t streams() const { return target_.far_last_cache ? 1 : kMostStreams; }

  // What is being read and what is being fetched take half of the second cache.
  std::int64_t run_bytes(std::size_t buffers) const {
    const std::int64_t share =
        target_.l2_bytes / (4 * kMostStreams * static_cast<std::int64_t>(buffers));
    std::int64_t bytes = kPage;
    while (bytes * 2 <= share && bytes < kLongestRun) bytes *= 2;
    return bytes;
  }

  // Rows that a neighbour shares, or the rows of the output, if each is a page at least.
  static LoopRef long_rows(const DefaultNest& nest) {
    LoopRef rows = window_rows(nest, 0);
    if (!rows.var.get()) rows = others(nest).back();
    if (trip_of(nest, rows) < kMostStreams) return {};
    for (const auto& write : nest.writes)
      if (row_bytes(write, rows) < kPage) return {};
    return rows;
  }

  LoopRef tile_runs(const DefaultNest& nest, std::int64_t run, std::int64_t lanes) {
    const auto parts = s_.split_any(nest.unit, {infer, streams(), run / lanes, lanes});
    s_.reorder({parts[0], parts[2], parts[1], parts[3]});
    s_.unroll(parts[1]);
    s_.vectorize(parts[3]);
    return parts[0];
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Copies of what a reduction reads again and again, in panels: as many columns as a tile has side
// by side, all rows of one panel after the other.
class PackPanels : NestSteps {
 public:
  using NestSteps::NestSteps;

  /// Whether the copy of a read has its lanes along one axis of its own, and is of no other read: a
  /// matrix times its own transpose reads one buffer in two orders.
  static bool has_panels(const DefaultNest& nest, const AccessSite& read) {
    int reads = 0;
    for (const auto& other : nest.reads) reads += other.buffer == read.buffer;
    return reads == 1 && axis_of(read, nest.unit) < read.indices.size();
  }

  /// The copy, with loops of its own, which order_loops orders when it stands where it should.
  struct Panels {
    BlockRef copy;
    std::size_t axis = 0, rank = 0;
    std::int64_t width = 1;
  };
  Panels lay_out(const BlockRef& reduction, const DefaultNest& nest, const AccessSite& read,
                 std::int64_t width) {
    Panels out{{}, axis_of(read, nest.unit), read.indices.size(), width};
    out.copy = s_.cache_read(reduction, read.buffer->name, Scope::global);
    s_.transform_layout(out.copy, tiled_layout({out.rank, out.axis, 0, width, 1}));
    return out;
  }

  void order_loops(const Panels& of) {
    const auto all = s_.loops(of.copy);
    const Vec<LoopRef> loops(all.end() - static_cast<std::ptrdiff_t>(of.rank), all.end());
    const auto columns = s_.split_any(loops[of.axis], {infer, of.width});
    const bool turned = of.axis + 1 < of.rank;
    const LoopRef& rows = turned ? loops.back() : loops[of.rank > 1 ? of.rank - 2 : 0];
    Vec<LoopRef> order;
    for (std::size_t k = 0; k < loops.size(); ++k)
      if (k != of.axis && !(loops[k] == rows)) order.push_back(loops[k]);
    if (of.rank == 1) {
      s_.vectorize(columns[1]);
      return;
    }
    const auto parts = s_.split_any(rows, {infer, turned ? kTurnedRows : kRows});
    if (turned)
      order.append({columns[0], parts[0], parts[1], columns[1]});
    else
      order.append({parts[0], columns[0], parts[1], columns[1]});
    s_.reorder(order);
    if (turned) s_.unroll(parts[1]);
    s_.vectorize(columns[1]);
  }

 private:
  // Reads of the original stay on few pages.
  static constexpr std::int64_t kRows = 8;
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Copies of what a reduction reads again and again, in panels: as many columns as a tile has side
// by side, all rows of one panel after the other. Columns lie along the unit loop, or, of an
// operand that is turned, along the rows of a tile.
class PackPanels : NestSteps {
 public:
  using NestSteps::NestSteps;

  /// Whether the copy of a read has its lanes along one axis of its own, and is of no other read: a
  /// matrix times its own transpose reads one buffer in two orders.
  static bool has_panels(const DefaultNest& nest, const AccessSite& read, const LoopRef& along) {
    return is_only_read(nest, read.buffer) && panel_axis(nest, read, along) < read.indices.size();
  }
  /// Whether panels of a width end where the unit loop does, if it counts parts of an axis.
  static bool fits_panels(const DefaultNest& nest, const AccessSite& read, std::int64_t width) {
    return axis_of(read, nest.unit) < read.indices.size() || trip_of(nest, nest.unit) % width == 0;
  }

  /// The copy, with loops of its own, which order_loops orders when it stands where it should.
  struct Panels {
    BlockRef copy;
    std::size_t axis = 0, rank = 0;
    std::int64_t width = 1;
    AccessSite read;       ///< of the original
    bool of_rows = false;  ///< along the rows of a tile
    LoopRef place;         ///< around the copy; empty: before all loops
  };
  Panels lay_out(const BlockRef& reduction, const DefaultNest& nest, const AccessSite& read,
                 const LoopRef& along, std::int64_t width) {
    Panels out{
        {}, panel_axis(nest, read, along), read.indices.size(), width, read, !(along == nest.unit),
        {}};
    out.copy = s_.cache_read(reduction, read.buffer->name, Scope::global);
    s_.transform_layout(out.copy, tiled_layout({out.rank, out.axis, 0, width, 1}));
    return out;
  }

  void order_loops(const Panels& of) {
    const auto all = s_.loops(of.copy);
    const Vec<LoopRef> loops(all.end() - static_cast<std::ptrdiff_t>(of.rank), all.end());
    const auto columns = s_.split_any(loops[of.axis], {infer, of.width});
    if (of.rank == 1) {
      s_.vectorize(columns[1]);
      return;
    }
    const bool turned = of.axis + 1 < of.rank;
    const LoopRef rows = turned ? loops.back() : rows_of(loops);
    Vec<LoopRef> order;
    for (std::size_t k = 0; k < loops.size(); ++k)
      if (k != of.axis && !(loops[k] == rows)) order.push_back(loops[k]);
    const auto parts = s_.split_any(rows, {infer, turned ? kTurnedRows : kRows});
    if (turned)
      order.append({columns[0], parts[0], parts[1], columns[1]});
    else
      order.append({parts[0], columns[0], parts[1], columns[1]});
    s_.reorder(order);
    if (turned) s_.unroll(parts[1]);
    s_.vectorize(columns[1]);
  }

  // Reads of the original stay on few pages.
  static constexpr std::int64_t kRows = 8;

 private:
  // The innermost loop around the lanes that does not count one row alone: of one head, rows are
  // places.
  LoopRef rows_of(const Vec<LoopRef>& loops) const {
    std::size_t at = loops.size() - 2;
    for (std::size_t k = at + 1; k-- > 0;)
      if (trip(*find_loop(s_.program()->body, loops[k].var).loop) > 1) {
        at = k;
        break;
      }
    return loops[at];
  }

  // The axis along which lanes lie, one after the other; the rank if there is none. Loops outside
  // may count groups of them: channels of a group are group * 128 + channel.
  static std::size_t panel_axis(const DefaultNest& nest, const AccessSite& read,
                                const LoopRef& along) {
    std::size_t found = read.indices.size();
    for (std::size_t axis = 0; axis < read.indices.size(); ++axis) {
      if (!uses_var(read.indices[axis], along.var)) continue;
      if (found < read.indices.size() || !counts_groups(nest, read.indices[axis], along))
        return read.indices.size();
      found = axis;
    }
    return found;
  }
  static bool counts_groups(const DefaultNest& nest, const AnyExpr& index, const LoopRef& along) {
    Vec<VarRef> loops;
    for (const auto& f : nest.all) loops.push_back(f->var);
    const auto sum = affine_of(index, loops);
    if (!sum || !lathe::is_const(sum->rest, 0)) return false;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      const auto coef = sum->coef(k);
      if (!coef || (loops[k] == along.var ? *coef != 1 : *coef % trip_of(nest, along) != 0))
        return false;
    }
    return true;
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/tile.hpp>

namespace lathe {
namespace detail {

// What is computed with one intrinsic: `height` times `vectors` of its results side by side in
// registers, `blocks` of these over columns that share a part of b in the second cache.
struct IntrinsicTile {
  IntrinsicFit fit;
  std::int64_t height = 1, vectors = 1, blocks = 1;
  std::int64_t rows = 1, columns = 1, depth = 1;  ///< extents, rounded up to whole tiles
  bool pads = false, copies_a = false;
  bool b_in_blocks = false;  ///< laid out a block at a time, right before it is used
  double cycles = 0;         ///< of the whole nest

  bool in_tiles() const { return fit.product->in_tiles; }
};

// Which intrinsic, in tiles of which size, takes the fewest cycles.
class IntrinsicCosts : protected NestSteps {
 public:
  using NestSteps::NestSteps;

 protected:
  static std::int64_t up(std::int64_t extent, std::int64_t part) {
    return (extent + part - 1) / part * part;
  }

  std::optional<IntrinsicTile> best_intrinsic(const BlockNode& block,
                                              const DefaultNest& nest) const {
    std::optional<IntrinsicTile> best;
    Vec<IntrinsicTile> all;  // where a plan wants to know
    std::size_t at = 0;
    if (volume(nest.all) < 1) return best;
    for (const IntrinsicFit& fit : FitIntrinsics(job_).run(block, nest)) {
      const Extents extents = extents_of(nest, fit);
      for (std::int64_t height = 1; height <= (fit.rows.var.get() ? kMostHeight : 1); ++height)
        for (std::int64_t vectors = 1; vectors <= kMostVectors; ++vectors)
          for (const bool copies : {false, true}) {
            IntrinsicTile tile{fit, height, vectors};
            if (!in_registers(tile) || !measure(extents, copies, tile)) continue;
            tile.cycles = cycles(extents, tile);
            if (job_.plan) all.push_back(tile);
            if (!best || is_better(tile, *best)) best = std::move(tile), at = all.size() - 1;
          }
    }
    return all.empty() ? best : all[decide(nest.block, "intrinsic", all, at, option_of)];
  }

 private:
  static PlanOption option_of(const IntrinsicTile& tile) {
    return {cat(tile.fit.product->row->name, '(', tile.fit.a.buffer->name, ')'),
            {tile.height, tile.vectors, tile.copies_a},
            tile.cycles};
  }

  static constexpr std::int64_t kMostHeight = 12, kMostVectors = 4;
  // Bytes a cycle from the first cache into registers, from the second (Intel's optimization
  // manual: 64 at most; rows that lie apart come from there too, as what is fetched ahead is not
  // theirs), and of copies: whole rows, and elements that change their order.
  static constexpr double kNear = 128, kSecond = 48, kRowBytes = 16, kTurnedBytes = 4;
  // From memory to one core: 15 to 20 GB/s (Zen 3).
  static constexpr double kFarBytes = 6;
  // Of the second cache, for the part of b that all rows meet.
  static constexpr std::int64_t kShare = 2;

  // Of a nest: its three loops; reduce loops besides; spatial loops besides that name b, and all.
  struct Extents {
    std::int64_t rows = 1, columns = 1, depth = 1, reduced = 1;
    double in_b = 1, outside = 1;
    bool b_is_constant = false;
    bool has_parts = false;  ///< of iterators, which no padding makes longer
  };
  Extents extents_of(const DefaultNest& nest, const IntrinsicFit& fit) const {
    Extents out;
    if (fit.rows.var.get()) out.rows = trip_of(nest, fit.rows);
    out.columns = trip_of(nest, fit.columns), out.depth = trip_of(nest, fit.depth);
    for (const auto& l : nest.reduce)
      if (!(l == fit.depth)) out.reduced *= trip_of(nest, l);
    for (const auto& l : nest.spatial) {
      if (l == fit.rows || l == fit.columns) continue;
      out.outside *= static_cast<double>(trip_of(nest, l));
      if (step_of(fit.b.indices, l.var) != Step::none)
        out.in_b *= static_cast<double>(trip_of(nest, l));
    }
    out.b_is_constant = is_constant(fit.b.buffer);
    for (const LoopRef& l : {fit.rows, fit.columns, fit.depth})
      out.has_parts = out.has_parts || contains(nest.parts, l);
    return out;
  }

  // All sums, a row of b, and one of a at a time.
  bool in_registers(const IntrinsicTile& tile) const {
    const std::int64_t all = tile.in_tiles() ? kTileRegisters : target_.vector_registers;
    return tile.height * tile.vectors + tile.vectors + 1 + tile.fit.product->row->temporaries <=
           all;
  }

  // False: a can't be used so.
  bool measure(const Extents& of, bool copies, IntrinsicTile& tile) const {
    const IntrinsicFit& fit = tile.fit;
    const ProductRow& p = *fit.product;
    const std::int64_t width = p.columns * tile.vectors;
    tile.rows = up(of.rows, p.rows * tile.height);
    tile.columns = up(of.columns, width);
    tile.depth = up(of.depth, p.depth());
    tile.copies_a = copies;
    const bool pads_a = tile.rows != of.rows || tile.depth != of.depth;
    tile.pads = pads_a || tile.columns != of.columns;
    const bool fits =
        step_of(fit.a.indices, fit.depth.var) == Step::unit && !pads_a && !fit.widens_a();
    const bool runs = axis_of(fit.a, fit.depth) < fit.a.indices.size();
    const bool movable = pads_a || (runs && (fit.rows_lie_apart || !fit.rows.var.get()));
    if ((copies ? !movable : !fits) || (tile.pads && of.has_parts)) return false;
    const std::int64_t bytes = tile.depth * of.reduced * p.type_of(p.b).element_bytes(),
                       most =
                           std::max<std::int64_t>(target_.l2_bytes / kShare / (bytes * width), 1),
                       all = tile.columns / width;
    tile.blocks = tile.pads ? balanced(all, most) : divisor(all, most);
    if (tile.pads) tile.columns = up(all, tile.blocks) * width;
    // Each thread its own.
    const std::int64_t count = tile.columns / (width * tile.blocks);
    tile.b_in_blocks = !of.b_is_constant && count > 1 && count >= 2 * target_.cores;
    return true;
  }

  // The largest divisor that is no larger; of numbers that have none, all.
  static std::int64_t divisor(std::int64_t of, std::int64_t most) {
    constexpr std::int64_t kUseful = 4;
    for (std::int64_t d = std::min(of, most); d * kUseful > most; --d)
      if (of % d == 0) return d;
    return of;
  }

  // Of tiles that take as long the one that loads less: what it waits for has slack. bf16 of
  // 40x47x67 1.77 us in tiles of 2 rows, 1.37 of 5 (Zen 4). Tile registers were not measured so.
  static bool is_better(const IntrinsicTile& tile, const IntrinsicTile& other) {
    if (tile.cycles != other.cycles || tile.in_tiles()) return tile.cycles < other.cycles;
    return load_cycles(tile) < load_cycles(other);
  }

  // Between two instructions.
  static double cycles_of_one(const IntrinsicTile& tile) {
    const ProductRow& p = *tile.fit.product;
    const auto sums = static_cast<double>(tile.height * tile.vectors);
    return std::max({p.row->cycles, p.row->latency / sums, load_cycles(tile)});
  }
  static double load_cycles(const IntrinsicTile& tile) {
    const ProductRow& p = *tile.fit.product;
    const auto h = static_cast<double>(tile.height), v = static_cast<double>(tile.vectors);
    const auto bytes = static_cast<double>(p.type_of(p.b).element_bytes() * p.depth());
    const double of_b = static_cast<double>(p.columns) * bytes / kSecond;
    double of_a = 0.5;  // a broadcast
    if (tile.in_tiles())
      of_a = static_cast<double>(p.rows) * bytes / (tile.copies_a ? kNear : kSecond);
    return (h * of_a + v * of_b) / (h * v);
  }

  double cycles(const Extents& of, const IntrinsicTile& tile) const {
    const ProductRow& p = *tile.fit.product;
    const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns);
    const double terms = static_cast<double>(tile.depth) * static_cast<double>(of.reduced),
                 bytes = p.type_of(p.b).element_bytes();
    const auto one = static_cast<double>(p.rows * p.columns * p.depth());
    double total = of.outside * rows * columns * terms / one * cycles_of_one(tile);
    const double b = of.in_b * terms * columns * bytes;
    if (!of.b_is_constant) total += b / kTurnedBytes;
    // Panels that memory holds are read as they are now: twice as much for one row of bytes.
    if (of.b_is_constant && tile.fit.widens_b() && b > static_cast<double>(target_.l3_bytes))
      total = std::max(total, b / kFarBytes);
    if (tile.copies_a) {
      const auto block = static_cast<double>(tile.blocks * tile.vectors * p.columns);
      total += of.outside * rows * terms * bytes / kRowBytes * (columns / block);
    }
    if (tile.pads) total += of.outside * rows * columns * 4 / kRowBytes;
    // The sums of rows of a, which the offset of b is taken off by.
    if (tile.fit.moves_b) total += of.outside * rows * terms * bytes / kRowBytes;
    return total;
  }
};

}  // namespace detail
}  // namespace lathe

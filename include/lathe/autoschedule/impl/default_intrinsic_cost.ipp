#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// What is computed with one intrinsic: `height` times `vectors` of its results side by side in
// registers, `blocks` of these over columns that share a part of b in the second cache.
struct IntrinsicTile {
  IntrinsicFit fit;
  std::int64_t height = 1, vectors = 1, blocks = 1;
  std::int64_t rows = 1, columns = 1, depth = 1;  ///< extents, rounded up to whole tiles
  bool pads = false, copies_a = false;
  double cycles = 0;  ///< of the whole nest

  bool in_tiles() const { return fit.product->rows > 1; }
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
    for (IntrinsicFit& fit : FitIntrinsics(job_).run(block, nest))
      for (std::int64_t height = 1; height <= kMostHeight; ++height)
        for (std::int64_t vectors = 1; vectors <= kMostVectors; ++vectors) {
          IntrinsicTile tile{fit, height, vectors};
          if ((height > 1 && !fit.rows.var.get()) || !in_registers(tile)) continue;
          measure(nest, tile);
          tile.cycles = cycles(nest, tile);
          if (!best || tile.cycles < best->cycles) best = std::move(tile);
        }
    return best;
  }

 private:
  static constexpr std::int64_t kMostHeight = 12, kMostVectors = 4, kTileRegisters = 8;
  // Bytes a cycle from the first cache into registers, from the second (Intel's optimization
  // manual: 64 at most), and of copies: whole rows, and elements that change their order.
  static constexpr double kNear = 128, kSecond = 48, kRowBytes = 16, kTurnedBytes = 2;
  // Of the second cache, for the part of b that all rows meet.
  static constexpr std::int64_t kShare = 2;

  // All sums, a row of b, and one of a at a time.
  bool in_registers(const IntrinsicTile& tile) const {
    const std::int64_t all = tile.in_tiles() ? kTileRegisters : target_.vector_registers;
    return tile.height * tile.vectors + tile.vectors + 1 <= all;
  }

  static std::int64_t reduced(const DefaultNest& nest, const IntrinsicFit& fit) {
    std::int64_t terms = 1;
    for (const auto& l : nest.reduce)
      if (!(l == fit.depth)) terms *= trip_of(nest, l);
    return terms;
  }

  void measure(const DefaultNest& nest, IntrinsicTile& tile) const {
    const IntrinsicFit& fit = tile.fit;
    const ProductRow& p = *fit.product;
    const std::int64_t rows = fit.rows.var.get() ? trip_of(nest, fit.rows) : 1,
                       columns = trip_of(nest, fit.columns), depth = trip_of(nest, fit.depth),
                       width = p.columns * tile.vectors;
    tile.rows = up(rows, p.rows * tile.height);
    tile.columns = up(columns, width);
    tile.depth = up(depth, p.depth());
    tile.pads = tile.rows != rows || tile.columns != columns || tile.depth != depth;
    const std::int64_t bytes =
                           tile.depth * reduced(nest, fit) * fit.b.buffer->dtype.element_bytes(),
                       most =
                           std::max<std::int64_t>(target_.l2_bytes / kShare / (bytes * width), 1);
    const std::int64_t all = tile.columns / width;
    if (tile.pads) {
      tile.blocks = balanced(all, most);
      tile.columns = up(all, tile.blocks) * width;
    } else {
      tile.blocks = divisor(all, most);
    }
    const bool padded_a = tile.rows != rows || tile.depth != depth;
    tile.copies_a = padded_a || step_of(fit.a.indices, fit.depth.var) != Step::unit ||
                    (p.rows > 1 && fit.rows_lie_apart && far_apart(nest, tile));
  }

  // The largest divisor that is no larger; of numbers that have none, all.
  static std::int64_t divisor(std::int64_t of, std::int64_t most) {
    constexpr std::int64_t kUseful = 4;
    for (std::int64_t d = std::min(of, most); d * kUseful > most; --d)
      if (of % d == 0) return d;
    return of;
  }

  // Rows of a tile that no near cache holds, which are fetched row by row when they are copied, or
  // that share sets of the first one.
  bool far_apart(const DefaultNest& nest, const IntrinsicTile& tile) const {
    double bytes = tile.fit.a.buffer->dtype.element_bytes();
    for (const auto& l : nest.all)
      for (const auto& index : tile.fit.a.indices)
        if (uses_var(index, l->var)) {
          bytes *= static_cast<double>(trip(*l));
          break;
        }
    if (bytes * kShare > static_cast<double>(target_.l2_bytes)) return true;
    const auto stride = flat_stride(tile.fit.a, tile.fit.rows.var);
    return !stride || *stride * tile.fit.a.buffer->dtype.element_bytes() % kCacheWay == 0;
  }

  bool is_constant(const Buffer& buffer) const {
    for (const Param& p : s_.program()->params)
      if (p.buffer == buffer) return p.constancy != Constancy::none;
    return false;
  }

  double cycles(const DefaultNest& nest, const IntrinsicTile& tile) const {
    const ProductRow& p = *tile.fit.product;
    const auto h = static_cast<double>(tile.height), v = static_cast<double>(tile.vectors);
    double others = static_cast<double>(reduced(nest, tile.fit));
    double outside = 1, in_b = 1;
    for (const auto& l : nest.spatial) {
      if (l == tile.fit.rows || l == tile.fit.columns) continue;
      outside *= static_cast<double>(trip_of(nest, l));
      if (step_of(tile.fit.b.indices, l.var) != Step::none)
        in_b *= static_cast<double>(trip_of(nest, l));
    }
    const auto bytes = static_cast<double>(tile.fit.b.buffer->dtype.element_bytes());
    const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns),
               depth = static_cast<double>(tile.depth);
    const double of_a = static_cast<double>(p.rows * p.depth()) * bytes,
                 of_b = static_cast<double>(p.columns * p.depth()) * bytes;
    const double near_a = tile.in_tiles() ? of_a / kNear : 0.5;
    const double loads = (h * near_a + v * of_b / kSecond) / (h * v);
    const double one = std::max({p.row->cycles, p.row->latency / (h * v), loads});
    const double count = outside * others * up_count(rows, p.rows) * columns /
                         static_cast<double>(p.columns) * depth / static_cast<double>(p.depth());
    double total = count * one;
    if (!is_constant(tile.fit.b.buffer))
      total += in_b * others * depth * columns * bytes / kTurnedBytes;
    if (tile.copies_a)
      total += outside * rows * others * depth * bytes / kRowBytes *
               (columns / static_cast<double>(tile.blocks * tile.vectors * p.columns));
    if (tile.pads) total += outside * rows * columns * 4 / kRowBytes;
    return total;
  }
  static double up_count(double rows, std::int64_t part) {
    return std::ceil(rows / static_cast<double>(part));
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/schedule/core/records.hpp>

namespace lathe {
namespace detail {

// Pools, depthwise convolutions and stencils that reduce over their taps.
class TileWindows : WindowCosts {
 public:
  using WindowCosts::WindowCosts;

  /// What a term takes in a loop, and where all are written out: extremes are guessed in loops.
  struct Terms {
    BodyCost in_loop, written;
  };

  /// False: nothing done. `body`: without `conditions`, operations that tell whether a place is
  /// inside; `other`: what would be done otherwise; `asked`: by a plan, whatever that takes.
  bool run(const BlockRef& ref, const Terms& body, double conditions, const DefaultNest& nest,
           std::int64_t lanes, const RegisterTile& other, bool asked) {
    const Vec<LoopRef> loops = sliding(nest);
    if (loops.empty() && !slides(nest, nest.unit, 0, nest.reduce.size())) return false;
    const WindowTile tile = best(body, conditions, nest, loops, lanes, false);
    if (tile.statements > 0) cycles_ = tile.cycles;
    const double others = asked ? WindowTile().cycles
                                : other_cycles(body.in_loop, conditions, nest, other, lanes),
                 least = std::min(tile.cycles, others);
    if (const Vec<AccessSite> crowded = crowded_reads(nest, tile); !crowded.empty()) {
      const WindowTile apart = best(body, conditions, nest, loops, lanes, true);
      if (apart.cycles + copy_cycles(nest, crowded) < kBetter * least && attempt([&] {
            for (const auto& read : crowded) copy_crowded(ref, read, lanes);
            tile_nest(ref, nest, apart, lanes);
          })) {
        cycles_ = apart.cycles;
        forget(nest.block, "window_tile");
        return true;
      }
      forget(nest.block, "window_apart");
    }
    return tile.cycles < kBetter * others && attempt([&] { tile_nest(ref, nest, tile, lanes); });
  }

  /// Of the tile that was taken, or the best one; 0: there is none.
  double cycles() const { return cycles_; }

 private:
  double cycles_ = 0;
  static constexpr std::int64_t kMostVectors = 4, kMostHeight = 4;
  // Terms that are written out, once, and with copies for borders: LLVM takes 20 ms for so many.
  static constexpr std::int64_t kMostStatements = 160, kMostCopies = 864;
  static constexpr double kBetter = 0.95;
  // Of tiles that are nearly as good the one with the least code: it also reads the fewest places
  // at once.
  static constexpr double kNearlyAsGood = 1.05;

  // Up to two of the innermost loops along which a read goes on where a term does: X[i + a]. Where
  // it does along vectors alone, the innermost loop, as rows share weights.
  Vec<LoopRef> sliding(const DefaultNest& nest) const {
    Vec<LoopRef> out, rows;
    for (std::size_t k = nest.spatial.size(); k-- > 0 && out.size() < 2;) {
      const LoopRef& loop = nest.spatial[k];
      if (loop == nest.unit || trip_of(nest, loop) <= 1 || contains(nest.bounds, loop)) continue;
      if (slides(nest, loop, 0, nest.reduce.size())) out.push_back(loop);
      if (rows.empty()) rows.push_back(loop);
    }
    std::reverse(out.begin(), out.end());
    return out.empty() ? rows : out;
  }

  WindowTile best(const Terms& body, double conditions, const DefaultNest& nest,
                  const Vec<LoopRef>& loops, std::int64_t lanes, bool apart) const {
    Vec<WindowTile> tiles;
    if (volume(nest.all) < 1) return {};
    const std::int64_t columns = (trip_of(nest, nest.unit) + lanes - 1) / lanes;
    std::int64_t written = 1;
    for (std::size_t terms = 1; terms <= nest.reduce.size(); ++terms) {
      const LoopRef& loop = nest.reduce[nest.reduce.size() - terms];
      if (!has_const_trip(nest, loop)) break;
      written *= trip_of(nest, loop);
      if (written > kMostStatements / 2) break;
      const auto results = static_cast<std::int64_t>(nest.writes.size());
      for (std::int64_t vectors = 1; vectors <= std::min(columns, kMostVectors); ++vectors)
        each_height(nest, loops, [&](const WindowTile& shape) {
          WindowTile tile = shape;
          tile.vectors = vectors, tile.terms = terms;
          const std::int64_t sums = height_of(tile) * vectors;
          tile.statements = sums * written;
          if (tile.statements > kMostStatements ||
              tile.statements * copies(nest, tile, lanes) > kMostCopies ||
              sums * results + vectors + 1 >= target_.vector_registers || !slides(nest, tile))
            return;
          tile.cycles = window_cycles(terms < nest.reduce.size() ? body.in_loop : body.written,
                                      conditions, nest, tile, lanes, apart) *
                        waste(nest, tile, columns);
          tiles.push_back(tile);
        });
    }
    if (tiles.empty()) return {};
    return tiles[decide(nest.block, apart ? "window_apart" : "window_tile", tiles, simplest(tiles),
                        option_of)];
  }
  static PlanOption option_of(const WindowTile& tile) {
    const auto height = [&](std::size_t k) {
      return k < tile.heights.size() ? tile.heights[k].second : 1;
    };
    return {"places",
            {height(0), height(1), tile.vectors, static_cast<std::int64_t>(tile.terms)},
            tile.cycles};
  }

  static std::size_t simplest(const Vec<WindowTile>& tiles) {
    double least = WindowTile().cycles;
    for (const auto& tile : tiles) least = std::min(least, tile.cycles);
    std::size_t out = tiles.size();
    for (std::size_t k = 0; k < tiles.size(); ++k)
      if (tiles[k].cycles <= kNearlyAsGood * least &&
          (out == tiles.size() || tiles[k].statements < tiles[out].statements ||
           (tiles[k].statements == tiles[out].statements && tiles[k].cycles < tiles[out].cycles)))
        out = k;
    return out;
  }

  // Whether tiles at the border run apart, so that those inside ask for nothing; a single one knows
  // where it is.
  // Where a call tells where borders are, a tile of each kind has guards of its own, which take
  // more than a row that is clamped.
  bool has_border(const DefaultNest& nest, const LoopRef& loop, std::int64_t part) const {
    return tiles_along(nest, loop, part) > 1 && slides(nest, loop, 0, nest.reduce.size()) &&
           (has_const_trip(nest, loop) ? PadReads::is_padded(nest)
                                       : PadReads::has_conditions(nest));
  }
  std::int64_t copies(const DefaultNest& nest, const WindowTile& tile, std::int64_t lanes) const {
    std::int64_t copies = trip_of(nest, nest.unit) % (tile.vectors * lanes) == 0 ? 1 : 2;
    for (const auto& [loop, part] : tile.heights)
      if (has_border(nest, loop, part))
        copies *= std::min<std::int64_t>(tiles_along(nest, loop, part), 3);
    return copies;
  }

  template <class F>
  static void each_height(const DefaultNest& nest, const Vec<LoopRef>& loops, const F& use) {
    const auto parts = [&](const LoopRef& loop) {
      Vec<std::int64_t> out{1};
      for (std::int64_t most = 2; most <= std::min(kMostHeight, trip_of(nest, loop)); ++most)
        if (const auto part =
                has_const_trip(nest, loop) ? balanced(trip_of(nest, loop), most) : most;
            part != out.back())
          out.push_back(part);
      return out;
    };
    if (loops.empty()) return use(WindowTile());
    for (const std::int64_t first : parts(loops[0]))
      for (const std::int64_t second : loops.size() > 1 ? parts(loops[1]) : Vec<std::int64_t>{1}) {
        if (first * second == 1) continue;
        WindowTile tile;
        tile.heights.emplace_back(loops[0], first);
        if (loops.size() > 1) tile.heights.emplace_back(loops[1], second);
        use(tile);
      }
  }

  // Reads whose places fall on the same sets of the first cache. None if one of them can't be apart
  // in a copy of longer rows.
  Vec<AccessSite> crowded_reads(const DefaultNest& nest, const WindowTile& tile) const {
    Vec<AccessSite> out;
    for (const auto& read : nest.reads) {
      const std::size_t rank = read.indices.size();
      if (step_of(read.indices, nest.unit.var) != Step::unit ||
          conflict_misses(nest, tile, read, 1) == 0)
        continue;
      if (rank < 2 || axis_of(read, nest.unit) != rank - 1 || !is_only_read(nest, read.buffer))
        return {};
      out.push_back(read);
    }
    return out;
  }

  // A vector of terms: a load and a store of each element, which the second cache answers. Copies
  // of constants are made once.
  double copy_cycles(const DefaultNest& nest, const Vec<AccessSite>& reads) const {
    constexpr double kCopy = 3;
    double all = 0;
    for (const auto& read : reads) {
      double elements = is_constant(read.buffer) ? 0 : 1;
      for (const auto& extent : read.buffer->shape) {
        const std::int64_t* size = as_const_int(extent);
        elements *= size ? static_cast<double>(*size) : WindowTile().cycles;
      }
      all += elements;
    }
    return kCopy * all / volume(nest.all);
  }
  void copy_crowded(const BlockRef& ref, const AccessSite& read, std::int64_t lanes) {
    const BlockRef copy = copy_apart(ref, read, read.indices.size() - 2);
    const LoopRef place =
        is_constant(read.buffer) ? LoopRef() : own_matrix(ref, read, shares_rows(ref));
    if (place.var.get()) s_.compute_at(copy, place);
    vectorize_last(copy, lanes);
  }

  void tile_nest(const BlockRef& ref, const DefaultNest& nest, const WindowTile& tile,
                 std::int64_t lanes) {
    Vec<LoopRef> order, inner, outer;
    LoopRef last;
    for (const auto& l : nest.spatial) {
      std::int64_t part = l == nest.unit ? tile.vectors * lanes : 1;
      bool border = false;
      for (const auto& [loop, height] : tile.heights)
        if (loop == l) part = height, border = has_border(nest, l, part);
      LoopRef over = l;
      if (part > 1) {
        const auto parts = s_.split_any(l, {infer, part});
        over = parts[0];
        if (l == nest.unit)
          last = parts[1];
        else
          inner.push_back(parts[1]);
      }
      order.push_back(over);
      if (border) outer.push_back(over);
    }
    const LoopRef around = order.back();
    const Vec<LoopRef> terms(nest.reduce.end() - static_cast<std::ptrdiff_t>(tile.terms),
                             nest.reduce.end());
    order.append(nest.reduce);
    order.append(inner);
    order.push_back(last);
    s_.reorder(order);
    inner.append(terms);
    FinishTiles(job_).keep_in_registers(ref, around, nest.reduce[0], inner, last);
    for (const auto& loop : outer) run_borders_apart(loop);
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <algorithm>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <numeric>

namespace lathe {
namespace detail {

// Results side by side whose windows overlap, for some of the terms at once: `heights` iterations
// of loops along which windows slide, times `vectors` of the unit loop, for all iterations of the
// innermost `terms` reduce loops. All of it is written out, so that what several windows share is
// loaded once, and conditions at the border are asked once for each place.
struct WindowTile {
  Vec<std::pair<LoopRef, std::int64_t>> heights;
  std::int64_t vectors = 1;
  std::size_t terms = 0;
  std::int64_t statements = 0;
  double cycles = 1e30;  ///< a vector of terms
};

// Pools, depthwise convolutions and stencils that reduce over their taps.
class TileWindows : protected ReductionCosts {
 public:
  using ReductionCosts::ReductionCosts;

  /// False: nothing done. `other`: cycles a vector of terms of what would be done otherwise.
  bool run(const BlockRef& ref, const BodyCost& body, const DefaultNest& nest, std::int64_t lanes,
           double other) {
    const Vec<LoopRef> slides = sliding(nest);
    if (slides.empty()) return false;
    const WindowTile tile = best(body, nest, slides, lanes);
    return tile.cycles < kBetter * other && attempt([&] { tile_nest(ref, nest, tile, lanes); });
  }

 private:
  static constexpr std::int64_t kMostVectors = 4, kMostHeight = 4;
  // Terms that are written out, once, and with copies for borders: LLVM takes 20 ms for so many.
  static constexpr std::int64_t kMostStatements = 160, kMostCopies = 864;
  static constexpr double kBetter = 0.9;
  // Of tiles that are nearly as good the one with the least code: it also reads the fewest places
  // at once.
  static constexpr double kNearlyAsGood = 1.08;
  // Places further apart are streams of their own, of which hardware fetches the line beside the
  // one that is asked for: two depthwise convolutions of 512 and 1024 channels took half of the
  // time with two lines of each place.
  static constexpr std::int64_t kFarApart = 1024;
  static constexpr double kSingleLine = 1.5;

  // Up to two of the innermost loops along which a read goes on where a term does: X[i + a].
  static Vec<LoopRef> sliding(const DefaultNest& nest) {
    Vec<LoopRef> out;
    for (std::size_t k = nest.spatial.size(); k-- > 0 && out.size() < 2;) {
      const LoopRef& loop = nest.spatial[k];
      if (!(loop == nest.unit) && trip_of(nest, loop) > 1 && slides(nest, loop))
        out.push_back(loop);
    }
    std::reverse(out.begin(), out.end());
    return out;
  }
  static bool slides(const DefaultNest& nest, const LoopRef& loop) {
    for (const auto& read : nest.reads)
      for (const auto& index : read.indices)
        if (uses_var(index, loop.var))
          for (const auto& term : nest.reduce)
            if (uses_var(index, term.var)) return true;
    return false;
  }

  WindowTile best(const BodyCost& body, const DefaultNest& nest, const Vec<LoopRef>& slides,
                  std::int64_t lanes) const {
    Vec<WindowTile> tiles;
    const std::int64_t columns = (trip_of(nest, nest.unit) + lanes - 1) / lanes;
    const bool single = columns > 1 && is_far_apart(nest, slides.back());
    std::int64_t written = 1;
    for (std::size_t terms = 1; terms <= nest.reduce.size(); ++terms) {
      const LoopRef& loop = nest.reduce[nest.reduce.size() - terms];
      if (!has_const_trip(nest, loop)) break;
      written *= trip_of(nest, loop);
      if (written > kMostStatements / 2) break;
      const auto results = static_cast<std::int64_t>(nest.writes.size());
      for (std::int64_t vectors = 1; vectors <= std::min(columns, kMostVectors); ++vectors)
        each_height(nest, slides, [&](const WindowTile& shape) {
          WindowTile tile = shape;
          tile.vectors = vectors, tile.terms = terms;
          const std::int64_t sums = height_of(tile) * vectors;
          tile.statements = sums * written;
          if (tile.statements > kMostStatements ||
              tile.statements * copies(nest, tile) > kMostCopies ||
              sums * results + vectors + 1 > target_.vector_registers)
            return;
          tile.cycles = cycles_of(body, nest, tile, lanes, written) * waste(nest, tile, columns);
          if (single && vectors == 1) tile.cycles *= kSingleLine;
          tiles.push_back(tile);
        });
    }
    return simplest(tiles);
  }

  static WindowTile simplest(const Vec<WindowTile>& tiles) {
    double least = WindowTile().cycles;
    for (const auto& tile : tiles) least = std::min(least, tile.cycles);
    WindowTile out;
    for (const auto& tile : tiles)
      if (tile.cycles <= kNearlyAsGood * least &&
          (out.statements == 0 || tile.statements < out.statements ||
           (tile.statements == out.statements && tile.cycles < out.cycles)))
        out = tile;
    return out;
  }

  static bool is_far_apart(const DefaultNest& nest, const LoopRef& loop) {
    for (const auto& read : nest.reads) {
      const auto stride = flat_stride(read, loop.var);
      if (stride && *stride * read.buffer->dtype.element_bytes() >= kFarApart) return true;
    }
    return false;
  }

  // Whether tiles at the border run apart, so that those inside ask for nothing.
  static bool has_border(const DefaultNest& nest, const LoopRef& loop, std::int64_t part) {
    return part > 1 && trip_of(nest, loop) > 2 * part && PadReads::is_padded(nest);
  }
  static std::int64_t copies(const DefaultNest& nest, const WindowTile& tile) {
    std::int64_t copies = 1;
    for (const auto& [loop, part] : tile.heights) copies *= has_border(nest, loop, part) ? 3 : 1;
    return copies;
  }

  static std::int64_t height_of(const WindowTile& tile) {
    std::int64_t height = 1;
    for (const auto& [loop, part] : tile.heights) height *= part;
    return height;
  }

  template <class F>
  static void each_height(const DefaultNest& nest, const Vec<LoopRef>& slides, const F& use) {
    const auto parts = [&](const LoopRef& loop) {
      Vec<std::int64_t> out{1};
      for (std::int64_t most = 2; most <= std::min(kMostHeight, trip_of(nest, loop)); ++most)
        if (const auto part =
                has_const_trip(nest, loop) ? balanced(trip_of(nest, loop), most) : most;
            part != out.back())
          out.push_back(part);
      return out;
    };
    for (const std::int64_t first : parts(slides[0]))
      for (const std::int64_t second :
           slides.size() > 1 ? parts(slides[1]) : Vec<std::int64_t>{1}) {
        if (first * second == 1) continue;
        WindowTile tile;
        tile.heights.emplace_back(slides[0], first);
        if (slides.size() > 1) tile.heights.emplace_back(slides[1], second);
        use(tile);
      }
  }

  double cycles_of(const BodyCost& body, const DefaultNest& nest, const WindowTile& tile,
                   std::int64_t lanes, std::int64_t written) const {
    const auto sums = static_cast<double>(height_of(tile) * tile.vectors),
               terms = static_cast<double>(written);
    Work work;
    work.operations = std::max(body.ops - 1, 1.0) * sums * terms;
    for (const auto& read : nest.reads) {
      const Stride along = stride_of(read.indices, nest.unit.var);
      const double across = along.step == Step::none ? 1 : static_cast<double>(tile.vectors);
      add_vector(work, along, lanes, false, places(nest, tile, read) * across);
    }
    return cycles(work, body.latency * terms) / (sums * terms);
  }

  // How many different elements a tile reads in one lane.
  static double places(const DefaultNest& nest, const WindowTile& tile, const AccessSite& read) {
    Vec<VarRef> vars;
    Vec<std::int64_t> trips;
    for (const auto& [loop, part] : tile.heights) vars.push_back(loop.var), trips.push_back(part);
    for (std::size_t k = nest.reduce.size() - tile.terms; k < nest.reduce.size(); ++k)
      vars.push_back(nest.reduce[k].var), trips.push_back(trip_of(nest, nest.reduce[k]));
    Vec<std::uint64_t> all{0};
    const Vec<std::uint64_t> steps = steps_of(read, vars);
    for (std::size_t k = 0; k < vars.size(); ++k) {
      if (steps[k] == 0) continue;
      const Vec<std::uint64_t> before = all;
      for (std::int64_t t = 1; t < trips[k]; ++t)
        for (const std::uint64_t place : before)
          all.push_back(place + steps[k] * static_cast<std::uint64_t>(t));
    }
    std::sort(all.begin(), all.end());
    return static_cast<double>(std::unique(all.begin(), all.end()) - all.begin());
  }
  // From one iteration of a loop to the next, as a number that tells places apart: axes weigh as
  // numbers that no multiples of another's add up to.
  static Vec<std::uint64_t> steps_of(const AccessSite& read, const Vec<VarRef>& vars) {
    Vec<std::uint64_t> out;
    for (const auto& var : vars) {
      std::uint64_t step = 0, weight = 1;
      for (const auto& index : read.indices) {
        weight *= 0x9e3779b97f4a7c15u;
        const auto affine = affine_of(index, {var});
        const auto coef = affine ? affine->coef(0) : std::nullopt;
        step += weight * static_cast<std::uint64_t>(coef ? *coef : 1);
      }
      out.push_back(step);
    }
    return out;
  }

  // Border tiles have less to do side by side.
  static double waste(const DefaultNest& nest, const WindowTile& tile, std::int64_t columns) {
    double all = share(columns, tile.vectors);
    for (const auto& [loop, part] : tile.heights) all *= share(trip_of(nest, loop), part);
    return all;
  }

  void tile_nest(const BlockRef& ref, const DefaultNest& nest, const WindowTile& tile,
                 std::int64_t lanes) {
    Vec<LoopRef> order, inner, outer;
    LoopRef last;
    for (const auto& l : nest.spatial) {
      std::int64_t part = l == nest.unit ? tile.vectors * lanes : 1;
      for (const auto& [loop, height] : tile.heights)
        if (loop == l) part = height;
      if (part == 1) {
        order.push_back(l);
        continue;
      }
      const auto parts = s_.split_any(l, {infer, part});
      order.push_back(parts[0]);
      if (l == nest.unit) {
        last = parts[1];
        continue;
      }
      inner.push_back(parts[1]);
      if (has_border(nest, l, part)) outer.push_back(parts[0]);
    }
    const LoopRef around = order.back();
    const Vec<LoopRef> terms(nest.reduce.end() - static_cast<std::ptrdiff_t>(tile.terms),
                             nest.reduce.end());
    order.append(nest.reduce);
    order.append(inner);
    order.push_back(last);
    s_.reorder(order);
    const BlockRef out = FinishTiles(job_).run(ref, around);
    const BlockRef init = s_.decompose_reduction(ref, nest.reduce[0]);
    s_.vectorize(last);
    inner.append(terms);
    for (const auto& loop : inner) s_.unroll(loop);
    for (const auto& block : {out, init}) write_out(block, around);
    for (const auto& loop : outer) attempt([&] { s_.partition(loop, Partition::always); });
  }

  // The loops of a block inside of another one.
  void write_out(const BlockRef& block, const LoopRef& around) {
    const auto loops = s_.loops(block);
    s_.vectorize(loops.back());
    for (std::size_t k = loops.size() - 1; k-- > 0 && !(loops[k] == around);)
      if (trip(*find_loop(s_.program()->body, loops[k].var).loop) > 1) s_.unroll(loops[k]);
  }
};

}  // namespace detail
}  // namespace lathe

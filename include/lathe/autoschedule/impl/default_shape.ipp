#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/autoschedule/default_schedule.hpp>
#include <numeric>

namespace lathe {
namespace detail {

// The part of a reduction's result that stays in registers: `height` iterations of `rows` times
// `vectors` of the unit loop.
struct RegisterTile {
  LoopRef rows;  ///< empty: one row
  std::int64_t height = 1, vectors = 1;
  double cycles = 0;  ///< a vector of terms

  bool operator==(const RegisterTile& o) const {
    return rows == o.rows && height == o.height && vectors == o.vectors;
  }
};

// What a vector of terms costs, by the ports that it takes: two for arithmetic and two for loads,
// each as wide as a load (uops.info, Zen 2 and later, Skylake and later).
class ReductionCosts : protected NestSteps {
 public:
  using NestSteps::NestSteps;

 protected:
  static constexpr double kPorts = 2;
  // Of what runs beside what limits: ports share the front end, and sums that just cover their
  // latency have no slack. Two rows of four vectors are at 0.5 of the limit where another thread
  // shares the core, four of three at 0.8 (Zen 3). Of few terms the next tile fills the gaps.
  static constexpr double kBeside = 0.25, kFewTerms = 16;
  // To fold the lanes of one vector, and to start and store a result.
  static constexpr double kFoldOperations = 6;
  // Of a load whose vectors are turned in registers, in operations a vector.
  static constexpr double kTurn = 5;

  struct Work {
    double vectors = 0, broadcasts = 0, operations = 0;
  };

  // `slack`: whether more than `least` is of use.
  double cycles(const Work& work, double least, bool slack = false) const {
    const double halves = static_cast<double>(target_.vector_bytes) / target_.load_bytes;
    const double loads = (work.vectors * halves + work.broadcasts) / kPorts;
    const double arithmetic = work.operations * halves / kPorts;
    const double most = std::max({loads, arithmetic, least}),
                 lacking = slack ? std::max(2 * least - most, 0.0) : 0;
    return most + kBeside * (std::min(loads, arithmetic) + lacking);
  }

  // Loads, and operations, for one vector whose lanes lie along a loop.
  void add_vector(Work& work, const Stride& along, std::int64_t lanes, bool turned,
                  double times) const {
    constexpr std::int64_t kDense = 8;  // strides of which every element may be used (Deinterleave)
    if (along.step == Step::none) {
      work.broadcasts += times;
    } else if (along.step == Step::unit) {
      work.vectors += times;
    } else if (turned) {
      work.vectors += times, work.operations += kTurn * times;
    } else if (along.step == Step::strided && std::abs(along.elements) <= kDense) {
      const double stride = static_cast<double>(std::abs(along.elements));
      work.vectors += stride * times, work.operations += stride * times;
    } else {
      work.broadcasts += static_cast<double>(lanes) * times;
      work.operations += static_cast<double>(lanes) * times;
    }
  }

  static double terms_of(const DefaultNest& nest) { return terms_of(nest, nest.reduce.size()); }
  static double terms_of(const DefaultNest& nest, std::size_t innermost) {
    double terms = 1;
    for (std::size_t k = nest.reduce.size() - innermost; k < nest.reduce.size(); ++k)
      terms *= static_cast<double>(trip_of(nest, nest.reduce[k]));
    return terms;
  }

  // `ahead`: loads that jump along the lanes come from a copy in which they don't.
  double tile_cycles(const BodyCost& body, const DefaultNest& nest, const RegisterTile& tile,
                     std::int64_t lanes, bool ahead) const {
    Work work;
    const auto height = static_cast<double>(tile.height),
               across = static_cast<double>(tile.vectors);
    work.operations = std::max(body.ops - 1, 1.0) * height * across;
    for (const auto& read : nest.reads) {
      const bool by_rows =
          tile.rows.var.get() && step_of(read.indices, tile.rows.var) != Step::none;
      Stride along = stride_of(read.indices, nest.unit.var);
      const double rows = by_rows ? height : 1;
      const bool jumps = along.step >= Step::strided;
      if (jumps && ahead) along = {Step::unit, 0};
      add_vector(work, along, lanes, jumps && turns(nest, read),
                 along.step == Step::none ? rows : rows * across);
    }
    return cycles(work, body.latency, terms_of(nest) > kFewTerms) / (height * across);
  }

  // What the part of a tile that lies beyond the end costs: less is done there.
  static double share(std::int64_t extent, std::int64_t part) {
    const double all = static_cast<double>((extent + part - 1) / part * part);
    return (1 + all / static_cast<double>(extent)) / 2;
  }

  // Vectors along the innermost reduce loop, of as many of its iterations, turned in registers.
  static bool turns(const DefaultNest& nest, const AccessSite& read) {
    const LoopRef& inner = nest.reduce.back();
    return trip_of(nest, inner) > 1 && has_const_trip(nest, inner) &&
           step_of(read.indices, inner.var) == Step::unit;
  }

  static bool jumps(const DefaultNest& nest, const AccessSite& read) {
    return step_of(read.indices, nest.unit.var) >= Step::strided;
  }
  static bool is_turned(const DefaultNest& nest, const AccessSite& read) {
    return jumps(nest, read) && turns(nest, read);
  }

  // `run`: terms that follow each other; `combine`: operations that fold one vector into another.
  double fold_cycles(const BodyCost& body, const DefaultNest& nest, std::int64_t run,
                     double combine, std::int64_t lanes) const {
    Work work;
    work.operations = std::max(body.ops - 1, 1.0);
    for (const auto& read : nest.reads)
      add_vector(work, stride_of(read.indices, nest.reduce.back().var), lanes, false, 1);
    const double terms = terms_of(nest);
    const auto trips = static_cast<double>(run), width = static_cast<double>(lanes);
    const double filled = trips / (std::ceil(trips / width) * width);
    work.operations += kFoldOperations * combine * width / terms;
    return cycles(work, 0) / filled;
  }

  // The tile with the fewest cycles a vector of terms; of equal ones that of more vectors, or of
  // fewer where a call tells how many columns there are: what lies beyond the end is less.
  RegisterTile best_tile(const BodyCost& body, const DefaultNest& nest, std::int64_t lanes,
                         bool ahead) const {
    Vec<RegisterTile> all;
    RegisterTile best = best_rows(LoopRef(), body, nest, lanes, ahead, all);
    double least = best.cycles;
    for (const auto& rows : nest.spatial) {
      if (rows == nest.unit || trip_of(nest, rows) < 2 || contains(nest.bounds, rows)) continue;
      const RegisterTile tile = best_rows(rows, body, nest, lanes, ahead, all);
      const double cycles = tile.cycles + conflict_cycles(nest, tile);
      if (cycles < least * (1 - kEqual)) best = tile, least = cycles;
    }
    const auto at = std::find(all.begin(), all.end(), best);
    return at == all.end()
               ? best
               : all[decide(nest.block, "register_tile", all,
                            static_cast<std::size_t>(at - all.begin()),
                            [&](const RegisterTile& tile) { return option_of(nest, tile); })];
  }

  // Sets of the first cache among which places that many bytes apart lie, and the lines that a set
  // holds.
  std::int64_t cache_sets(std::int64_t bytes) const {
    return kCacheWay / std::max<std::int64_t>(std::gcd(bytes, kCacheWay), target_.line_bytes);
  }
  // How far apart, within a way of the first cache, places lie that loops lead to; unknown strides
  // lead to any line.
  std::int64_t apart_along(const AccessSite& read, const Vec<LoopRef>& loops) const {
    std::int64_t apart = kCacheWay;
    for (const auto& loop : loops) {
      const auto stride = flat_stride(read, loop.var);
      apart = std::gcd(apart, stride ? *stride * read.buffer->dtype.element_bytes()
                                     : std::int64_t{target_.line_bytes});
    }
    return apart;
  }
  std::int64_t cache_ways() const { return target_.l1_bytes / kCacheWay; }

  // Rows of a tile that fall on the same sets of the first cache, and are read along, for each set;
  // 0: they don't.
  std::int64_t rows_in_set(const DefaultNest& nest, const RegisterTile& tile,
                           const AccessSite& read) const {
    if (!tile.rows.var.get() || step_of(read.indices, nest.unit.var) != Step::none ||
        step_of(read.indices, nest.reduce.back().var) != Step::unit)
      return 0;
    const auto stride = flat_stride(read, tile.rows.var);
    if (!stride || *stride == 0) return 0;
    const std::int64_t sets = cache_sets(*stride * read.buffer->dtype.element_bytes());
    return (tile.height + sets - 1) / sets;
  }

 private:
  // Of a load from the second cache, beside what else a tile does: convolutions of 14x14x256, whose
  // rows of images lie 16 KiB apart, at 0.76 of the limit (Zen 4).
  static constexpr double kConflictLoad = 0.7;
  static constexpr std::int64_t kMostVectors = 8, kMostHeight = 16;
  // Rows that are turned in registers: each is a load and some shuffles in the code.
  static constexpr std::int64_t kMostTurned = 64;
  // Of which LLVM makes code in a tenth of a second.
  static constexpr std::int64_t kMostTurnedStatements = 800;
  // Registers for what lies beyond a border, what lies inside, and the mask of either: else LLVM
  // keeps a sum in memory, away from borders too.
  static constexpr std::int64_t kOfBorders = 3;
  // What more vectors have to save where nobody knows how many columns are left for a tail.
  static constexpr double kEqual = 1e-3, kWideTails = 0.2;

  PlanOption option_of(const DefaultNest& nest, const RegisterTile& tile) const {
    return {tile.rows.var.get() ? tile.rows.var->name : "-",
            {tile.height, tile.vectors},
            tile.cycles + conflict_cycles(nest, tile)};
  }

  // `all`: each tile is added, where a plan wants to know.
  RegisterTile best_rows(const LoopRef& rows, const BodyCost& body, const DefaultNest& nest,
                         std::int64_t lanes, bool ahead, Vec<RegisterTile>& all) const {
    RegisterTile best;
    best.cycles = 1e30;
    const std::int64_t columns = (trip_of(nest, nest.unit) + lanes - 1) / lanes;
    // Of rows in parts as well a tile ends with one of them.
    const bool in_parts = contains(nest.parts, rows);
    const bool knows_columns = nest.unit.var.get() && has_const_trip(nest, nest.unit);
    const auto results = static_cast<std::int64_t>(nest.writes.size());
    const std::int64_t free = target_.vector_registers - (nest.clamped.empty() ? 0 : kOfBorders);
    const std::int64_t widest =
        ahead ? kMostVectors : std::max<std::int64_t>(kMostTurned / lanes, 1);
    for (std::int64_t vectors = 1; vectors <= std::min(columns, widest); ++vectors) {
      if (columns % vectors != 0 && counts_whole_vectors(nest, lanes)) continue;
      for (std::int64_t most = 1; most <= (rows.var.get() ? kMostHeight : 1); ++most) {
        RegisterTile tile{rows, rows.var.get() ? height_of(nest, rows, most) : 1, vectors};
        if (tile.height * vectors * results + vectors + 1 > free) break;
        if (in_parts && trip_of(nest, rows) % tile.height != 0) continue;
        if (!ahead && turned_statements(nest, tile, lanes) > kMostTurnedStatements) continue;
        if (!ahead && vectors > 1 && spills_turned(nest, tile, lanes)) continue;
        tile.cycles = tile_cycles(body, nest, tile, lanes, ahead) * waste(nest, tile, columns);
        if (job_.plan) all.push_back(tile);
        const bool wider = vectors > best.vectors;
        if (tile.cycles < best.cycles * (1 - (wider && !knows_columns ? kWideTails : kEqual)) ||
            (tile.cycles < best.cycles * (1 + kEqual) && wider && knows_columns))
          best = tile;
      }
    }
    return best;
  }

  // Whether the unit loop counts parts of an axis, which are whole vectors: a tile that ends beyond
  // one would meet the next.
  static bool counts_whole_vectors(const DefaultNest& nest, std::int64_t lanes) {
    return nest.unit.var.get() && trip_of(nest, nest.unit) % lanes == 0 &&
           axis_of(nest.writes[0], nest.unit) == nest.writes[0].indices.size();
  }

  static bool has_turned(const DefaultNest& nest) {
    return std::any_of(nest.reads.begin(), nest.reads.end(),
                       [&](const auto& read) { return is_turned(nest, read); });
  }
  // Whether rows that are turned, a register of each lane, do not fit beside the sums: 4000 rows of
  // 16 took 10.3 us four vectors at a time and 4.5 one by one (AVX-512).
  bool spills_turned(const DefaultNest& nest, const RegisterTile& tile, std::int64_t lanes) const {
    const std::int64_t sums = tile.height * static_cast<std::int64_t>(nest.writes.size());
    return has_turned(nest) && (lanes + sums) * tile.vectors > target_.vector_registers;
  }

  // Terms that are written out where columns are turned in registers, with those of tails.
  static std::int64_t turned_statements(const DefaultNest& nest, const RegisterTile& tile,
                                        std::int64_t lanes) {
    if (!has_turned(nest)) return 0;
    const auto copies = [&](const LoopRef& loop, std::int64_t part) {
      return trip_of(nest, loop) % part == 0 ? 1 : 2;
    };
    const LoopRef& terms = nest.reduce.back();
    const std::int64_t written = std::min(kTurnedRows, trip_of(nest, terms));
    return tile.height * tile.vectors * written * copies(terms, written) *
           copies(nest.unit, tile.vectors * lanes) *
           (tile.rows.var.get() ? copies(tile.rows, tile.height) : 1);
  }

  // Rows that push each other out of the first cache come from the second for each term. A vector
  // of terms.
  double conflict_cycles(const DefaultNest& nest, const RegisterTile& tile) const {
    double loads = 0;
    for (const auto& read : nest.reads)
      if (rows_in_set(nest, tile, read) > cache_ways()) loads += static_cast<double>(tile.height);
    return kConflictLoad * loads / static_cast<double>(tile.height * tile.vectors);
  }

  static std::int64_t height_of(const DefaultNest& nest, const LoopRef& rows, std::int64_t most) {
    const std::int64_t extent = trip_of(nest, rows);
    return extent < most ? extent : has_const_trip(nest, rows) ? balanced(extent, most) : most;
  }

  // Border tiles have less to do side by side.
  static double waste(const DefaultNest& nest, const RegisterTile& tile, std::int64_t columns) {
    const double across = share(columns, tile.vectors);
    return tile.rows.var.get() ? across * share(trip_of(nest, tile.rows), tile.height) : across;
  }
};

}  // namespace detail
}  // namespace lathe

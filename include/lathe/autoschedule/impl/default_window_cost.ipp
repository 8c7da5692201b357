#pragma once

#include <algorithm>
#include <cstdlib>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

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

// What is asked of two nodes, or accesses, of one nest again and again: few, so that a list will
// do.
template <class Value>
class PairMemo {
 public:
  template <class Make>
  Value of(const void* a, const void* b, const Make& make) {
    for (const auto& known : known_)
      if (known.a == a && known.b == b) return known.value;
    known_.push_back({a, b, make()});
    return known_.back().value;
  }

 private:
  struct Known {
    const void *a, *b;
    Value value;
  };
  Vec<Known> known_;
};

// What tiles of windows cost, and register tiles that know nothing of windows. For one nest, whose
// steps from place to place are the same for hundreds of tiles.
class WindowCosts : protected ReductionCosts {
 public:
  using ReductionCosts::ReductionCosts;

 protected:
  // A vector of terms. `body`: without `conditions`, operations that tell whether a place is
  // inside; `apart`: what is read lies in sets of its own.
  double window_cycles(const BodyCost& body, double conditions, const DefaultNest& nest,
                       const WindowTile& tile, std::int64_t lanes, bool apart) const {
    double misses = 0, asked = 0;
    const double borders = conditions > 0 ? border_share(nest, tile) : 0;
    for (const auto& read : nest.reads)
      if (step_of(read.indices, nest.unit.var) == Step::unit) {
        const double different = places(nest, tile, read);
        if (!apart) misses += conflict_misses(nest, tile, read, different);
        if (rows_of(nest, tile, read) + height_of(tile) > kPointers)
          asked += kPointer * different * static_cast<double>(tile.vectors);
        if (read.inner_condition.get()) asked += borders * conditions / kScalarPorts * different;
      }
    const double all = vectors_of(nest, tile),
                 latency = body.latency * terms_of(nest, tile.terms) * std::min(1.0, all / kAhead);
    return (tile.terms < nest.reduce.size() ? kInLoop : 1) *
               (beside_each_other(port_cycles(body, nest, tile, lanes), misses, latency) + asked +
                kOfTile) /
               all +
           gather_cycles(nest, tile.terms, lanes);
  }

  // The same of a register tile, which loads every term and asks every condition anew.
  double other_cycles(const BodyCost& body, double conditions, const DefaultNest& nest,
                      const RegisterTile& other, std::int64_t lanes) const {
    WindowTile tile;
    tile.vectors = other.vectors;
    if (other.rows.var.get()) tile.heights.emplace_back(other.rows, other.height);
    double misses = 0;
    for (const auto& read : nest.reads)
      if (step_of(read.indices, nest.unit.var) == Step::unit)
        misses += conflict_misses(nest, tile, read, places(nest, tile, read));
    const double ports = port_cycles(body, nest, tile, lanes);
    return kInLoop * beside_each_other(ports, misses, body.latency) / vectors_of(nest, tile) +
           (conditions + (clamped_rows(nest, other) ? kClamp : 0)) /
               (kScalarPorts * static_cast<double>(other.vectors)) +
           gather_cycles(nest, 0, lanes);
  }

  // Whether the row that a term reads is found anew for each.
  bool clamped_rows(const DefaultNest& nest, const RegisterTile& tile) const {
    return !nest.clamped.empty() && tile.rows.var.get() &&
           slides(nest, tile.rows, 0, nest.reduce.size());
  }

  // Whether a read goes on along a loop where one of some reduce loops does, so that windows
  // overlap: X[i + a], and X[2 * i + a] of three terms.
  bool slides(const DefaultNest& nest, const LoopRef& loop, std::size_t first,
              std::size_t end) const {
    for (std::size_t k = first; k < end; ++k)
      if (slides_.of(loop.var.get(), nest.reduce[k].var.get(),
                     [&] { return slides(nest, loop, nest.reduce[k]); }))
        return true;
    return false;
  }
  bool slides(const DefaultNest& nest, const WindowTile& tile) const {
    const std::size_t all = nest.reduce.size();
    for (const auto& [loop, part] : tile.heights)
      if (part > 1 && slides(nest, loop, all - tile.terms, all)) return true;
    return slides(nest, nest.unit, all - tile.terms, all);
  }

  static std::int64_t tiles_along(const DefaultNest& nest, const LoopRef& loop, std::int64_t part) {
    return (trip_of(nest, loop) + part - 1) / part;
  }
  static std::int64_t height_of(const WindowTile& tile) {
    std::int64_t height = 1;
    for (const auto& [loop, part] : tile.heights) height *= part;
    return height;
  }

  // Border tiles have less to do side by side.
  static double waste(const DefaultNest& nest, const WindowTile& tile, std::int64_t columns) {
    double all = share(columns, tile.vectors);
    for (const auto& [loop, part] : tile.heights) all *= share(trip_of(nest, loop), part);
    return all;
  }

  // Cycles to load that many places, if all that the windows of a tile read does not stay in its
  // sets of the first cache.
  double conflict_misses(const DefaultNest& nest, const WindowTile& tile, const AccessSite& read,
                         double loads) const {
    Vec<LoopRef> loops = nest.reduce;
    for (const auto& [loop, part] : tile.heights)
      if (part > 1) loops.push_back(loop);
    const auto sets = static_cast<double>(cache_sets(apart_along(read, loops))),
               ways = static_cast<double>(cache_ways());
    WindowTile whole = tile;
    whole.terms = nest.reduce.size();
    if (places(nest, whole, read) <= sets * ways) return 0;
    return loads * (kConflictMiss / sets + kLineFill * static_cast<double>(tile.vectors));
  }

 private:
  mutable PairMemo<bool> slides_;          ///< by a loop and one over terms
  mutable PairMemo<std::uint64_t> steps_;  ///< by an access and a loop
  mutable PairMemo<std::optional<std::int64_t>> strides_;

  static bool slides(const DefaultNest& nest, const LoopRef& loop, const LoopRef& term) {
    const auto apart = [&](const AnyExpr& index) {
      const auto moves = affine_of(index, {loop.var, term.var});
      const std::int64_t step = moves ? moves->coef(0).value_or(0) : 0,
                         by_term = moves ? moves->coef(1).value_or(0) : 0;
      const double window =
          std::abs(static_cast<double>(by_term)) * static_cast<double>(trip_of(nest, term));
      return step == 0 || by_term == 0 || std::abs(static_cast<double>(step)) >= window;
    };
    for (const auto& read : nest.reads)
      if (!std::all_of(read.indices.begin(), read.indices.end(), apart)) return true;
    return false;
  }

  // Elements from one term to the next that still move along the row: of channels that lie side by
  // side as many as there are.
  static constexpr std::int64_t kAlongRow = kMostChannels;

  // Of a vector of terms: at both borders along the unit loop, places that are clamped or wrap are
  // loaded one by one, a cycle each, where a loop tells which term it is; where terms are written
  // out, lanes are known and go by shuffles.
  static double gather_cycles(const DefaultNest& nest, std::size_t terms, std::int64_t lanes) {
    double cycles = 0;
    const double vectors =
        static_cast<double>(trip_of(nest, nest.unit)) / static_cast<double>(lanes);
    for (const auto& read : nest.reads)
      for (std::size_t k = 0; contains(nest.clamped, read.buffer) && k + terms < nest.reduce.size();
           ++k) {
        const VarRef& along = nest.reduce[k].var;
        const auto step = flat_stride(read, along);
        if (step_of(read.indices, nest.unit.var) != Step::unit || !step || *step == 0 ||
            *step > kAlongRow)
          continue;
        cycles += 2 * static_cast<double>(lanes) /
                  (std::max(vectors, 2.0) * static_cast<double>(trip_of(nest, nest.reduce[k])));
      }
    return cycles;
  }

  // What takes longest, and a part of what goes on beside it.
  static double beside_each_other(double ports, double misses, double latency) {
    const double most = std::max({ports, misses, latency}),
                 fewest = std::min({ports, misses, latency});
    return most + kBeside * (ports + misses + latency - most - fewest);
  }

  // How many rows that a tile reads are told by pointers of their own, as only a call says how far
  // they are apart.
  std::int64_t rows_of(const DefaultNest& nest, const WindowTile& tile,
                       const AccessSite& read) const {
    std::int64_t rows = 1;
    const auto go_along = [&](const LoopRef& loop, std::int64_t trips) {
      const auto stride =
          strides_.of(&read, loop.var.get(), [&] { return flat_stride(read, loop.var); });
      if (!stride) rows += trips - 1;
    };
    for (const auto& [loop, part] : tile.heights) go_along(loop, part);
    for (std::size_t k = nest.reduce.size() - tile.terms; k < nest.reduce.size(); ++k)
      go_along(nest.reduce[k], trip_of(nest, nest.reduce[k]));
    return rows;
  }
  // Registers for pointers, and the cycles of a load whose pointer comes from memory: a filter of
  // columns by 9 terms of any size, f32, 3x2 and 4x2 74 and 125 to 160 us, of known sizes 71 and 64
  // (Zen 3).
  static constexpr std::int64_t kPointers = 14;
  static constexpr double kPointer = 1.5;

  // Elements of a tile that are told apart.
  static constexpr double kMostPlaces = 2048;
  // Two of four ports, as what is asked decides branches (depthwise convolutions on Zen 4).
  static constexpr double kScalarPorts = 2;
  // Terms that wait for others in a core's schedulers, so that tiles of fewer overlap. 185 channels
  // of 8 x 11, 5x5 terms, tiles of 2x1 and 4x1: 32 and 22 us (Zen 3).
  static constexpr double kAhead = 64;
  // Cycles that a tile's loop and stores take: filters of 9 terms, f32, by rows in tiles of 2x1,
  // 4x1, 2x2, 4x2 and 3x3 138, 125, 106, 104 and 103 us, by columns 96, 77, 87, 77 and 83 (Zen 3).
  static constexpr double kOfTile = 4;
  // A sum, two comparisons with their moves, and a product, in place of one load's address: a
  // filter of columns by 9 terms, f32, 13 rows x 8, takes 2.3 times as long as written out (Zen 3).
  static constexpr double kClamp = 3;
  // Of terms in a loop beside all of them written out: depthwise convolutions of 3x3 take 1.1
  // to 1.25 of the time (Zen 4), filters of rows by 9 terms 1.15 to 1.3 (Zen 3).
  static constexpr double kInLoop = 1.17;
  // Lines that share a set of the first cache and push each other out come from the second one
  // after the other, with their neighbours in other sets beside them. Depthwise convolutions
  // of 1024 and 512 channels, tiles of 1x4 to 3x3 places and one to eight lines (Zen 4): 12 and 7
  // cycles a place, and 2.4 a line.
  static constexpr double kConflictMiss = 12, kLineFill = 2;

  // Of tiles those at a border along which terms are in a loop: their conditions are asked there.
  double border_share(const DefaultNest& nest, const WindowTile& tile) const {
    double most = 0;
    for (const auto& [loop, part] : tile.heights)
      for (std::size_t k = 0; k + tile.terms < nest.reduce.size(); ++k) {
        if (!slides(nest, loop, k, k + 1)) continue;
        const std::int64_t beyond = trip_of(nest, nest.reduce[k]) / 2,
                           borders = 2 * ((beyond + part - 1) / part);
        most =
            std::max(most, std::min(1.0, static_cast<double>(borders) /
                                             static_cast<double>(tiles_along(nest, loop, part))));
      }
    return most;
  }

  double port_cycles(const BodyCost& body, const DefaultNest& nest, const WindowTile& tile,
                     std::int64_t lanes) const {
    Work work;
    work.operations = std::max(body.ops - 1, 1.0) * vectors_of(nest, tile);
    for (const auto& read : nest.reads) {
      const Stride along = stride_of(read.indices, nest.unit.var);
      const double across = along.step == Step::none ? 1 : static_cast<double>(tile.vectors),
                   lines = along.step == Step::unit ? lines_of(nest, tile, read, lanes) : 1;
      add_vector(work, along, lanes, false, loads(nest, tile, read, across) * across * lines);
    }
    return cycles(work, 0);
  }
  static double vectors_of(const DefaultNest& nest, const WindowTile& tile) {
    return static_cast<double>(height_of(tile) * tile.vectors) * terms_of(nest, tile.terms);
  }

  // Lines that a vector lies in, where places are no whole vectors apart.
  double lines_of(const DefaultNest& nest, const WindowTile& tile, const AccessSite& read,
                  std::int64_t lanes) const {
    bool whole = true;
    const auto meet = [&](const LoopRef& loop) {
      const auto stride =
          strides_.of(&read, loop.var.get(), [&] { return flat_stride(read, loop.var); });
      whole = whole && stride && *stride % lanes == 0;
    };
    for (const auto& height : tile.heights) meet(height.first);
    for (const auto& loop : nest.reduce) meet(loop);
    const double bytes = static_cast<double>(lanes) * read.buffer->dtype.element_bytes();
    return whole ? 1 : 1 + std::min(1.0, bytes / static_cast<double>(target_.line_bytes));
  }

  // Of what a tile reads in one lane: each element once, if registers, `across` for each, hold what
  // waits for another term.
  double loads(const DefaultNest& nest, const WindowTile& tile, const AccessSite& read,
               double across) const {
    double uses = terms_of(nest, tile.terms);
    for (const auto& [loop, part] : tile.heights)
      if (step_of(read.indices, loop.var) != Step::none) uses *= static_cast<double>(part);
    const double different = places(nest, tile, read);
    if (different >= uses || uses > kMostPlaces) return different;
    const auto results = static_cast<std::int64_t>(nest.writes.size());
    const std::int64_t taken = (height_of(tile) * results + 1) * tile.vectors,
                       left = target_.vector_registers - taken - 1;
    return most_waiting(nest, tile, read) * across <= static_cast<double>(left) ? different : uses;
  }

  // The most elements that are read before a term and after it.
  double most_waiting(const DefaultNest& nest, const WindowTile& tile,
                      const AccessSite& read) const {
    struct Use {
      std::uint64_t place;
      std::size_t term;
      bool operator<(const Use& o) const {
        return place != o.place ? place < o.place : term < o.term;
      }
    };
    Vec<Use> uses{{0, 0}};
    const auto go_along = [&](const VarRef& var, std::int64_t trips, bool is_term) {
      const std::uint64_t step = step_along(read, var);
      const auto count = static_cast<std::size_t>(trips);
      Vec<Use> all;
      for (const Use& use : uses)
        for (std::size_t t = 0; t < count; ++t)
          all.push_back({use.place + step * t, is_term ? use.term * count + t : use.term});
      uses = std::move(all);
    };
    for (const auto& [loop, part] : tile.heights) go_along(loop.var, part, false);
    for (std::size_t k = nest.reduce.size() - tile.terms; k < nest.reduce.size(); ++k)
      go_along(nest.reduce[k].var, trip_of(nest, nest.reduce[k]), true);
    std::sort(uses.begin(), uses.end());
    Vec<int> change;
    for (std::size_t first = 0, end = 0; first < uses.size(); first = end) {
      while (end < uses.size() && uses[end].place == uses[first].place) ++end;
      while (change.size() <= uses[end - 1].term) change.push_back(0);
      ++change[uses[first].term], --change[uses[end - 1].term];
    }
    int waiting = 0, most = 0;
    for (const int more : change) most = std::max(most, waiting += more);
    return most;
  }

  // How many different elements a tile reads in one lane; of many all are taken for different.
  double places(const DefaultNest& nest, const WindowTile& tile, const AccessSite& read) const {
    Vec<VarRef> vars;
    Vec<std::int64_t> trips;
    for (const auto& [loop, part] : tile.heights) vars.push_back(loop.var), trips.push_back(part);
    for (std::size_t k = nest.reduce.size() - tile.terms; k < nest.reduce.size(); ++k)
      vars.push_back(nest.reduce[k].var), trips.push_back(trip_of(nest, nest.reduce[k]));
    Vec<std::uint64_t> steps;
    for (const VarRef& var : vars) steps.push_back(step_along(read, var));
    double reads = 1;
    for (std::size_t k = 0; k < vars.size(); ++k)
      if (steps[k] != 0) reads *= static_cast<double>(trips[k]);
    if (reads > kMostPlaces) return reads;
    Vec<std::uint64_t> all{0};
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
  std::uint64_t step_along(const AccessSite& read, const VarRef& var) const {
    return steps_.of(&read, var.get(), [&] {
      std::uint64_t step = 0, weight = 1;
      for (const auto& index : read.indices) {
        weight *= 0x9e3779b97f4a7c15u;
        const auto affine = affine_of(index, {var});
        const auto coef = affine ? affine->coef(0) : std::nullopt;
        step += weight * static_cast<std::uint64_t>(coef ? *coef : 1);
      }
      return step;
    });
  }
};

}  // namespace detail
}  // namespace lathe

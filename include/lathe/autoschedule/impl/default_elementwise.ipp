#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/target_caps.hpp>
#include <optional>

namespace lathe {
namespace detail {

// Vectors, window rows and streaming stores of a block without reductions.
class TileElementwise : RowSteps {
 public:
  using RowSteps::RowSteps;

  // `crowded`: among so many nests that copies of vectors would fill the program.
  void run(const BlockNode& block, const DefaultNest& nest, bool only_loop, bool crowded) {
    if (!nest.unit.var.get()) return;
    const BodyCost cost = body_cost(block);
    const std::int64_t lanes = lanes_of(cost) * nest.period;
    const std::int64_t trips = trip_of(nest, nest.unit);
    if (trips < 2) return;
    // Math in vectors of 32 bytes and less takes longer than memory: there is nothing that streams
    // hide.
    const bool waits = cost.math == 0 || target_.vector_bytes > 32;
    const bool past_caches = waits && goes_past_caches(nest),
               in_parts = past_caches && !only_loop && !OrderMoves(job_).fills_lines(nest);
    // Rows of a page are taken several at a time.
    const std::int64_t page = kPage / cost.widest,
                       enough = in_parts && !has_windows(nest) ? std::max(page, lanes) : lanes;
    if (const DefaultNest longer = LengthenUnit(job_).run(block, nest, enough);
        longer.unit.var.get())
      return run(block, longer, longer.all.size() == 1, crowded);
    if (!past_caches && !has_windows(nest)) {
      const DefaultNest joined = JoinRows(job_).run(block, nest, lanes);
      if (joined.all.size() < nest.all.size())
        return run(block, joined, joined.all.size() == 1, crowded);
    }
    if (lanes > trips && zip(nest, lanes)) return;
    put_unit_innermost(nest);
    if (lanes > trips) {
      if (has_const_trip(nest, nest.unit)) attempt([&] { s_.vectorize(nest.unit); });
      return;
    }
    if (nest.period > 1) {
      attempt([&] { tile_periods(nest, lanes); });
      if (past_caches) attempt([&] { stream(block, Streaming::any); });
      return;
    }
    if (!crowded && OrderMoves(job_).turn(block, nest, lanes, past_caches)) return;
    if (past_caches && TileStreams(job_).run(block, nest)) return;
    if (past_caches) OrderMoves(job_).follow_source(nest);
    const bool windows =
        !crowded && cost.math == 0 && cost.loads <= kWindowLoads && !past_second_caches(nest);
    const LoopRef rows = windows ? window_rows(nest, kWindowShare) : LoopRef();
    if (!rows.var.get() ||
        !attempt([&] { tile_rows(nest, rows, window_height(nest, rows), lanes); })) {
      const std::int64_t task = past_caches ? kMemoryTaskElements : kTaskElements;
      const bool tasks = only_loop && trips >= 2 * task;
      const Vectors vectors = vectors_of(nest, cost, trips, crowded);
      const bool shifts = !past_caches && !crowded && shifts_pay(nest, vectors.lanes);
      if (!shifts || !attempt([&] { tile_vectors(nest, vectors, 0, Tail::shift); }))
        attempt([&] { tile_vectors(nest, vectors, tasks ? task : 0); });
    }
    if (past_caches)
      attempt(
          [&] { stream(block, rows.var.get() || in_parts ? Streaming::lines : Streaming::any); });
  }

 private:
  static constexpr double kManyOperations = 6;
  static constexpr std::int64_t kMathVectors = 4;
  /// Vectors that are stored interleaved: 3 x 3 pixels of one colour are 9 elements side by side.
  static constexpr std::int64_t kMostZipped = 12;

  // Whether rows share what they read, or borders run apart.
  static bool has_windows(const DefaultNest& nest) {
    return !nest.clamped.empty() || window_rows(nest, 0).var.get();
  }

  struct Vectors {
    std::int64_t lanes, count;
  };

  // Bytes that are computed with in wider elements move a register at a time, in several registers
  // of those: at most four, as many as widen or narrow together.
  std::int64_t lanes_of(const BodyCost& cost) const {
    constexpr int kRegisters = 4;
    const bool narrow = cost.math == 0 && cost.moved * kRegisters >= cost.widest;
    return target_.lanes(narrow ? cost.moved : cost.widest);
  }

  // Elements of a few channels that lie side by side, as those of two pixels that share a colour:
  // lanes along the loop around them, a vector of each element in turn, which are stored
  // interleaved.
  bool zip(const DefaultNest& nest, std::int64_t lanes) {
    DefaultNest across = nest;
    Vec<LoopRef> group;
    for (std::int64_t elements = 1;;) {
      across.unit = innermost(nest, [&](const LoopRef& loop) {
        return !contains(group, loop) && lies_apart(nest, loop, elements);
      });
      if (!across.unit.var.get()) return false;
      const std::int64_t trips = trip_of(nest, across.unit);
      if (trips >= lanes && !group.empty())
        return attempt([&] { tile_group(across, group, lanes); });
      if (!has_const_trip(nest, across.unit) || elements * trips > kMostZipped) return false;
      group.push_back(across.unit);
      elements *= trips;
    }
  }

  static bool lies_apart(const DefaultNest& nest, const LoopRef& loop, std::int64_t elements) {
    return std::all_of(nest.writes.begin(), nest.writes.end(), [&](const AccessSite& write) {
      return flat_stride(write, loop.var) == elements;
    });
  }

  // `group`: loops that are written out, the innermost one first.
  void tile_group(const DefaultNest& nest, const Vec<LoopRef>& group, std::int64_t lanes) {
    const auto vectors = s_.split_any(nest.unit, {infer, lanes});
    Vec<LoopRef> order;
    for (const auto& loop : others(nest))
      if (!contains(group, loop)) order.push_back(loop);
    order.push_back(vectors[0]);
    for (const auto& loop : reversed(group)) order.push_back(loop);
    order.push_back(vectors[1]);
    s_.reorder(order);
    for (const auto& loop : group) s_.unroll(loop);
    s_.vectorize(vectors[1]);
    if (ends_at_dim(nest, nest.unit)) run_borders_apart(vectors[0]);
  }
  // Where only a call tells the end, and not of several loops that became one: that a place of
  // those exists is told by the test of the end.
  static bool ends_at_dim(const DefaultNest& nest, const LoopRef& loop) {
    for (const auto& f : nest.all)
      if (f->var == loop.var)
        return !as_const_int(f->extent) && affine_of(f->extent, free_vars(f->extent)).has_value();
    return false;
  }

  void put_unit_innermost(const DefaultNest& nest) {
    if (nest.spatial.back() == nest.unit) return;
    attempt([&] {
      Vec<LoopRef> order = others(nest);
      order.push_back(nest.unit);
      s_.reorder(order);
    });
  }

  // Math: four registers side by side, for latency (interleave_stores); a tenth less time than two,
  // with 16 and with 32 registers. Else a loop of few operations waits for memory, and is best off
  // with what one load moves: where a register takes two, full vectors cost up to a tenth, and gain
  // a tenth to a quarter with six operations and more (Zen 4).
  Vectors vectors_of(const BodyCost& cost, std::int64_t trips, bool crowded) const {
    const std::int64_t lanes = target_.lanes(cost.widest);
    if (cost.moved < cost.widest && lanes_of(cost) > lanes) return {lanes_of(cost), 1};
    if (cost.math == 0) {
      const bool full = cost.ops >= kManyOperations && trips >= kElementwiseUnroll * lanes;
      return {full ? lanes : target_.load_lanes(cost.widest), crowded ? 1 : kElementwiseUnroll};
    }
    std::int64_t side_by_side = kMathVectors;
    while (side_by_side > 1 && 2 * side_by_side * lanes > trips) side_by_side /= 2;
    return {side_by_side * lanes, 1};
  }

  // The same, or as a plan asks.
  Vectors vectors_of(const DefaultNest& nest, const BodyCost& cost, std::int64_t trips,
                     bool crowded) const {
    const Vectors v = vectors_of(cost, trips, crowded);
    const auto others = [&] {
      Vec<Vectors> all;
      for (const std::int64_t lanes : {v.lanes / 2, v.lanes, 2 * v.lanes})
        for (const std::int64_t count : {1, 2, 4})
          if (lanes > 1 && lanes * count <= trips && (lanes != v.lanes || count != v.count))
            all.push_back({lanes, count});
      return all;
    };
    return decided(nest.block, "vectors", v, others, [](const Vectors& of) {
      return PlanOption{"lanes", {of.lanes, of.count}, 0};
    });
  }

  // Without registers for masks a store under one takes as long as several vectors (AVX2 of Zen 3:
  // 16 cycles): rows that hold a vector end in one that computes elements again. Rows of 9 to 190
  // f32: 0.4 to 0.9 of the time. Loops of such rows stay serial, so that threads need enough rows;
  // borders of clamped reads are told apart by where vectors begin, which is no affine place here.
  bool shifts_pay(const DefaultNest& nest, std::int64_t lanes) {
    return nest.clamped.empty() && !has_const_trip(nest, nest.unit) &&
           !TargetCaps(target_).mask_words && has_rows_for_threads(nest) &&
           !s_.check(primitive_split(),
                     {nest.unit, Arg::of_list({Arg::of(infer), Arg::of(Factor(lanes))}),
                      Arg::of_word(to_text(Tail::shift))});
  }
  bool has_rows_for_threads(const DefaultNest& nest) const {
    double rows = nest.all.size() > 1 ? 1 : 0;
    for (const auto& loop : others(nest)) rows *= static_cast<double>(trip_of(nest, loop));
    return rows >= (target_.cores > 1 ? kTasksPerCore * target_.cores : 1);
  }

  // `task`: elements of one outer iteration, 0 for no such loop.
  void tile_vectors(const DefaultNest& nest, const Vectors& v, std::int64_t task,
                    std::optional<Tail> tail = {}) {
    Vec<Factor> factors{infer};
    if (task > 0) factors.push_back(task / v.lanes);
    factors.push_back(v.lanes);
    const auto parts = s_.split_any(nest.unit, factors, tail);
    s_.vectorize(parts.back());
    if (v.count > 1) s_.unroll(parts[parts.size() - 2], v.count);
    if (tail) run_borders_apart(parts[parts.size() - 2]);
  }

  // A loop without a test of its end: what repeats is surely loaded, so LLVM does it once.
  void tile_periods(const DefaultNest& nest, std::int64_t lanes) {
    const auto parts = s_.split_any(nest.unit, {infer, lanes});
    s_.vectorize(parts[1]);
    if (!has_const_trip(nest, nest.unit) || trip_of(nest, nest.unit) % lanes != 0)
      s_.partition(parts[0], Partition::always);
  }

  // As many rows as leave none over; if there is no such number, tiles of nearly equal height.
  std::int64_t window_height(const DefaultNest& nest, const LoopRef& rows) const {
    const std::int64_t trips = trip_of(nest, rows), most = most_rows(nest, rows);
    if (trips <= most) return trips;
    for (std::int64_t height = most; height > most / 2; --height)
      if (trips % height == 0) return height;
    return balanced(trips, most);
  }

  // Rows that fall on the same sets of the first cache push each other out.
  std::int64_t most_rows(const DefaultNest& nest, const LoopRef& rows) const {
    bool crowded = false;
    for (const auto* accesses : {&nest.writes, &nest.reads})
      for (const auto& access : *accesses) crowded |= shares_sets(row_bytes(access, rows));
    return crowded ? kCrowdedRows : kWindowRows;
  }
};

}  // namespace detail
}  // namespace lathe

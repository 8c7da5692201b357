#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

// Which way a reduction goes: an intrinsic, a register tile, or partial results.
class TileReduction : TileRegisters {
 public:
  using TileRegisters::TileRegisters;

  Vec<BlockRef> made;  ///< blocks that wait for loops of their own

  void run(const BlockRef& ref, const BlockNode& block, const BlockInfo& info,
           const DefaultNest& apart) {
    if (apart.reduce.empty()) return;
    const DefaultNest as_it_is = JoinRows(job_).run_terms(block, apart);
    const BodyCost body = reduction_cost(block, info);
    std::int64_t lanes = target_.lanes(body.widest);
    const DefaultNest longer = LengthenUnit(job_).run(block, as_it_is, lanes);
    const DefaultNest nest = runs_inside(longer.unit.var.get() ? longer : as_it_is, lanes);
    const bool has_lanes = nest.unit.var.get() && !contains(nest.bounds, nest.unit);
    const std::int64_t results = has_lanes ? trip_of(nest, nest.unit) : 1;
    const Reduction of{ref, block, info, nest, body, run_of(nest), lanes, results};
    ShapeChoice shape(job_.plan, nest.block);
    if (shape_nest(of, shape)) return;
    shape.drop_asked();
    shape_nest(of, shape);
  }

 private:
  // Innermost reduce loops that run through memory as one: rows that follow each other.
  struct Run {
    std::size_t loops = 1;
    std::int64_t trips = 1;
  };

  // `results`: side by side.
  struct Reduction {
    const BlockRef& ref;
    const BlockNode& block;
    const BlockInfo& info;
    const DefaultNest& nest;
    const BodyCost& body;
    Run run;
    std::int64_t lanes, results;
    bool along_terms = false;
  };

  // False: nothing done, as the shape that is asked for is not possible.
  bool shape_nest(Reduction of, ShapeChoice& shape) {
    if (may_reorder(of.info) && shape.open(ReductionShape::fold_columns)) {
      FoldColumns columns(job_);
      const auto rows = columns.shape(of.nest, of.run.loops, of.run.trips, of.lanes);
      if (rows.rows > 0 && attempt([&] { columns.run(of.nest, rows, of.lanes); }))
        return shape.take(ReductionShape::fold_columns);
    }
    FoldChannels channels(job_);
    if (const LoopRef around = channels.around(of.block, of.nest, of.lanes);
        around.var.get() && shape.open(ReductionShape::fold_channels) &&
        attempt([&] { channels.run(of.ref, of.nest, around, of.lanes); }))
      return shape.take(ReductionShape::fold_channels);
    of.along_terms = can_fold(of.info, of.nest, of.run, of.lanes);
    if (of.results < 2 || (of.along_terms && 4 * of.results < of.lanes)) {
      if (!of.along_terms) return true;
      if (!shape.open(ReductionShape::partial_lanes)) return false;
      partial_lanes(of.nest, of.run, of.lanes);
      return shape.take(ReductionShape::partial_lanes);
    }
    // Shorter vectors, of which a quarter at least is used.
    while (4 * of.results < of.lanes) of.lanes /= 2;
    return tile(of, shape);
  }

  bool tile(const Reduction& of, ShapeChoice& shape) {
    const RegisterTile tile = best_tile(of.body, of.nest, of.lanes, packs_jumps(of.nest));
    double folded = tile.cycles;
    shape.offer(ReductionShape::register_tile, tile.cycles);
    if (of.along_terms) {
      folded =
          fold_cycles(of.body, of.nest, of.run.trips, fold_operations(of.block, of.info), of.lanes);
      shape.offer(ReductionShape::partial_lanes, folded);
    }
    if (tensorize(of, std::min(folded, tile.cycles), shape)) return true;
    if (of.along_terms && fold_tile(of, tile, folded, shape)) return true;
    if (of.along_terms && shape.wins(ReductionShape::partial_lanes, folded, tile.cycles)) {
      partial_lanes(of.nest, of.run, of.lanes);
      return shape.take(ReductionShape::partial_lanes);
    }
    if (shape.open(ReductionShape::window_tile) && window_tile(of, tile, shape)) return true;
    if (!is_float_extreme(of.block, of.info) && shape.open(ReductionShape::streamed_terms) &&
        stream_terms(of.ref, of.nest, tile, of.lanes))
      return shape.take(ReductionShape::streamed_terms);
    if (!shape.open(ReductionShape::register_tile)) return false;
    tile_registers(of.ref, of.nest, tile, of.lanes);
    return shape.take(ReductionShape::register_tile);
  }

  bool tensorize(const Reduction& of, double others, ShapeChoice& shape) {
    TensorizeNest nest(job_);
    const auto tile = nest.best(of.block, of.nest);
    if (!tile) return false;
    const double cycles = tile->cycles * static_cast<double>(of.lanes) / volume(of.nest.all);
    shape.offer(ReductionShape::intrinsic, cycles);
    if (!shape.wins(ReductionShape::intrinsic, cycles, others) ||
        !attempt([&] { return nest.run(of.ref, *tile, of.nest); }))
      return false;
    made.append(nest.made);
    return shape.take(ReductionShape::intrinsic);
  }

  bool fold_tile(const Reduction& of, const RegisterTile& tile, double folded, ShapeChoice& shape) {
    if (!of.nest.bounds.empty()) return false;
    FoldTiles fold(job_);
    const FoldTiles::Shape results = fold.shape(of.body, of.nest, of.lanes);
    if (!results.rows.var.get()) return false;
    shape.offer(ReductionShape::fold_tile, results.cycles);
    if (!shape.wins(ReductionShape::fold_tile, results.cycles,
                    std::min(folded, tile.cycles + fold.copy_cycles(of.nest))) ||
        !attempt([&] { fold.run(of.nest, results, of.lanes); }))
      return false;
    return shape.take(ReductionShape::fold_tile);
  }

  bool window_tile(const Reduction& of, const RegisterTile& tile, ShapeChoice& shape) {
    BodyCost terms = of.body;
    const Conditions conditions(of.block);
    terms.ops -= conditions.ops;
    TileWindows windows(job_);
    BodyCost written = terms;
    if (is_float_extreme(of.block, of.info))
      written.ops += kExact - term_operations(of.block, of.info);
    const bool done =
        windows.run(of.ref, {terms, written}, conditions.of_borders ? conditions.ops : 0, of.nest,
                    of.lanes, tile, shape.asks(ReductionShape::window_tile));
    if (windows.cycles() > 0) shape.offer(ReductionShape::window_tile, windows.cycles());
    return done && shape.take(ReductionShape::window_tile);
  }

  BodyCost reduction_cost(const BlockNode& block, const BlockInfo& info) const {
    BodyCost cost = body_cost(block);
    cost.ops += term_operations(block, info) - 1;
    cost.ops += kRoundingCost * static_cast<double>(narrow_operations(block));
    const BodyCost step = step_cost(*block.reducer);
    cost.ops += step.ops, cost.latency = std::max(cost.latency, step.latency);
    return cost;
  }

  // Whether two values meet in one operator, which the block counts.
  static bool is_operator(const ReducerNode& reducer) {
    const auto* meet = reducer.combine.size() == 1 ? reducer.combine[0].as<BinaryNode>() : nullptr;
    return meet && meet->a.as<VarNode>() && meet->b.as<VarNode>();
  }
  // To take a term into several results, or into one that is no operator's, beyond the terms.
  static BodyCost step_cost(const ReducerNode& reducer) {
    struct : BodyCost {
      NodeSet seen;
      void expr(const AnyExpr& e) override {
        if (!e->shared() || seen.insert(e.get()).second) BodyCost::expr(e);
      }
    } cost;
    if (is_operator(reducer)) return cost;
    // The next term waits for a choice and two operations with it.
    cost.latency = 10;
    // Two comparisons, of which one tells a NaN, and two choices by both.
    if (is_arg_reducer(reducer)) return cost.ops = 4, cost;
    for (const AnyExpr& result : reducer.combine) cost.expr(result);
    return cost;
  }

  // Operations on floats that are narrower than what the machine computes with: the sum is one.
  static int narrow_operations(const BlockNode& block) {
    struct Count : Visitor {
      int count = 0;
      void expr(const AnyExpr& e) override {
        if (e.kind() == ExprKind::Load) return;
        const bool computes = e.kind() == ExprKind::Binary || e.kind() == ExprKind::Call;
        count += computes && is_narrow_float(e.dtype());
        descend(e);
      }
    } visitor;
    visitor.stmt(block.body);
    const StoreNode* store = only_store(block);
    return visitor.count + (store && is_narrow_float(store->buffer->dtype));
  }
  static bool is_narrow_float(DType t) { return t.is_float() && is_narrow(t); }

  static Run run_of(const DefaultNest& nest) {
    const std::size_t all = nest.reduce.size();
    Run run{1, trip_of(nest, nest.reduce.back())};
    if (nest.leaves_out) return run;  // of which terms, each loop tells
    for (std::size_t k = all - 1; k-- > 0;
         ++run.loops, run.trips *= trip_of(nest, nest.reduce[k])) {
      const LoopRef &outer = nest.reduce[k], &inner = nest.reduce[k + 1];
      if (!has_const_trip(nest, inner) || !has_const_trip(nest, outer)) break;
      for (const auto& read : nest.reads) {
        const auto wide = flat_stride(read, outer.var), narrow = flat_stride(read, inner.var);
        if (!wide || !narrow || *wide != *narrow * trip_of(nest, inner)) return run;
      }
    }
    return run;
  }

  static bool is_float_extreme(const BlockNode& block, const BlockInfo& info) {
    const auto op = info.reducer.op;
    return (op == BinaryOp::max || op == BinaryOp::min) &&
           block.reducer->identity[0].dtype().is_float();
  }
  // Of these types guess_extremes guesses that no value is NaN; else the largest is NaN if one is,
  // which takes five instructions.
  static bool is_guessed(const BlockNode& block) {
    return block.reducer->identity[0].dtype().bits >= 32;
  }
  static constexpr double kExact = 5;
  // To take one term more, in instructions: a guess also adds the terms up, to find a NaN.
  static double term_operations(const BlockNode& block, const BlockInfo& info) {
    if (!is_float_extreme(block, info)) return 1;
    return is_guessed(block) ? 2 : kExact;
  }
  // To fold one vector of terms into another: a guess is tested after all of it, and each result
  // after the first has halves of its own that move.
  static constexpr double kHalves = 3;
  static double fold_operations(const BlockNode& block, const BlockInfo& info) {
    if (!is_operator(*block.reducer))
      return step_cost(*block.reducer).ops +
             kHalves * static_cast<double>(block.reducer->identity.size() - 1);
    return is_float_extreme(block, info) && !is_guessed(block) ? kExact : 1;
  }

  // The same with the loop innermost that runs along memory, where the innermost one is a part too
  // short for lanes: of the two terms in a byte, the first of each byte and then the second.
  static DefaultNest runs_inside(DefaultNest nest, std::int64_t lanes) {
    Vec<LoopRef>& terms = nest.reduce;
    if (run_of(nest).trips >= lanes) return nest;
    for (std::size_t k = terms.size() - 1; k-- > 0;) {
      const LoopRef run = terms[k];
      const bool unit = std::any_of(nest.reads.begin(), nest.reads.end(), [&](const auto& read) {
        return step_of(read.indices, run.var) == Step::unit;
      });
      if (!unit || trip_of(nest, run) < lanes || !has_const_trip(nest, run)) continue;
      terms.erase_at(k), terms.push_back(run);
      break;
    }
    return nest;
  }

  bool may_reorder(const BlockInfo& info) const {
    return info.reducer.kind == ReducerClass::reorder &&
           !(info.reducer.reassociates && s_.options().strict);
  }

  // s[i] = sum over r of X[i, r]: lanes of r, each with a partial result of its own.
  bool can_fold(const BlockInfo& info, const DefaultNest& nest, const Run& run,
                std::int64_t lanes) const {
    if (!may_reorder(info)) return false;
    const LoopRef& along = nest.reduce.back();
    bool unit = false;
    for (const auto& read : nest.reads) {
      const auto stride = flat_stride(read, along.var);
      unit = unit || step_of(read.indices, along.var) == Step::unit ||
             (stride && *stride >= 1 && *stride <= kNearTerms);
    }
    return unit && fills_lanes(nest, run.trips, lanes);
  }

  void partial_lanes(const DefaultNest& nest, const Run& run, std::int64_t lanes) {
    const LoopRef& inner = nest.reduce.back();
    if (nest.all.back()->var != inner.var && !attempt([&] { put_inside(nest); })) return;
    // Of rows that meet one vector, several share it.
    const LoopRef rows = innermost(nest, [&](const LoopRef& loop) {
      if (contains(nest.bounds, loop)) return false;
      for (const auto& read : nest.reads)
        if (step_of(read.indices, inner.var) == Step::unit &&
            step_of(read.indices, loop.var) == Step::none)
          return true;
      return false;
    });
    if (rows.var.get() && attempt([&] { fold_rows(nest, rows, inner, lanes); })) return;
    // Vectors of narrower results, as whether any of floats is negative, would be put together from
    // parts: one for each of several rows.
    const bool narrower =
        nest.writes[0].buffer->dtype.element_bytes() * lanes < target_.vector_bytes;
    if (narrower && !nest.spatial.empty() && nest.bounds.empty() &&
        attempt([&] { fold_rows(nest, nest.spatial.back(), inner, lanes); }))
      return;
    // Terms wait for those before; rows of unknown length may be too short for many lanes, but for
    // as many as one register of what is read has.
    const std::int64_t registers = has_const_trip(nest, inner) ? 4 : registers_read(nest);
    std::int64_t width = narrower ? lanes : lanes * registers;
    const auto fits = [&](std::int64_t w) {
      return 2 * w <= run.trips ||
             (run.trips % w == 0 && 2 * static_cast<double>(w) <= terms_of(nest));
    };
    while (width > lanes && !fits(width)) width /= 2;
    width = decided(
        nest.block, "partial_lanes", width,
        [&] {
          Vec<std::int64_t> others;
          for (const std::int64_t w : {lanes, 2 * lanes, 4 * lanes, 8 * lanes})
            if (w != width) others.push_back(w);
          return others;
        },
        [](std::int64_t w) {
          return PlanOption{"lanes", {w}, 0};
        });
    const Vec<LoopRef> parts(nest.reduce.end() - static_cast<std::ptrdiff_t>(run.loops),
                             nest.reduce.end());
    attempt([&] {
      const LoopRef along = parts.size() > 1 ? s_.fuse(parts) : inner;
      write_out_short(s_.fold_lanes(along, static_cast<int>(width)));
    });
  }
  // Of so few vectors counting takes as long as adding them.
  void write_out_short(const BlockRef& terms) {
    const auto loops = s_.loops(terms);
    const LoopRef& vectors = loops[loops.size() - 2];
    const ForNode& loop = *find_loop(s_.program()->body, vectors.var).loop;
    if (as_const_int(loop.extent) && trip(loop) <= kShortPart) s_.unroll(vectors);
  }

  // Of sums, filled by the elements of one register: two and more, four at most.
  std::int64_t registers_read(const DefaultNest& nest) const {
    int bytes = nest.writes[0].buffer->dtype.element_bytes();
    const int sum = bytes;
    for (const auto& read : nest.reads) bytes = std::min(bytes, read.buffer->dtype.element_bytes());
    return std::clamp(sum / bytes, 2, 4);
  }

  // Short parts that are outside now are written out: conditions of which part it is are told.
  void put_inside(const DefaultNest& nest) {
    s_.reorder(nest.reduce);
    for (const auto& loop : nest.reduce)
      if (has_const_trip(nest, loop) && trip_of(nest, loop) <= kShortPart) s_.unroll(loop);
  }
  static constexpr std::int64_t kShortPart = 4;
  // From one term to the next, so that lanes of them are loaded whole and taken apart.
  static constexpr std::int64_t kNearTerms = 4;

  // Whether lanes have work: also of shorter rows, where many are folded together.
  static bool fills_lanes(const DefaultNest& nest, std::int64_t trips, std::int64_t lanes) {
    const std::int64_t enough = 4 * lanes;
    std::int64_t terms = 1;
    for (const auto& l : nest.reduce)
      terms = std::min(terms * std::min(trip_of(nest, l), enough), enough);
    return trips >= lanes || (2 * trips >= lanes && terms == enough);
  }

  // Rows in turn, which share what they read: A[i, r] * X[r] of 4 rows for one load of X.
  void fold_rows(const DefaultNest& nest, const LoopRef& rows, const LoopRef& along,
                 std::int64_t lanes) {
    const auto parts = s_.split_any(rows, {infer, std::min<std::int64_t>(4, trip_of(nest, rows))});
    Vec<LoopRef> order;
    for (const auto& l : nest.spatial) order.push_back(l == rows ? parts[0] : l);
    order.append(nest.reduce);
    order.push_back(parts[1]);
    s_.reorder(order);
    s_.fold_lanes(along, static_cast<int>(lanes));
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <numeric>

namespace lathe {
namespace detail {

// Register tiles and partial results of a reduction.
class TileReduction : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run(const BlockRef& ref, const BlockNode& block, const BlockInfo& info,
           const DefaultNest& nest) {
    if (nest.reduce.empty()) return;
    bool lanes_along_output = bool(nest.unit.var.get()) && trip_of(nest, nest.unit) >= 4;
    bool all_simple = lanes_along_output;
    if (nest.unit_iter.get())
      for (const auto& read : reads_of(block))
        all_simple = all_simple &&
                     (is_output(block, read.buffer) || lane_step(block, read, nest) != Step::other);
    if (all_simple)
      tile_registers(ref, block, nest);
    else
      partial_lanes(block, info, nest);
  }

 private:
  struct RegisterTile {
    LoopRef rows;  ///< empty: one row
    std::int64_t height = 1, width = 1;
  };

  std::int64_t lanes_of(const BlockNode& block) const {
    return target_.lanes(body_cost(block).widest);
  }

  // How a read moves along the lanes: in panels of whole vectors, a vector at a time, by one.
  Step lane_step(const BlockNode& block, const AccessSite& read, const DefaultNest& nest) const {
    const std::int64_t panel = panel_width(read.indices, nest.unit_iter);
    if (panel > 0 && panel % lanes_of(block) == 0) return Step::unit;
    return step_of(read.indices, nest.unit_iter);
  }

  // Two, or three where that leaves none over, or crosses no border of panels, and two would.
  std::int64_t tile_vectors(const BlockNode& block, const DefaultNest& nest) const {
    const std::int64_t lanes = lanes_of(block), trips = trip_of(nest, nest.unit);
    std::int64_t panel = 0;
    for (const auto& read : reads_of(block))
      panel = std::gcd(panel, panel_width(read.indices, nest.unit_iter));
    const std::int64_t run = panel > 0 ? panel : has_const_trip(nest, nest.unit) ? trips : 0;
    if (run % (2 * lanes) != 0 && run % (3 * lanes) == 0) return 3;
    return trips <= lanes || panel % (2 * lanes) != 0 ? 1 : 2;
  }

  RegisterTile register_tile(const BlockNode& block, const DefaultNest& nest) const {
    RegisterTile tile{reuse_loop(block, nest, [&](const AccessSite& read) {
      return lane_step(block, read, nest) == Step::unit;
    })};
    const std::int64_t vectors = tile_vectors(block, nest);
    tile.width = vectors * lanes_of(block);
    if (!tile.rows.var.get()) return tile;
    const std::int64_t most = target_.vector_registers < 32 ? 4 : vectors > 2 ? 8 : 12;
    const std::int64_t extent = trip_of(nest, tile.rows);
    tile.height = extent < most                     ? extent
                  : has_const_trip(nest, tile.rows) ? balanced(extent, most)
                                                    : most;
    return tile;
  }

  // C[.., i, j] over r: a tile of rows × vectors of j stays in registers for the whole reduction.
  void tile_registers(const BlockRef& ref, const BlockNode& block, const DefaultNest& nest) {
    const RegisterTile tile = register_tile(block, nest);
    bool tiled = attempt([&] {
      Vec<LoopRef> outer, inner;
      LoopRef lanes_loop;
      for (const auto& l : nest.spatial) {
        if (l == nest.unit) {
          auto parts = s_.split_any(l, {infer, tile.width});
          outer.push_back(parts[0]);
          lanes_loop = parts[1];
        } else if (l == tile.rows && tile.height > 1) {
          auto parts = s_.split_any(l, {infer, tile.height});
          outer.push_back(parts[0]);
          inner.push_back(parts[1]);
        } else {
          outer.push_back(l);
        }
      }
      Vec<LoopRef> order = outer;
      order.append(nest.reduce);
      order.append(inner);
      order.push_back(lanes_loop);
      s_.reorder(order);
      keep_in_registers(ref, outer.back(), nest.reduce.front(), inner, lanes_loop);
    });
    if (!tiled) attempt([&] { vectors_inside(nest, lanes_of(block)); });
  }

  // Without registers: lanes of the output below the reduction.
  void vectors_inside(const DefaultNest& nest, std::int64_t lanes) {
    Vec<LoopRef> order = nest.spatial;
    order.pop_back();
    order.append(nest.reduce);
    auto parts = s_.split_any(nest.unit, {infer, lanes});
    order.push_back(parts[0]);
    order.push_back(parts[1]);
    s_.reorder(order);
    s_.vectorize(parts[1]);
  }

  void keep_in_registers(const BlockRef& ref, const LoopRef& tile, const LoopRef& first_reduce,
                         const Vec<LoopRef>& inner, const LoopRef& lanes_loop) {
    BlockRef out = finish_under(ref, tile);
    BlockRef init = s_.decompose_reduction(ref, first_reduce);
    s_.vectorize(lanes_loop);
    for (const auto& l : inner) s_.unroll(l);
    for (const auto& b : {out, init}) {
      auto loops = s_.loops(b);
      s_.vectorize(loops.back());
      if (!inner.empty()) s_.unroll(loops[loops.size() - 2]);
    }
  }

  // What takes the finished tile out of the registers: the only consumer, if it reads element by
  // element and is cheap; else a copy to the output. A consumer with math in it reads a tile in
  // memory, row by row: unrolled over all registers its code would take LLVM longer than the whole
  // product.
  BlockRef finish_under(const BlockRef& ref, const LoopRef& tile) {
    auto users = consumers(s_.program()->body, ref.tag);
    bool one = users.size() == 1 && classify(*users[0].block).is_complete() &&
               is_private(s_.program()->body, writes_of(*site(ref).block)[0].buffer);
    BlockRef user = one ? BlockRef(users[0].block->tag) : BlockRef();
    bool cheap = one && body_cost(*users[0].block).math == 0;
    bool fused = cheap && attempt([&] {
                   s_.reverse_compute_at(user, tile);
                   s_.set_scope(ref, Scope::reg);
                 });
    if (fused) return user;
    BlockRef out = s_.cache_write(ref, Scope::reg);
    s_.reverse_compute_at(out, tile);
    if (one && !cheap)
      attempt([&] {
        s_.reverse_compute_at(user, tile);
        s_.vectorize(s_.loops(user).back());
      });
    return out;
  }

  // The innermost spatial loop that some load by lanes does not depend on.
  template <class F>
  static LoopRef reuse_loop(const BlockNode& block, const DefaultNest& nest, const F& by_lanes) {
    for (std::size_t k = nest.spatial.size(); k-- > 0;) {
      const LoopRef& loop = nest.spatial[k];
      if (trip_of(nest, loop) < 2) continue;
      for (const auto& it : block.iters) {
        if (it.binding.get() != loop.var.get()) continue;
        for (const auto& read : reads_of(block))
          if (!is_output(block, read.buffer) && by_lanes(read) &&
              step_of(read.indices, it.var) == Step::none)
            return loop;
      }
    }
    return {};
  }

  // s[i] = sum over r of X[i, r]: lanes of r, each with a partial result of its own.
  void partial_lanes(const BlockNode& block, const BlockInfo& info, const DefaultNest& nest) {
    if (info.reducer.kind != ReducerClass::reorder || nest.reduce.empty()) return;
    if (info.reducer.reassociates && s_.options().strict) return;
    const LoopRef along = nest.reduce.back();
    VarRef iter;
    for (const auto& it : block.iters)
      if (it.binding.get() == along.var.get()) iter = it.var;
    const auto by_lanes = [&](const AccessSite& read) {
      return !is_output(block, read.buffer) && step_of(read.indices, iter) == Step::unit;
    };
    bool unit = false;
    for (const auto& read : reads_of(block)) unit |= iter && by_lanes(read);
    const std::int64_t lanes = lanes_of(block), trips = trip_of(nest, along);
    if (!unit || !fills_lanes(nest, trips, lanes)) return;
    const LoopRef rows = reuse_loop(block, nest, by_lanes);
    if (rows.var.get() && attempt([&] { fold_rows(nest, rows, along, lanes); })) return;
    // Terms wait for those before; rows of unknown length may be too short for many lanes.
    std::int64_t width = lanes * (has_const_trip(nest, along) ? 4 : 2);
    while (width > lanes && width * 2 > trips) width /= 2;
    attempt([&] { s_.fold_lanes(along, static_cast<int>(width)); });
  }

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

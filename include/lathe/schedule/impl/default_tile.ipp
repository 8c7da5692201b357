#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/schedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Vectors, register tiles and partial results, one nest after the other.
class TileNests : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run() {
    for (const auto& block : s_.blocks()) schedule_nest(block);
  }

 private:
  struct Nest {
    std::vector<LoopRef> spatial, reduce;  ///< loops that hold only this block
    std::vector<ForRef> all;               ///< the same, as they stand
    VarRef unit_iter;                      ///< the iterator along which the output has stride 1
    LoopRef unit;                          ///< its loop; empty if it is none of these
  };

  Nest nest_of(const BlockSite& at) const {
    Nest nest;
    for (const auto& f : at.loops) {
      if (blocks_below(f->body).size() != 1 || f->loop_kind != ForKind::serial) continue;
      nest.all.push_back(f);
      (feeds(*f, *at.block, IterKind::reduce) ? nest.reduce : nest.spatial)
          .push_back(LoopRef(f->var));
    }
    auto stores = writes_of(*at.block);
    for (const auto& it : at.block->iters) {
      if (stores.empty() || it.kind != IterKind::spatial ||
          step_of(stores[0].indices, it.var) != Step::unit)
        continue;
      nest.unit_iter = it.var;
      for (const auto& loop : nest.spatial)
        if (it.binding.get() == loop.var.get()) nest.unit = loop;
    }
    return nest;
  }

  static std::int64_t trip_of(const Nest& nest, const LoopRef& loop) {
    for (const auto& f : nest.all)
      if (f->var == loop.var) return trip(*f);
    return 1;
  }
  static bool has_const_trip(const Nest& nest, const LoopRef& loop) {
    for (const auto& f : nest.all)
      if (f->var == loop.var) return as_const_int(f->extent) != nullptr;
    return false;
  }

  void schedule_nest(const BlockRef& block) {
    BlockSite at = site(block);
    if (!at.block) return;
    Nest nest = nest_of(at);
    if (nest.all.empty()) return;
    BlockInfo info = classify(*at.block);
    if (info.is_complete())
      schedule_elementwise(*at.block, nest, at.loops.size() == 1);
    else if (info.is_reduction())
      schedule_reduction(block, *at.block, info, nest);
  }

  void schedule_elementwise(const BlockNode& block, const Nest& nest, bool only_loop) {
    if (!nest.unit.var.get()) return;
    BodyCost cost = body_cost(block);
    const std::int64_t lanes = target_.lanes(cost.widest);
    const std::int64_t trips = trip_of(nest, nest.unit);
    if (trips < 2) return;
    const LoopRef last = nest.spatial.back();
    if (!(last == nest.unit))
      attempt([&] {
        std::vector<LoopRef> order = others(nest);
        order.push_back(nest.unit);
        s_.reorder(order);
      });
    std::int64_t width = lanes * (cost.math > 0 ? 2 : kElementwiseUnroll);
    while (width > lanes && width * 2 > trips) width /= 2;
    if (width > trips) {
      if (has_const_trip(nest, nest.unit)) attempt([&] { s_.vectorize(nest.unit); });
      return;
    }
    const LoopRef rows = window_rows(block, nest, cost);
    if (!rows.var.get() || !attempt([&] { tile_window(nest, rows, lanes); }))
      attempt([&] {
        const std::int64_t task = exceeds_caches(block) ? kMemoryTaskElements : kTaskElements;
        const std::int64_t per_task = task / width;
        bool tasks = only_loop && trips >= 2 * task;
        auto parts = tasks ? s_.split_any(nest.unit, {infer, per_task, width})
                           : s_.split_any(nest.unit, {infer, width});
        s_.vectorize(parts.back());
      });
    stream_large_outputs(block);
  }

  static std::vector<LoopRef> others(const Nest& nest) {
    std::vector<LoopRef> out;
    for (const auto& l : nest.spatial)
      if (!(l == nest.unit)) out.push_back(l);
    return out;
  }

  // The innermost loop, other than the lanes', whose neighbouring iterations read the same vectors.
  // Several rows at once also hide the latency of memory, so there any reuse will do.
  LoopRef window_rows(const BlockNode& block, const Nest& nest, const BodyCost& cost) const {
    if (cost.math > 0 || cost.loads > kWindowLoads) return {};
    const double least = exceeds_caches(block) ? 0 : kWindowShare;
    const auto loops = others(nest);
    for (std::size_t k = loops.size(); k-- > 0;)
      for (const auto& it : block.iters)
        if (it.binding.get() == loops[k].var.get() && trip_of(nest, loops[k]) > 1 &&
            share_read_again(block, it.var) > least)
          return loops[k];
    return {};
  }

  // A few rows together, so that what two of them read is loaded once.
  void tile_window(const Nest& nest, const LoopRef& rows, std::int64_t width) {
    auto lanes_of = s_.split_any(nest.unit, {infer, width});
    auto parts = s_.split_any(rows, {infer, window_height(trip_of(nest, rows))});
    std::vector<LoopRef> order;
    for (const auto& l : others(nest)) order.push_back(l == rows ? parts[0] : l);
    order.insert(order.end(), {lanes_of[0], parts[1], lanes_of[1]});
    s_.reorder(order);
    s_.unroll(parts[1]);
    s_.vectorize(lanes_of[1]);
  }

  // As many rows as leave none over; if there is no such number, tiles of nearly equal height.
  static std::int64_t window_height(std::int64_t trips) {
    if (trips <= kWindowRows) return trips;
    for (std::int64_t rows = kWindowRows; rows > kWindowRows / 2; --rows)
      if (trips % rows == 0) return rows;
    return balanced(trips, kWindowRows);
  }

  // An output that does not fit the cache is written past it, unless this program reads it again.
  void stream_large_outputs(const BlockNode& block) {
    if (!exceeds_caches(block)) return;
    for (const auto& write : writes_of(block))
      if (!readers(s_.program()->body, write.buffer).empty()) return;
    attempt([&] { s_.annotate(BlockRef(block.tag), "stream", 1); });
  }

  // Whether an output of the program that the block writes is larger than the caches.
  bool exceeds_caches(const BlockNode& block) const {
    for (const auto& write : writes_of(block)) {
      double bytes = write.buffer->dtype.element_bytes();
      for (const auto& extent : write.buffer->shape) {
        ConstInterval range = const_bounds(extent);
        bytes *= range.has_max() ? static_cast<double>(range.max) : 0;
      }
      if (bytes > static_cast<double>(target_.l3_bytes) &&
          !is_private(s_.program()->body, write.buffer))
        return true;
    }
    return false;
  }

  void schedule_reduction(const BlockRef& ref, const BlockNode& block, const BlockInfo& info,
                          const Nest& nest) {
    if (nest.reduce.empty()) return;
    bool lanes_along_output = bool(nest.unit.var.get()) && trip_of(nest, nest.unit) >= 4;
    bool all_simple = lanes_along_output;
    for (const auto& read : reads_of(block)) {
      if (is_output(block, read.buffer)) continue;
      if (nest.unit_iter.get())
        all_simple = all_simple && step_of(read.indices, nest.unit_iter) != Step::other;
    }
    if (all_simple)
      tile_registers(ref, block, nest);
    else
      partial_lanes(ref, block, info, nest);
  }

  static bool is_output(const BlockNode& block, const Buffer& buffer) {
    for (const auto& w : writes_of(block))
      if (w.buffer == buffer) return true;
    return false;
  }

  // C[.., i, j] over r: a tile of rows × vectors of j stays in registers for the whole reduction.
  void tile_registers(const BlockRef& ref, const BlockNode& block, const Nest& nest) {
    BodyCost cost = body_cost(block);
    const std::int64_t lanes = target_.lanes(cost.widest), trips = trip_of(nest, nest.unit);
    std::int64_t vectors = target_.vector_registers >= 32 ? 2 : 2;
    while (vectors > 1 && (vectors - 1) * lanes >= trips) --vectors;
    LoopRef rows = reuse_loop(block, nest);
    std::int64_t height = 1;
    if (rows.var.get()) {
      height = target_.vector_registers >= 32 ? 12 : 4;
      std::int64_t extent = trip_of(nest, rows);
      if (extent < height)
        height = extent;
      else if (has_const_trip(nest, rows))
        height = balanced(extent, height);
    }
    bool tiled = attempt([&] {
      std::vector<LoopRef> outer, inner;
      LoopRef lanes_loop;
      for (const auto& l : nest.spatial) {
        if (l == nest.unit) {
          auto parts = s_.split_any(l, {infer, lanes * vectors});
          outer.push_back(parts[0]);
          lanes_loop = parts[1];
        } else if (l == rows && height > 1) {
          auto parts = s_.split_any(l, {infer, height});
          outer.push_back(parts[0]);
          inner.push_back(parts[1]);
        } else {
          outer.push_back(l);
        }
      }
      std::vector<LoopRef> order = outer;
      order.insert(order.end(), nest.reduce.begin(), nest.reduce.end());
      order.insert(order.end(), inner.begin(), inner.end());
      order.push_back(lanes_loop);
      s_.reorder(order);
      keep_in_registers(ref, outer.back(), nest.reduce.front(), inner, lanes_loop);
    });
    if (!tiled)
      attempt([&] {
        std::vector<LoopRef> order = nest.spatial;
        order.pop_back();
        order.insert(order.end(), nest.reduce.begin(), nest.reduce.end());
        auto parts = s_.split_any(nest.unit, {infer, lanes});
        order.push_back(parts[0]);
        order.push_back(parts[1]);
        s_.reorder(order);
        s_.vectorize(parts[1]);
      });
  }

  void keep_in_registers(const BlockRef& ref, const LoopRef& tile, const LoopRef& first_reduce,
                         const std::vector<LoopRef>& inner, const LoopRef& lanes_loop) {
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

  // Rows of equal height: 128 rows in tiles of at most 12 are 11 tiles of 12, the last one short
  // by 4.
  static std::int64_t balanced(std::int64_t extent, std::int64_t most) {
    std::int64_t tiles = (extent + most - 1) / most;
    return (extent + tiles - 1) / tiles;
  }

  // The innermost spatial loop, other than the lanes', that some vector load does not depend on.
  LoopRef reuse_loop(const BlockNode& block, const Nest& nest) const {
    for (std::size_t k = nest.spatial.size(); k-- > 0;) {
      const LoopRef& loop = nest.spatial[k];
      if (loop == nest.unit || trip_of(nest, loop) < 2) continue;
      for (const auto& it : block.iters) {
        if (it.binding.get() != loop.var.get()) continue;
        for (const auto& read : reads_of(block))
          if (!is_output(block, read.buffer) &&
              step_of(read.indices, nest.unit_iter) == Step::unit &&
              step_of(read.indices, it.var) == Step::none)
            return loop;
      }
    }
    return {};
  }

  // s[i] = sum over r of X[i, r]: r splits into lanes, each with a partial result of its own.
  void partial_lanes(const BlockRef& ref, const BlockNode& block, const BlockInfo& info,
                     const Nest& nest) {
    if (info.reducer.kind != ReducerClass::reorder || nest.reduce.empty()) return;
    if (info.reducer.reassociates && s_.options().strict) return;
    LoopRef along = nest.reduce.back();
    bool unit = false;
    for (const auto& it : block.iters)
      if (it.binding.get() == along.var.get())
        for (const auto& read : reads_of(block))
          unit |= !is_output(block, read.buffer) && step_of(read.indices, it.var) == Step::unit;
    BodyCost cost = body_cost(block);
    const std::int64_t lanes = target_.lanes(cost.widest), trips = trip_of(nest, along);
    std::int64_t width = lanes * 4;
    while (width > lanes && width * 2 > trips) width /= 2;
    if (!unit || width > trips) return;
    attempt([&] {
      auto parts = s_.split_any(along, {infer, width});
      BlockRef partial = s_.rfactor(parts[1]);
      auto loops = s_.loops(partial);
      LoopRef lane_loop;
      std::vector<LoopRef> spatial, reduce;
      BlockSite at = site(partial);
      for (const auto& f : at.loops) {
        if (feeds(*f, *at.block, IterKind::reduce))
          reduce.push_back(LoopRef(f->var));
        else
          spatial.push_back(LoopRef(f->var));
      }
      lane_loop = lane_loop_of(at, width);
      std::vector<LoopRef> order;
      for (const auto& l : spatial)
        if (!(l == lane_loop)) order.push_back(l);
      order.insert(order.end(), reduce.begin(), reduce.end());
      order.push_back(lane_loop);
      s_.reorder(order);
      auto final_loops = s_.loops(ref);
      if (!nest.spatial.empty()) s_.compute_at(partial, nest.spatial.back());
      finish_partial(partial);
    });
  }

  // The loop of the new dimension: the innermost one with that extent that feeds a spatial
  // iterator.
  static LoopRef lane_loop_of(const BlockSite& at, std::int64_t width) {
    LoopRef found;
    for (const auto& f : at.loops)
      if (feeds(*f, *at.block, IterKind::spatial) && is_const(f->extent, width))
        found = LoopRef(f->var);
    return found;
  }

  void finish_partial(const BlockRef& partial) {
    BlockSite at = site(partial);
    LoopRef first_reduce;
    for (const auto& f : at.loops)
      if (!first_reduce.var.get() && feeds(*f, *at.block, IterKind::reduce))
        first_reduce = LoopRef(f->var);
    if (first_reduce.var.get()) {
      BlockRef init = s_.decompose_reduction(partial, first_reduce);
      s_.vectorize(s_.loops(init).back());
    }
    s_.vectorize(s_.loops(partial).back());
  }
};

}  // namespace detail
}  // namespace lathe

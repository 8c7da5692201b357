#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// What takes a finished tile out of the registers.
class FinishTiles : NestSteps {
 public:
  using NestSteps::NestSteps;

  /// The only reader of a block's result, if it reads element by element and nobody else may, and
  /// waits for a place.
  BlockRef only_user(const BlockRef& ref) const {
    const auto users = consumers(s_.program()->body, ref.tag);
    const bool one = users.size() == 1 && !kept(users) && classify(*users[0].block).is_complete() &&
                     is_private(s_.program()->body, writes_of(*site(ref).block)[0].buffer) &&
                     has_bare_loops(users[0], site(ref));
    return one ? BlockRef(users[0].block->tag) : BlockRef();
  }

  /// A reader computes, in vectors, what it needs of a tile that lies in memory.
  void move_reader(const BlockRef& user, const LoopRef& tile) {
    const int bytes = body_cost(*site(user).block).widest;
    attempt([&] {
      s_.reverse_compute_at(user, tile);
      vectorize_last(user, target_.lanes(bytes));
    });
  }

  /// What a tile computes stays in registers for the whole reduction: `inner` loops below `around`
  /// are written out, in its init and where it leaves them too.
  void keep_in_registers(const BlockRef& ref, const LoopRef& around, const LoopRef& first_reduce,
                         const Vec<LoopRef>& inner, const LoopRef& lanes) {
    const BlockRef out = run(ref, around);
    const BlockRef init = s_.decompose_reduction(ref, first_reduce);
    s_.vectorize(lanes);
    std::int64_t copies = 1;
    for (const auto& loop : inner) {
      copies *= trip_of(loop);
      s_.unroll(loop);
    }
    for (const auto& block : {out, init}) write_out(block, around, copies);
  }

  /// The only consumer, if it reads element by element and is cheap; else a copy to the output. A
  /// consumer with math in it reads a tile in memory, row by row: unrolled over all registers its
  /// code would take LLVM longer than the whole product.
  BlockRef run(const BlockRef& ref, const LoopRef& tile) {
    const BlockRef user = only_user(ref);
    const bool one = user.tag.get() != nullptr;
    const bool cheap = one && body_cost(*site(user).block).math == 0;
    const bool fused = cheap && attempt([&] {
                         s_.reverse_compute_at(user, tile);
                         for (const auto& write : writes_of(*site(ref).block))
                           s_.set_scope(write.buffer->name, Scope::reg);
                       });
    if (fused) {
      turn(user);
      return user;
    }
    const BlockRef out = private_copy(ref);
    s_.reverse_compute_at(out, tile);
    if (one && !cheap)
      attempt([&] {
        s_.reverse_compute_at(user, tile);
        turn(user);
        s_.vectorize(s_.loops(user).back());
      });
    return out;
  }

 private:
  // But for those around the other block: what has been placed has others' or marked ones.
  static bool has_bare_loops(const BlockSite& user, const BlockSite& other) {
    return std::all_of(user.loops.begin(), user.loops.end(), [&](const ForRef& loop) {
      return below(other.loops, loop->var) ||
             (loop->loop_kind == ForKind::serial && block_tags(loop->body).size() == 1);
    });
  }

  // Of a reader that gives each place a few results, the loop over places is put inside: lanes lie
  // along it. Where those of the tile lie along the results, a reader has whole vectors of them.
  void turn(const BlockRef& user) {
    const DefaultNest nest = nest_of(site(user));
    if (nest.spatial.size() < 2 || nest.writes.size() != 1) return;
    const LoopRef last = nest.spatial.back(), places = nest.spatial[nest.spatial.size() - 2];
    const std::int64_t results = trip_of(last),
                       lanes = target_.lanes(body_cost(*site(user).block).widest);
    if (results > 1 && results <= std::min(kMostChannels, lanes / 2) && trip_of(places) >= lanes &&
        flat_stride(nest.writes[0], last.var) == std::int64_t{1} &&
        flat_stride(nest.writes[0], places.var) == results)
      attempt([&] { s_.reorder({last, places}), s_.unroll(last); });
  }

  std::int64_t trip_of(const LoopRef& loop) const {
    return trip(*find_loop(s_.program()->body, loop.var).loop);
  }
  bool is_serial(const LoopRef& loop) const {
    return find_loop(s_.program()->body, loop.var).loop->loop_kind == ForKind::serial;
  }
  // Inside of `around`; a reader may have loops of its own, which stay.
  void write_out(const BlockRef& block, const LoopRef& around, std::int64_t most) {
    const auto loops = s_.loops(block);
    s_.vectorize(loops.back());
    for (std::size_t k = loops.size() - 1; k-- > 0 && !(loops[k] == around);) {
      most /= std::max<std::int64_t>(trip_of(loops[k]), 1);
      if (most < 1) return;
      if (trip_of(loops[k]) > 1 && is_serial(loops[k])) s_.unroll(loops[k]);
    }
  }

  // What is stored at every second place is a box by the block's own iterators.
  BlockRef private_copy(const BlockRef& ref) {
    const AccessSite write = writes_of(*site(ref).block)[0];
    if (is_plain(write)) return s_.cache_write(ref, Scope::reg);
    const BlockRef out = s_.reindex(ref, write.buffer->name);
    s_.set_scope(writes_of(*site(ref).block)[0].buffer->name, Scope::reg);
    return out;
  }
};

}  // namespace detail
}  // namespace lathe

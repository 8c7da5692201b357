#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Which producers vanish into their consumers, and which move into their row loops.
class PlaceProducers : RowBlocks {
 public:
  using RowBlocks::RowBlocks;

  void run() {
    inline_producers();
    ShareWindows(job_).run();
    HoistInvariants(job_).run();
    NarrowStages(job_).run();
    JoinChannels(job_).run();
    lay_out_rows();
    fuse_rows();
  }

 private:
  // How often an instance of a producer may be computed where it moves, at most: rows of a window.
  static constexpr double kRepeats = 8;

  // Reading a producer's expression in place of its buffer saves a store and a load; it pays where
  // little is repeated.
  void inline_producers() {
    for (const auto& block : s_.blocks()) {
      BlockSite at = site(block);
      if (!at.block || kept(block) || !classify(*at.block).is_complete()) continue;
      BodyCost cost = body_cost(*at.block);
      auto users = consumers(s_.program()->body, block.tag);
      if (users.empty() || kept(users)) continue;
      int reads = 0;
      bool same_volume = true;
      for (const auto& user : users) {
        reads += reads_from(*user.block, *at.block);
        same_volume = same_volume && volume(user.loops) <= volume(at.loops) * 1.01;
      }
      bool once = reads == 1 && same_volume;
      bool trivial = cost.math == 0 && cost.ops <= 4 && cost.loads <= 1;
      bool cheap = cost.math == 0 && cost.ops * reads <= 12 && cost.loads <= 2 && same_volume;
      if (once || trivial || cheap) attempt([&] { s_.compute_inline(block); });
    }
  }

  static int reads_from(const BlockNode& user, const BlockNode& producer) {
    int count = 0;
    for (const auto& read : reads_of(user))
      for (const auto& write : writes_of(producer)) count += read.buffer == write.buffer;
    return count;
  }

  // Rows of products are walked in the order of their operands, and in blocks where a cache ends.
  void lay_out_rows() {
    const auto blocks = s_.blocks();
    for (std::size_t k = blocks.size(); k-- > 0;) {
      auto users = consumers(s_.program()->body, blocks[k].tag);
      if (users.empty() || kept(blocks[k]) || kept(users)) continue;
      if (const Vec<LoopRef> order = by_axes_of_operand(site(blocks[k]), users); !order.empty()) {
        attempt([&] { s_.reorder(order); });
        users = consumers(s_.program()->body, blocks[k].tag);
      }
      if (const RowBlock block = block_of(site(blocks[k]), users); block.rows > 0)
        attempt([&] { s_.split_any(block.loop, {infer, block.rows}); });
    }
  }

  // A producer whose axes are read only at the consumer's outermost loops moves there: a row, or a
  // matrix of several, stays in the cache.
  void fuse_rows() {
    const auto blocks = s_.blocks();
    for (std::size_t k = blocks.size(); k-- > 0;) {
      const auto users = consumers(s_.program()->body, blocks[k].tag);
      if (users.empty() || kept(blocks[k]) || kept(users)) continue;
      const Vec<ForRef> places = places_of(site(blocks[k]), users);
      for (std::size_t p = places.size(); p-- > 0;)
        if (move_unless_repeated(blocks[k], LoopRef(places[p]->var))) break;
    }
  }

  // From the outermost one on.
  Vec<ForRef> places_of(const BlockSite& producer, const Vec<BlockSite>& users) const {
    Vec<ForRef> places;
    double tasks = 1;
    Slices slices(*producer.block, users);
    const Vec<ForRef>& path = users.back().loops;
    for (std::size_t depth = 0; depth < path.size(); ++depth) {
      if (trip(*path[depth]) == 1) continue;
      const Slice slice = slices.at(depth);
      if (slice == Slice::none) break;
      if (slice == Slice::row && (reuses_along_rows(*producer.block, slices.axis()) ||
                                  shares_group(*producer.block, slices.axis())))
        break;
      if (std::any_of(users.begin(), users.end(), [&](const BlockSite& user) {
            return runs_along(user, path[depth]) ||
                   (slice == Slice::row && wants_rows_together(user, depth));
          }))
        break;
      if (slice == Slice::row) slices.next_axis();
      tasks *= static_cast<double>(trip(*path[depth]));
      if (fills_rows(producer, path, depth)) places.push_back(path[depth]);
    }
    // Threads without work would find some in a nest of its own.
    return tasks < target_.cores ? Vec<ForRef>() : places;
  }

  // False where it stays: a row that needs more than its own part would have that computed again
  // for each row.
  bool move_unless_repeated(const BlockRef& block, const LoopRef& row) {
    const Schedule before = s_;
    const double instances = volume(site(block).loops);
    if (!attempt([&] { s_.compute_at(block, row); })) return false;
    if (volume(site(block).loops) <= kRepeats * instances) return true;
    s_ = before;
    return false;
  }

  // Whether rows are long enough to be computed one by one. Short ones wait for their own
  // reductions, each step of a row for the one before, where several rows at a time don't; that is
  // worth a round through the second cache. Rows beside nests of their own, Zen 5: softmax 0.5 at
  // 10 columns, 0.9 at 64, 1 at 256, 1.2 at 1024, and 1.16 for 16384 rows of 128; variances 0.7 at
  // 30, unit rows 1.2 at 128.
  bool fills_rows(const BlockSite& producer, const Vec<ForRef>& path, std::size_t depth) const {
    const double all = volume(producer.loops), bytes = body_cost(*producer.block).widest;
    double rows = 1;
    for (std::size_t k = 0; k <= depth; ++k) rows *= static_cast<double>(trip(*path[k]));
    const double vectors = all / rows * bytes / target_.vector_bytes;
    const bool simple = depth == 0 && !producer.block->reducer;
    if (!reduces(path[depth]->body)) return simple || vectors >= 4;
    return vectors >= (all * bytes <= static_cast<double>(target_.l2_bytes) ? 32 : 8);
  }
  static bool reduces(const Stmt& row) {
    bool found = false;
    each_statement(row, [&](const Stmt& s) {
      const auto* block = s.as<BlockNode>();
      found = found || (block && block->reducer);
    });
    return found;
  }

  // Whether lanes will run along the row: the result does, and no operand jumps along it that lies
  // along another loop.
  static bool runs_along(const BlockSite& user, const ForRef& row) {
    VarRef along;
    for (const auto& it : user.block->iters)
      if (it.binding.get() == row->var.get()) along = it.var;
    bool written = false;
    for (const auto& write : writes_of(*user.block))
      written = written || (along && step_of(write.indices, along) == Step::unit);
    if (!written) return false;
    for (const auto& read : reads_of(*user.block))
      for (const auto& it : user.block->iters)
        if (it.var != along && !is_const(it.extent, 1) &&
            step_of(read.indices, it.var) == Step::unit &&
            step_of(read.indices, along) != Step::none)
          return false;
    return true;
  }
};

}  // namespace detail
}  // namespace lathe

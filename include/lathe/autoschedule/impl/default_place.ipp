#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Which producers vanish into their consumers, and which move into their row loops.
class PlaceProducers : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run() {
    inline_producers();
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
      if (!at.block || !classify(*at.block).is_complete()) continue;
      BodyCost cost = body_cost(*at.block);
      auto users = consumers(s_.program()->body, block.tag);
      if (users.empty()) continue;
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

  // A producer whose first axis is read only at the consumer's outermost loop moves there: a row
  // stays in the cache.
  void fuse_rows() {
    auto blocks = s_.blocks();
    for (std::size_t k = blocks.size(); k-- > 0;) {
      auto users = consumers(s_.program()->body, blocks[k].tag);
      if (users.empty() || users.back().loops.empty()) continue;
      ForRef row = users.back().loops[0];
      bool legal = trip(*row) > 1 && !reuses_along_rows(*site(blocks[k]).block);
      for (const auto& user : users)
        legal = legal && reads_row(blocks[k], user, row) && !runs_along(user, row);
      if (legal) move_unless_repeated(blocks[k], LoopRef(row->var));
    }
  }

  // A row that needs more than its own part would have that computed again for each row.
  void move_unless_repeated(const BlockRef& block, const LoopRef& row) {
    const Schedule before = s_;
    const double instances = volume(site(block).loops);
    if (attempt([&] { s_.compute_at(block, row); }) &&
        volume(site(block).loops) > kRepeats * instances)
      s_ = before;
  }

  // A matrix product: an operand that the first axis does not index is read again for every row, so
  // that rows want to be computed several at a time.
  static bool reuses_along_rows(const BlockNode& block) {
    if (!block.reducer || block.iters.size() < 3) return false;
    for (const auto& read : reads_of(block)) {
      bool indexed = false, reduced = false;
      for (const auto& index : read.indices) {
        indexed = indexed || uses_var(index, block.iters[0].var);
        for (const auto& it : block.iters)
          reduced = reduced || (it.kind == IterKind::reduce && uses_var(index, it.var));
      }
      if (reduced && !indexed) return true;
    }
    return false;
  }

  // Whether lanes will run along the row: the result does, and no operand lies along another loop.
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
        if (it.var != along && step_of(read.indices, it.var) == Step::unit) return false;
    return true;
  }

  bool reads_row(const BlockRef& producer, const BlockSite& user, const ForRef& row) const {
    if (user.loops.empty() || user.loops[0]->var != row->var) return false;
    auto written = writes_of(*site(producer).block);
    for (const auto& read : reads_of(*user.block)) {
      bool ours = false;
      for (const auto& w : written) ours |= w.buffer == read.buffer;
      if (!ours) continue;
      if (read.indices.empty()) return false;
      const auto* index = read.indices[0].as<VarNode>();
      if (!index) return false;
      for (const auto& it : user.block->iters)
        if (it.var.get() == index && it.binding.get() != row->var.get()) return false;
    }
    return true;
  }
};

}  // namespace detail
}  // namespace lathe

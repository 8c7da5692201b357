#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// One nest after the other, by the kind of its block.
class TileNests : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run() {
    Vec<BlockRef> blocks;
    for (const auto& block : s_.blocks())
      if (!kept(block)) blocks.push_back(block);
    std::size_t nodes = 0;
    for (const auto& block : blocks) nodes += nodes_of(block, kUnrolledNodes);
    crowded_ = nodes > kDefaultNodes;
    std::size_t taken = 0;
    for (const auto& block : blocks) {
      const BlockSite at = site(block);
      if (!at.block) continue;
      if (crowded_) taken += nodes_of(block, kVectorNodes);
      if (taken > kDefaultNodes) return;
      schedule_nest(block);
    }
  }

 private:
  bool crowded_ = false;

  // Functions stand in a vector and its tail.
  std::size_t nodes_of(const BlockRef& block, std::size_t copies) const {
    const BlockNode& b = *site(block).block;
    return copies * node_count(b.body) + 2 * expanded_nodes(b);
  }

  void schedule_nest(const BlockRef& block) {
    ResolveChoices(job_).run(block);
    SplitComposites(job_).run(block);
    const BlockSite at = site(block);
    DefaultNest nest = nest_of(at);
    if (nest.all.empty()) return;
    BlockInfo info = classify(*at.block);
    if (info.is_complete())
      with_borders(block, nest, [&] { tile_elementwise(block); });
    else if (info.is_reduction())
      schedule_reduction(block, nest);
  }

  void schedule_reduction(const BlockRef& block, const DefaultNest& nest) {
    const Vec<BlockRef> sums = SplitOffsets(job_).run(block);
    tile_parts(block, sums.empty() ? nest : nest_of(site(block)));
    schedule_made(sums);
  }

  void tile_parts(const BlockRef& block, const DefaultNest& nest) {
    if (const BlockRef parts = ShareTerms(job_).run(block, nest); parts.tag.get()) {
      tile_reduction(parts, nest_of(site(parts)));
      tile_reduction(block, nest_of(site(block)));
    } else {
      tile_reduction(block, nest);
    }
  }

  void tile_reduction(const BlockRef& block, const DefaultNest& nest) {
    TileReduction tile(job_);
    with_borders(block, nest, [&] {
      const BlockSite at = site(block);
      tile.run(block, *at.block, classify(*at.block), nest_of(at));
    });
    schedule_made(tile.made);
  }
  // Unless they went into others.
  void schedule_made(const Vec<BlockRef>& blocks) {
    for (const auto& made : blocks)
      if (site(made).block) schedule_nest(made);
  }

  template <class F>
  void with_borders(const BlockRef& block, const DefaultNest& nest, const F& tile) {
    const bool shared = shares_rows(block);
    const Vec<BlockRef> copies = PadReads(job_).run(block, nest);
    if (nest.reduce.size() > 0) convert(copies, nest_of(site(block)));
    tile();
    for (const auto& copy : copies) {
      move_near(copy, block, shared);
      SplitComposites(job_).run(copy);
      tile_elementwise(copy);
    }
  }

  // Windows read each number of a copy again and again.
  void convert(const Vec<BlockRef>& copies, const DefaultNest& user) {
    for (const auto& copy : copies) {
      const Buffer to = writes_of(*site(copy).block)[0].buffer;
      if (const DType wide = user.type_read(to); wide != to->dtype) s_.change_type(copy, wide);
    }
  }

  void tile_elementwise(const BlockRef& block) {
    const BlockSite at = site(block);
    const DefaultNest nest = nest_of(at);
    if (!nest.all.empty())
      TileElementwise(job_).run(*at.block, nest, at.loops.size() == 1, crowded_);
  }

  // An image of a batch is copied right before it is read.
  void move_near(const BlockRef& copy, const BlockRef& user, bool shared) {
    const Buffer to = writes_of(*site(copy).block)[0].buffer;
    const BlockSite at = site(user);
    for (const auto& read : over_loops(reads_of(*at.block), *at.block, facts_on(at.path)))
      if (read.buffer == to)
        if (const LoopRef place = own_matrix(user, read, shared); place.var.get())
          attempt([&] { s_.compute_at(copy, place); });
  }
};

}  // namespace detail
}  // namespace lathe

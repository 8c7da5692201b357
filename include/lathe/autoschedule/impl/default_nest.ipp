#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// What nests may grow to in lowered nodes, all together: LLVM takes half a minute for some times
// as many. Programs of hundreds of stages go without copies of vectors, and then without tiles.
inline constexpr std::size_t kDefaultNodes = 50000;
// Lowered nodes for each node of an elementwise block: vectors, four of them in flight, their
// tails.
inline constexpr std::size_t kVectorNodes = 12, kUnrolledNodes = 48;

// The loops that hold one block alone.
struct DefaultNest {
  Vec<LoopRef> spatial, reduce;  ///< loops that hold only this block
  Vec<ForRef> all;               ///< the same, as they stand
  VarRef unit_iter;              ///< the iterator along which the output has stride 1
  LoopRef unit;                  ///< its loop; empty if it is none of these
};

// What the tiling of one nest needs to know of it.
class NestSteps : protected DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

 protected:
  DefaultNest nest_of(const BlockSite& at) const {
    DefaultNest nest;
    for (const auto& f : at.loops) {
      if (block_tags(f->body).size() != 1 || f->loop_kind != ForKind::serial) continue;
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

  static std::int64_t trip_of(const DefaultNest& nest, const LoopRef& loop) {
    for (const auto& f : nest.all)
      if (f->var == loop.var) return trip(*f);
    return 1;
  }
  static bool has_const_trip(const DefaultNest& nest, const LoopRef& loop) {
    for (const auto& f : nest.all)
      if (f->var == loop.var) return as_const_int(f->extent) != nullptr;
    return false;
  }

  static Vec<LoopRef> others(const DefaultNest& nest) {
    Vec<LoopRef> out;
    for (const auto& l : nest.spatial)
      if (!(l == nest.unit)) out.push_back(l);
    return out;
  }

  static bool is_output(const BlockNode& block, const Buffer& buffer) {
    for (const auto& w : writes_of(block))
      if (w.buffer == buffer) return true;
    return false;
  }

  // Rows of equal height: 128 rows in tiles of at most 12 are 11 tiles of 12, the last one short
  // by 4.
  static std::int64_t balanced(std::int64_t extent, std::int64_t most) {
    const std::int64_t count = (extent + most - 1) / most;
    return (extent + count - 1) / count;
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/schedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// One nest after the other, by the kind of its block.
class TileNests : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run() {
    for (const auto& block : s_.blocks()) schedule_nest(block);
  }

 private:
  void schedule_nest(const BlockRef& block) {
    BlockSite at = site(block);
    if (!at.block) return;
    DefaultNest nest = nest_of(at);
    if (nest.all.empty()) return;
    BlockInfo info = classify(*at.block);
    if (info.is_complete())
      TileElementwise(s_, target_).run(*at.block, nest, at.loops.size() == 1);
    else if (info.is_reduction())
      TileReduction(s_, target_).run(block, *at.block, info, nest);
  }
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <algorithm>
#include <lathe/analysis/access.hpp>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Which outermost loops are worth more than one thread.
class RunParallel : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run() { parallelize(); }

 private:
  // Of statements without blocks: what they access.
  double bare_work(const ForNode& loop) const {
    const LoopSite site = find_loop(s_.program()->body, loop.var);
    double work = 0;
    for (const auto& access : accesses_below(site)) work += volume(access.loops);
    return work;
  }
  double work_below(const ForNode& loop) const {
    if (block_tags(loop.body).empty()) return bare_work(loop);
    double work = 0;
    for (const auto& b : blocks_below(loop.body))
      work += (body_cost(*b.block).ops + body_cost(*b.block).loads) * volume(b.loops);
    return work * static_cast<double>(trip(loop));
  }

  void parallelize() {
    for (const auto& loop : top_loops(s_.program())) {
      if (job_.kept.holds(*loop) || work_below(*loop) < kParallelWork) continue;
      parallelize(loop);
    }
  }

  // The outermost loop of more than one iteration, fused with the next one while it alone gives too
  // few tasks.
  void parallelize(const ForRef& top) {
    Vec<ForRef> chain{top};
    while (trip(*chain.back()) == 1 && only_loop_in(*chain.back()))
      chain.back() = ForRef(only_loop_in(*chain.back()));
    double tasks = static_cast<double>(trip(*chain.back()));
    while (tasks < kTasksPerCore * target_.cores && chain.size() < 4) {
      const auto* next = chain.back()->body.as<ForNode>();
      if (!next || next->loop_kind != ForKind::serial) break;
      chain.push_back(ForRef(next));
      tasks *= static_cast<double>(trip(*next));
    }
    if (chain[0]->attributes.find<PartitionAttr>() && beside_borders(*chain[0])) return;
    for (; !chain.empty(); chain.pop_back()) {
      if (!may_share(*chain.back())) continue;
      bool done = attempt([&] {
        Vec<LoopRef> loops;
        for (const auto& f : chain) {
          loops.push_back(LoopRef(f->var));
          // Threads with work save more than borders apart.
          if (f->attributes.find<PartitionAttr>()) s_.partition(loops.back(), Partition::automatic);
        }
        s_.parallel(loops.size() == 1 ? loops[0] : s_.fuse(loops));
      });
      if (done) return;
    }
  }

  // Not what a reduction adds up, nor vectors side by side, which are too few to share.
  static bool may_share(const ForNode& loop) {
    const auto blocks = blocks_below(loop.body);
    return !loop.attributes.find<UnrollAttr>() &&
           std::none_of(blocks.begin(), blocks.end(), [&](const BlockSite& at) {
             return feeds(loop, *at.block, IterKind::reduce);
           });
  }

  // Threads beside borders that run apart: a part of the loop for each task (where that is one,
  // none is needed), or another loop of the nest, around it.
  bool beside_borders(const ForNode& loop) {
    if (const std::int64_t tasks = tasks_of(loop); tasks > 0)
      return tasks == 1 || attempt([&] { split_tasks(LoopRef(loop.var), tasks); });
    Vec<LoopRef> order;
    for (const ForNode* f = &loop; f && f->loop_kind == ForKind::serial;
         f = f->body.as<ForNode>()) {
      if (!f->attributes.find<PartitionAttr>() && trip(*f) >= std::max(target_.cores, 2)) {
        order.insert_at(0, LoopRef(f->var));
        return attempt([&] { s_.reorder(order), s_.parallel(order[0]); });
      }
      order.push_back(LoopRef(f->var));
    }
    return false;
  }
  // 0: too few iterations beside the borders.
  std::int64_t tasks_of(const ForNode& loop) const {
    constexpr std::int64_t kBesideBorders = 4;
    return tasks_in(trip(loop), kBesideBorders);
  }
  void split_tasks(const LoopRef& loop, std::int64_t tasks) {
    s_.partition(loop, Partition::automatic);
    const auto parts = s_.split_any(loop, {tasks, infer});
    s_.partition(parts[1], Partition::always);
    s_.parallel(parts[0]);
  }
};

}  // namespace detail
}  // namespace lathe

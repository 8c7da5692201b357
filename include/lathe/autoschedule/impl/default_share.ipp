#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Terms of a reduction with too few results for all threads: each takes a part of them.
class ShareTerms : NestSteps {
 public:
  using NestSteps::NestSteps;

  // The block of the parts' results, which `ref` combines; none where threads have other work, or
  // too little.
  BlockRef run(const BlockRef& ref, const DefaultNest& nest) {
    BlockRef partial;
    if (!wants_parts(ref, nest)) return partial;
    for (const auto& loop : nest.reduce) {
      const std::int64_t parts = tasks_in(trip_of(nest, loop));
      if (parts == 0 || !has_const_trip(nest, loop)) continue;
      attempt([&] { partial = shared(nest, loop, parts); });
      break;
    }
    return partial;
  }

 private:
  // Of the least work that is worth a thread: what is added is a second nest, and a wait for the
  // slowest.
  static constexpr double kWorth = 2;

  bool wants_parts(const BlockRef& ref, const DefaultNest& nest) const {
    const BlockSite at = site(ref);
    if (target_.cores < 2 || nest.reduce.empty() || at.loops.size() != nest.all.size())
      return false;
    const BlockInfo info = classify(*at.block);
    if (info.reducer.kind != ReducerClass::reorder) return false;
    if (info.reducer.reassociates && s_.options().strict) return false;
    const BodyCost body = body_cost(*at.block);
    if ((body.ops + body.loads) * volume(nest.all) < kWorth * kParallelWork) return false;
    return tasks_of(nest, body) < target_.cores;
  }

  // The parts become the outermost loop of their results.
  BlockRef shared(const DefaultNest& nest, const LoopRef& loop, std::int64_t parts) {
    const BlockRef partial = s_.rfactor(s_.split_any(loop, {parts, infer})[0]);
    const std::vector<LoopRef> loops = s_.loops(partial);
    std::size_t at = 0;
    while (!(nest.all[at]->var == loop.var)) ++at;
    Vec<LoopRef> order{loops[at]};
    for (std::size_t k = 0; k < at; ++k) order.push_back(loops[k]);
    if (at > 0) s_.reorder(order);
    return partial;
  }

  // Rows of a few vectors are one task.
  double tasks_of(const DefaultNest& nest, const BodyCost& body) const {
    double tasks = 1;
    for (const auto& loop : nest.spatial) {
      double trips = static_cast<double>(trip_of(nest, loop));
      if (loop == nest.unit) trips /= 4.0 * static_cast<double>(target_.lanes(body.widest));
      tasks *= std::max(trips, 1.0);
    }
    return tasks;
  }
};

}  // namespace detail
}  // namespace lathe

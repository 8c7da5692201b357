#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/schedule/core/records.hpp>

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

// Windows that overlap along the loop that memory lies along: sums and extremes over boxes have
// partial results of columns, which neighbours share.
class ShareWindows : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run() {
    for (const auto& block : s_.blocks()) {
      const BlockSite at = site(block);
      if (!at.block || kept(block) || !at.block->reducer || !may_share(*at.block)) continue;
      const Schedule before = s_;
      if (!shares(block)) s_ = before;
    }
  }

 private:
  // Of operations and loads. Tiles of windows keep what rows share in registers, where partial
  // results of columns are stored and loaded again. Sums and maxima of 480x640 bytes over boxes, us
  // with and without (Zen 3): 3x3 (1.3 and 1.6 times the operations) 47 and 37, 32 and 20; 4x4 (1.8
  // and more) 46 and 206, 32 and 92; 5x5 74 and 355, 38 and 170.
  static constexpr double kGain = 1.7, kFold = 2, kMoved = 2;

  bool may_share(const BlockNode& block) const {
    const BlockInfo info = classify(block);
    const auto terms = std::count_if(block.iters.begin(), block.iters.end(),
                                     [](const IterVar& it) { return it.kind == IterKind::reduce; });
    return terms > 1 && info.is_reduction() && info.reducer.kind == ReducerClass::reorder &&
           !(info.reducer.reassociates && s_.options().strict);
  }

  static bool slides(const DefaultNest& nest, const LoopRef& term) {
    return std::any_of(nest.reads.begin(), nest.reads.end(), [&](const AccessSite& read) {
      return std::any_of(read.indices.begin(), read.indices.end(), [&](const AnyExpr& index) {
        return uses_var(index, nest.unit.var) && uses_var(index, term.var);
      });
    });
  }

  bool shares(const BlockRef& block) {
    if (!s_.check(primitive_resolve_selects(), {block})) s_.resolve_selects(block);
    const DefaultNest nest = nest_of(site(block));
    const double each = operations(block), boxes = each * volume(nest.all);
    for (std::size_t k = nest.reduce.size(); k-- > 0;) {
      if (!slides(nest, nest.reduce[k]) || s_.check(primitive_share_window(), {nest.reduce[k]}))
        continue;
      const BlockRef places = s_.share_window(nest.reduce[k]);
      double results = 1;
      for (const auto& loop : nest.spatial) results *= static_cast<double>(trip_of(nest, loop));
      return boxes > kGain * (each * volume(site(places).loops) +
                              kFold * volume(site(block).loops) + kMoved * results);
    }
    return false;
  }

  double operations(const BlockRef& block) const {
    const BlockNode& b = *site(block).block;
    const BodyCost body = body_cost(b);
    return body.ops - Conditions(b).ops + body.loads;
  }
};

}  // namespace detail
}  // namespace lathe

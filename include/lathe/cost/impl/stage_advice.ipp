#pragma once

#include <algorithm>
#include <lathe/cost/stage_model.hpp>
#include <lathe/cost/step.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// What may help a stage: each rule looks at the resource that limits it and names the loops and
// buffers of the program, and the steps that change them.
class StageAdvice {
 public:
  StageAdvice(const StageModel& model, const StageCost& cost, const Machine& machine)
      : model_(model), cost_(cost), machine_(machine) {}

  std::vector<std::string> all() && {
    constexpr double kFew = 64;  // points of a stage that is not worth a step
    if (model_.points < kFew) return {};
    if (model_.lanes <= 1 && !has_lanes_of_its_own()) vectorize();
    if (cost_.limit() == Resource::latency) more_sums();
    if (cost_.limit() == Resource::l1) apart();
    for (int level = 2; level >= 0; --level) again(level);
    if (model_.threads < machine_.cores) parallel();
    if (out_.empty()) at_its_limit();
    return std::move(out_);
  }

 private:
  const StageLoop& loop(int k) const { return model_.loops[static_cast<std::size_t>(k)]; }
  std::string name(int k) const { return cat("'", loop(k).loop->var->name, "'"); }
  // An intrinsic's: its instructions have lanes.
  bool has_lanes_of_its_own() const {
    return any_statement(model_.site.block->body, [](const Stmt& s) {
      const auto* store = s.as<StoreNode>();
      return store && store->value.dtype().lanes > 1;
    });
  }

  void vectorize() {
    for (int k = static_cast<int>(model_.loops.size()); k-- > 0;) {
      if (loop(k).trip < 2) continue;
      for (const auto& access : model_.accesses) {
        if (step_of(access.site.indices, loop(k).loop->var) != Step::unit ||
            loop(k).reduces == access.site.is_write)
          continue;
        const auto lanes =
            static_cast<std::int64_t>(std::max(1.0, machine_.vector_bytes / model_.mix.widest));
        out_.push_back(
            loop(k).reduces
                ? cat("fold_lanes(", name(k), ", ", lanes, "): its elements of ",
                      access.site.buffer->name, " lie side by side, and one at a time is computed")
                : cat("vectorize(", name(k), ") after a split by ", lanes, ": ",
                      access.site.buffer->name,
                      " lies side by side along it, and one element at a time is computed"));
        return;
      }
    }
    out_.push_back(
        "no loop runs along elements that lie side by side: transform_layout of a buffer, or "
        "cache_read of an argument into another layout, gives one that can be vectorized");
  }
  void more_sums() {
    const auto wanted = static_cast<std::int64_t>(machine_.latency * machine_.fmas);
    out_.push_back(cat(static_cast<std::int64_t>(model_.sums), " sum",
                       model_.sums < 2 ? " is" : "s are",
                       " in flight, and each waits for the last: ", wanted,
                       " keep the machine busy; unroll loops that do not reduce, or "
                       "fold_lanes with more partial results"));
  }
  void apart() {
    if (model_.registers > machine_.vector_registers) {
      out_.push_back(cat(static_cast<std::int64_t>(model_.registers),
                         " vectors of results are written out, and the machine has ",
                         static_cast<std::int64_t>(machine_.vector_registers),
                         " registers: split the loops that are unrolled or vectorized smaller"));
      return;
    }
    for (const auto& access : model_.accesses)
      if (access.lane == LaneStep::apart && !access.in_registers) {
        out_.push_back(
            cat(access.site.buffer->name,
                " is touched one element at a time, as its elements lie apart along the "
                "vectorized loop: vectorize another, or cache_read it in another order"));
        return;
      }
    if (!out_.empty()) return;
    out_.push_back(
        "loads and stores of the first cache take longest: unroll loops along which an operand "
        "does not move, so that it stays in a register");
  }
  // A buffer that comes from beyond a cache more than once.
  void again(int level) {
    static constexpr std::string_view kFrom[] = {"the second cache", "the third cache", "memory"};
    const auto at = static_cast<std::size_t>(level);
    const auto limit = static_cast<Resource>(static_cast<int>(Resource::l2) + level);
    if (cost_.limit() != limit) return;
    for (const auto& access : model_.accesses)
      if (access.again[at] >= 0) {
        out_.push_back(cat(access.site.buffer->name, " comes from ", kFrom[at],
                           " anew in each iteration of ", name(access.again[at]),
                           ": split the loops inside and reorder, so that what one iteration "
                           "touches fits nearer, or cache_read it where it fits"));
        return;
      }
    for (const auto& access : model_.accesses)
      if (access.missed[at] > 0 && !access.site.is_write && !is_argument(access.site.buffer)) {
        out_.push_back(cat(access.site.buffer->name, " is written and comes back from ", kFrom[at],
                           ": compute_at its block inside a loop of this one, or compute_inline"));
        return;
      }
  }
  bool is_argument(const Buffer& buffer) const {
    const Stmt& root = model_.site.path.front();
    return !is_private(root, buffer);
  }
  void parallel() {
    constexpr double kWorthIt = 20e-6;  // what waking threads costs, twice
    if (cost_.predicted() < kWorthIt || model_.threads > 1) return;
    for (std::size_t k = 0; k < model_.loops.size(); ++k) {
      const StageLoop& l = model_.loops[k];
      if (l.reduces || l.trip < 2 || l.written_out) continue;
      if (l.loop->loop_kind != ForKind::serial) return;
      out_.push_back(cat("parallel(", name(static_cast<int>(k)),
                         "): ", static_cast<std::int64_t>(machine_.cores),
                         " cores may share it, and one works"));
      return;
    }
  }
  void at_its_limit() {
    const Resource limit = cost_.limit();
    if (limit == Resource::operations)
      out_.push_back(
          "operations of whole vectors are what limits it: fewer of them, or a narrower type");
    else if (limit != Resource::latency && limit != Resource::l1)
      out_.push_back(cat("what it moves comes once from ", to_text(limit),
                         ": a stage that is fused with it, or a narrower type, moves less"));
  }

  const StageModel& model_;
  const StageCost& cost_;
  const Machine& machine_;
  std::vector<std::string> out_;
};

LATHE_DECL std::vector<std::string> stage_advice(const StageModel& model, const StageCost& cost,
                                                 const Machine& machine) {
  return StageAdvice(model, cost, machine).all();
}

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/autoschedule/plan.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/text.hpp>
#include <utility>

namespace lathe {
namespace detail {

// A plan at work: what it asks for, and what is decided. An ordinary jit has none, and writes
// nothing down.
class PlanWork {
 public:
  explicit PlanWork(const Plan* asked = nullptr) : asked_(asked) {}

  const PlanOption* asked(std::string_view block, std::string_view what) const {
    const Decision* decision = asked_ ? asked_->find(block, what) : nullptr;
    return decision ? &decision->taken : nullptr;
  }

  // Which of the options is taken: the one that is asked for, or the nearest that goes by the same
  // name; else `best`.
  std::size_t decide(std::string_view block, std::string_view what, std::vector<PlanOption> options,
                     std::size_t best) {
    if (const PlanOption* wanted = asked(block, what)) {
      double least = kFar;
      for (std::size_t k = 0; k < options.size(); ++k)
        if (const double apart = distance(*wanted, options[k]); apart < least)
          least = apart, best = k;
    }
    const PlanOption taken = options[best];
    std::vector<PlanOption> others;
    for (auto& option : options)
      if (!same(option, taken) && std::none_of(others.begin(), others.end(),
                                               [&](const auto& o) { return same(o, option); }))
        others.push_back(std::move(option));
    note(block, what, taken, std::move(others));
    return best;
  }

  void note(std::string_view block, std::string_view what, PlanOption taken,
            std::vector<PlanOption> others) {
    forget(block, what);
    auto& all = made_.decisions;
    all.insert(all.end(), decision(block, what, std::move(taken), std::move(others)));
  }
  // The decision from which the others of its block follow.
  void note_first(std::string_view block, std::string_view what, PlanOption taken,
                  std::vector<PlanOption> others) {
    forget(block, what);
    auto& all = made_.decisions;
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const Decision& d) { return d.block == block; });
    all.insert(at, decision(block, what, std::move(taken), std::move(others)));
  }
  // Of what was compared for a way that is not gone.
  void forget(std::string_view block, std::string_view what) {
    auto& all = made_.decisions;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const Decision& d) { return d.block == block && d.what == what; }),
              all.end());
  }

  const Plan& made() const { return made_; }

  // What the plan asks for and did not get, in words; all of it: it is of another program.
  std::vector<std::string> repairs() const {
    std::vector<std::string> out;
    if (!asked_) return out;
    for (const auto& d : asked_->decisions) {
      const Decision* made = made_.find(d.block, d.what);
      if (!made)
        out.push_back(cat("plan: '", d.block, ' ', d.what, "' is not decided here"));
      else if (!same(made->taken, d.taken))
        out.push_back(cat("plan: '", d.block, ' ', d.what, "' is '", made->taken.str(), "', as '",
                          d.taken.str(), "' is not possible"));
    }
    return out;
  }

 private:
  static Decision decision(std::string_view block, std::string_view what, PlanOption taken,
                           std::vector<PlanOption> others) {
    std::stable_sort(others.begin(), others.end(),
                     [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
    return {std::string(block), std::string(what), std::move(taken), std::move(others)};
  }

  static bool same(const PlanOption& a, const PlanOption& b) {
    return a.name == b.name && a.numbers == b.numbers;
  }

  static constexpr double kFar = 1e30;
  // By factors, so that 8 is as far from 4 as from 16.
  static double distance(const PlanOption& a, const PlanOption& b) {
    if (a.name != b.name || a.numbers.size() != b.numbers.size()) return kFar;
    double apart = 0;
    for (std::size_t k = 0; k < a.numbers.size(); ++k)
      apart +=
          std::abs(std::log2((static_cast<double>(std::max<std::int64_t>(a.numbers[k], 0)) + 1) /
                             (static_cast<double>(b.numbers[k]) + 1)));
    return apart;
  }

  const Plan* asked_;
  Plan made_;
};

// The ways to compute a reduction.
enum class ReductionShape : std::uint8_t {
  fold_columns,
  fold_channels,
  partial_lanes,
  intrinsic,
  fold_tile,
  window_tile,
  streamed_terms,
  register_tile
};
inline constexpr std::string_view kReductionShapes[] = {
    "fold_columns", "fold_channels", "partial_lanes",  "intrinsic",
    "fold_tile",    "window_tile",   "streamed_terms", "register_tile"};

// Which of them is taken: by what they cost, or as a plan asks.
class ShapeChoice {
 public:
  ShapeChoice(PlanWork* plan, const BlockTag& block) : plan_(plan), block_(block) {
    if (plan) asked_ = plan->asked(block->name, "shape");
  }
  /// What is asked for can't be had: what the rules say is taken.
  void drop_asked() { asked_ = nullptr, offers_.clear(); }

  bool open(ReductionShape shape) const { return !asked_ || asks(shape); }
  bool asks(ReductionShape shape) const { return asked_ && asked_->name == name_of(shape); }
  bool wins(ReductionShape shape, double cycles, double others) const {
    return open(shape) && (asks(shape) || cycles < others);
  }
  void offer(ReductionShape shape, double cycles) {
    if (plan_) offers_.push_back({std::string(name_of(shape)), {}, cycles});
  }
  // Tiles of the others were compared for nothing. Gives true.
  bool take(ReductionShape shape) {
    if (!plan_) return true;
    PlanOption taken{std::string(name_of(shape)), {}, 0};
    std::vector<PlanOption> others;
    for (const auto& offer : offers_) {
      if (offer.name == taken.name)
        taken = offer;
      else
        others.push_back(offer), plan_->forget(block_->name, offer.name);
    }
    plan_->note_first(block_->name, "shape", std::move(taken), std::move(others));
    return true;
  }

 private:
  static std::string_view name_of(ReductionShape shape) {
    return kReductionShapes[static_cast<std::size_t>(shape)];
  }

  PlanWork* plan_;
  BlockTag block_;
  const PlanOption* asked_ = nullptr;
  std::vector<PlanOption> offers_;
};

}  // namespace detail
}  // namespace lathe

// Programs under their default plan, and under others of the same space.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/case.hpp"

namespace bench {

/// A kernel by one plan.
struct PlannedKernel {
  std::string decision;  ///< what differs from the default plan, "C register_tile"; empty: nothing
  std::string taken;     ///< what that decision takes
  double cycles = 0;     ///< predicted, of the same work for one decision; 0: no rule counts it
  Competitor kernel;
};

/// The default plan first, then others in which one decision differs: those that are predicted to
/// take the fewest cycles, and some that are drawn. Each schedule is there once.
struct PlannedProgram {
  std::vector<PlannedKernel> all;
  /// What the default plan predicts for each decision.
  std::vector<PlannedKernel> decided;
  /// Runs a kernel, and says where its result differs from the default plan's by more than
  /// rounding; empty if nowhere.
  std::function<std::string(const Competitor&)> difference;
};

struct PlanCase {
  std::string family, name;
  std::function<PlannedProgram()> make;
};

/// Programs of the suites plain and ansor, for one thread, with sizes and plans that belong to a
/// seed; none without Lathe.
std::vector<PlanCase> plan_cases(unsigned seed);

}  // namespace bench

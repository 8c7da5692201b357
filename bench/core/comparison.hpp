// Lathe beside other code that computes the same, timed only if the results agree.
#pragma once

#include "core/case.hpp"
#include "core/options.hpp"
#include "core/report.hpp"

namespace bench {

/// `all` has Lathe first and plain loops second, then other peers.
struct Comparison {
  std::string dtype;
  double flops = 0, bytes = 0;
  std::vector<Competitor> all;
  /// Runs Lathe and plain loops, and says where their results differ by more than rounding; empty
  /// if nowhere.
  std::function<std::string()> difference;
};

/// Times them in turns on one thread. Throws std::runtime_error if they do not agree.
Row compare(const Comparison& what, const Options& options);

}  // namespace bench

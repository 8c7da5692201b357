// Lathe beside other code that computes the same, timed only if the results agree.
#pragma once

#include "core/case.hpp"
#include "core/options.hpp"
#include "core/report.hpp"

namespace bench {

struct Comparison {
  std::string dtype;
  double flops = 0, bytes = 0;
  int threads = 1;
  /// How fast the type's multiply-adds can be, beside those of f32; 0: without a limit to compare
  /// to.
  double fma_share = 0;
  std::vector<Competitor> all;  ///< Lathe first, then its peers
  /// Copies, of which the fastest is the limit; each call moves copied_bytes, there and back.
  std::vector<Competitor> copies;
  double copied_bytes = 0;
  /// Runs Lathe, and says where its result differs from the right one by more than rounding; empty
  /// if nowhere.
  std::function<std::string()> difference;
};

/// Times them in turns. Throws std::runtime_error if they do not agree.
Row compare(const Comparison& what, const Options& options);

}  // namespace bench

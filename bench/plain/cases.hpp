// Programs without a schedule beside plain loops, as the suite sees them.
#pragma once

#include <string>
#include <vector>

#include "core/case.hpp"
#include "core/comparison.hpp"

namespace bench {

/// A case that is ready to run.
struct PlainRun {
  Comparison comparison;
  double jit_ms = 0;   ///< to describe and compile
  double plan_ms = 0;  ///< of which the default schedule took
};

/// A program for sizes that have been drawn; what `make` gives holds the memory of the case.
struct PlainCase {
  std::string family, name;
  std::function<PlainRun()> make;
};

/// All programs in the sizes that belong to a seed, family by family; none without Lathe.
std::vector<PlainCase> plain_cases(unsigned seed);
/// Programs that move elements of large arrays, also beside copies.
std::vector<PlainCase> move_cases(unsigned seed);
/// Programs over images, also beside those of these peers that have a function for them.
std::vector<PlainCase> image_cases(unsigned seed, const std::vector<Peer>& peers);

}  // namespace bench

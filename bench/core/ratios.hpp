// How a suite did as a whole.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// How many times as fast as another competitor Lathe was in a case.
struct Ratio {
  std::string family, name;
  double value;
};

/// Prints geometric means and the worst, of each family (whose cases follow each other) and of all.
/// Returns how many are below `even`.
int print_ratios(const std::vector<Ratio>& ratios, double even);

}  // namespace bench

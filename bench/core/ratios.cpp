#include "core/ratios.hpp"

#include <cmath>
#include <cstdio>

namespace bench {

namespace {

struct Sum {
  double log_sum = 0, least = 0;
  int count = 0, slower = 0;
  std::string slowest;

  void add(const Ratio& ratio, double even) {
    if (count++ == 0 || ratio.value < least) least = ratio.value, slowest = ratio.name;
    slower += ratio.value < even;
    log_sum += std::log(ratio.value);
  }
  void print(const std::string& name) const {
    if (count == 0) return;
    std::printf("%-17s %4d %9.3f %6d %7.3f  %s\n", name.c_str(), count, std::exp(log_sum / count),
                slower, least, slowest.c_str());
  }
};

}  // namespace

int print_ratios(const std::vector<Ratio>& ratios, double even) {
  std::printf("\n%-17s %4s %9s %6s %7s  %s\n", "family", "rows", "mean", "slower", "worst",
              "slowest");
  Sum all, family;
  for (std::size_t k = 0; k < ratios.size(); ++k) {
    all.add(ratios[k], even), family.add(ratios[k], even);
    if (k + 1 < ratios.size() && ratios[k + 1].family == ratios[k].family) continue;
    family.print(ratios[k].family);
    family = {};
  }
  all.print("all");
  return all.slower;
}

}  // namespace bench

// What the examples share: numbers to compute with, a comparison that ends the program where it
// fails, a clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

namespace example {

/// Numbers in [-1, 1), the same ones on every run.
inline std::vector<float> random_values(std::size_t n, unsigned seed = 1) {
  std::minstd_rand engine(seed);
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(engine() % 2000) / 1000.0f - 1.0f;
  return values;
}

template <class A, class B>
double max_error(const A& got, const B& wanted) {
  double largest = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(got.size()); ++k) {
    const double error = std::abs(static_cast<double>(got.data()[k]) - wanted.data()[k]);
    if (!(error <= largest)) largest = error;  // also for a NaN
  }
  return largest;
}

/// Says that two arrays agree, or ends the program.
template <class A, class B>
void expect_close(const char* what, const A& got, const B& wanted, double bound) {
  const double error = max_error(got, wanted);
  const bool close =
      static_cast<std::size_t>(got.size()) == static_cast<std::size_t>(wanted.size()) &&
      error <= bound;
  std::printf("%s: %s (max error %s %g)\n", what, close ? "agrees" : "DIFFERS",
              close ? "<=" : "above", bound);
  if (close) return;
  std::printf("  the largest error is %g\n", error);
  std::exit(1);
}

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Milliseconds of the fastest call of each function. They take turns, so that whatever else the
/// machine does meets all.
inline std::vector<double> best_ms(const std::vector<std::function<void()>>& all,
                                   double budget = 0.3) {
  std::vector<double> best(all.size(), 1e30);
  const double stop = seconds_now() + budget * static_cast<double>(all.size());
  do {
    for (std::size_t k = 0; k < all.size(); ++k) {
      for (int repeat = 0; repeat < 3; ++repeat) {  // the first call warms caches and wakes threads
        const double start = seconds_now();
        all[k]();
        best[k] = std::min(best[k], (seconds_now() - start) * 1e3);
      }
    }
  } while (seconds_now() < stop);
  return best;
}

}  // namespace example

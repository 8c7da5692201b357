#include "calc.hpp"

#include <cmath>
#include <thread>
#include <vector>

namespace peers {

namespace {

// With -ffast-math this loop is vector code.
void part(const float* __restrict x, float* __restrict y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = expf(-x[i] * x[i]) * sinf(8 * x[i]);
}

}  // namespace

void default_formula(std::span<const float> x, std::span<float> y, int threads) {
  const std::size_t count = static_cast<std::size_t>(threads);
  std::vector<std::thread> helpers;
  for (std::size_t t = 0; t < count; ++t) {
    const std::size_t begin = x.size() * t / count, end = x.size() * (t + 1) / count;
    if (t + 1 < count)
      helpers.emplace_back(part, x.data() + begin, y.data() + begin, end - begin);
    else
      part(x.data() + begin, y.data() + begin, end - begin);
  }
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace peers

#include "calc.hpp"

#include <cmath>
#include <cstddef>
#include <iterator>

namespace peers {

// With -ffast-math this loop is vector code.
void default_formula(std::span<const float> from, std::span<float> to,
                     [[maybe_unused]] int threads) {
  const float* __restrict x = from.data();
  float* __restrict y = to.data();
  const std::ptrdiff_t n = std::ssize(from);
#pragma omp parallel for simd num_threads(threads)
  for (std::ptrdiff_t i = 0; i < n; ++i) y[i] = expf(-x[i] * x[i]) * sinf(8 * x[i]);
}

}  // namespace peers

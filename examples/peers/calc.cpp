#include "calc.hpp"

#include <cmath>

namespace peers {

// With -ffast-math this loop is vector code.
void default_formula(std::span<const float> from, std::span<float> to) {
  const float* __restrict x = from.data();
  float* __restrict y = to.data();
  for (std::size_t i = 0; i < from.size(); ++i) y[i] = expf(-x[i] * x[i]) * sinf(8 * x[i]);
}

}  // namespace peers

// How the plain C++ code, the limits, and libraries without threads of their own use several cores.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench {

/// Elements of cheap work from which on a second thread pays.
constexpr std::int64_t share_elements = 16384;

/// Calls body(begin, end) with equal shares of [0, n), multiples of `grain`, on at most `threads`
/// threads.
template <class Body>
void parallel_ranges(std::int64_t n, int threads, std::int64_t grain, const Body& body) {
  const std::int64_t grains = n / grain;
  if (threads == 1 || grains < 2) return body(std::int64_t{0}, n);
  const std::int64_t share = (grains / threads + (grains % threads != 0)) * grain;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
  for (int t = 0; t < threads; ++t) {
    const std::int64_t begin = std::min(n, t * share);
    const std::int64_t end = t + 1 == threads ? n : std::min(n, begin + share);
    if (begin < end) body(begin, end);
  }
}

}  // namespace bench

// Extents of arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace bench {

/// Outermost first.
using Extents = std::vector<std::int64_t>;

inline std::int64_t elements(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace bench

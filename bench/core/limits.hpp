// What this machine can do at most, measured in the same rounds as the competitors.
#pragma once

#include "core/case.hpp"

namespace bench {

/// Multiply-adds on registers; one call does fma_flops(threads) operations.
Competitor fma_limit(int threads);
double fma_flops(int threads);

/// A plain and a streaming copy that together read and write about `bytes`; the faster one is the
/// limit.
std::vector<Competitor> copy_limits(double bytes, int threads);

}  // namespace bench

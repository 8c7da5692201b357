// What this machine can do at most, measured in the same rounds as the competitors.
#pragma once

#include "core/case.hpp"

namespace bench {

/// Multiply-adds on registers; one call does fma_flops(threads) operations.
Competitor fma_limit(int threads);
double fma_flops(int threads);

/// A plain and a streaming copy from the case's inputs, in turn, to its result, so that pages and
/// caches treat all competitors alike; one call moves copy_bytes(job). The faster one is the limit.
std::vector<Competitor> copy_limits(const Job& job);
double copy_bytes(const Job& job);
/// The same of whole f32 from one array to another, on one thread.
std::vector<Competitor> copy_limits(const void* from, void* to, std::size_t bytes);

}  // namespace bench

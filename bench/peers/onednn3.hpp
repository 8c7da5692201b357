// What the library that holds oneDNN 3 offers to the benchmark program.
#pragma once

#include "core/case.hpp"

#define BENCH_ONEDNN3_EXPORT extern "C" __attribute__((visibility("default")))

/// Makes one product, with the number of threads that this thread may use; later ones keep to it.
BENCH_ONEDNN3_EXPORT void bench_onednn3_start();
BENCH_ONEDNN3_EXPORT void bench_onednn3_products(const bench::ProductJob& job,
                                                 std::vector<bench::Competitor>& to);

// What a BLAS leaves to its caller: a second pass over C.
#include <cmath>

#include "core/case.hpp"
#include "core/parallel.hpp"

namespace bench {

std::vector<Competitor> bias_gelu_after(const std::vector<Competitor>& gemm, const Job& job);

std::vector<Competitor> bias_gelu_after(const std::vector<Competitor>& gemm, const Job& job) {
  std::vector<Competitor> all;
  const Gemm p = std::get<Gemm>(job.what.problem);
  for (const Competitor& first : gemm) {
    all.push_back({first.name, [first, p, job] {
                     first.run();
                     parallel_ranges(p.m, job.threads, 1,
                                     [&](std::int64_t begin, std::int64_t end) {
                                       const float* __restrict bias = job.in[2].data();
                                       for (std::int64_t i = begin; i < end; ++i) {
                                         float* __restrict row = job.out.data() + i * p.n;
                                         for (std::int64_t j = 0; j < p.n; ++j) {
                                           const float x = row[j] + bias[j];
                                           row[j] = 0.5f * x * (1 + erff(x * 0.70710678f));
                                         }
                                       }
                                     });
                   }});
  }
  return all;
}

}  // namespace bench

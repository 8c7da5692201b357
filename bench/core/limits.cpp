#include "core/limits.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace bench {

namespace {

constexpr std::int64_t fma_rounds = 20000;
constexpr int chains = 12;

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(lanes * sizeof(float))));

// An empty asm statement keeps a value in a register and hides it from the optimizer.
inline void keep(Lanes& value) {
#if defined(__aarch64__)
  asm volatile("" : "+w"(value));
#else
  asm volatile("" : "+v"(value));
#endif
}

void fma_loop() {
  Lanes x = Lanes{} + 0.999f, y = Lanes{} + 0.001f;
  keep(x);
  keep(y);
  Lanes a = x, b = x, c = x, d = x, e = x, f = x, g = y, h = y, i = y, j = y, k = y, l = y;
  for (std::int64_t r = 0; r < fma_rounds; ++r) {
    a = a * x + y, b = b * x + y, c = c * x + y, d = d * x + y;
    e = e * x + y, f = f * x + y, g = g * x + y, h = h * x + y;
    i = i * x + y, j = j * x + y, k = k * x + y, l = l * x + y;
    keep(a), keep(b), keep(c), keep(d), keep(e), keep(f);
    keep(g), keep(h), keep(i), keep(j), keep(k), keep(l);
  }
}

void stream_copy(float* to, const float* from, std::int64_t n) {
#ifdef __AVX__
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_stream_ps(to + i, _mm256_loadu_ps(from + i));
  for (; i < n; ++i) to[i] = from[i];
  _mm_sfence();
#else
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
#endif
}

std::int64_t copied_elements(const Job& job) {
  return static_cast<std::int64_t>(std::min(job.in[0].size(), job.out.size()));
}

// Inputs of the case's main size: each call copies from the next one, so that the limit has as much
// memory to reach as the case.
std::vector<const float*> copied_sources(const Job& job) {
  std::vector<const float*> sources;
  for (const auto& in : job.in)
    if (static_cast<std::int64_t>(in.size()) >= copied_elements(job)) sources.push_back(in.data());
  return sources;
}

template <class Copy>
Competitor copy_limit(const char* name, std::vector<const float*> sources, float* target,
                      std::int64_t n, int threads, Copy copy) {
  return {name, [=, sources = std::move(sources), turn = std::size_t{0}]() mutable {
            const float* source = sources[turn++ % sources.size()];
            parallel_ranges(n, threads, share_elements, [&](std::int64_t begin, std::int64_t end) {
              copy(target + begin, source + begin, end - begin);
            });
          }};
}

std::vector<Competitor> copies(const std::vector<const float*>& sources, float* target,
                               std::int64_t n, int threads) {
  const auto plain = [](float* to, const float* from, std::int64_t count) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  };
  return {copy_limit("limit: copy", sources, target, n, threads, plain),
          copy_limit("limit: streaming copy", sources, target, n, threads, stream_copy)};
}

}  // namespace

Competitor fma_limit(int threads) {
  return {"limit: fma", [threads] {
            parallel_ranges(threads, threads, 1, [](std::int64_t, std::int64_t) { fma_loop(); });
          }};
}

double fma_flops(int threads) { return 2.0 * lanes * chains * fma_rounds * threads; }

std::vector<Competitor> copy_limits(const Job& job) {
  return copies(copied_sources(job), job.out.data(), copied_elements(job), job.threads);
}
std::vector<Competitor> copy_limits(const void* from, void* to, std::size_t bytes) {
  return copies({static_cast<const float*>(from)}, static_cast<float*>(to),
                static_cast<std::int64_t>(bytes / sizeof(float)), 1);
}

double copy_bytes(const Job& job) {
  return 2.0 * sizeof(float) * static_cast<double>(copied_elements(job));
}

}  // namespace bench

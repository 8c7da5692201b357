// Plain loops that compute ahead what rows, heads or frames share.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plain/loops/loops.hpp"

namespace bench::BENCH_LOOPS {

void normal_groups(const float* __restrict x, const float* __restrict mean,
                   const float* __restrict variance, const float* __restrict gamma,
                   const float* __restrict beta, float* __restrict y, int n, int p, int groups) {
  const int c = 8 * groups;
  std::vector<float> means(static_cast<std::size_t>(c)), scales(means);
  float* __restrict m = means.data(), * __restrict s = scales.data();
  for (int a = 0; a < n; ++a) {
    for (int k = 0; k < c; ++k) {
      const float v = variance[a * groups + k / 8];
      m[k] = mean[a * groups + k / 8];
      s[k] = 1 / std::sqrt(v * v + 1);
    }
    for (int b = 0; b < p; ++b)
      for (int k = 0; k < c; ++k)
        y[(a * p + b) * c + k] = (x[(a * p + b) * c + k] - m[k]) * s[k] * gamma[k] + beta[k];
  }
}

void positions(const float* __restrict x, const float* __restrict f, float* __restrict y, int b,
               int t, int d) {
  std::vector<float> all(static_cast<std::size_t>(t * d));
  float* __restrict sines = all.data();
  for (int i = 0; i < t; ++i)
    for (int j = 0; j < d; ++j) sines[i * d + j] = std::sin(static_cast<float>(i) * f[j]);
  for (int a = 0; a < b; ++a)
    for (int k = 0; k < t * d; ++k) y[a * t * d + k] = x[a * t * d + k] + sines[k];
}

void turned_heads(const float* __restrict x, const float* __restrict f, float* __restrict y,
                  int heads, int t, int d) {
  const int half = d / 2;
  std::vector<float> all(static_cast<std::size_t>(t * d));
  float* __restrict cosines = all.data(), * __restrict sines = cosines + t * half;
  for (int i = 0; i < t; ++i)
    for (int j = 0; j < half; ++j) {
      cosines[i * half + j] = std::cos(static_cast<float>(i) * f[j]);
      sines[i * half + j] = std::sin(static_cast<float>(i) * f[j]);
    }
  for (int row = 0; row < heads * t; ++row) {
    const float *u = x + row * d, *cosine = cosines + row % t * half,
                *sine = sines + row % t * half;
    float* to = y + row * d;
    for (int j = 0; j < half; ++j) {
      to[j] = u[j] * cosine[j] - u[j + half] * sine[j];
      to[j + half] = u[j + half] * cosine[j] + u[j] * sine[j];
    }
  }
}

void cosines_by_formula(const float* __restrict x, float* __restrict s, int frames, int hop, int n,
                        int k) {
  const float turn = 6.2831853f / static_cast<float>(n);
  std::vector<float> all(static_cast<std::size_t>(n * k + n));
  float* __restrict cosines = all.data(), * __restrict window = cosines + n * k;
  for (int t = 0; t < n; ++t) {
    window[t] = 0.5f - 0.5f * std::cos(static_cast<float>(t) * turn);
    for (int q = 0; q < k; ++q) cosines[t * k + q] = std::cos(static_cast<float>(q * t) * turn);
  }
  for (int f = 0; f < frames; ++f) {
    float* __restrict row = s + f * k;
    for (int q = 0; q < k; ++q) row[q] = 0;
    for (int t = 0; t < n; ++t)
      for (int q = 0; q < k; ++q) row[q] += x[f * hop + t] * window[t] * cosines[t * k + q];
  }
}

void weights_by_table(const float* __restrict x, const std::int32_t* __restrict at,
                      const float* __restrict table, float* __restrict y, int m, int n) {
  std::vector<float> all(static_cast<std::size_t>(n));
  float* __restrict weights = all.data();
  for (int j = 0; j < n; ++j) weights[j] = table[std::min(std::max(at[j], 0), n - 1)];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) y[i * n + j] = x[i * n + j] * weights[j];
}

}  // namespace bench::BENCH_LOOPS

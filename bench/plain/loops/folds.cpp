// Dots, folds of rows and of columns.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plain/loops/loops.hpp"

namespace bench::BENCH_LOOPS {

template <class T>
void dot(const T* a, const T* b, T* s, int n) {
  T sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  *s = sum;
}
template void dot(const float*, const float*, float*, int);
template void dot(const double*, const double*, double*, int);

void strided_dot(const float* a, const float* b, float* s, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[2 * k] * b[k];
  *s = sum;
}

void squared_norm(const float* a, float* s, int n) { dot(a, a, s, n); }

void distance(const float* a, const float* b, float* s, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += std::abs(a[k] - b[k]);
  *s = sum;
}

void largest_magnitude(const float* a, float* s, int n) {
  float most = 0;
  for (int k = 0; k < n; ++k) most = std::max(most, std::abs(a[k] - 0.5f));
  *s = most;
}

namespace {

float sum_of(const float* x, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += x[k];
  return sum;
}

}  // namespace

void row_sums(const float* x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) y[i] = sum_of(x, n);
}

void row_maxima(const float* x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float most = x[0];
    for (int k = 1; k < n; ++k) most = std::max(most, x[k]);
    y[i] = most;
  }
}

void row_means(const float* x, float* __restrict y, int m, int n) {
  const float share = 1.0f / static_cast<float>(n);
  for (int i = 0; i < m; ++i, x += n) y[i] = sum_of(x, n) * share;
}

void row_variances(const float* x, float* __restrict y, int m, int n) {
  const float share = 1.0f / static_cast<float>(n);
  for (int i = 0; i < m; ++i, x += n) {
    const float mean = sum_of(x, n) * share;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += (x[k] - mean) * (x[k] - mean);
    y[i] = sum * share;
  }
}

void row_norms(const float* x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += x[k] * x[k];
    y[i] = std::sqrt(sum);
  }
}

void block_sums(const float* x, float* __restrict y, int b, int m, int n) {
  row_sums(x, y, b, m * n);
}

void column_sums(const float* __restrict x, float* __restrict y, int m, int n) {
  std::fill(y, y + n, 0.0f);
  for (int i = 0; i < m; ++i, x += n)
    for (int j = 0; j < n; ++j) y[j] += x[j];
}

void column_maxima(const float* __restrict x, float* __restrict y, int m, int n) {
  std::copy(x, x + n, y);
  for (int i = 0; i < m; ++i, x += n)
    for (int j = 0; j < n; ++j) y[j] = std::max(y[j], x[j]);
}

void column_variances(const float* __restrict x, float* __restrict y, int m, int n) {
  std::vector<float> sums(static_cast<std::size_t>(n));
  float* __restrict mean = sums.data();
  const float share = 1.0f / static_cast<float>(m);
  column_sums(x, mean, m, n);
  for (int j = 0; j < n; ++j) mean[j] *= share, y[j] = 0;
  for (int i = 0; i < m; ++i, x += n)
    for (int j = 0; j < n; ++j) y[j] += (x[j] - mean[j]) * (x[j] - mean[j]);
  for (int j = 0; j < n; ++j) y[j] *= share;
}

void pool_nhwc(const float* __restrict x, float* __restrict y, int n, int h, int w, int c) {
  const float share = 1.0f / static_cast<float>(h * w);
  for (int t = 0; t < n; ++t, x += h * w * c, y += c) {
    column_sums(x, y, h * w, c);
    for (int j = 0; j < c; ++j) y[j] *= share;
  }
}

void pool_nchw(const float* x, float* y, int n, int c, int h, int w) {
  row_means(x, y, n * c, h * w);
}

void channel_sums(const float* x, float* __restrict y, int n, int c, int h, int w) {
  std::fill(y, y + c, 0.0f);
  for (int t = 0; t < n; ++t)
    for (int k = 0; k < c; ++k, x += h * w) y[k] += sum_of(x, h * w);
}

void moments(const float* a, float* sum, float* squares, int n) {
  float s = 0, q = 0;
  for (int k = 0; k < n; ++k) s += a[k], q += a[k] * a[k];
  *sum = s, *squares = q;
}

void row_ranges(const float* x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float least = x[0], most = x[0];
    for (int k = 1; k < n; ++k) least = std::min(least, x[k]), most = std::max(most, x[k]);
    y[i] = most - least;
  }
}

void normal_columns(const float* __restrict x, float* __restrict y, int m, int n) {
  std::vector<float> both(2 * static_cast<std::size_t>(n));
  float* __restrict mean = both.data();
  float* __restrict scale = mean + n;
  const float share = 1.0f / static_cast<float>(m);
  column_sums(x, mean, m, n);
  for (int j = 0; j < n; ++j) mean[j] *= share;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) scale[j] += (x[i * n + j] - mean[j]) * (x[i * n + j] - mean[j]);
  for (int j = 0; j < n; ++j) scale[j] = 1 / std::sqrt(scale[j] * share + 1e-5f);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) y[i * n + j] = (x[i * n + j] - mean[j]) * scale[j];
}

}  // namespace bench::BENCH_LOOPS

// Plain loops over few channels that lie side by side, and over triangles and bands.
#include <algorithm>
#include <cmath>

#include "plain/loops/loops.hpp"

namespace bench::BENCH_LOOPS {

namespace {

template <class S, class T>
inline void sums_of_three(const T* __restrict x, S* __restrict y, int n) {
  S r = 0, g = 0, b = 0;
  for (int i = 0; i < n; ++i) r += x[3 * i], g += x[3 * i + 1], b += x[3 * i + 2];
  y[0] = r, y[1] = g, y[2] = b;
}

}  // namespace

void point_sums(const float* x, float* y, int n) { sums_of_three(x, y, n); }
void colour_sums(const u8* x, std::int32_t* y, int n) { sums_of_three(x, y, n); }

void colours_by_matrix(const float* __restrict m, const float* __restrict x, float* __restrict y,
                       int n) {
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c)
      y[3 * i + c] =
          m[3 * c] * x[3 * i] + m[3 * c + 1] * x[3 * i + 1] + m[3 * c + 2] * x[3 * i + 2];
}

void complex_matrices(const float* __restrict a, const float* __restrict b, float* __restrict c,
                      int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    float* __restrict row = c + 2 * i * n;
    for (int j = 0; j < 2 * n; ++j) row[j] = 0;
    for (int r = 0; r < k; ++r) {
      const float re = a[2 * (i * k + r)], im = a[2 * (i * k + r) + 1];
      for (int j = 0; j < n; ++j) {
        const float u = b[2 * (r * n + j)], v = b[2 * (r * n + j) + 1];
        row[2 * j] += re * u - im * v;
        row[2 * j + 1] += re * v + im * u;
      }
    }
  }
}

void blur_colours(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < 3 * w; ++j) {
      const u8* at = x + i * 3 * (w + 2) + j;
      y[i * 3 * w + j] = static_cast<u8>((at[0] + 2 * at[3] + at[6] + 2) >> 2);
    }
}

void colour_over(const u8* __restrict s, const u8* __restrict d, u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i) {
    const int a = s[4 * i + 3];
    for (int c = 0; c < 4; ++c)
      y[4 * i + c] = static_cast<u8>((s[4 * i + c] * a + d[4 * i + c] * (255 - a) + 128) >> 8);
  }
}

void unit_vectors(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) {
    const float *p = x + 3 * i, size = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    for (int c = 0; c < 3; ++c) y[3 * i + c] = p[c] / size;
  }
}

void masked_means(const float* __restrict x, const float* __restrict w, float* __restrict y, int b,
                  int t, int c) {
  for (int z = 0; z < b; ++z, y += c) {
    for (int j = 0; j < c; ++j) y[j] = 0;
    float all = 0;
    for (int p = 0; p < t; ++p) {
      const float weight = w[z * t + p];
      all += weight;
      for (int j = 0; j < c; ++j) y[j] += x[(z * t + p) * c + j] * weight;
    }
    for (int j = 0; j < c; ++j) y[j] /= all;
  }
}

void triangle_by_vector(const float* __restrict a, const float* __restrict x, float* __restrict y,
                        int n) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k <= i; ++k) sum += a[i * n + k] * x[k];
    y[i] = sum;
  }
}

void upper_triangle_by_matrix(const float* __restrict a, const float* __restrict b,
                              float* __restrict c, int n, int m) {
  for (int i = 0; i < n; ++i, c += m) {
    for (int j = 0; j < m; ++j) c[j] = 0;
    for (int r = i; r < n; ++r)
      for (int j = 0; j < m; ++j) c[j] += a[i * n + r] * b[r * m + j];
  }
}

void autocorrelation(const float* __restrict x, float* __restrict y, int lags, int n) {
  for (int t = 0; t < lags; ++t) {
    float sum = 0;
    for (int r = 0; r < n - t; ++r) sum += x[r] * x[r + t];
    y[t] = sum;
  }
}

void band_by_vector(const float* __restrict a, const float* __restrict x, float* __restrict y,
                    int n, int reach) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = std::max(i - reach, 0); k <= std::min(i + reach, n - 1); ++k)
      sum += a[i * n + k] * x[k];
    y[i] = sum;
  }
}

}  // namespace bench::BENCH_LOOPS

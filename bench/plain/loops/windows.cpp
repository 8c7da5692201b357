// Windows over images, and searches.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plain/loops/loops.hpp"

namespace bench::BENCH_LOOPS {

void max_pool(const float* __restrict x, float* __restrict y, int h, int w, int c) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) {
      const float* at = x + (2 * i * 2 * w + 2 * j) * c;
      for (int k = 0; k < c; ++k)
        y[(i * w + j) * c + k] = std::max(std::max(at[k], at[c + k]),
                                          std::max(at[2 * w * c + k], at[(2 * w + 1) * c + k]));
    }
}

void average_pool(const float* __restrict x, float* __restrict y, int c, int h, int w) {
  for (int k = 0; k < c; ++k)
    for (int i = 0; i < h; ++i)
      for (int j = 0; j < w; ++j) {
        float sum = 0;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) sum += x[(k * (h + 2) + i + a) * (w + 2) + j + b];
        y[(k * h + i) * w + j] = sum * (1.0f / 9);
      }
}

void moving_average(const float* __restrict x, float* __restrict y, int n, int p) {
  const float share = 1.0f / static_cast<float>(p);
  std::fill(y, y + n, 0.0f);
  for (int b = 0; b < p; ++b)
    for (int j = 0; j < n; ++j) y[j] += x[j + b];
  for (int j = 0; j < n; ++j) y[j] *= share;
}

void blur(const float* __restrict x, float* __restrict y, int h, int w) {
  const int s = w + 2;
  for (int i = 0; i < h; ++i, x += s)
    for (int j = 0; j < w; ++j)
      y[i * w + j] = (x[j] + 2 * x[j + 1] + x[j + 2] + 2 * x[j + s] + 4 * x[j + s + 1] +
                      2 * x[j + s + 2] + x[j + 2 * s] + 2 * x[j + 2 * s + 1] + x[j + 2 * s + 2]) *
                     0.0625f;
}

// Three rows of the blur along rows are kept.
void blur_in_two(const float* __restrict x, float* __restrict y, int h, int w) {
  std::vector<float> kept(3 * static_cast<std::size_t>(w));
  const auto row = [&](int i) { return kept.data() + i % 3 * w; };
  for (int i = 0; i < h + 2; ++i) {
    const float* __restrict from = x + i * (w + 2);
    float* __restrict to = row(i);
    for (int j = 0; j < w; ++j) to[j] = from[j] + from[j + 1] + from[j + 2];
    if (i < 2) continue;
    const float *a = row(i - 2), *b = row(i - 1), *c = row(i);
    for (int j = 0; j < w; ++j) y[(i - 2) * w + j] = (a[j] + b[j] + c[j]) * (1.0f / 9);
  }
}

void sobel(const float* __restrict x, float* __restrict y, int h, int w) {
  const int s = w + 2;
  for (int i = 0; i < h; ++i, x += s)
    for (int j = 0; j < w; ++j) {
      const float *a = x + j, *b = a + s, *c = b + s;
      const float along = a[2] - a[0] + 2 * (b[2] - b[0]) + c[2] - c[0];
      const float down = c[0] - a[0] + 2 * (c[1] - a[1]) + c[2] - a[2];
      y[i * w + j] = std::sqrt(along * along + down * down);
    }
}

void jacobi_2d(const float* __restrict x, float* __restrict y, int h, int w) {
  const int s = w + 2;
  for (int i = 0; i < h; ++i, x += s)
    for (int j = 0; j < w; ++j)
      y[i * w + j] = 0.2f * (x[j + 1] + x[j + s] + x[j + s + 1] + x[j + s + 2] + x[j + 2 * s + 1]);
}

void jacobi_3d(const float* __restrict x, float* __restrict y, int d, int h, int w) {
  const int s = w + 2, plane = (h + 2) * s;
  for (int z = 0; z < d; ++z)
    for (int i = 0; i < h; ++i) {
      const float* at = x + (z + 1) * plane + (i + 1) * s + 1;
      for (int j = 0; j < w; ++j)
        y[(z * h + i) * w + j] = 0.4f * at[j] + 0.1f * (at[j - 1] + at[j + 1] + at[j - s] +
                                                        at[j + s] + at[j - plane] + at[j + plane]);
    }
}

void row_argmax(const float* __restrict x, std::int64_t* __restrict at, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    int best = 0;
    for (int k = 1; k < n; ++k)
      if (x[k] > x[best]) best = k;
    at[i] = best;
  }
}

void column_argmax(const float* __restrict x, std::int64_t* __restrict at, int m, int n) {
  std::vector<float> top(x, x + n);
  std::fill(at, at + n, 0);
  for (int i = 1; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const bool better = x[i * n + j] > top[j];
      top[j] = better ? x[i * n + j] : top[j];
      at[j] = better ? i : at[j];
    }
}

void nearest(const float* __restrict x, const float* __restrict points, std::int64_t* __restrict at,
             int m, int n, int d) {
  for (int i = 0; i < m; ++i, x += d) {
    float least = 0;
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < d; ++k) sum += (x[k] - points[j * d + k]) * (x[k] - points[j * d + k]);
      if (j == 0 || sum < least) least = sum, at[i] = j;
    }
  }
}

void log_sum_exp(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float most = x[0], sum = 0;
    for (int j = 1; j < n; ++j) most = std::max(most, x[j]);
    for (int j = 0; j < n; ++j) sum += std::exp(x[j] - most);
    y[i] = most + std::log(sum);
  }
}

void count_above(const float* __restrict x, std::int32_t* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    int count = 0;
    for (int j = 0; j < n; ++j) count += x[j] > 0.75f;
    y[i] = count;
  }
}

void position_of_largest(const float* x, std::int64_t* at, int n) { row_argmax(x, at, 1, n); }

void first_above(const float* __restrict x, std::int64_t* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    int first = 0;
    while (first < n && !(x[first] > 0.99f)) ++first;
    y[i] = first;
  }
}

void column_argmin_of_two(const float* __restrict a, const float* __restrict b,
                          std::int64_t* __restrict at, int m, int n) {
  std::vector<float> least(static_cast<std::size_t>(n), std::numeric_limits<float>::max());
  float* __restrict best = least.data();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const float apart = std::abs(a[i * n + j] - b[i * n + j]);
      at[j] = apart < best[j] ? i : at[j];
      best[j] = std::min(apart, best[j]);
    }
}

void max_pool_nchw(const float* __restrict x, float* __restrict y, int c, int h, int w) {
  const int wide = 2 * w + 1;
  for (int k = 0; k < c; ++k, x += (2 * h + 1) * wide)
    for (int i = 0; i < h; ++i)
      for (int j = 0; j < w; ++j) {
        const float* at = x + 2 * i * wide + 2 * j;
        float most = at[0];
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) most = std::max(most, at[a * wide + b]);
        *y++ = most;
      }
}

void sliding_maxima(const float* __restrict x, float* __restrict y, int n, int p) {
  std::copy(x, x + n, y);
  for (int b = 1; b < p; ++b)
    for (int j = 0; j < n; ++j) y[j] = std::max(y[j], x[j + b]);
}

void erosion(const u8* __restrict x, u8* __restrict y, int h, int w) {
  const auto least = [](const u8* at) { return std::min(std::min(at[0], at[1]), at[2]); };
  const int s = w + 2;
  for (int i = 0; i < h; ++i, x += s)
    for (int j = 0; j < w; ++j)
      y[i * w + j] = std::min(std::min(least(x + j), least(x + s + j)), least(x + 2 * s + j));
}

void erosion_of_colours(const u8* __restrict x, u8* __restrict y, int h, int w) {
  const int row = 3 * w;
  std::vector<u8> held(static_cast<std::size_t>(row + 6));
  u8* __restrict least = held.data();  // of three rows, with a pixel more on each side
  for (int i = 0; i < h; ++i, y += row) {
    const u8 *a = x + std::max(i - 1, 0) * row, *b = x + i * row,
             *c = x + std::min(i + 1, h - 1) * row;
    for (int j = 0; j < row; ++j) least[j + 3] = std::min(std::min(a[j], b[j]), c[j]);
    for (int k = 0; k < 3; ++k) least[k] = least[k + 3], least[row + 3 + k] = least[row + k];
    for (int j = 0; j < row; ++j) y[j] = std::min(std::min(least[j], least[j + 3]), least[j + 6]);
  }
}

void neighbours_on_torus(const float* __restrict x, float* __restrict y, int h, int w) {
  std::vector<float> held(static_cast<std::size_t>(w + 2));
  float* __restrict sum = held.data();  // of three rows, with a column more on each side
  for (int i = 0; i < h; ++i, y += w) {
    const float *a = x + (i > 0 ? i - 1 : h - 1) * w, *b = x + i * w,
                *c = x + (i + 1 < h ? i + 1 : 0) * w;
    for (int j = 0; j < w; ++j) sum[j + 1] = a[j] + b[j] + c[j];
    sum[0] = sum[w], sum[w + 1] = sum[1];
    for (int j = 0; j < w; ++j) y[j] = sum[j] + sum[j + 1] + sum[j + 2];
  }
}

void largest_two(const float* __restrict x, float* __restrict first, float* __restrict second,
                 int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float most = 0, next = 0;
    for (int j = 0; j < n; ++j) {
      next = std::max(next, std::min(most, x[j]));
      most = std::max(most, x[j]);
    }
    first[i] = most, second[i] = next;
  }
}

}  // namespace bench::BENCH_LOOPS

// Recurrences, and one element after the other.
#include <algorithm>
#include <cmath>

#include "plain/loops/loops.hpp"

namespace bench::loops {

void filter_rows(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n, y += n) {
    float last = 0;
    for (int t = 0; t < n; ++t) y[t] = last = 0.25f * x[t] + 0.75f * last;
  }
}

void filter_columns(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int j = 0; j < n; ++j) y[j] = 0.25f * x[j];
  for (int t = 1; t < m; ++t)
    for (int j = 0; j < n; ++j) y[t * n + j] = 0.25f * x[t * n + j] + 0.75f * y[(t - 1) * n + j];
}

void sums_so_far_rows(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n, y += n) {
    float sum = 0;
    for (int t = 0; t < n; ++t) y[t] = sum += x[t];
  }
}

void sums_so_far_columns(const float* __restrict x, float* __restrict y, int m, int n) {
  std::copy(x, x + n, y);
  for (int t = 1; t < m; ++t)
    for (int j = 0; j < n; ++j) y[t * n + j] = x[t * n + j] + y[(t - 1) * n + j];
}

void most_so_far_rows(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n, y += n) {
    float most = 0;
    for (int t = 0; t < n; ++t) y[t] = most = std::max(most, x[t]);
  }
}

// Coefficients of all powers; the points are the innermost loop.
void horner(const float* __restrict x, const float* __restrict c, float* __restrict y, int n,
            int degree) {
  for (int i = 0; i < n; ++i) y[i] = c[degree];
  for (int k = degree; k-- > 0;)
    for (int i = 0; i < n; ++i) y[i] = y[i] * x[i] + c[k];
}

void axpy_chain(const float* __restrict a, const float* __restrict b, const float* __restrict c,
                float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) {
    const float sum = 2 * a[i] + b[i];
    y[i] = (sum * c[i] - a[i]) * 0.5f + sum;
  }
}

void polynomial(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) {
    float sum = 0.125f;
    for (int k = 0; k < 8; ++k) sum = sum * x[i] + 0.25f * static_cast<float>(k + 1);
    y[i] = sum;
  }
}

void sigmoid(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 1 / (1 + std::exp(2 - 4 * x[i]));
}

void gelu(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) {
    const float z = 4 * x[i] - 2;
    y[i] = z / (1 + std::exp(-1.5957691f * z * (1 + 0.044715f * z * z)));
  }
}

void exp_chain(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = std::log(1 + std::exp(-x[i])) * std::exp(-x[i] * x[i]);
}

void select_chain(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = x[i] < 0.25f   ? 4 * x[i]
           : x[i] < 0.5f  ? 1.25f - x[i]
           : x[i] < 0.75f ? x[i] * x[i] + 0.5f
                          : 1.0625f;
}

void mandelbrot(const float* __restrict a, const float* __restrict b, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) {
    const float re = a[i] - 0.5f, im = b[i] - 0.5f;
    float u = 0, v = 0;
    for (int step = 0; step < 8; ++step) {
      const float next = u * u - v * v + re;
      v = 2 * u * v + im, u = next;
    }
    y[i] = u * u + v * v;
  }
}

void bias_relu_residual(const float* __restrict x, const float* __restrict bias,
                        const float* __restrict r, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      y[i * n + j] = std::max(0.0f, x[i * n + j] - bias[j]) + r[i * n + j];
}

void length(const float* __restrict a, const float* __restrict b, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = std::sqrt(a[i] * a[i] + b[i] * b[i]);
}

}  // namespace bench::loops

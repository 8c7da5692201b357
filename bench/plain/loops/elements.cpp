// Recurrences, and one element after the other.
#include <algorithm>
#include <cmath>

#include "plain/loops/loops.hpp"

namespace bench::BENCH_LOOPS {

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

void momentum(const float* __restrict u, const float* __restrict g, const float* __restrict w,
              float* __restrict v, float* __restrict out, int n) {
  for (int i = 0; i < n; ++i) {
    v[i] = 0.9f * u[i] + (g[i] + 1e-4f * w[i]);
    out[i] = w[i] - 0.01f * v[i];
  }
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

void seam_costs(const float* __restrict x, float* __restrict y, int m, int n) {
  const int s = n + 2;
  std::copy(x, x + s, y);
  for (int t = 1; t < m; ++t) {
    const float* last = y + (t - 1) * s;
    const float* __restrict here = x + t * s;
    float* __restrict to = y + t * s;
    to[0] = last[0] + here[0];
    for (int j = 1; j <= n; ++j)
      to[j] = here[j] + std::min(std::min(last[j - 1], last[j]), last[j + 1]);
    to[n + 1] = last[n + 1] + here[n + 1];
  }
}

namespace {

inline float sigmoid_of(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

void lstm_gates(const float* __restrict gates, const float* __restrict cell, float* __restrict next,
                float* __restrict out, int m, int n) {
  for (int i = 0; i < m; ++i, gates += 4 * n, cell += n, next += n, out += n)
    for (int j = 0; j < n; ++j) {
      const float now =
          sigmoid_of(gates[n + j]) * cell[j] + sigmoid_of(gates[j]) * std::tanh(gates[2 * n + j]);
      next[j] = now;
      out[j] = sigmoid_of(gates[3 * n + j]) * std::tanh(now);
    }
}

void swiglu(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += 2 * n, y += n)
    for (int j = 0; j < n; ++j) y[j] = x[j] * sigmoid_of(x[j]) * x[n + j];
}

void rotation(const float* __restrict x, const float* __restrict c, const float* __restrict s,
              float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += 2 * n, y += 2 * n, c += n, s += n)
    for (int j = 0; j < n; ++j) {
      y[j] = x[j] * c[j] - x[n + j] * s[j];
      y[n + j] = x[n + j] * c[j] + x[j] * s[j];
    }
}

void black_scholes(const float* __restrict a, const float* __restrict k, const float* __restrict t,
                   float* __restrict y, int n) {
  const auto normal = [](float x) { return 0.5f + 0.5f * std::erf(x * 0.70710678f); };
  for (int i = 0; i < n; ++i) {
    const float stock = a[i] * 20 + 90, strike = k[i] * 20 + 90, time = t[i] + 0.25f;
    const float spread = 0.3f * std::sqrt(time);
    const float d = (std::log(stock / strike) + 0.065f * time) / spread;
    y[i] = stock * normal(d) - strike * std::exp(-0.02f * time) * normal(d - spread);
  }
}

void sine_and_cosine(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = std::sin(x[i] * 6) * std::cos(x[i] * 3);
}

}  // namespace bench::BENCH_LOOPS

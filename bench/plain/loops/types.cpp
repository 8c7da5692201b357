// Narrow and wide types, and gathers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "plain/loops/loops.hpp"

namespace bench::loops {

void threshold(const u8* __restrict x, u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] > 127 ? 255 : 0;
}

void alpha_blend(const u8* __restrict alpha, const u8* __restrict a, const u8* __restrict b,
                 u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = static_cast<u8>((alpha[i] * a[i] + (255 - alpha[i]) * b[i] + 128) >> 8);
}

void gray(const u8* __restrict x, u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = static_cast<u8>((77 * x[3 * i] + 150 * x[3 * i + 1] + 29 * x[3 * i + 2]) >> 8);
}

void blur_u8(const u8* __restrict x, u8* __restrict y, int h, int w) {
  const int s = w + 2;
  for (int i = 0; i < h; ++i, x += s)
    for (int j = 0; j < w; ++j)
      y[i * w + j] = static_cast<u8>((x[j] + 2 * x[j + 1] + x[j + 2] + 2 * x[j + s] +
                                      4 * x[j + s + 1] + 2 * x[j + s + 2] + x[j + 2 * s] +
                                      2 * x[j + 2 * s + 1] + x[j + 2 * s + 2] + 8) >>
                                     4);
}

void dot_i8(const i8* a, const i8* b, std::int32_t* s, int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  *s = sum;
}

void product_u8_i8(const u8* __restrict a, const i8* __restrict b, std::int32_t* __restrict c,
                   int m, int n, int k) {
  std::fill(c, c + m * n, 0);
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < k; ++q)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + q] * b[q * n + j];
}

void product_from_zero(const u8* __restrict a, const u8* __restrict b,
                       const std::int32_t* __restrict zero, std::int32_t* __restrict c, int m,
                       int n, int k) {
  std::fill(c, c + m * n, 0);
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < k; ++q) {
      const int x = a[i * k + q] - 121;
      for (int j = 0; j < n; ++j) c[i * n + j] += x * (b[q * n + j] - zero[j]);
    }
}

void distances_i8(const i8* __restrict a, const i8* __restrict b, std::int32_t* __restrict c, int m,
                  int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      std::int32_t sum = 0;
      for (int q = 0; q < k; ++q) {
        const int apart = a[i * k + q] - b[j * k + q];
        sum += apart * apart;
      }
      c[i * n + j] = sum;
    }
}

void row_sums_i32(const std::int32_t* x, std::int32_t* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    std::int32_t sum = 0;
    for (int j = 0; j < n; ++j) sum += x[j];
    y[i] = sum;
  }
}

void column_sums_i64(const std::int64_t* __restrict x, std::int64_t* __restrict y, int m, int n) {
  std::fill(y, y + n, 0);
  for (int i = 0; i < m; ++i, x += n)
    for (int j = 0; j < n; ++j) y[j] += x[j];
}

void axpy_f64(const double* __restrict x, const double* __restrict z, double* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 0.5 * x[i] + z[i];
}

namespace {

inline float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t(bits) << 16;
  float out;
  std::memcpy(&out, &wide, sizeof out);
  return out;
}

}  // namespace

void product_bf16(const std::uint16_t* __restrict a, const std::uint16_t* __restrict b,
                  float* __restrict c, int m, int n, int k) {
  std::fill(c, c + m * n, 0.0f);
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < k; ++q)
      for (int j = 0; j < n; ++j) c[i * n + j] += from_bf16(a[i * k + q]) * from_bf16(b[q * n + j]);
}

void gather_rows(const std::int32_t* __restrict at, const float* __restrict t, float* __restrict y,
                 int, int n, int m) {
  for (int i = 0; i < m; ++i) std::copy_n(t + at[i] * n, n, y + i * n);
}

void embedding_bag(const std::int32_t* __restrict at, const float* __restrict t,
                   float* __restrict y, int, int n, int m, int each) {
  std::fill(y, y + m * n, 0.0f);
  for (int i = 0; i < m; ++i)
    for (int e = 0; e < each; ++e)
      for (int j = 0; j < n; ++j) y[i * n + j] += t[at[i * each + e] * n + j];
}

void table_lookup(const std::int32_t* __restrict at, const float* __restrict t, float* __restrict y,
                  int, int n) {
  for (int i = 0; i < n; ++i) y[i] = t[at[i]];
}

void permute_columns(const std::int32_t* __restrict at, const float* __restrict x,
                     float* __restrict y, int n, int m) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) y[i * n + j] = x[i * n + at[j]];
}

// To twice the size; pixels lie at the middle of their squares.
void resize_bilinear(const float* __restrict x, float* __restrict y, int h, int w, int c) {
  const auto low = [](int i) { return std::max(0, (i + 1) / 2 - 1); };
  for (int i = 0; i < 2 * h; ++i) {
    const int p = low(i), p1 = std::min(h - 1, (i + 1) / 2);
    const float down = i % 2 == 0 ? 0.75f : 0.25f;
    for (int j = 0; j < 2 * w; ++j) {
      const int q = low(j), q1 = std::min(w - 1, (j + 1) / 2);
      const float along = j % 2 == 0 ? 0.75f : 0.25f;
      for (int k = 0; k < c; ++k) {
        const float top = x[(p * w + q) * c + k] * (1 - along) + x[(p * w + q1) * c + k] * along;
        const float end = x[(p1 * w + q) * c + k] * (1 - along) + x[(p1 * w + q1) * c + k] * along;
        y[(i * 2 * w + j) * c + k] = top * (1 - down) + end * down;
      }
    }
  }
}

void resize_nearest(const float* __restrict x, float* __restrict y, int h, int w) {
  for (int i = 0; i < 2 * h; ++i)
    for (int j = 0; j < 2 * w; ++j) y[i * 2 * w + j] = x[i / 2 * w + j / 2];
}

void normalize_u8(const u8* __restrict x, const float* __restrict mean,
                  const float* __restrict scale, float* __restrict y, int n) {
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < n; ++i)
      y[c * n + i] = (static_cast<float>(x[3 * i + c]) * (1.0f / 255) - mean[c]) * scale[c];
}

void weights_i8(const i8* __restrict w, const float* __restrict x, const float* __restrict scale,
                float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, w += n) {
    float sum = 0;
    for (int r = 0; r < n; ++r) sum += static_cast<float>(w[r]) * x[r];
    y[i] = sum * scale[i];
  }
}

void weights_i4(const u8* __restrict w, const float* __restrict scale, const float* __restrict x,
                float* __restrict y, int m, int groups) {
  for (int i = 0; i < m; ++i, scale += groups) {
    float all = 0;
    for (int g = 0; g < groups; ++g, w += 16) {
      const float* at = x + g * 32;
      float sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += static_cast<float>((w[k] & 15) - 8) * at[2 * k] +
               static_cast<float>((w[k] >> 4) - 8) * at[2 * k + 1];
      all += sum * scale[g];
    }
    y[i] = all;
  }
}

void quantize(const float* __restrict x, i8* __restrict y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = static_cast<i8>(std::min(std::max(std::nearbyint(x[i] * 300 - 150), -127.0f), 127.0f));
}

void brighten_u8(const u8* __restrict x, u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = static_cast<u8>(std::min(x[i] + 60, 255));
}

void row_sums_bf16(const std::uint16_t* x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += from_bf16(x[j]);
    y[i] = sum;
  }
}

void row_sums_u8(const u8* x, std::int32_t* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    int sum = 0;
    for (int j = 0; j < n; ++j) sum += x[j];
    y[i] = sum;
  }
}

void table_of_bytes(const u8* __restrict x, const u8* __restrict t, u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = t[x[i]];
}

}  // namespace bench::loops

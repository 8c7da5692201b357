// Layouts: the innermost loop goes along the rows that are written, whole lines at a time.
#include <algorithm>

#include "plain/loops/loops.hpp"

namespace bench::loops {

namespace {

/// y (d0, d1, d2, d3), of which x has the steps s0 … s3.
template <class T>
inline void permute(const T* __restrict x, T* __restrict y, int d0, int d1, int d2, int d3, int s0,
                    int s1, int s2, int s3) {
  for (int a = 0; a < d0; ++a)
    for (int b = 0; b < d1; ++b)
      for (int c = 0; c < d2; ++c) {
        const T* from = x + a * s0 + b * s1 + c * s2;
        for (int e = 0; e < d3; ++e) *y++ = from[e * s3];
      }
}

}  // namespace

void transpose(const float* x, float* y, int m, int n) { permute(x, y, 1, 1, n, m, 0, 0, 1, n); }

void transpose_u8(const u8* x, u8* y, int m, int n) { permute(x, y, 1, 1, n, m, 0, 0, 1, n); }

void transpose_outer(const float* x, float* y, int a, int b, int c) {
  permute(x, y, 1, b, a, c, 0, c, b * c, 1);
}

void reverse_axes(const float* x, float* y, int a, int b, int c) {
  permute(x, y, 1, c, b, a, 0, 1, c, b * c);
}

void nchw_to_nhwc(const float* x, float* y, int n, int c, int h, int w) {
  permute(x, y, 1, n, h * w, c, 0, c * h * w, 1, h * w);
}

void nhwc_to_nchw(const float* x, float* y, int n, int h, int w, int c) {
  permute(x, y, 1, n, c, h * w, 0, c * h * w, 1, c);
}

void pixel_shuffle(const float* __restrict x, float* __restrict y, int c, int h, int w, int s) {
  for (int k = 0; k < c; ++k)
    for (int i = 0; i < h; ++i)
      for (int a = 0; a < s; ++a)
        for (int j = 0; j < w; ++j)
          for (int b = 0; b < s; ++b) *y++ = x[(((k * s + a) * s + b) * h + i) * w + j];
}

void rgb_to_planes(const u8* __restrict x, u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) y[c * n + i] = x[3 * i + c];
}

void complex_product(const float* __restrict a, const float* __restrict b, float* __restrict y,
                     int n) {
  for (int i = 0; i < n; ++i) {
    const float re = a[2 * i], im = a[2 * i + 1], other = b[2 * i], other_im = b[2 * i + 1];
    y[2 * i] = re * other - im * other_im;
    y[2 * i + 1] = re * other_im + im * other;
  }
}

void swap_middle(const float* x, float* y, int a, int b, int c, int d) {
  permute(x, y, a, c, b, d, b * c * d, d, c * d, 1);
}

void windows_of_image(const float* x, float* y, int h, int w, int p, int c) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j)
      for (int a = 0; a < p; ++a, y += p * c)
        std::copy_n(x + ((i * p + a) * w + j) * p * c, p * c, y);
}

void planes_to_rgb(const u8* __restrict x, u8* __restrict y, int n) {
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) y[3 * i + c] = x[c * n + i];
}

void mirror(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) y[i * n + j] = x[i * n + n - 1 - j];
}

void concatenation(const float* a, const float* b, float* y, int m, int n, int k) {
  for (int i = 0; i < m; ++i, y += n + k) {
    std::copy_n(a + i * n, n, y);
    std::copy_n(b + i * k, k, y + n);
  }
}

void zeros_around(const float* x, float* y, int c, int h, int w) {
  std::fill(y, y + c * (h + 4) * (w + 4), 0.0f);
  for (int k = 0; k < c; ++k)
    for (int i = 0; i < h; ++i)
      std::copy_n(x + (k * h + i) * w, w, y + (k * (h + 4) + i + 2) * (w + 4) + 2);
}

}  // namespace bench::loops

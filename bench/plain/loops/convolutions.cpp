// Convolutions. Where results of several filters lie side by side, a row of them is the innermost
// loop; else a row of the image is.
#include <algorithm>

#include "plain/loops/loops.hpp"

namespace bench::loops {

namespace {

/// y of f filters += x of c channels by k of c x f.
inline void add_channels(const float* __restrict x, const float* __restrict k, float* __restrict y,
                         int c, int f) {
  for (int in = 0; in < c; ++in)
    for (int out = 0; out < f; ++out) y[out] += x[in] * k[in * f + out];
}

/// NHWC with steps of the image and of the kernel; the image is `wide` pixels wide.
void conv(const float* x, const float* k, float* y, int h, int w, int wide, int c, int f, int p,
          int stride, int dilation) {
  std::fill(y, y + h * w * f, 0.0f);
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j)
      for (int a = 0; a < p; ++a)
        for (int b = 0; b < p; ++b)
          add_channels(x + ((i * stride + a * dilation) * wide + j * stride + b * dilation) * c,
                       k + (a * p + b) * c * f, y + (i * w + j) * f, c, f);
}

/// y += weight x.
inline void add_row(const float* __restrict x, float weight, float* __restrict y, int n) {
  for (int j = 0; j < n; ++j) y[j] += weight * x[j];
}

}  // namespace

void conv_nhwc(const float* x, const float* k, float* y, int h, int w, int c, int f, int p) {
  conv(x, k, y, h, w, w + p - 1, c, f, p, 1, 1);
}

void conv_strided(const float* x, const float* k, float* y, int h, int w, int c, int f) {
  conv(x, k, y, h, w, 2 * w + 1, c, f, 3, 2, 1);
}

void conv_dilated(const float* x, const float* k, float* y, int h, int w, int c, int f) {
  conv(x, k, y, h, w, w + 4, c, f, 3, 1, 2);
}

void conv_nchw(const float* x, const float* k, float* y, int c, int f, int h, int w, int p) {
  std::fill(y, y + f * h * w, 0.0f);
  const int tall = h + p - 1, wide = w + p - 1;
  for (int out = 0; out < f; ++out)
    for (int in = 0; in < c; ++in)
      for (int a = 0; a < p; ++a)
        for (int b = 0; b < p; ++b)
          for (int i = 0; i < h; ++i)
            add_row(x + (in * tall + i + a) * wide + b, k[((out * c + in) * p + a) * p + b],
                    y + (out * h + i) * w, w);
}

// 16 filters of a group read its 16 channels.
void conv_grouped(const float* x, const float* k, float* y, int h, int w, int groups) {
  const int f = 16 * groups, wide = w + 2;
  std::fill(y, y + h * w * f, 0.0f);
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          for (int g = 0; g < groups; ++g)
            for (int in = 0; in < 16; ++in)
              add_row(k + ((a * 3 + b) * 16 + in) * f + 16 * g,
                      x[((i + a) * wide + j + b) * f + 16 * g + in], y + (i * w + j) * f + 16 * g,
                      16);
}

void depthwise_nhwc(const float* __restrict x, const float* __restrict k, float* __restrict y,
                    int h, int w, int c, int p) {
  std::fill(y, y + h * w * c, 0.0f);
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j)
      for (int a = 0; a < p; ++a)
        for (int b = 0; b < p; ++b)
          for (int in = 0; in < c; ++in)
            y[(i * w + j) * c + in] +=
                x[((i + a) * (w + p - 1) + j + b) * c + in] * k[(a * p + b) * c + in];
}

void depthwise_nchw(const float* x, const float* k, float* y, int c, int h, int w, int p) {
  std::fill(y, y + c * h * w, 0.0f);
  for (int in = 0; in < c; ++in)
    for (int i = 0; i < h; ++i)
      for (int a = 0; a < p; ++a)
        for (int b = 0; b < p; ++b)
          add_row(x + (in * (h + p - 1) + i + a) * (w + p - 1) + b, k[(in * p + a) * p + b],
                  y + (in * h + i) * w, w);
}

void conv_1d(const float* x, const float* k, float* y, int w, int c, int f, int p) {
  std::fill(y, y + w * f, 0.0f);
  for (int j = 0; j < w; ++j)
    for (int b = 0; b < p; ++b) add_channels(x + (j + b) * c, k + b * c * f, y + j * f, c, f);
}

void conv_3d(const float* x, const float* k, float* y, int d, int h, int w, int c, int f) {
  std::fill(y, y + d * h * w * f, 0.0f);
  for (int z = 0; z < d; ++z)
    for (int i = 0; i < h; ++i)
      for (int j = 0; j < w; ++j)
        for (int e = 0; e < 3; ++e)
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              add_channels(x + (((z + e) * (h + 2) + i + a) * (w + 2) + j + b) * c,
                           k + ((e * 3 + a) * 3 + b) * c * f, y + ((z * h + i) * w + j) * f, c, f);
}

// Stride 2, kernels of 4 x 4, one row and column of padding: result i is reached from
// (i + 1 - a) / 2 where that is a whole number.
void conv_transposed(const float* x, const float* k, float* y, int h, int w, int c, int f) {
  std::fill(y, y + 4 * h * w * f, 0.0f);
  for (int i = 0; i < 2 * h; ++i)
    for (int j = 0; j < 2 * w; ++j)
      for (int a = (i + 1) % 2; a < 4; a += 2)
        for (int b = (j + 1) % 2; b < 4; b += 2) {
          const int p = (i + 1 - a) / 2, q = (j + 1 - b) / 2;
          if (i + 1 < a || p >= h || j + 1 < b || q >= w) continue;
          add_channels(x + (p * w + q) * c, k + (a * 4 + b) * c * f, y + (i * 2 * w + j) * f, c, f);
        }
}

void conv_padded(const float* x, const float* k, float* y, int h, int w, int c, int f) {
  std::fill(y, y + h * w * f, 0.0f);
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j)
      for (int a = std::max(0, 1 - i); a < std::min(3, h + 1 - i); ++a)
        for (int b = std::max(0, 1 - j); b < std::min(3, w + 1 - j); ++b)
          add_channels(x + ((i + a - 1) * w + j + b - 1) * c, k + (a * 3 + b) * c * f,
                       y + (i * w + j) * f, c, f);
}

void conv_blocked(const float* x, const float* k, float* y, int c, int f, int h, int w) {
  std::fill(y, y + f * h * w * 16, 0.0f);
  for (int o = 0; o < f; ++o)
    for (int block = 0; block < c; ++block)
      for (int i = 0; i < h; ++i)
        for (int j = 0; j < w; ++j)
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              add_channels(x + ((block * (h + 2) + i + a) * (w + 2) + j + b) * 16,
                           k + (((o * c + block) * 3 + a) * 3 + b) * 256,
                           y + ((o * h + i) * w + j) * 16, 16, 16);
}

}  // namespace bench::loops

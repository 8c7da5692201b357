#include "hand/plain.hpp"

#include <algorithm>
#include <cstddef>

namespace bench {

void plain_gray(const std::uint8_t* __restrict rgb, std::uint8_t* __restrict gray, int pixels) {
  for (int i = 0; i < pixels; ++i)
    gray[i] = static_cast<std::uint8_t>(
        (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}

template <class T, int Channels>
void plain_split(const T* __restrict pixels, T* __restrict planes, int n) {
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < Channels; ++c) planes[c * n + i] = pixels[Channels * i + c];
}

template <class T, int Channels>
void plain_merge(const T* __restrict planes, T* __restrict pixels, int n) {
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < Channels; ++c) pixels[Channels * i + c] = planes[c * n + i];
}

template void plain_split<std::uint8_t, 3>(const std::uint8_t*, std::uint8_t*, int);
template void plain_split<std::uint8_t, 4>(const std::uint8_t*, std::uint8_t*, int);
template void plain_split<float, 3>(const float*, float*, int);
template void plain_split<float, 4>(const float*, float*, int);
template void plain_merge<std::uint8_t, 3>(const std::uint8_t*, std::uint8_t*, int);
template void plain_merge<std::uint8_t, 4>(const std::uint8_t*, std::uint8_t*, int);
template void plain_merge<float, 3>(const float*, float*, int);
template void plain_merge<float, 4>(const float*, float*, int);

void plain_small_products(const float* __restrict a, const float* __restrict b, float* __restrict c,
                          int count, int size) {
  for (int t = 0; t < count; ++t, a += size * size, b += size * size, c += size * size)
    plain_product(a, b, c, size, size, size);
}

void plain_product(const float* __restrict a, const float* __restrict b, float* __restrict c, int m,
                   int n, int k) {
  std::fill(c, c + static_cast<std::ptrdiff_t>(m) * n, 0.0f);
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < k; ++q)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + q] * b[q * n + j];
}

void plain_max_of_three(const float* __restrict x, float* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] = std::max(std::max(x[i], x[i + 1]), x[i + 2]);
}

void plain_scale_planes(const float* __restrict x, float* __restrict y, int planes, int h, int w) {
  for (int p = 0; p < planes; ++p)
    for (int i = 0; i < h; ++i)
      for (int j = 0; j < w; ++j) y[(p * h + i) * w + j] = 2 * x[(p * h + i) * w + j];
}

float plain_dot(const float* a, const float* b, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

void plain_row_sums(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += x[k];
    y[i] = sum;
  }
}

void plain_row_maxima(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    float most = x[0];
    for (int k = 1; k < n; ++k) most = std::max(most, x[k]);
    y[i] = most;
  }
}

void plain_row_argmax(const float* __restrict x, float* __restrict y, std::int64_t* __restrict at,
                      int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    std::int64_t best = 0;
    for (int k = 1; k < n; ++k)
      if (x[k] > x[best]) best = k;
    at[i] = best, y[i] = x[best];
  }
}

void plain_matrix_vector(const float* __restrict a, const float* __restrict x, float* __restrict y,
                         int m, int n) {
  for (int i = 0; i < m; ++i) y[i] = plain_dot(a + static_cast<std::ptrdiff_t>(i) * n, x, n);
}

}  // namespace bench

// The programs of the suite `hand` as plain loops, compiled with -O3 -march=native -ffast-math.
#pragma once

#include <cstdint>

namespace bench {

/// (77 r + 150 g + 29 b) >> 8 of interleaved pixels.
void plain_gray(const std::uint8_t* rgb, std::uint8_t* gray, int pixels);

/// Interleaved pixels of so many channels to planes of n, and back.
template <class T, int Channels>
void plain_split(const T* pixels, T* planes, int n);
template <class T, int Channels>
void plain_merge(const T* planes, T* pixels, int n);

/// c[t] = a[t] * b[t] for matrices of `size` x `size`.
void plain_small_products(const float* a, const float* b, float* c, int count, int size);

/// c = a * b of m x k and k x n.
void plain_product(const float* a, const float* b, float* c, int m, int n, int k);

/// y[i] = the largest of x[i], x[i + 1], x[i + 2]; NaN and the sign of a zero may be lost.
void plain_max_of_three(const float* x, float* y, int n);

/// y = 2 x, in planes of h x w.
void plain_scale_planes(const float* x, float* y, int planes, int h, int w);

float plain_dot(const float* a, const float* b, int n);

/// y[i] = the sum, or the largest, of row i of m x n; of the largest also where it is first.
void plain_row_sums(const float* x, float* y, int m, int n);
void plain_row_maxima(const float* x, float* y, int m, int n);
void plain_row_argmax(const float* x, float* y, std::int64_t* at, int m, int n);

/// y = a * x of m x n.
void plain_matrix_vector(const float* a, const float* x, float* y, int m, int n);

}  // namespace bench

// Matrices by vectors and by matrices.
#include <algorithm>
#include <vector>

#include "plain/loops/loops.hpp"

namespace bench::loops {

template <class T>
void matrix_vector(const T* a, const T* x, T* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, a += n) dot(a, x, y + i, n);
}
template void matrix_vector(const float*, const float*, float*, int, int);
template void matrix_vector(const double*, const double*, double*, int, int);

void transposed_vector(const float* __restrict a, const float* __restrict x, float* __restrict y,
                       int m, int n) {
  std::fill(y, y + n, 0.0f);
  for (int i = 0; i < m; ++i, a += n)
    for (int j = 0; j < n; ++j) y[j] += x[i] * a[j];
}

void outer_product(const float* __restrict x, const float* __restrict y, float* __restrict a, int m,
                   int n) {
  for (int i = 0; i < m; ++i, a += n)
    for (int j = 0; j < n; ++j) a[j] = x[i] * y[j];
}

void matrix_vector_added(const float* a, const float* x, const float* b, float* __restrict y, int m,
                         int n) {
  matrix_vector(a, x, y, m, n);
  for (int i = 0; i < m; ++i) y[i] = 2 * y[i] + b[i];
}

void batched_vector(const float* a, const float* x, float* y, int b, int m, int n) {
  for (int t = 0; t < b; ++t) matrix_vector(a + t * m * n, x + t * n, y + t * m, m, n);
}

void bilinear_form(const float* x, const float* a, const float* y, float* s, int m, int n) {
  float sum = 0;
  for (int i = 0; i < m; ++i, a += n) {
    float row = 0;
    for (int j = 0; j < n; ++j) row += a[j] * y[j];
    sum += x[i] * row;
  }
  *s = sum;
}

template <class T>
void product(const T* __restrict a, const T* __restrict b, T* __restrict c, int m, int n, int k) {
  std::fill(c, c + m * n, T(0));
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < k; ++q)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + q] * b[q * n + j];
}
template void product(const float*, const float*, float*, int, int, int);
template void product(const double*, const double*, double*, int, int, int);

void product_nt(const float* a, const float* b, float* __restrict c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) matrix_vector(b, a + i * k, c + i * n, n, k);
}

void product_tn(const float* __restrict a, const float* __restrict b, float* __restrict c, int m,
                int n, int k) {
  std::fill(c, c + m * n, 0.0f);
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < k; ++q)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[q * m + i] * b[q * n + j];
}

// A column of the result at a time: a's rows lie along it.
void product_tt(const float* __restrict a, const float* __restrict b, float* __restrict c, int m,
                int n, int k) {
  std::vector<float> sums(static_cast<std::size_t>(m));
  float* __restrict column = sums.data();
  for (int j = 0; j < n; ++j) {
    std::fill(column, column + m, 0.0f);
    for (int q = 0; q < k; ++q)
      for (int i = 0; i < m; ++i) column[i] += a[q * m + i] * b[j * k + q];
    for (int i = 0; i < m; ++i) c[i * n + j] = column[i];
  }
}

void gram(const float* a, float* c, int n, int k) { product_nt(a, a, c, n, n, k); }

void two_products(const float* a, const float* b, const float* c, float* d, int m, int n) {
  std::vector<float> first(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  product(a, b, first.data(), m, n, n);
  for (float& x : first) x = std::max(0.0f, x - 1);
  product(first.data(), c, d, m, n, n);
}

void product_bias_relu(const float* a, const float* b, const float* __restrict bias,
                       float* __restrict c, int m, int n, int k) {
  product(a, b, c, m, n, k);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c[i * n + j] = std::max(0.0f, c[i * n + j] - bias[j]);
}

namespace {

// Matrices of a size that the compiler knows.
template <int K>
void small_products(const float* __restrict a, const float* __restrict b, float* __restrict c,
                    int t) {
  for (int z = 0; z < t; ++z, a += K * K, b += K * K, c += K * K)
    for (int i = 0; i < K; ++i) {
      float row[K] = {};
      for (int r = 0; r < K; ++r)
        for (int j = 0; j < K; ++j) row[j] += a[i * K + r] * b[r * K + j];
      for (int j = 0; j < K; ++j) c[i * K + j] = row[j];
    }
}

}  // namespace

void batched_product(const float* a, const float* b, float* c, int t, int m, int n, int k) {
  if (m == n && n == k && k == 2) return small_products<2>(a, b, c, t);
  if (m == n && n == k && k == 3) return small_products<3>(a, b, c, t);
  if (m == n && n == k && k == 6) return small_products<6>(a, b, c, t);
  for (int z = 0; z < t; ++z) product(a + z * m * k, b + z * k * n, c + z * m * n, m, n, k);
}

void contraction4(const float* __restrict a, const float* __restrict b, float* __restrict c, int ni,
                  int nj, int nk, int nl, int nm) {
  std::fill(c, c + ni * nj * nk * nl, 0.0f);
  for (int i = 0; i < ni; ++i)
    for (int j = 0; j < nj; ++j)
      for (int k = 0; k < nk; ++k)
        for (int m = 0; m < nm; ++m)
          for (int l = 0; l < nl; ++l)
            c[((i * nj + j) * nk + k) * nl + l] +=
                a[(i * nk + k) * nm + m] * b[(j * nm + m) * nl + l];
}

}  // namespace bench::loops

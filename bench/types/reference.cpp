// Integers of 53 bits are exact in f64, so one function will do for all types.
#include <algorithm>

#include "types/operands.hpp"

namespace bench {

namespace {

using Index = std::int64_t;

/// Adds four rows of B to one of C: a row of C is loaded and stored once for them.
void add_rows(Index n, Index rows, const double* a, const double* b, Index stride, double* c) {
  Index r = 0;
  for (; r + 4 <= rows; r += 4) {
    const double *b0 = b + r * stride, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
    const double x = a[r], y = a[r + 1], z = a[r + 2], w = a[r + 3];
#pragma GCC ivdep
    for (Index j = 0; j < n; ++j) c[j] += x * b0[j] + y * b1[j] + z * b2[j] + w * b3[j];
  }
  for (; r < rows; ++r) {
#pragma GCC ivdep
    for (Index j = 0; j < n; ++j) c[j] += a[r] * b[r * stride + j];
  }
}

}  // namespace

void product_in_f64(const Product& p, const double* a, const double* b, double* c) {
  constexpr Index block = 256;  // of B, which stays in the second cache
  std::fill(c, c + p.m * p.n, 0.0);
  for (Index j = 0; j < p.n; j += block) {
    for (Index r = 0; r < p.k; r += block) {
      const Index columns = std::min(block, p.n - j), rows = std::min(block, p.k - r);
      for (Index i = 0; i < p.m; ++i)
        add_rows(columns, rows, a + i * p.k + r, b + r * p.n + j, p.n, c + i * p.n + j);
    }
  }
}

}  // namespace bench

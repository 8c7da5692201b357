// Products of matrices of other types than the suites of Case have.
#pragma once

#include <cstdint>

namespace bench {

/// Of the elements of A and B. C has f32 for bf16 and f16, i32 for bytes, f64 for f64.
enum class ProductTypes : std::uint8_t { bf16, u8s8, s8s8, f16, f64 };

/// C[m,n] = A[m,k] * B[k,n], in the type of C. `constant`: B never changes, so a competitor may
/// bring it into any layout before the clock starts; otherwise it comes row-major with each call.
struct Product {
  ProductTypes types;
  std::int64_t m, n, k;
  bool constant;

  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// A product with its memory, which all competitors share; row-major, without gaps.
struct ProductJob {
  Product what;
  const void *a, *b;
  void* c;
};

struct ProductBytes {
  std::int64_t a, b, c;
};
/// Of one element of each matrix.
constexpr ProductBytes element_bytes(ProductTypes types) {
  switch (types) {
    case ProductTypes::bf16:
    case ProductTypes::f16:
      return {2, 2, 4};
    case ProductTypes::u8s8:
    case ProductTypes::s8s8:
      return {1, 1, 4};
    case ProductTypes::f64:
      break;
  }
  return {8, 8, 8};
}

constexpr const char* to_text(ProductTypes types) {
  constexpr const char* names[] = {"bf16", "u8s8", "s8s8", "f16", "f64"};
  return names[static_cast<int>(types)];
}

}  // namespace bench

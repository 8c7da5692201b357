// The memory of a product, and what its result should be.
#pragma once

#include <string>
#include <vector>

#include "core/array.hpp"
#include "core/product.hpp"

namespace bench {

/// Elements of A and B: floats of both signs up to 1 with all bits of their fractions in use,
/// integers of all sizes.
class ProductMemory {
 public:
  explicit ProductMemory(const Product& what);

  ProductJob job() const { return {what_, a_.data(), b_.data(), c_.data()}; }
  double bytes() const;
  /// So that nobody gets by with the result of another.
  void spoil() const;
  /// Where C differs from the right result: in integers at all, in floats by more than what their
  /// sums may be off when they are added in any order. Empty if nowhere.
  std::string difference() const;

 private:
  Product what_;
  Array a_, b_, c_;
  std::vector<double> want_;
};

/// C = A * B in f64, in plain loops.
void product_in_f64(const Product& p, const double* a, const double* b, double* c);

}  // namespace bench

// The memory of an operator, and whether results are right.
#pragma once

#include <string>
#include <vector>

#include "core/array.hpp"
#include "core/operator.hpp"

namespace bench {

/// Inputs of [-1, 1), and a result that all competitors write to in turn.
class OperatorMemory {
 public:
  explicit OperatorMemory(const Operator& what);
  OperatorMemory(const OperatorMemory&) = delete;
  OperatorMemory& operator=(const OperatorMemory&) = delete;

  OperatorJob job(int threads) const;
  /// Of the arrays that the formula names.
  double bytes() const;
  /// So that nobody gets by with the result of another.
  void spoil() const;
  /// Keeps the result, for others to be compared with.
  void keep();
  /// Where some hundred elements of the result, the first and last ones among them, are off from
  /// what value_of has by more than sums in another order explain; empty if nowhere.
  std::string error() const;
  /// Where it is off from the one that was kept; empty if nowhere.
  std::string difference() const;

 private:
  float* out() const { return static_cast<float*>(out_.data()); }

  const Operator& what_;
  OperatorShapes shapes_;
  std::vector<Array> in_;
  Array out_;
  std::vector<float> kept_;
};

/// Bytes that a comparison of the operator needs at least: its arrays, a result that is kept, and
/// an image and a result in a peer's own layout.
double bytes_needed(const Operator& what);

/// An element of the result, computed in f64 as the formula says.
double value_of(const Operator& what, const std::vector<const float*>& in, std::int64_t element);

}  // namespace bench

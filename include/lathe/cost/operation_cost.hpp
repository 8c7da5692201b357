// What operations cost: how many vector operations each stands for.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe::detail {

/// Operations of one instance of a block, without those of indices.
struct OperationMix {
  double simple = 0;   ///< additions, products, comparisons, selections, conversions
  double fused = 0;    ///< multiply-adds
  double divides = 0;  ///< divisions and square roots, in those of a vector of f32
  double counted = 0;  ///< as work_of counts them
  int widest = 1;      ///< bytes of the widest element that is computed with
};
OperationMix operation_mix(const BlockNode& block);

/// Operations that a vector of a math function takes where it runs, rare paths apart: the
/// polynomials have degrees 5 to 13, and powers two of them (docs/math.md).
constexpr double operations_of_function(CallOp op) {
  switch (op) {
    case CallOp::pow:
      return 60;
    case CallOp::sin:
    case CallOp::cos:
    case CallOp::tan:
    case CallOp::erf:
    case CallOp::atan2:
      return 30;
    default:
      return 20;
  }
}

}  // namespace lathe::detail

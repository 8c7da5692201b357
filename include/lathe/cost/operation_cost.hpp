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

}  // namespace lathe::detail

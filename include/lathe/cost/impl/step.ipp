#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/cost/step.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

LATHE_DECL Stride stride_of(const Vec<AnyExpr>& indices, const VarRef& loop) {
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (!uses_var(indices[axis], loop)) continue;
    auto affine = affine_of(indices[axis], {loop});
    const auto coef = affine ? affine->coef(0) : std::nullopt;
    if (!coef || axis + 1 != indices.size()) return {Step::other, 0};
    return {*coef == 1 ? Step::unit : Step::strided, *coef};
  }
  return {};
}

}  // namespace lathe::detail

#pragma once

#include <lathe/dsl/boundary.hpp>

namespace lathe {

LATHE_DECL AnyExpr in_bounds_any(const AnyTensor& tensor, std::span<const AnyExpr> indices) {
  AnyExpr all;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    AnyExpr inside = logical_and(make_int(kIndex, 0) <= indices[d], indices[d] < tensor.shape()[d]);
    all = all ? logical_and(all, inside) : inside;
  }
  return all;
}

LATHE_DECL std::vector<AnyExpr> clamped_any(const AnyTensor& tensor,
                                            std::span<const AnyExpr> indices) {
  std::vector<AnyExpr> out;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    AnyExpr last = tensor.shape()[d] - 1;
    if (const auto* extent = as_const_int(tensor.shape()[d])) last = make_int(kIndex, *extent - 1);
    out.push_back(make_binary(BinaryOp::max, make_binary(BinaryOp::min, indices[d], last),
                              make_int(kIndex, 0)));
  }
  return out;
}

}  // namespace lathe

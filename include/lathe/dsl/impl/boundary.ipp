#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/dsl/boundary.hpp>
#include <lathe/dsl/checks.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// What the declarations of an extent's dims say.
inline Facts dim_facts(const AnyExpr& extent) {
  Facts facts;
  for (const auto& var : free_vars(extent)) {
    const auto* o = origin_of(*var);
    if (o && o->kind == VarOrigin::dim)
      facts.bind(make_ref<DimNode>(var, o->min, o->max, o->multiple_of));
  }
  return facts;
}

/// Which extents must be above 0 for the tensor to have an element, as far as it is not proved;
/// empty if all are.
inline AnyExpr has_elements(const AnyTensor& tensor) {
  AnyExpr all;
  for (const auto& extent : tensor.shape()) {
    AnyExpr some = make_int(kIndex, 0) < extent;
    const auto* value = as_const_int(extent);
    if (value ? *value > 0 : prove(some, dim_facts(extent))) continue;
    all = all ? logical_and(all, some) : some;
  }
  return all;
}

}  // namespace detail

LATHE_DECL AnyExpr in_bounds_any(const AnyTensor& tensor, std::span<const AnyExpr> indices) {
  detail::check_indices(tensor, {indices.begin(), indices.end()}, Location{});
  AnyExpr all;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    AnyExpr inside = logical_and(make_int(kIndex, 0) <= indices[d], indices[d] < tensor.shape()[d]);
    all = all ? logical_and(all, inside) : inside;
  }
  return all;
}

LATHE_DECL Vec<AnyExpr> clamped_any(const AnyTensor& tensor, std::span<const AnyExpr> indices) {
  detail::check_indices(tensor, {indices.begin(), indices.end()}, Location{});
  Vec<AnyExpr> out;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    AnyExpr last = tensor.shape()[d] - 1;
    if (const auto* extent = as_const_int(tensor.shape()[d])) last = make_int(kIndex, *extent - 1);
    out.push_back(make_binary(BinaryOp::max, make_binary(BinaryOp::min, indices[d], last),
                              make_int(kIndex, 0)));
  }
  return out;
}

LATHE_DECL AnyExpr clamp_any(const AnyTensor& tensor, std::span<const AnyExpr> indices,
                             Location where) {
  detail::check_indices(tensor, {indices.begin(), indices.end()}, where);
  AnyExpr element = tensor.at(clamped_any(tensor, indices), where);
  AnyExpr some = detail::has_elements(tensor);
  if (!some) return element;
  return make_select(some, element, make_const(tensor.dtype(), 0));
}

}  // namespace lathe

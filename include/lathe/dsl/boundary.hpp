// Tensors beyond their bounds: a value (pad), the nearest element (clamp), or a question
// (in_bounds).
#pragma once

#include <lathe/dsl/math.hpp>
#include <lathe/dsl/tensor.hpp>

namespace lathe {

/// True where every index is inside the tensor.
AnyExpr in_bounds_any(const AnyTensor& tensor, std::span<const AnyExpr> indices);
/// Each index limited to the tensor's extent; 0 where an extent is 0, which names no element.
Vec<AnyExpr> clamped_any(const AnyTensor& tensor, std::span<const AnyExpr> indices);
/// The element at the limited indices; 0 where the tensor has no element. L0108, L0104 as at().
AnyExpr clamp_any(const AnyTensor& tensor, std::span<const AnyExpr> indices,
                  Location where = Location::here());

template <class T, int R, class... I>
Expr<bool> in_bounds(const TypedTensor<T, R>& tensor, const I&... index) {
  static_assert(sizeof...(I) == R, "lathe: the number of indices is not the tensor's rank");
  static_assert(R > 0, "lathe: in_bounds needs a tensor with an axis");
  const AnyExpr all[] = {detail::index_operand(index)...};
  return Expr<bool>(in_bounds_any(tensor, all));
}

/// X with `value` around it: reads of elements outside do not happen.
template <class T, int R>
struct Padded {
  TypedTensor<T, R> tensor;
  Expr<T> value;
  template <class... I>
  Expr<T> operator()(const I&... index) const {
    return select(in_bounds(tensor, index...), tensor(index...), value);
  }
};
/// X whose outermost elements go on outside; where X has no element (an extent is 0) it is 0.
template <class T, int R>
struct Clamped {
  TypedTensor<T, R> tensor;
  template <class... I>
  Expr<T> operator()(const I&... index) const {
    static_assert(sizeof...(I) == R, "lathe: the number of indices is not the tensor's rank");
    static_assert(R > 0, "lathe: clamp needs a tensor with an axis");
    const AnyExpr all[] = {detail::index_operand(index)...};
    return Expr<T>(clamp_any(tensor, all, Location{}));
  }
};

///     auto at = lt::pad(X, 0.0f);   …   at(i - 1, j)
template <class T, int R>
Padded<T, R> pad(const TypedTensor<T, R>& tensor, const std::type_identity_t<Expr<T>>& value) {
  return {tensor, value};
}
///     auto at = lt::clamp(X);   …   at(i - 1, j): the nearest element of X, and 0 if X has none
template <class T, int R>
Clamped<T, R> clamp(const TypedTensor<T, R>& tensor) {
  return {tensor};
}

}  // namespace lathe

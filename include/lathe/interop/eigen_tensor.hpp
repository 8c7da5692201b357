// Views of Eigen's tensors and tensor maps, with their rank and layout, without a copy.
#pragma once

#include <lathe/interop/eigen.hpp>
#include <unsupported/Eigen/CXX11/Tensor>

namespace lathe {
namespace detail {

template <class T, int R, class C>
View<T, R> eigen_tensor(T* data, const C& c, bool row_major) {
  std::int64_t extents[R > 0 ? R : 1] = {}, strides[R > 0 ? R : 1] = {};
  std::int64_t step = 1;
  for (int k = 0; k < R; ++k) {
    const int axis = row_major ? R - 1 - k : k;
    extents[axis] = static_cast<std::int64_t>(c.dimension(static_cast<std::size_t>(axis)));
    strides[axis] = step;
    step *= extents[axis];
  }
  return View<T, R>::from(data, extents, strides);
}

}  // namespace detail

template <class T, int R, int Options, class Index>
struct ViewOf<Eigen::Tensor<T, R, Options, Index>> {
  using Tensor = Eigen::Tensor<T, R, Options, Index>;
  static constexpr bool row_major =
      static_cast<int>(Tensor::Layout) == static_cast<int>(Eigen::RowMajor);
  static View<T, R> view(Tensor& c) { return detail::eigen_tensor<T, R>(c.data(), c, row_major); }
  static View<const T, R> view(const Tensor& c) {
    return detail::eigen_tensor<const T, R>(c.data(), c, row_major);
  }
};

template <class T, int R, int Options, class Index, int MapOptions>
struct ViewOf<Eigen::TensorMap<Eigen::Tensor<T, R, Options, Index>, MapOptions>> {
  using Map = Eigen::TensorMap<Eigen::Tensor<T, R, Options, Index>, MapOptions>;
  static constexpr bool row_major =
      static_cast<int>(Map::Layout) == static_cast<int>(Eigen::RowMajor);
  static View<T, R> view(const Map& c) {
    return detail::eigen_tensor<T, R>(c.data(), c, row_major);
  }
};

}  // namespace lathe

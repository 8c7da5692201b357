// Views of Eigen's matrices, arrays, vectors, maps, blocks and tensors, for kernels, without a
// copy.
//
//     Eigen::MatrixXf a(m, k);                          // Eigen's default is column-major:
//     lt::Input<float, 2> A("A", {m, k}, lt::col_major);  // so the input says so
//     Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> c(m, n);
//     f(a, b, c);
//
// A matrix is a view of rank 2 whatever its extents, with its own strides; a vector at compile time
// is also one of rank 1. A layout that the declaration does not take is refused by the call
// (L0305), which names the declaration that does.
#pragma once

#include <Eigen/Core>
#include <lathe/runtime/view.hpp>

namespace lathe {

namespace detail {

template <class C>
concept EigenDense = std::is_base_of_v<Eigen::DenseBase<C>, C> && requires(C& c) {
  c.data();
  c.rowStride();
  c.colStride();
};

/// Strides and extents in elements; a temporary expression without data does not get here.
template <class T, class C>
View<T, 2> eigen_matrix(T* data, const C& c) {
  return View<T, 2>(data, {c.rows(), c.cols()}, {c.rowStride(), c.colStride()});
}

}  // namespace detail

template <detail::EigenDense C>
struct ViewOf<C> {
  template <class Dense>
  static auto view(Dense& c) {
    using T = std::remove_pointer_t<decltype(c.data())>;
    if constexpr (C::IsVectorAtCompileTime)
      return View<T, 1>(c.data(), {c.size()}, {c.innerStride()});
    else
      return detail::eigen_matrix<T>(c.data(), c);
  }
};

/// Any dense Eigen object with storage, as rank 2: also a vector, as one column or row.
template <class C>
requires detail::EigenDense<std::remove_const_t<C>>
auto matrix_view(C& c) {
  return detail::eigen_matrix<std::remove_pointer_t<decltype(c.data())>>(c.data(), c);
}

}  // namespace lathe

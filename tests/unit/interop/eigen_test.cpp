#include <lathe/interop/eigen.hpp>
#include <lathe/interop/eigen_tensor.hpp>
//
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <support/errors.hpp>

namespace lt = lathe;
using Row = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST_CASE("Eigen's matrices, vectors, blocks and maps are arguments") {
  lt::Dim m("m"), n("n"), k("k");
  lt::Input<float, 2> A("A", {m, k}, lt::col_major), B("B", {k, n});
  lt::Input<float, 1> bias("bias", {n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) { return C(i, j) + bias(j); });
  auto f = lt::evaluate(D, A, B, bias, D);
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(5, 7);
  Row b = Row::Random(7, 3), c(5, 3), big = Row::Zero(9, 9);
  Eigen::RowVectorXf v = Eigen::RowVectorXf::Random(3);
  Row want = a * b;
  want.rowwise() += v;
  f(a, b, v, c);
  CHECK((c - want).norm() < 1e-5f);
  f(a, b, v, big.block(2, 3, 5, 3));
  CHECK((big.block(2, 3, 5, 3) - want).norm() < 1e-5f);
  CHECK(big.row(1).norm() == 0);
  Eigen::Map<const Eigen::MatrixXf> mapped(a.data(), 5, 7);
  c.setZero();
  f(mapped, b, v, c);
  CHECK((c - want).norm() < 1e-5f);
  Eigen::MatrixXf wrong = b;
  CHECK(test::error_of([&] { f(a, wrong, v, c); }) ==
        "L0305 'B' axis 1: stride is 7, but the declaration takes 1");
}

TEST_CASE("Eigen's tensors are arguments") {
  lt::Input<float, 3> T("T", {2, 3, 4}, lt::any_stride);
  auto U =
      lt::compute("U", {2, 3, 4}, [&](lt::Var i, lt::Var j, lt::Var k) { return T(i, j, k) * 2; });
  auto f = lt::evaluate(U, T, U);
  Eigen::Tensor<float, 3, Eigen::RowMajor> u(2, 3, 4);
  Eigen::Tensor<float, 3> t(2, 3, 4);
  t.setRandom();
  f(t, u);
  CHECK(u(1, 2, 3) == 2 * t(1, 2, 3));
  CHECK(u(0, 1, 2) == 2 * t(0, 1, 2));
  Eigen::TensorMap<Eigen::Tensor<float, 3, Eigen::RowMajor>> map(u.data(), 2, 3, 4);
  Eigen::Tensor<float, 3, Eigen::RowMajor> w(2, 3, 4);
  f(map, w);
  CHECK(w(1, 2, 3) == 4 * t(1, 2, 3));
}

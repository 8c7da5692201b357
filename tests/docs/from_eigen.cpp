#include <Eigen/Core>
#include <lathe/interop/eigen.hpp>

#include "phrase.hpp"

namespace docs {

std::vector<Phrases> from_eigen() {
  return {
      {"Expressions",
       {{"`C = A * B`",
         LATHE_PHRASE(auto E = lt::compute(
                          "E", {64, 64},
                          [&](lt::Var v, lt::Var w) { return lt::sum(A(v, r) * B(r, w), r); });),
         "a stage in memory only if the schedule keeps it there; blocking, threads and fusion are "
         "yours to say"},
        {"`A.cwiseProduct(B)`, `A.array() * B.array()`",
         LATHE_PHRASE(auto E = lt::compute(
                          "E", {64, 64}, [&](lt::Var v, lt::Var w) { return A(v, w) * B(v, w); });),
         "elements are named, so there is no `array()` and `matrix()`"},
        {"`A.array().exp()`",
         LATHE_PHRASE(auto E = lt::compute(
                          "E", {64, 64}, [&](lt::Var v, lt::Var w) { return lt::exp(A(v, w)); });),
         "within stated bounds of the exact value, in vectors of the machine that runs it"},
        {"`A.transpose()`",
         LATHE_PHRASE(
             auto E = lt::compute("E", {64, 64}, [&](lt::Var v, lt::Var w) { return A(w, v); });),
         "the same"},
        {"`A.block(1, 2, 8, 8)`",
         LATHE_PHRASE(auto E = lt::compute("E", {8, 8},
                                           [&](lt::Var v, lt::Var w) { return A(v + 1, w + 2); });),
         "outside of A it is refused, in every build"},
        {"`A.colwise() + v`",
         LATHE_PHRASE(lt::Input<float, 1> b("b", {64});
                      auto E = lt::compute("E", {64, 64},
                                           [&](lt::Var v, lt::Var w) { return A(v, w) + b(v); });),
         "the same"},
        {"`A.rowwise().sum()`, `.maxCoeff()`",
         LATHE_PHRASE(auto S =
                          lt::compute("S", {64}, [&](lt::Var v) { return lt::sum(A(v, r), r); });),
         "or `prod reduce_max reduce_min any all argmax argmin`, or a reducer of your own"},
        {"`(A.array() > 0).select(A, 0)`",
         LATHE_PHRASE(auto E = lt::compute("E", {64, 64},
                                           [&](lt::Var v, lt::Var w) {
                                             return lt::select(A(v, w) > 0.0f, A(v, w), 0.0f);
                                           });),
         "the arm that is not taken is not evaluated"},
        {"`A.cast<double>()`",
         LATHE_PHRASE(
             auto E = lt::compute(
                 "E", {64, 64}, [&](lt::Var v, lt::Var w) { return lt::cast<double>(A(v, w)); });),
         "saturates from floats to integers, where C++ leaves it undefined"}}},
      {"Memory and calls",
       {{"`C.noalias() = A * B`",
         LATHE_PHRASE(
             auto f = lt::evaluate(D, A, B, D);
             Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> a(64, 64),
             b(64, 64), d(64, 64);
             a.setOnes(); b.setOnes(); f(a, b, d);),
         "arguments are Eigen's objects as they are, with `lathe/interop/eigen.hpp`. Overlap of a "
         "result with an input is refused at the call"},
        {"`A = A.array() + 1`",
         LATHE_PHRASE(auto N = lt::compute("N", {64, 64},
                                           [&](lt::Var v, lt::Var w) { return A(v, w) + 1.0f; });
                      lt::Schedule t(lt::inout(A, N));),
         "in place where that is declared and proved"},
        {"`MatrixXf` (columns first)",
         LATHE_PHRASE(lt::Input<float, 2> K("K", {64, 64}, lt::col_major);),
         "row-major unless the input says otherwise; another layout at the call is refused"},
        {"`Map<MatrixXf>(p, 64, 64)`",
         LATHE_PHRASE(std::vector<float> data(64 * 64); auto view = lt::view(data, {64, 64});
                      (void)view;),
         "`lt::View` takes a pointer, extents and strides"}}}};
}

}  // namespace docs

// Matrices by vectors and by matrices.
#include "plain/loops/loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

template <class T, class N>
lt::Program matrix_vector(N m, N n) {
  lt::Input<T, 2> A("A", {m, n});
  lt::Input<T, 1> X("X", {n});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(A(i, r) * X(r), r); }));
}

lt::Program transposed_vector(int m, int n) {
  lt::Input<float, 2> A("A", {m, n});
  lt::Input<float, 1> X("X", {m});
  lt::Reduce r("r", m);
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var j) { return lt::sum(A(r, j) * X(r), r); }));
}

lt::Program outer_product(int m, int n) {
  lt::Input<float, 1> X("X", {m}), Y("Y", {n});
  return lt::program_of(
      lt::compute("A", {m, n}, [&](lt::Var i, lt::Var j) { return X(i) * Y(j); }));
}

lt::Program matrix_vector_added(int m, int n) {
  lt::Input<float, 2> A("A", {m, n});
  lt::Input<float, 1> X("X", {n}), B("B", {m});
  lt::Reduce r("r", n);
  auto product = lt::compute("product", {m}, [&](lt::Var i) { return lt::sum(A(i, r) * X(r), r); });
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return product(i) * 2.0f + B(i); }));
}

lt::Program batched_vector(int b, int m, int n) {
  lt::Input<float, 3> A("A", {b, m, n});
  lt::Input<float, 2> X("X", {b, n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute(
      "Y", {b, m}, [&](lt::Var t, lt::Var i) { return lt::sum(A(t, i, r) * X(t, r), r); }));
}

lt::Program bilinear_form(int m, int n) {
  lt::Input<float, 2> A("A", {m, n});
  lt::Input<float, 1> X("X", {m}), Y("Y", {n});
  lt::Reduce r("r", m), q("q", n);
  return lt::program_of(lt::compute("S", {}, [&] {
    return lt::sum(X(r) * A(r, q) * Y(q), {r, q});
  }));
}

template <class T, class N>
lt::Program product(N m, N n, N k) {
  lt::Input<T, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute(
      "C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); }));
}

lt::Program product_nt(int m, int n, int k) {
  lt::Input<float, 2> A("A", {m, k}), B("B", {n, k});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute(
      "C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(j, r), r); }));
}

lt::Program product_tn(int m, int n, int k) {
  lt::Input<float, 2> A("A", {k, m}), B("B", {k, n});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute(
      "C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(r, i) * B(r, j), r); }));
}

lt::Program product_tt(int m, int n, int k) {
  lt::Input<float, 2> A("A", {k, m}), B("B", {n, k});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute(
      "C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(r, i) * B(j, r), r); }));
}

lt::Program product_bias_relu(int m, int n, int k) {
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Input<float, 1> bias("bias", {n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  return lt::program_of(
      lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) { return lt::relu(C(i, j) - bias(j)); }));
}

lt::Program batched_product(int t, int m, int n, int k) {
  lt::Input<float, 3> A("A", {t, m, k}), B("B", {t, k, n});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute("C", {t, m, n}, [&](lt::Var z, lt::Var i, lt::Var j) {
    return lt::sum(A(z, i, r) * B(z, r, j), r);
  }));
}

lt::Program contraction4(int ni, int nj, int nk, int nl, int nm) {
  lt::Input<float, 3> A("A", {ni, nk, nm}), B("B", {nj, nm, nl});
  lt::Reduce m("m", nm);
  return lt::program_of(
      lt::compute("C", {ni, nj, nk, nl}, [&](lt::Var i, lt::Var j, lt::Var k, lt::Var l) {
        return lt::sum(A(i, k, m) * B(j, m, l), m);
      }));
}

lt::Program gram(int n, int k) {
  lt::Input<float, 2> A("A", {n, k});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute(
      "C", {n, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * A(j, r), r); }));
}

lt::Program two_products(int m, int n) {
  lt::Input<float, 2> A("A", {m, n}), B("B", {n, n}), C("C", {n, n});
  lt::Reduce r("r", n), q("q", n);
  auto first = lt::compute("first", {m, n},
                           [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  return lt::program_of(lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::relu(first(i, q) - 1.0f) * C(q, j), q);
  }));
}

}  // namespace

PlainPrograms matrix_vector_programs() {
  const Shape some = {between(250, 700), between(250, 700)};
  return {
      {"A x",
       matrix_vector<float, int>,
       loops::matrix_vector<float>,
       {{512, 512}, {1500, 900}, some}},
      {"A x of short rows",
       matrix_vector<float, int>,
       loops::matrix_vector<float>,
       {{4000, 16}, {between(2000, 5000), between(5, 40)}}},
      {"A x f64", matrix_vector<double, int>, loops::matrix_vector<double>, {{300, 300}, some}},
      {"A' x", transposed_vector, loops::transposed_vector, {{512, 512}, {2000, 50}, some}},
      {"x y'", outer_product, loops::outer_product, {{256, 256}, some}},
      {"2 A x + b", matrix_vector_added, loops::matrix_vector_added, {{256, 1024}, some}},
      {"A x batched",
       batched_vector,
       loops::batched_vector,
       {{32, 64, 64}, {between(20, 60), between(30, 100), between(30, 100)}}},
      {"x' A y", bilinear_form, loops::bilinear_form, {{300, 400}, some}},
      {"A x of any size",
       matrix_vector<float, lt::Dim>,
       loops::matrix_vector<float>,
       {{400, 400}, some}},
  };
}

PlainPrograms product_programs() {
  const Shape some = {between(40, 160), between(40, 160), between(40, 160)};
  return {
      {"A B",
       product<float, int>,
       loops::product<float>,
       {{128, 128, 128}, {256, 256, 256}, {4, 512, 512}, some}},
      {"A B f64", product<double, int>, loops::product<double>, {{96, 96, 96}, some}},
      {"A B'", product_nt, loops::product_nt, {{128, 128, 128}, some}},
      {"A' B", product_tn, loops::product_tn, {{128, 128, 128}, some}},
      {"A' B'", product_tt, loops::product_tt, {{64, 64, 64}, some}},
      {"relu(A B - bias)", product_bias_relu, loops::product_bias_relu, {{64, 256, 128}, some}},
      {"A B batched",
       batched_product,
       loops::batched_product,
       {{16, 32, 32, 32},
        {1000, 6, 6, 6},
        {10000, 2, 2, 2},
        {3000, 3, 3, 3},
        {between(50, 500), 4, between(3, 9), between(3, 9)}}},
      {"ikm jml to ijkl",
       contraction4,
       loops::contraction4,
       {{16, 8, 16, 32, 24}, {between(4, 20), between(4, 20), 8, between(8, 40), 16}}},
      {"A A'", gram, loops::gram, {{128, 64}, {between(50, 160), between(30, 160)}}},
      {"relu(A B - 1) C",
       two_products,
       loops::two_products,
       {{64, 128}, {between(30, 100), between(50, 160)}}},
      {"A B of any size", product<float, lt::Dim>, loops::product<float>, {{128, 128, 128}, some}},
  };
}

}  // namespace bench
#endif

// Dots, folds of rows and of columns.
#include "plain/loops/exact_loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

template <class T, class N>
lt::Program dot(N n) {
  lt::Input<T, 1> A("A", {n}), B("B", {n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("S", {}, [&] { return lt::sum(A(r) * B(r), r); }));
}

lt::Program dot_of_one(int n) {
  lt::Input<float, 1> A("A", {n}), B("B", {n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("S", {1}, [&](lt::Var) { return lt::sum(A(r) * B(r), r); }));
}

lt::Program strided_dot(int n) {
  lt::Input<float, 1> A("A", {2 * n}), B("B", {n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("S", {}, [&] { return lt::sum(A(2 * r) * B(r), r); }));
}

lt::Program squared_norm(int n) {
  lt::Input<float, 1> A("A", {n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("S", {}, [&] { return lt::sum(A(r) * A(r), r); }));
}

lt::Program distance(int n) {
  lt::Input<float, 1> A("A", {n}), B("B", {n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("S", {}, [&] { return lt::sum(lt::abs(A(r) - B(r)), r); }));
}

lt::Program largest_magnitude(int n) {
  lt::Input<float, 1> A("A", {n});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("S", {}, [&] { return lt::reduce_max(lt::abs(A(r) - 0.5f), r); }));
}

template <class N>
lt::Program row_sums(N m, N n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(X(i, r), r); }));
}

template <class N>
lt::Program row_maxima(N m, N n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("Y", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); }));
}

lt::Program row_means(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto total = lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return total(i) * (1.0f / n); }));
}

lt::Program row_variances(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n), q("q", n);
  auto total = lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto mean = lt::compute("mean", {m}, [&](lt::Var i) { return total(i) * (1.0f / n); });
  auto squares = lt::compute("squares", {m}, [&](lt::Var i) {
    auto d = X(i, q) - mean(i);
    return lt::sum(d * d, q);
  });
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return squares(i) * (1.0f / n); }));
}

lt::Program row_norms(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto squares =
      lt::compute("squares", {m}, [&](lt::Var i) { return lt::sum(X(i, r) * X(i, r), r); });
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return lt::sqrt(squares(i)); }));
}

lt::Program block_sums(int b, int m, int n) {
  lt::Input<float, 3> X("X", {b, m, n});
  lt::Reduce r("r", m), q("q", n);
  return lt::program_of(lt::compute("Y", {b}, [&](lt::Var i) {
    return lt::sum(X(i, r, q), {r, q});
  }));
}

template <class N>
lt::Program column_sums(N m, N n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", m);
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var j) { return lt::sum(X(r, j), r); }));
}

lt::Program column_maxima(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", m);
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var j) { return lt::reduce_max(X(r, j), r); }));
}

lt::Program column_variances(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", m), q("q", m);
  auto total = lt::compute("total", {n}, [&](lt::Var j) { return lt::sum(X(r, j), r); });
  auto squares = lt::compute("squares", {n}, [&](lt::Var j) {
    auto d = X(q, j) - total(j) * (1.0f / m);
    return lt::sum(d * d, q);
  });
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var j) { return squares(j) * (1.0f / m); }));
}

lt::Program pool_nhwc(int n, int h, int w, int c) {
  lt::Input<float, 4> X("X", {n, h, w, c});
  lt::Reduce p("p", h), q("q", w);
  auto total = lt::compute("total", {n, c}, [&](lt::Var t, lt::Var k) {
    return lt::sum(X(t, p, q, k), {p, q});
  });
  return lt::program_of(lt::compute(
      "Y", {n, c}, [&](lt::Var t, lt::Var k) { return total(t, k) * (1.0f / (h * w)); }));
}

lt::Program pool_nchw(int n, int c, int h, int w) {
  lt::Input<float, 4> X("X", {n, c, h, w});
  lt::Reduce p("p", h), q("q", w);
  auto total = lt::compute("total", {n, c}, [&](lt::Var t, lt::Var k) {
    return lt::sum(X(t, k, p, q), {p, q});
  });
  return lt::program_of(lt::compute(
      "Y", {n, c}, [&](lt::Var t, lt::Var k) { return total(t, k) * (1.0f / (h * w)); }));
}

lt::Program channel_sums(int n, int c, int h, int w) {
  lt::Input<float, 4> X("X", {n, c, h, w});
  lt::Reduce t("t", n), p("p", h), q("q", w);
  return lt::program_of(lt::compute("Y", {c}, [&](lt::Var k) {
    return lt::sum(X(t, k, p, q), {t, p, q});
  }));
}

lt::Program moments(int n) {
  lt::Input<float, 1> A("A", {n});
  lt::Reduce r("r", n), q("q", n);
  auto sum = lt::compute("sum", {}, [&] { return lt::sum(A(r), r); });
  auto squares = lt::compute("squares", {}, [&] { return lt::sum(A(q) * A(q), q); });
  return lt::program_of(lt::outputs(sum, squares));
}

lt::Program row_welford(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto all = lt::compute("all", {m}, [&](lt::Var i) { return lt::welford(X(i, r), r); });
  auto count = all.get<0>();
  auto squares = all.get<2>();
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return squares(i) / count(i); }));
}

lt::Program row_ranges(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n), q("q", n);
  auto least = lt::compute("least", {m}, [&](lt::Var i) { return lt::reduce_min(X(i, r), r); });
  auto most = lt::compute("most", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, q), q); });
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return most(i) - least(i); }));
}

lt::Program normal_columns(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", m), q("q", m);
  auto total = lt::compute("total", {n}, [&](lt::Var j) { return lt::sum(X(r, j), r); });
  auto mean = lt::compute("mean", {n}, [&](lt::Var j) { return total(j) * (1.0f / m); });
  auto squares = lt::compute("squares", {n}, [&](lt::Var j) {
    auto d = X(q, j) - mean(j);
    return lt::sum(d * d, q);
  });
  return lt::program_of(lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) {
    return (X(i, j) - mean(j)) * lt::rsqrt(squares(j) * (1.0f / m) + 1e-5f);
  }));
}

}  // namespace

PlainPrograms dot_programs() {
  return {
      {"dot", dot<float, int>, loops::dot<float>, {{200000}, {40099}, {between(50000, 300000)}}},
      {"dot of extent 1", dot_of_one, loops::dot<float>, {{65536}, {between(50000, 200000)}}},
      {"dot f64", dot<double, int>, loops::dot<double>, {{50000}, {between(30000, 100000)}}},
      {"dot of every second", strided_dot, loops::strided_dot, {{50000}, {between(40000, 100000)}}},
      {"squared norm", squared_norm, loops::squared_norm, {{200000}, {between(100000, 300000)}}},
      {"sum of distances", distance, loops::distance, {{80000}, {between(60000, 200000)}}},
      {"largest magnitude",
       largest_magnitude,
       loops::largest_magnitude,
       {{100000}, {between(80000, 200000)}}},
      {"sums and sums of squares", moments, loops::moments, {{100000}, {between(30000, 200000)}}},
      {"dot of any size",
       dot<float, lt::Dim>,
       loops::dot<float>,
       {{100000}, {between(50000, 300000)}}},
  };
}

PlainPrograms row_fold_programs() {
  const Shape some = {between(200, 500), between(250, 1100)};
  return {
      {"row sums", row_sums<int>, loops::row_sums, {{500, 1003}, {1000, 1000}, {4000, 12}, some}},
      {"row maxima", row_maxima<int>, loops::row_maxima, {{500, 1003}, {2000, 33}, some}},
      {"row means", row_means, loops::row_means, {{512, 512}, some}},
      {"row variances", row_variances, loops::row_variances, {{256, 512}, {1000, 30}, some}},
      {"row norms", row_norms, loops::row_norms, {{3000, 64}, some}},
      {"block sums",
       block_sums,
       loops::block_sums,
       {{1000, 16, 16}, {between(200, 500), between(10, 30), between(20, 60)}}},
      {"row variances by Welford", row_welford, loops::row_variances, {{256, 512}, some}},
      {"row ranges", row_ranges, loops::row_ranges, {{500, 200}, some}},
      {"row sums of any size", row_sums<lt::Dim>, loops::row_sums, {{500, 300}, some}},
      {"row maxima of any size", row_maxima<lt::Dim>, loops::row_maxima, {{500, 300}, some}},
  };
}

PlainPrograms column_fold_programs() {
  const Shape some = {between(200, 500), between(250, 1100)};
  return {
      {"column sums", column_sums<int>, loops::column_sums, {{1000, 1000}, {5000, 20}, some}},
      {"column maxima", column_maxima, loops::column_maxima, {{500, 500}, some}},
      {"column variances", column_variances, loops::column_variances, {{512, 256}, some}},
      {"average pool NHWC",
       pool_nhwc,
       loops::pool_nhwc,
       {{4, 14, 14, 256}, {4, between(10, 30), between(10, 30), between(64, 300)}}},
      {"average pool NCHW",
       pool_nchw,
       loops::pool_nchw,
       {{16, 256, 7, 7}, {4, between(64, 300), between(7, 30), between(7, 30)}}},
      {"channel sums NCHW",
       channel_sums,
       loops::channel_sums,
       {{16, 64, 14, 14}, {8, between(32, 100), between(10, 30), between(10, 30)}}},
      {"normal columns",
       normal_columns,
       both(loops::normal_columns, exact_loops::normal_columns),
       {{512, 256}, some}},
      {"column sums of any size", column_sums<lt::Dim>, loops::column_sums, {{500, 300}, some}},
  };
}

}  // namespace bench
#endif

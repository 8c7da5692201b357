// Few channels that lie side by side: colours, complex numbers; triangles and bands.
#include "plain/loops/exact_loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

using u8 = std::uint8_t;

template <class T, class S>
lt::Program sums_of_three(int n) {
  lt::Input<T, 2> X("X", {n, 3});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("Y", {3}, [&](lt::Var c) { return lt::sum(lt::cast<S>(X(r, c)), r); }));
}

lt::Program colours_by_matrix(int n) {
  lt::Input<float, 2> M("M", {3, 3}), X("X", {n, 3});
  lt::Reduce k("k", 3);
  return lt::program_of(lt::compute(
      "Y", {n, 3}, [&](lt::Var i, lt::Var c) { return lt::sum(M(c, k) * X(i, k), k); }));
}

lt::Program complex_matrices(int m, int n, int k) {
  lt::Input<float, 3> A("A", {m, k, 2}), B("B", {k, n, 2});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute("C", {m, n, 2}, [&](lt::Var i, lt::Var j, lt::Var p) {
    return lt::sum(lt::select(p == 0, A(i, r, 0) * B(r, j, 0) - A(i, r, 1) * B(r, j, 1),
                              A(i, r, 0) * B(r, j, 1) + A(i, r, 1) * B(r, j, 0)),
                   r);
  }));
}

lt::Program blur_colours(int h, int w) {
  lt::Input<u8, 3> X("X", {h, w + 2, 3});
  const auto at = [&](lt::Var i, auto j, lt::Var c) { return lt::cast<int>(X(i, j, c)); };
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    return lt::cast<u8>((at(i, j, c) + 2 * at(i, j + 1, c) + at(i, j + 2, c) + 2) >> 2);
  }));
}

lt::Program colour_over(int n) {
  lt::Input<u8, 2> S("S", {n, 4}), D("D", {n, 4});
  return lt::program_of(lt::compute("Y", {n, 4}, [&](lt::Var i, lt::Var c) {
    const auto a = lt::cast<int>(S(i, 3));
    return lt::cast<u8>((lt::cast<int>(S(i, c)) * a + lt::cast<int>(D(i, c)) * (255 - a) + 128) >>
                        8);
  }));
}

lt::Program unit_vectors(int n) {
  lt::Input<float, 2> X("X", {n, 3});
  lt::Reduce r("r", 3);
  auto squares =
      lt::compute("squares", {n}, [&](lt::Var i) { return lt::sum(X(i, r) * X(i, r), r); });
  return lt::program_of(lt::compute(
      "Y", {n, 3}, [&](lt::Var i, lt::Var c) { return X(i, c) / lt::sqrt(squares(i)); }));
}

lt::Program masked_means(int b, int t, int c) {
  lt::Input<float, 3> X("X", {b, t, c});
  lt::Input<float, 2> W("W", {b, t});
  lt::Reduce p("p", t), q("q", t);
  auto total = lt::compute("total", {b, c},
                           [&](lt::Var z, lt::Var j) { return lt::sum(X(z, p, j) * W(z, p), p); });
  auto all = lt::compute("all", {b}, [&](lt::Var z) { return lt::sum(W(z, q), q); });
  return lt::program_of(
      lt::compute("Y", {b, c}, [&](lt::Var z, lt::Var j) { return total(z, j) / all(z); }));
}

lt::Program triangle_by_vector(int n) {
  lt::Input<float, 2> A("A", {n, n});
  lt::Input<float, 1> x("x", {n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute(
      "y", {n}, [&](lt::Var i) { return lt::sum(lt::select(r <= i, A(i, r) * x(r), 0.0f), r); }));
}

lt::Program upper_triangle_by_matrix(int n, int m) {
  lt::Input<float, 2> A("A", {n, n}), B("B", {n, m});
  return lt::program_of(lt::compute("C", {n, m}, [&](lt::Var i, lt::Var j) {
    lt::Reduce r("r", {i, n - i});
    return lt::sum(A(i, r) * B(r, j), r);
  }));
}

lt::Program autocorrelation(int lags, int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(lt::compute("Y", {lags}, [&](lt::Var t) {
    lt::Reduce r("r", {0, n - t});
    return lt::sum(X(r) * X(r + t), r);
  }));
}

lt::Program band_by_vector(int n, int reach) {
  lt::Input<float, 2> A("A", {n, n});
  lt::Input<float, 1> x("x", {n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("y", {n}, [&](lt::Var i) {
    return lt::sum(lt::select(lt::abs(r - i) <= reach, A(i, r) * x(r), 0.0f), r);
  }));
}

}  // namespace

PlainPrograms channel_programs() {
  const Shape many = {between(20000, 60000)},
              some = {between(30, 90), between(30, 90), between(30, 90)};
  return {
      {"sums of points", sums_of_three<float, float>, loops::point_sums, {{50000}, many}},
      {"sums of colours u8", sums_of_three<u8, std::int32_t>, loops::colour_sums, {{50000}, many}},
      {"colours by a matrix", colours_by_matrix, loops::colours_by_matrix, {{40000}, many}},
      {"complex matrices", complex_matrices, loops::complex_matrices, {{48, 48, 48}, some}},
      {"blur of colours u8",
       blur_colours,
       loops::blur_colours,
       {{200, 200}, {between(100, 300), between(100, 300)}}},
      {"colours over colours u8", colour_over, loops::colour_over, {{40000}, many}},
      {"unit vectors of three",
       unit_vectors,
       both(loops::unit_vectors, exact_loops::unit_vectors),
       {{20000}, many}},
      {"masked means",
       masked_means,
       loops::masked_means,
       {{8, 100, 64}, {between(2, 9), between(50, 200), between(20, 200)}}},
      {"triangle by vector",
       triangle_by_vector,
       loops::triangle_by_vector,
       {{384}, {between(200, 600)}}},
      {"upper triangle by matrix",
       upper_triangle_by_matrix,
       loops::upper_triangle_by_matrix,
       {{130, 96}, {between(60, 200), between(20, 130)}}},
      {"autocorrelation",
       autocorrelation,
       loops::autocorrelation,
       {{33, 4001}, {between(5, 60), between(500, 6000)}}},
      {"band by vector",
       band_by_vector,
       loops::band_by_vector,
       {{384, 3}, {between(200, 600), between(2, 20)}}},
  };
}

}  // namespace bench
#endif

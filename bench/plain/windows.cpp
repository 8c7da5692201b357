// Windows over images, and searches.
#include "plain/loops/exact_loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

// 2 x 2, images NHWC.
lt::Program max_pool(int h, int w, int c) {
  lt::Input<float, 3> X("X", {2 * h, 2 * w, c});
  lt::Reduce a("a", 2), b("b", 2);
  return lt::program_of(lt::compute("Y", {h, w, c}, [&](lt::Var i, lt::Var j, lt::Var k) {
    return lt::reduce_max(X(2 * i + a, 2 * j + b, k), {a, b});
  }));
}

// 3 x 3, images NCHW.
lt::Program average_pool(int c, int h, int w) {
  lt::Input<float, 3> X("X", {c, h + 2, w + 2});
  lt::Reduce a("a", 3), b("b", 3);
  auto total = lt::compute("total", {c, h, w}, [&](lt::Var k, lt::Var i, lt::Var j) {
    return lt::sum(X(k, i + a, j + b), {a, b});
  });
  return lt::program_of(lt::compute("Y", {c, h, w}, [&](lt::Var k, lt::Var i, lt::Var j) {
    return total(k, i, j) * (1.0f / 9);
  }));
}

lt::Program moving_average(int n, int p) {
  lt::Input<float, 1> X("X", {n + p - 1});
  lt::Reduce b("b", p);
  auto total = lt::compute("total", {n}, [&](lt::Var j) { return lt::sum(X(j + b), b); });
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var j) { return total(j) * (1.0f / p); }));
}

template <class N>
lt::Program blur(N h, N w) {
  lt::Input<float, 2> X("X", {h + 2, w + 2});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto row = [&](int a) { return X(i + a, j) + 2 * X(i + a, j + 1) + X(i + a, j + 2); };
    return (row(0) + 2 * row(1) + row(2)) * 0.0625f;
  }));
}

lt::Program blur_in_two(int h, int w) {
  lt::Input<float, 2> X("X", {h + 2, w + 2});
  auto along = lt::compute("along", {h + 2, w}, [&](lt::Var i, lt::Var j) {
    return X(i, j) + X(i, j + 1) + X(i, j + 2);
  });
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return (along(i, j) + along(i + 1, j) + along(i + 2, j)) * (1.0f / 9);
  }));
}

lt::Program sobel(int h, int w) {
  lt::Input<float, 2> X("X", {h + 2, w + 2});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto at = [&](int a, int b) { return X(i + a, j + b); };
    auto along = at(0, 2) - at(0, 0) + 2 * (at(1, 2) - at(1, 0)) + at(2, 2) - at(2, 0);
    auto down = at(2, 0) - at(0, 0) + 2 * (at(2, 1) - at(0, 1)) + at(2, 2) - at(0, 2);
    return lt::sqrt(along * along + down * down);
  }));
}

lt::Program jacobi_2d(int h, int w) {
  lt::Input<float, 2> X("X", {h + 2, w + 2});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return 0.2f * (X(i, j + 1) + X(i + 1, j) + X(i + 1, j + 1) + X(i + 1, j + 2) + X(i + 2, j + 1));
  }));
}

lt::Program jacobi_3d(int d, int h, int w) {
  lt::Input<float, 3> X("X", {d + 2, h + 2, w + 2});
  return lt::program_of(lt::compute("Y", {d, h, w}, [&](lt::Var z, lt::Var i, lt::Var j) {
    const auto at = [&](int c, int a, int b) { return X(z + 1 + c, i + 1 + a, j + 1 + b); };
    return 0.4f * at(0, 0, 0) + 0.1f * (at(0, 0, -1) + at(0, 0, 1) + at(0, -1, 0) + at(0, 1, 0) +
                                        at(-1, 0, 0) + at(1, 0, 0));
  }));
}

lt::Program row_argmax(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto best = lt::compute("best", {m}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  return lt::program_of(best.get<1>());
}

lt::Program column_argmax(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", m);
  auto best = lt::compute("best", {n}, [&](lt::Var j) { return lt::argmax(X(r, j), r); });
  return lt::program_of(best.get<1>());
}

lt::Program nearest(int m, int n, int d) {
  lt::Input<float, 2> X("X", {m, d}), points("points", {n, d});
  lt::Reduce k("k", d), r("r", n);
  auto far = lt::compute("far", {m, n}, [&](lt::Var i, lt::Var j) {
    auto apart = X(i, k) - points(j, k);
    return lt::sum(apart * apart, k);
  });
  auto best = lt::compute("best", {m}, [&](lt::Var i) { return lt::argmin(far(i, r), r); });
  return lt::program_of(best.get<1>());
}

lt::Program log_sum_exp(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto both = lt::compute("both", {m}, [&](lt::Var i) { return lt::log_sum_exp(X(i, r), r); });
  auto top = both.get<0>();
  auto sum = both.get<1>();
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return top(i) + lt::log(sum(i)); }));
}

lt::Program count_above(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(lt::cast<int>(X(i, r) > 0.75f), r); }));
}

lt::Program position_of_largest(int n) {
  lt::Input<float, 1> X("X", {n});
  lt::Reduce r("r", n);
  auto best = lt::compute("best", {}, [&] { return lt::argmax(X(r), r); });
  return lt::program_of(best.get<1>());
}

lt::Program first_above(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute(
      "Y", {m}, [&](lt::Var i) { return lt::reduce_min(lt::select(X(i, r) > 0.99f, r, n), r); }));
}

lt::Program column_argmin_of_two(int m, int n) {
  lt::Input<float, 2> A("A", {m, n}), B("B", {m, n});
  lt::Reduce r("r", m);
  auto best = lt::compute("best", {n},
                          [&](lt::Var j) { return lt::argmin(lt::abs(A(r, j) - B(r, j)), r); });
  return lt::program_of(best.get<1>());
}

lt::Program sliding_maxima(int n, int p) {
  lt::Input<float, 1> X("X", {n + p - 1});
  lt::Reduce b("b", p);
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var j) { return lt::reduce_max(X(j + b), b); }));
}

lt::Program erosion(int h, int w) {
  lt::Input<std::uint8_t, 2> X("X", {h + 2, w + 2});
  lt::Reduce a("a", 3), b("b", 3);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::reduce_min(X(i + a, j + b), {a, b});
  }));
}

lt::Program erosion_of_colours(int h, int w) {
  lt::Input<std::uint8_t, 3> X("X", {h, w, 3});
  lt::Reduce a("a", 3), b("b", 3);
  const auto at = lt::clamp(X);
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    return lt::reduce_min(at(i + a - 1, j + b - 1, c), {a, b});
  }));
}

lt::Program neighbours_on_torus(int h, int w) {
  lt::Input<float, 2> X("X", {h, w});
  lt::Reduce a("a", 3), b("b", 3);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::sum(X((i + a + h - 1) % h, (j + b + w - 1) % w), {a, b});
  }));
}

// 3 x 3, every second pixel, images NCHW.
lt::Program max_pool_nchw(int c, int h, int w) {
  lt::Input<float, 3> X("X", {c, 2 * h + 1, 2 * w + 1});
  lt::Reduce a("a", 3), b("b", 3);
  return lt::program_of(lt::compute("Y", {c, h, w}, [&](lt::Var k, lt::Var i, lt::Var j) {
    return lt::reduce_max(X(k, 2 * i + a, 2 * j + b), {a, b});
  }));
}

lt::Program largest_two(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  using Pair = std::tuple<lt::Expr<float>, lt::Expr<float>>;
  auto two = lt::reducer("two", Pair{0.0f, 0.0f},
                         [](const Pair& a, const Pair& b) {
                           const auto& [a0, a1] = a;
                           const auto& [b0, b1] = b;
                           return Pair{lt::max(a0, b0), lt::max(lt::min(a0, b0), lt::max(a1, b1))};
                         },
                         {.associative = true, .commutative = true});
  auto best = lt::compute("best", {m}, [&](lt::Var i) { return two(Pair{X(i, r), 0.0f}, r); });
  return lt::program_of(best);
}

}  // namespace

PlainPrograms window_programs() {
  const Size side = between(150, 400);
  return {
      {"max pool NHWC",
       max_pool,
       loops::max_pool,
       {{28, 28, 64}, {between(16, 40), between(16, 40), between(8, 80)}}},
      {"average pool 3x3 NCHW",
       average_pool,
       loops::average_pool,
       {{32, 28, 28}, {between(8, 64), between(8, 60), between(8, 60)}}},
      {"moving average",
       moving_average,
       loops::moving_average,
       {{20000, 9}, {between(10000, 30000), between(3, 20)}}},
      {"blur 3x3", blur<int>, loops::blur, {{256, 256}, {side, side}}},
      {"blur in two", blur_in_two, loops::blur_in_two, {{256, 256}, {side, side}}},
      {"sobel", sobel, both(loops::sobel, exact_loops::sobel), {{256, 256}, {side, side}}},
      {"jacobi 2-D", jacobi_2d, loops::jacobi_2d, {{256, 256}, {1000, 1000}, {side, side}}},
      {"jacobi 3-D",
       jacobi_3d,
       loops::jacobi_3d,
       {{32, 32, 32}, {between(20, 50), between(20, 50), between(20, 50)}}},
      {"max pool 3x3 NCHW",
       max_pool_nchw,
       loops::max_pool_nchw,
       {{32, 14, 14}, {between(16, 64), between(8, 30), between(8, 30)}}},
      {"sliding maxima",
       sliding_maxima,
       loops::sliding_maxima,
       {{20000, 5}, {between(10000, 30000), between(3, 20)}}},
      {"erosion 3x3 u8", erosion, loops::erosion, {{512, 512}, {side, side}}},
      {"erosion 3x3 of colours u8, borders repeated",
       erosion_of_colours,
       loops::erosion_of_colours,
       {{256, 256}, {side, side}}},
      {"sums 3x3 on a torus",
       neighbours_on_torus,
       loops::neighbours_on_torus,
       {{256, 256}, {side, side}}},
      {"blur 3x3 of any size", blur<lt::Dim>, loops::blur, {{256, 256}, {side, side}}},
  };
}

PlainPrograms search_programs() {
  const Shape some = {between(150, 500), between(100, 1100)};
  return {
      {"row argmax", row_argmax, loops::row_argmax, {{500, 1003}, {2000, 10}, some}},
      {"column argmax", column_argmax, loops::column_argmax, {{500, 200}, some}},
      {"nearest neighbour",
       nearest,
       loops::nearest,
       {{100, 64, 16}, {between(50, 200), between(20, 100), between(3, 40)}}},
      {"log-sum-exp", log_sum_exp, loops::log_sum_exp, {{128, 512}, some}},
      {"count above", count_above, loops::count_above, {{256, 512}, some}},
      {"position of largest",
       position_of_largest,
       loops::position_of_largest,
       {{20000}, {between(10000, 100000)}}},
      {"first above", first_above, loops::first_above, {{256, 500}, some}},
      {"row of least distance",
       column_argmin_of_two,
       loops::column_argmin_of_two,
       {{300, 200}, some}},
      {"largest two", largest_two, loops::largest_two, {{256, 500}, some}},
  };
}

}  // namespace bench
#endif

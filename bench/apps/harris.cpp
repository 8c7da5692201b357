// Corners after Harris: det(M) - 0.04 trace(M)^2, where M is the sum of the products of the
// gradients over 3x3 pixels.
#include "apps/halide_app.hpp"
#include "apps/lathe_app.hpp"

namespace bench {

namespace {

// Of seven values around a pixel; the Sobel operators and the sum of 3x3.
template <class At>
auto sobel_x(const At& at) {
  return (at(-1, 1) - at(-1, -1)) * (1 / 12.0f) + (at(0, 1) - at(0, -1)) * (2 / 12.0f) +
         (at(1, 1) - at(1, -1)) * (1 / 12.0f);
}
template <class At>
auto sobel_y(const At& at) {
  return sobel_x([&](int dy, int dx) { return at(dx, dy); });
}
template <class At>
auto sum_3x3(const At& at) {
  return at(-1, -1) + at(-1, 0) + at(-1, 1) + at(0, -1) + at(0, 0) + at(0, 1) + at(1, -1) +
         at(1, 0) + at(1, 1);
}
template <class T>
auto response(const T& xx, const T& yy, const T& xy) {
  const auto trace = xx + yy;
  return xx * yy - xy * xy - trace * trace * 0.04f;
}

}  // namespace

#ifdef BENCH_HAS_LATHE_HEADER
LatheApp lathe_harris(const App& app, int) {
  const auto h = app.h, w = app.w;
  using lt::Var;
  lt::Input<float, 3> in("in", {3, h + 4, w + 4});
  const auto gray = lt::compute("gray", {h + 4, w + 4}, [&](Var y, Var x) {
    return in(0, y, x) * 0.299f + in(1, y, x) * 0.587f + in(2, y, x) * 0.114f;
  });
  const auto around_gray = [&](Var y, Var x) {
    return [=](int dy, int dx) { return gray(y + 1 + dy, x + 1 + dx); };
  };
  const auto ix =
      lt::compute("ix", {h + 2, w + 2}, [&](Var y, Var x) { return sobel_x(around_gray(y, x)); });
  const auto iy =
      lt::compute("iy", {h + 2, w + 2}, [&](Var y, Var x) { return sobel_y(around_gray(y, x)); });
  const auto out = lt::compute("out", {h, w}, [&](Var y, Var x) {
    const auto sum = [&](const auto& a, const auto& b) {
      return sum_3x3(
          [&](int dy, int dx) { return a(y + 1 + dy, x + 1 + dx) * b(y + 1 + dy, x + 1 + dx); });
    };
    return response(sum(ix, ix), sum(iy, iy), sum(ix, iy));
  });

  lt::Schedule s(out);
  const lt::Schedule plain = s;
  // Strips; two rows at once, which share most of the sums.
  auto [y, x] = s.loops<2>(out);
  auto [yo, ym, yi] = s.split<3>(y, {lt::infer, 16, 2});
  auto [xo, xi] = s.split<2>(x, {lt::infer, 16});
  s.reorder({yo, ym, xo, yi, xi});
  for (const auto& stage : {iy, ix, gray}) s.compute_at(stage, yo);
  for (const std::size_t depth : {1u, 2u}) s.merge(s.loops(iy)[depth], s.loops(ix)[depth]);
  for (const auto& stage : {ix, gray}) lanes(s, stage, 16);
  s.unroll(yi);
  s.vectorize(xi);
  s.parallel(yo);
  return {plain, s};
}
#endif

#ifdef BENCH_HALIDE
Halide::Func halide_harris(const HalideImage& in, const App&, int threads) {
  using namespace Halide;
  const Var x("x"), y("y"), yi("yi");
  Func gray("gray"), ix("ix"), iy("iy"), out("out");
  gray(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
  const auto around_gray = [&](int dy, int dx) { return gray(x + 1 + dx, y + 1 + dy); };
  ix(x, y) = sobel_x(around_gray);
  iy(x, y) = sobel_y(around_gray);
  const auto sum = [&](const Func& a, const Func& b) {
    return sum_3x3([&](int dy, int dx) -> Expr {
      return a(x + 1 + dx, y + 1 + dy) * b(x + 1 + dx, y + 1 + dy);
    });
  };
  out(x, y) = response(sum(ix, ix), sum(iy, iy), sum(ix, iy));

  out.split(y, y, yi, 32).vectorize(x, halide_lanes);
  parallel_if(out, y, threads);
  gray.store_at(out, y).compute_at(out, yi).vectorize(x, halide_lanes);
  ix.store_at(out, y).compute_at(out, yi).vectorize(x, halide_lanes);
  iy.store_at(out, y).compute_at(out, yi).vectorize(x, halide_lanes).compute_with(ix, x);
  return out;
}
#endif

}  // namespace bench

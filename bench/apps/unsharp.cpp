// Sharpening: each channel times (2 gray - blurred gray) / gray; the blur has seven taps each way.
#include <cmath>

#include "apps/halide_app.hpp"
#include "apps/lathe_app.hpp"

namespace bench {

namespace {

// A Gaussian of sigma 1.5.
float weight(int d) {
  return static_cast<float>(std::exp(-d * d / (2 * 1.5 * 1.5)) / (std::sqrt(2 * M_PI) * 1.5));
}
template <class At>
auto blurred(const At& at) {
  return at(0) * weight(0) + (at(-1) + at(1)) * weight(1) + (at(-2) + at(2)) * weight(2) +
         (at(-3) + at(3)) * weight(3);
}

}  // namespace

#ifdef BENCH_HAS_LATHE_HEADER
LatheApp lathe_unsharp(const App& app, int) {
  const auto h = app.h, w = app.w;
  using lt::Var;
  lt::Input<float, 3> in("in", {3, h, w});
  const auto gray = lt::compute("gray", {h, w}, [&](Var y, Var x) {
    return in(0, y, x) * 0.299f + in(1, y, x) * 0.587f + in(2, y, x) * 0.114f;
  });
  const auto blur_y = lt::compute("blur_y", {h, w}, [&](Var y, Var x) {
    return blurred([&](int d) { return lt::clamp(gray)(y + d, x); });
  });
  const auto ratio = lt::compute("ratio", {h, w}, [&](Var y, Var x) {
    const auto blur = blurred([&](int d) { return lt::clamp(blur_y)(y, x + d); });
    return (gray(y, x) * 2.0f - blur) / gray(y, x);
  });
  const auto out =
      lt::compute("out", {3, h, w}, [&](Var c, Var y, Var x) { return ratio(y, x) * in(c, y, x); });

  lt::Schedule s(out);
  const lt::Schedule plain = s;
  auto [c, y, x] = s.loops<3>(out);
  auto [yo, yi] = s.split<2>(y, {lt::infer, 32});
  auto [xo, xi] = s.split<2>(x, {lt::infer, 16});
  s.reorder({yo, yi, c, xo, xi});
  s.compute_at(ratio, yi);
  s.compute_at(blur_y, yi);
  s.compute_at(gray, yo);
  for (const auto& stage : {ratio, blur_y, gray}) lanes(s, stage, 16);
  s.vectorize(xi);
  s.parallel(yo);
  return {plain, s};
}
#endif

#ifdef BENCH_HALIDE
Halide::Func halide_unsharp(const HalideImage& image, const App&, int threads) {
  using namespace Halide;
  const Var x("x"), y("y"), yi("yi"), c("c");
  const Func in = BoundaryConditions::repeat_edge(image);
  Func gray("gray"), blur_y("blur_y"), ratio("ratio"), out("out");
  gray(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
  blur_y(x, y) = blurred([&](int d) -> Expr { return gray(x, y + d); });
  const Expr blur = blurred([&](int d) -> Expr { return blur_y(x + d, y); });
  ratio(x, y) = (gray(x, y) * 2.0f - blur) / gray(x, y);
  out(x, y, c) = ratio(x, y) * image(x, y, c);

  out.bound(c, 0, 3).split(y, y, yi, 32).reorder(x, c, yi, y).vectorize(x, halide_lanes);
  parallel_if(out, y, threads);
  gray.store_at(out, y).compute_at(out, yi).vectorize(x, halide_lanes);
  blur_y.compute_at(out, yi).vectorize(x, halide_lanes);
  ratio.compute_at(out, yi).vectorize(x, halide_lanes);
  return out;
}
#endif

}  // namespace bench

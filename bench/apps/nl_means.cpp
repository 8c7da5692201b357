// Each pixel becomes the mean of those around it, weighted by how alike the patches around both
// are.
#include "apps/halide_app.hpp"
#include "apps/lathe_app.hpp"

namespace bench {

namespace {

// Half of the sides, without the middle: patches of 7x7, a search over 7x7 pixels.
constexpr int patch = 3, search = 3;
constexpr float inv_sigma_sq = -1.0f / (0.12f * 0.12f * (2 * patch + 1) * (2 * patch + 1));

template <class At>
auto patch_sum(const At& at) {
  return at(-3) + at(-2) + at(-1) + at(0) + at(1) + at(2) + at(3);
}

}  // namespace

#ifdef BENCH_HAS_LATHE_HEADER
LatheApp lathe_nl_means(const App& app, int) {
  using lt::Var;
  const auto h = app.h, w = app.w;
  constexpr int side = 2 * search + 1, border = patch + search;
  const lt::Input<float, 3> in("in", {3, h, w});
  // The picture with repeated edges, as far as any patch reaches.
  const auto wide =
      lt::compute("wide", {3, h + 2 * border, w + 2 * border},
                  [&](Var c, Var y, Var x) { return lt::clamp(in)(c, y - border, x - border); });
  const auto apart = lt::compute(
      "apart", {side, side, h + 2 * patch, w + 2 * patch}, [&](Var dy, Var dx, Var y, Var x) {
        const auto one = [&](int c) {
          const auto d = wide(c, y + search, x + search) - wide(c, y + dy, x + dx);
          return d * d;
        };
        return one(0) + one(1) + one(2);
      });
  const auto rows =
      lt::compute("rows", {side, side, h, w + 2 * patch}, [&](Var dy, Var dx, Var y, Var x) {
        return patch_sum([&](int d) { return apart(dy, dx, y + patch + d, x); });
      });
  const auto weight = lt::compute("weight", {side, side, h, w}, [&](Var dy, Var dx, Var y, Var x) {
    return lt::exp(patch_sum([&](int d) { return rows(dy, dx, y, x + patch + d); }) * inv_sigma_sq);
  });
  const lt::Reduce dy("dy", side), dx("dx", side);
  const auto sums = lt::compute("sums", {h, 4, w}, [&](Var y, Var c, Var x) {
    const auto colour = wide(lt::min(lt::Expr<std::int64_t>(c), 2), y + patch + dy, x + patch + dx);
    return lt::sum(weight(dy, dx, y, x) * lt::select(c < 3, colour, 1.0f), dy, dx);
  });
  const auto out = lt::compute("out", {3, h, w}, [&](Var c, Var y, Var x) {
    return lt::clip(sums(y, c, x) / sums(y, 3, x), 0.0f, 1.0f);
  });

  lt::Schedule s(out);
  const lt::Schedule plain = s;
  // Tiles of 8 x 64 pixels; one offset after the other.
  auto [c, y, x] = s.loops<3>(out);
  auto [yo, yi] = s.split<2>(y, {lt::infer, 8});
  auto [xo, xi] = s.split<2>(x, {lt::infer, 64});
  s.reorder({yo, xo, yi, c, xi});
  s.compute_at(sums, xo);
  auto sum = s.loops<7>(sums);
  s.reorder({sum[5], sum[6], sum[2], sum[3], sum[4]});
  s.compute_at(weight, sum[6]);
  s.compute_at(rows, sum[6]);
  s.compute_at(apart, sum[6]);
  s.decompose_reduction(sums, sum[5]);
  for (const lt::BlockName& stage :
       {lt::BlockName(weight), lt::BlockName(rows), lt::BlockName(apart), lt::BlockName(wide),
        lt::BlockName(out), lt::BlockName(sums), lt::BlockName("sums_init")})
    lanes(s, stage, 16);
  s.parallel(yo);
  s.parallel(s.loops(wide)[1]);
  return {plain, s};
}
#endif

#ifdef BENCH_HALIDE
Halide::Func halide_nl_means(const HalideImage& image, const App&, int threads) {
  using namespace Halide;
  const Var x("x"), y("y"), c("c"), dx("dx"), dy("dy"), tx("tx"), ty("ty");
  const Func in = BoundaryConditions::repeat_edge(image);
  Func apart("apart"), rows("rows"), weight("weight"), colour("colour"), sums("sums"), out("out");
  const auto one = [&](int k) {
    const Expr d = in(x, y, k) - in(x + dx, y + dy, k);
    return d * d;
  };
  apart(x, y, dx, dy) = one(0) + one(1) + one(2);
  rows(x, y, dx, dy) = patch_sum([&](int d) -> Expr { return apart(x, y + d, dx, dy); });
  const Expr near = patch_sum([&](int d) -> Expr { return rows(x + d, y, dx, dy); });
  weight(x, y, dx, dy) = fast_exp(near * inv_sigma_sq);
  colour(x, y, c) = mux(c, {in(x, y, 0), in(x, y, 1), in(x, y, 2), 1.0f});
  const RDom s(-search, 2 * search + 1, -search, 2 * search + 1);
  sums(x, y, c) += weight(x, y, s.x, s.y) * colour(x + s.x, y + s.y, c);
  out(x, y, c) = clamp(sums(x, y, c) / sums(x, y, 3), 0.0f, 1.0f);

  const Var xi("xi"), yi("yi");
  out.bound(c, 0, 3).reorder(c, x, y).tile(x, y, tx, ty, xi, yi, 64, 8);
  out.reorder(c, xi, yi, tx, ty).unroll(c).vectorize(xi, halide_lanes);
  parallel_if(out, ty, threads);
  sums.compute_at(out, tx).bound(c, 0, 4).reorder(c, x, y).unroll(c).vectorize(x, halide_lanes);
  sums.update().reorder(c, x, y, s.x, s.y).unroll(c).vectorize(x, halide_lanes);
  weight.compute_at(sums, s.x).vectorize(x, halide_lanes);
  rows.compute_at(sums, s.x).vectorize(x, halide_lanes);
  apart.compute_at(sums, s.x).vectorize(x, halide_lanes);
  return out;
}
#endif

}  // namespace bench

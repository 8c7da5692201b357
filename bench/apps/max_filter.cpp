// The largest value in a disk around each pixel. Maxima of 2^k rows are made from two of 2^(k-1);
// two of those make the column of any height, and the disk is made of 53 columns.
#include "apps/halide_app.hpp"
#include "apps/lathe_app.hpp"

namespace bench {

namespace {

constexpr int radius = 26, levels = 6;

// The column at distance d from the middle reaches this many rows up and down.
std::size_t reach(int d) {
  int rows = 0;
  while (d * d + (rows + 1) * (rows + 1) < (radius + 0.25) * (radius + 0.25)) ++rows;
  return rows;
}
// The level of which two make a column of 2 reach + 1 rows.
int level_of(int rows) {
  int level = 0;
  while (2 << level <= 2 * rows + 1) ++level;
  return level;
}

}  // namespace

#ifdef BENCH_HAS_LATHE_HEADER
namespace {

using Plane = lt::Tensor<float, 3>;

struct MaxFilter {
  std::vector<Plane> of_rows;                 // by level, with a border of the radius
  std::vector<std::optional<Plane>> columns;  // by reach, those that occur
  Plane out;
};

MaxFilter describe(const App& app, const lt::Input<float, 3>& in) {
  using lt::Var;
  const auto h = app.h, w = app.w + 2 * radius;
  std::vector<Plane> of_rows;
  std::vector<std::optional<Plane>> columns(radius + 1);
  for (int k = 0; k < levels; ++k) {
    const std::int64_t rows = h + 2 * radius + 1 - (std::int64_t{1} << k);
    of_rows.push_back(
        lt::compute("rows" + std::to_string(1 << k), {3, rows, w}, [&](Var c, Var y, Var x) {
          if (k == 0) return lt::clamp(in)(c, y - radius, x - radius);
          const Plane& half = of_rows.back();
          return lt::Expr<float>(lt::fast_max(half(c, y, x), half(c, y + (1 << (k - 1)), x)));
        }));
  }
  for (int d = 0; d <= radius; ++d) {
    const int t = reach(d);
    if (columns[t]) continue;
    const Plane& two = of_rows[level_of(t)];
    columns[t] = lt::compute("column" + std::to_string(t), {3, h, w}, [&](Var c, Var y, Var x) {
      return lt::fast_max(two(c, y + radius - t, x),
                          two(c, y + radius + t + 1 - (1 << level_of(t)), x));
    });
  }
  const auto out = lt::compute("out", {3, h, app.w}, [&](Var c, Var y, Var x) {
    lt::Expr<float> best = (*columns[reach(0)])(c, y, x + radius);
    for (int d = 1; d <= radius; ++d) {
      const Plane& column = *columns[reach(d)];
      best = lt::fast_max(best, column(c, y, x + radius - d));
      best = lt::fast_max(best, column(c, y, x + radius + d));
    }
    return best;
  });
  return {of_rows, columns, out};
}

}  // namespace

LatheApp lathe_max_filter(const App& app, int) {
  const lt::Input<float, 3> in("in", {3, app.h, app.w});
  const MaxFilter m = describe(app, in);
  lt::Schedule s(m.out);
  const lt::Schedule plain = s;
  auto [c, y, x] = s.loops<3>(m.out);
  auto [yo, yi] = s.split<2>(y, {lt::infer, 128});
  auto [xo, xi] = s.split<2>(x, {lt::infer, 256});
  s.reorder({c, yo, xo, yi, xi});
  for (const auto& column : m.columns)
    if (column) s.compute_at(*column, yi);
  for (int k = levels; k-- > 0;) s.compute_at(m.of_rows[k], xo);
  for (const auto& column : m.columns)
    if (column) lanes(s, *column, 16);
  for (const Plane& rows : m.of_rows) lanes(s, rows, 16);
  lanes(s, m.out, 8);
  s.parallel(s.fuse(c, yo));
  return {plain, s};
}
#endif

#ifdef BENCH_HALIDE
Halide::Func halide_max_filter(const HalideImage& image, const App& app, int threads) {
  using namespace Halide;
  const Var x("x"), y("y"), c("c"), t("t"), tx("tx"), xi("xi");
  const Func in = BoundaryConditions::repeat_edge(image);
  Func of_rows("of_rows"), column("column"), height("height"), slice("slice"), out("out");
  const int h = static_cast<int>(app.h);
  of_rows(x, y, c, t) = undef<float>();
  of_rows(x, y, c, 0) = in(x, y, c);
  const RDom r(-radius, h + 2 * radius, 1, levels - 1);
  of_rows(x, r.x, c, r.y) = max(of_rows(x, r.x, c, r.y - 1),
                                of_rows(x, r.x + clamp(1 << (r.y - 1), 0, radius * 2), c, r.y - 1));
  slice(t) = cast<int>(floor(log(cast<float>(2 * t + 1)) / std::log(2.0f) + 1e-4f));
  const Expr two = clamp(slice(t), 0, levels - 1);
  column(x, y, c, t) = max(of_rows(x, y - t, c, two),
                           of_rows(x, y + t + 1 - clamp(1 << two, 0, 2 * radius), c, two));
  const RDom dy(1, radius);
  height(x) = sum(select(x * x + dy * dy < (radius + 0.25f) * (radius + 0.25f), 1, 0));
  const RDom dx(-radius, 2 * radius + 1);
  out(x, y, c) = maximum(column(x + dx, y, c, clamp(height(dx), 0, radius)));

  slice.compute_root();
  height.compute_root();
  const Var job("job");
  out.bound(c, 0, 3).split(x, tx, xi, 256).reorder(xi, y, tx, c).fuse(tx, c, job);
  out.vectorize(xi, halide_lanes);
  parallel_if(out, job, threads);
  of_rows.compute_at(out, job).vectorize(x, halide_lanes);
  of_rows.update(0).vectorize(x, halide_lanes);
  of_rows.update(1).reorder(x, r.x, r.y, c).vectorize(x, halide_lanes);
  column.compute_at(out, y).vectorize(x, halide_lanes);
  return out;
}
#endif

}  // namespace bench

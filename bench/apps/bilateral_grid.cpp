// A bilateral filter by a coarse grid over rows, columns and intensity: pixels are added to their
// cells, the grid is blurred with 1 4 6 4 1 each way, and each pixel takes the value between eight
// cells, divided by their weight.
#include "apps/halide_app.hpp"
#include "apps/lathe_app.hpp"

namespace bench {

namespace {

// Pixels of a cell, and cells of the intensity.
constexpr int cell = 8, depth = 10;
// Cells that the blur looks at beyond one.
constexpr int halo = 2;

template <class At>
auto blurred(const At& at) {
  return at(-2) + at(-1) * 4.0f + at(0) * 6.0f + at(1) * 4.0f + at(2);
}

}  // namespace

#ifdef BENCH_HAS_LATHE_HEADER
namespace {

// Rows, columns, intensities' sum or their number, intensity.
using Grid = lt::Tensor<float, 4>;
using lt::Var;

lt::Expr<float> between(const lt::Expr<float>& a, const lt::Expr<float>& b,
                        const lt::Expr<float>& f) {
  return a + (b - a) * f;
}
// How far pixel i lies behind the first of its cell.
lt::Expr<float> fraction(Var i) { return lt::cast<float>(i % cell) * (1.0f / cell); }

struct Bilateral {
  lt::Tensor<float, 2> level;
  Grid sums, along_z, along_x, along_y, between_rows, between_columns;
  lt::Tensor<float, 2> out;
};

Bilateral describe(const App& app, const lt::Input<float, 2>& in) {
  const auto h = app.h, w = app.w;
  const std::int64_t rows = (h + cell - 1) / cell + 1, columns = (w + cell - 1) / cell + 1,
                     wide = 2 * halo, z_size = depth + 2;
  // The intensity of each pixel that lies in a cell.
  const auto level =
      lt::compute("level", {(rows + wide) * cell, (columns + wide) * cell}, [&](Var y, Var x) {
        constexpr int border = halo * cell + cell / 2;
        return lt::clip(lt::clamp(in)(y - border, x - border), 0.0f, 1.0f);
      });
  const lt::Reduce ry("ry", cell), rx("rx", cell);
  const auto sums = lt::compute(
      "sums", {rows + wide, columns + wide, 2, z_size + wide}, [&](Var y, Var x, Var k, Var z) {
        const auto value = level(y * cell + ry, x * cell + rx);
        const auto mine =
            lt::floor(value * float(depth) + 0.5f) == lt::cast<float>(lt::cast<int>(z) - halo);
        return lt::sum(lt::select(mine, lt::select(k == 0, value, 1.0f), 0.0f), ry, rx);
      });
  const auto along_z = lt::compute(
      "along_z", {rows + wide, columns + wide, 2, z_size}, [&](Var y, Var x, Var k, Var z) {
        return blurred([&](int d) { return sums(y, x, k, z + halo + d); });
      });
  const auto along_x =
      lt::compute("along_x", {rows + wide, columns, 2, z_size}, [&](Var y, Var x, Var k, Var z) {
        return blurred([&](int d) { return along_z(y, x + halo + d, k, z); });
      });
  const auto along_y =
      lt::compute("along_y", {rows, columns, 2, z_size}, [&](Var y, Var x, Var k, Var z) {
        return blurred([&](int d) { return along_x(y + halo + d, x, k, z); });
      });
  const auto between_rows =
      lt::compute("between_rows", {h, columns, 2, z_size}, [&](Var y, Var x, Var k, Var z) {
        return between(along_y(y / cell, x, k, z), along_y(y / cell + 1, x, k, z), fraction(y));
      });
  const auto between_columns =
      lt::compute("between_columns", {h, w, 2, z_size}, [&](Var y, Var x, Var k, Var z) {
        return between(between_rows(y, x / cell, k, z), between_rows(y, x / cell + 1, k, z),
                       fraction(x));
      });
  const auto out = lt::compute("out", {h, w}, [&](Var y, Var x) {
    const auto own = lt::clip(in(y, x), 0.0f, 1.0f) * float(depth);
    const auto z = lt::cast<std::int64_t>(own);
    const auto at = [&](int k) {
      return between(between_columns(y, x, k, z), between_columns(y, x, k, z + 1),
                     own - lt::cast<float>(z));
    };
    return at(0) / at(1);
  });
  return {level, sums, along_z, along_x, along_y, between_rows, between_columns, out};
}

}  // namespace

LatheApp lathe_bilateral_grid(const App& app, int) {
  const lt::Input<float, 2> in("in", {app.h, app.w});
  const Bilateral b = describe(app, in);
  lt::Schedule s(b.out);
  const lt::Schedule plain = s;
  // A row of the grid at a time, from its pixels to the blur along it.
  const lt::LoopRef row = s.loops(b.along_x)[0];
  s.compute_at(b.along_z, row);
  s.compute_at(b.sums, row);
  s.compute_at(b.level, row);
  auto [rows, gy, gx, k, z, ry, rx] = s.loops<7>(b.sums);
  s.reorder({gy, gx, ry, rx, k, z});
  const lt::BlockRef store = s.cache_write(b.sums, lt::Scope::local);
  s.reverse_compute_at(store, gx);
  const lt::BlockRef zero = s.decompose_reduction(b.sums, ry);
  for (const lt::BlockName& of :
       {lt::BlockName(b.sums), lt::BlockName(zero), lt::BlockName(store)}) {
    s.unroll(s.loops(of).rbegin()[1]);
    s.vectorize(s.loops(of).back());
  }
  lanes(s, b.level, 16);
  s.parallel(row);
  // Then eight rows of pixels at a time, which lie between the same cells.
  auto [y, x] = s.loops<2>(b.out);
  auto [yo, yi] = s.split<2>(y, {lt::infer, cell});
  auto [xo, xi] = s.split<2>(x, {lt::infer, 128});
  s.reorder({yo, yi, xo, xi});
  s.compute_at(b.between_columns, xo);
  s.compute_at(b.between_rows, yi);
  s.compute_at(b.along_y, yo);
  s.unroll(s.split<2>(s.loops(b.between_columns).rbegin()[2], {lt::infer, cell})[1]);
  for (const Grid& g : {b.along_z, b.along_x, b.along_y, b.between_rows, b.between_columns}) {
    s.unroll(s.loops(g).rbegin()[1]);
    s.vectorize(s.loops(g).back());
  }
  lanes(s, b.out, 16);
  s.parallel(yo);
  return {plain, s};
}
#endif

#ifdef BENCH_HALIDE
Halide::Func halide_bilateral_grid(const HalideImage& image, const App&, int threads) {
  using namespace Halide;
  const Halide::Var x("x"), y("y"), z("z"), c("c");
  const Func in = BoundaryConditions::repeat_edge(image);
  Func sums("sums"), along_z("along_z"), along_x("along_x"), along_y("along_y"), out("out");
  const RDom r(0, cell, 0, cell);
  const Expr value = clamp(in(x * cell + r.x - cell / 2, y * cell + r.y - cell / 2), 0.0f, 1.0f);
  sums(x, y, z, c) = 0.0f;
  sums(x, y, cast<int>(value * float(depth) + 0.5f), c) += mux(c, {value, 1.0f});
  along_z(x, y, z, c) = blurred([&](int d) -> Expr { return sums(x, y, z + d, c); });
  along_x(x, y, z, c) = blurred([&](int d) -> Expr { return along_z(x + d, y, z, c); });
  along_y(x, y, z, c) = blurred([&](int d) -> Expr { return along_x(x, y + d, z, c); });
  const Expr level = clamp(image(x, y), 0.0f, 1.0f) * float(depth);
  const Expr zi = clamp(cast<int>(level), 0, depth), zf = level - zi;
  const Expr xi = x / cell, yi = y / cell;
  const Expr xf = cast<float>(x % cell) / cell, yf = cast<float>(y % cell) / cell;
  const auto between = [&](int k) {
    const auto row = [&](int dy, int dz) {
      return lerp(along_y(xi, yi + dy, zi + dz, k), along_y(xi + 1, yi + dy, zi + dz, k), xf);
    };
    const auto plane = [&](int dz) { return lerp(row(0, dz), row(1, dz), yf); };
    return lerp(plane(0), plane(1), zf);
  };
  out(x, y) = between(0) / between(1);

  along_z.compute_root().bound(c, 0, 2).reorder(c, z, x, y).vectorize(x, 8).unroll(c);
  sums.compute_at(along_z, y);
  sums.update().reorder(c, r.x, r.y, x, y).unroll(c);
  along_x.compute_root().bound(c, 0, 2).reorder(c, x, y, z).vectorize(x, 8).unroll(c);
  along_y.compute_root().bound(c, 0, 2).reorder(c, x, y, z).vectorize(x, 8).unroll(c);
  out.vectorize(x, 8);
  parallel_if(along_z, y, threads);
  parallel_if(along_x, z, threads);
  parallel_if(along_y, z, threads);
  parallel_if(out, y, threads);
  return out;
}
#endif

}  // namespace bench

// A recursive blur, down and up all columns and then along the rows: each pass gives its transpose.
#include "apps/halide_app.hpp"
#include "apps/lathe_app.hpp"

namespace bench {

namespace {

constexpr float alpha = 0.1f;

}  // namespace

#ifdef BENCH_HAS_LATHE_HEADER
namespace {

constexpr std::int64_t strip = 32, tile = 16;

// Writes to[c, x, y] from from[c, y, x], a strip of columns at a time.
template <class From, class To>
void blurred_columns(lt::Script& p, const char* name, const From& from, const To& to,
                     std::int64_t h, std::int64_t w) {
  using lt::Var;
  p.for_("c", 3, [&](Var c) {
    p.for_("xo", w / strip, [&](Var xo) {
      auto columns = p.local<float>(name, {h, strip});
      const auto each = [&](const auto& body) { p.for_("x", strip, body); };
      each([&](Var x) { p.store(columns(0, x), from(c, 0, xo * strip + x)); });
      p.for_("y", 1, h, [&](Var y) {
        each([&](Var x) {
          p.store(columns(y, x),
                  columns(y - 1, x) * (1 - alpha) + from(c, y, xo * strip + x) * alpha);
        });
      });
      p.for_("up", 1, h, [&](Var up) {
        each([&](Var x) {
          p.store(columns(h - 1 - up, x),
                  columns(h - up, x) * (1 - alpha) + columns(h - 1 - up, x) * alpha);
        });
      });
      p.for_("yo", h / tile, [&](Var yo) {
        each([&](Var x) {
          p.for_("yi", tile, [&](Var yi) {
            p.store(to(c, xo * strip + x, yo * tile + yi), columns(yo * tile + yi, x));
          });
        });
      });
    });
  });
}

// Positions among the loops of one pass.
enum Loop { channel, strips, first, down, down_x, up, up_x, rows, rows_x, rows_y, loops };

}  // namespace

LatheApp lathe_iir_blur(const App& app, int) {
  const lt::Program program = lt::script("iir_blur", [&](lt::Script& p) {
    auto in = p.input<float>("in", {3, app.h, app.w});
    auto out = p.output<float>("out", {3, app.h, app.w});
    auto turned = p.local<float>("turned", {3, app.w, app.h});
    blurred_columns(p, "columns", in, turned, app.h, app.w);
    blurred_columns(p, "rows", turned, out, app.w, app.h);
  });
  lt::Schedule s(program);
  const lt::Schedule plain = s;
  std::vector<lt::LoopRef> all;
  for (int k = 0; k < 2 * loops; ++k) all.push_back(s.loop_at(k));
  for (const int pass : {0, static_cast<int>(loops)}) {
    for (const Loop lane : {first, down_x, up_x, rows_y}) s.vectorize(all[pass + lane]);
    s.unroll(all[pass + rows_x]);
    s.parallel(s.fuse(all[pass + channel], all[pass + strips]));
  }
  return {plain, s};
}
#endif

#ifdef BENCH_HALIDE
namespace {

Halide::Func transposed_blur(const Halide::Func& in, int height, int threads) {
  using namespace Halide;
  const Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
  Func blur("blur"), transpose("transpose");
  blur(x, y, c) = undef<float>();
  blur(x, 0, c) = in(x, 0, c);
  const RDom down(1, height - 1), up(0, height - 1);
  blur(x, down, c) = (1 - alpha) * blur(x, down - 1, c) + alpha * in(x, down, c);
  const Expr row = height - 2 - up;
  blur(x, row, c) = (1 - alpha) * blur(x, row + 1, c) + alpha * blur(x, row, c);
  transpose(x, y, c) = blur(y, x, c);

  transpose.compute_root().tile(x, y, xo, yo, xi, yi, halide_lanes, 4 * halide_lanes);
  transpose.vectorize(xi);
  if (threads > 1) transpose.parallel(yo).parallel(c);
  blur.compute_at(transpose, yo);
  blur.update(0).vectorize(x, halide_lanes);
  blur.update(1).reorder(x, down, c).vectorize(x, halide_lanes);
  blur.update(2).reorder(x, up, c).vectorize(x, halide_lanes);
  return transpose;
}

}  // namespace

Halide::Func halide_iir_blur(const HalideImage& image, const App& app, int threads) {
  HalideImage same = image;
  const Halide::Func columns =
      transposed_blur(Halide::Func(same), static_cast<int>(app.h), threads);
  return transposed_blur(columns, static_cast<int>(app.w), threads);
}
#endif

}  // namespace bench

// Halide, compiled at run time, with schedules written by hand for each problem.
#include <Halide.h>

#include "apps/halide_app.hpp"
#include "core/measure.hpp"
#include "core/peers.hpp"

namespace bench {

namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;
using Image = Halide::Buffer<float>;
using Index = std::int64_t;

const Var x("x"), y("y"), c("c"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), p("p"), k("k");
constexpr int lanes = 16, panel = 48, rows = 8;

Image wrap(std::span<const float> data, std::vector<int> sizes) {
  return Image(const_cast<float*>(data.data()), sizes);
}

Expr gelu(const Expr& v) { return 0.5f * v * (1.0f + Halide::erf(v * 0.70710678f)); }

int to_int(Index n) { return static_cast<int>(n); }

// Halide names the innermost extent first.
std::vector<int> sizes(const std::vector<Index>& extents) {
  std::vector<int> out;
  for (std::size_t d = extents.size(); d-- > 0;) out.push_back(to_int(extents[d]));
  return out;
}

Func packed_panels(const Func& b, const Gemm& g) {
  Func pack("pack");
  pack(xi, k, p) = b(Halide::min(p * panel + xi, to_int(g.n) - 1), k);
  pack.bound(xi, 0, panel).vectorize(xi, lanes).unroll(xi);
  return pack;
}

Expr epilogue(const Gemm& g, const Expr& sum, const Image& bias) {
  return g.epilogue ? gelu(sum + bias(x)) : sum;
}

void schedule_tile(Func& out, Func& product, const RDom& r, int threads) {
  parallel_if(out, yo, threads);
  product.compute_at(out, xo)
      .vectorize(product.args()[0], lanes)
      .unroll(product.args()[0])
      .unroll(product.args()[1]);
  product.update()
      .reorder(product.args()[0], product.args()[1], r)
      .vectorize(product.args()[0], lanes)
      .unroll(product.args()[0])
      .unroll(product.args()[1]);
}

// B is read where it is.
Func small_gemm(const Gemm& g, const Image& a, const Image& b, const Image& bias, int threads) {
  Func product("product"), out("out");
  RDom r(0, to_int(g.k));
  product(x, y) += a(r, y) * b(x, r);
  out(x, y) = epilogue(g, product(x, y), bias);
  out.tile(x, y, xo, yo, xi, yi, panel, rows).vectorize(xi, lanes).unroll(xi).unroll(yi);
  schedule_tile(out, product, r, threads);
  return out;
}

// `panels` holds B as (column in panel, k, panel).
Func panel_gemm(const Gemm& g, const Image& a, const Func& panels, const Image& bias, int threads) {
  Func product("product"), out("out");
  RDom r(0, to_int(g.k));
  product(xi, y, p) += a(r, y) * panels(xi, r, p);
  out(x, y) = epilogue(g, product(x % panel, y, x / panel), bias);
  const Var xj("xj");
  out.split(x, xo, xj, panel, Halide::TailStrategy::GuardWithIf)
      .split(y, yo, yi, rows, Halide::TailStrategy::ShiftInwards);
  out.reorder(xj, yi, xo, yo)
      .vectorize(xj, lanes, Halide::TailStrategy::GuardWithIf)
      .unroll(xj)
      .unroll(yi);
  schedule_tile(out, product, r, threads);
  return out;
}

Func gemm(const Gemm& g, const Image& a, Image b, const Image& bias, int threads) {
  const Func source(b);
  if (g.packed) {
    Image panels =
        packed_panels(source, g).realize({panel, to_int(g.k), to_int((g.n + panel - 1) / panel)});
    return panel_gemm(g, a, Func(panels), bias, threads);
  }
  const bool fits = g.n >= panel && g.m >= rows && (g.n * g.k <= 300000 || g.m <= 256);
  if (fits) return small_gemm(g, a, b, bias, threads);
  Func panels = packed_panels(source, g);
  panels.compute_root();
  parallel_if(panels, p, threads);
  return panel_gemm(g, a, panels, bias, threads);
}

Func make_func(const Gemm& g, const Job& job) {
  const int m = to_int(g.m), n = to_int(g.n), depth = to_int(g.k);
  return gemm(g, wrap(job.in[0], {depth, m}), wrap(job.in[1], {n, depth}), wrap(job.in[2], {n}),
              job.threads);
}

Func make_func(const Elementwise& e, const Job& job) {
  const int n = to_int(e.n);
  const Image a = wrap(job.in[0], {n});
  Func out("out");
  switch (e.op) {
    case Elementwise::Op::copy:
      out(x) = a(x);
      break;
    case Elementwise::Op::triad:
      out(x) = a(x) + 0.5f * wrap(job.in[1], {n})(x);
      break;
    case Elementwise::Op::exp:
      out(x) = Halide::exp(a(x));
      break;
    case Elementwise::Op::gelu:
      out(x) = gelu(a(x));
      break;
  }
  if (job.threads > 1 && n >= 32768) out.split(x, xo, x, n / job.threads).parallel(xo);
  out.vectorize(x, 4 * lanes);
  return out;
}

Func make_func(const Stencil& s, const Job& job) {
  const Image in = wrap(job.in[0], {to_int(s.w + 2), to_int(s.h + 2)});
  Func out("out");
  if (s.op == Stencil::Op::jacobi) {
    out(x, y) = 0.25f * (in(x + 1, y) + in(x, y + 1) + in(x + 2, y + 1) + in(x + 1, y + 2));
  } else {
    const Expr corners = in(x, y) + in(x + 2, y) + in(x, y + 2) + in(x + 2, y + 2);
    const Expr edges = in(x + 1, y) + in(x, y + 1) + in(x + 2, y + 1) + in(x + 1, y + 2);
    out(x, y) = corners * (1 / 16.0f) + edges * (2 / 16.0f) + in(x + 1, y + 1) * (4 / 16.0f);
  }
  out.split(y, yo, yi, 4).vectorize(x, lanes).reorder(yi, x, yo).unroll(yi);
  parallel_if(out, yo, job.threads);
  return out;
}

Func make_func(const Photo& photo, const Job& job) {
  const Image image = wrap(job.in[0], {to_int(photo.w), to_int(photo.h), 3});
  Func in = Halide::BoundaryConditions::repeat_edge(image);
  Func luma("luma"), blur_x("blur_x"), blur_y("blur_y"), gain("gain"), out("out");
  luma(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
  const auto taps = [](const Expr& a, const Expr& b, const Expr& mid, const Expr& d,
                       const Expr& e) {
    return (a + e + 4.0f * (b + d) + 6.0f * mid) * (1 / 16.0f);
  };
  blur_x(x, y) = taps(luma(x - 2, y), luma(x - 1, y), luma(x, y), luma(x + 1, y), luma(x + 2, y));
  blur_y(x, y) =
      taps(blur_x(x, y - 2), blur_x(x, y - 1), blur_x(x, y), blur_x(x, y + 1), blur_x(x, y + 2));
  const Expr sharp = luma(x, y) + 1.5f * (luma(x, y) - blur_y(x, y));
  gain(x, y) = Halide::clamp(sharp / (luma(x, y) + 0.01f), 0.5f, 2.0f);
  const Expr graded = Halide::clamp(image(x, y, c) * gain(x, y), 0.0f, 1.0f);
  out(x, y, c) = graded * (1.6f - 0.6f * graded);

  out.bound(c, 0, 3).split(y, yo, yi, 32).reorder(x, c, yi, yo).vectorize(x, lanes);
  parallel_if(out, yo, job.threads);
  gain.compute_at(out, yi).vectorize(x, lanes);
  blur_x.store_at(out, yo).compute_at(out, yi).vectorize(x, lanes);
  luma.store_at(out, yo).compute_at(out, yi).vectorize(x, lanes);
  return out;
}

Func make_func(const App& app, const Job& job) {
  const AppShape shape = app_shape(app);
  return halide_app(wrap(job.in[0], sizes(shape.in)), app, job.threads);
}

std::vector<int> result_sizes(const Problem& problem) {
  if (const auto* g = std::get_if<Gemm>(&problem)) return {to_int(g->n), to_int(g->m)};
  if (const auto* e = std::get_if<Elementwise>(&problem)) return {to_int(e->n)};
  if (const auto* s = std::get_if<Stencil>(&problem)) return {to_int(s->w), to_int(s->h)};
  if (const auto* app = std::get_if<App>(&problem)) return sizes(app_shape(*app).out);
  const auto& photo = std::get<Photo>(problem);
  return {to_int(photo.w), to_int(photo.h), 3};
}

std::vector<Competitor> make(const Job& job) {
  if (const auto* g = std::get_if<Gemm>(&job.what.problem); g && g->transposed()) return {};
  const Func out =
      std::visit([&](const auto& problem) { return make_func(problem, job); }, job.what.problem);
  Halide::Pipeline pipeline(out);
  const double start = seconds_now();
  pipeline.compile_jit();
  const double setup = seconds_now() - start;
  Image result = wrap(job.out, result_sizes(job.what.problem));
  return {{"halide", [pipeline, result]() mutable { pipeline.realize(result); }, 1e3 * setup}};
}

void compile(const Gemm& g) {
  const Image a(to_int(g.k), to_int(g.m)), b(to_int(g.n), to_int(g.k)), bias(to_int(g.n));
  Halide::Pipeline(gemm(g, a, b, bias, 1)).compile_jit();
}

}  // namespace

Peer halide_peer() { return {"halide", "", make, compile, "Halide.h"}; }

}  // namespace bench

// Local Laplacian filters: a Gaussian pyramid of the picture at each of eight intensities remapped
// around it; at each pixel and scale the detail is taken between the two that are nearest.
#include <cmath>

#include "apps/halide_app.hpp"
#include "apps/lathe_app.hpp"

namespace bench {

namespace {

constexpr int scales = 8, levels = 8, table_steps = 256;
constexpr float alpha = 1.0f / (levels - 1), beta = 1.0f;
constexpr int table_size = 2 * (levels - 1) * table_steps + 1;

// Of the value before an even pixel, it, the next one, and the one after that.
template <class At>
auto halved(const At& at) {
  return (at(-1) + at(2) + (at(0) + at(1)) * 3.0f) * (1 / 8.0f);
}

}  // namespace

#ifdef BENCH_HAS_LATHE_HEADER
namespace {

using Plane = lt::Tensor<float, 2>;
using Stack = lt::Tensor<float, 3>;  // rows, intensities, columns
using lt::Var;
using Index = lt::Expr<std::int64_t>;
using Value = lt::Expr<float>;

// Coordinates of one scale, from first to last; some lie outside of the picture.
struct Span {
  std::int64_t first, last;
  std::int64_t size() const { return last - first + 1; }
};
std::int64_t half(std::int64_t i) { return (i - (i & 1)) / 2; }
Span hull(Span a, Span b) { return {std::min(a.first, b.first), std::max(a.last, b.last)}; }

// Along one axis: what results need of the next scale, and what a scale must hold for the next.
struct Spans {
  std::vector<Span> shown, held;
  explicit Spans(std::int64_t size) : shown{{0, size - 1}} {
    for (int j = 1; j < scales; ++j) {
      const Span s = shown.back();
      shown.push_back({half(s.first) - 1 + (s.first & 1), half(s.last) + (s.last & 1)});
    }
    held = shown;
    for (int j = scales - 1; j-- > 0;)
      held[j] = hull(held[j], {2 * held[j + 1].first - 1, 2 * held[j + 1].last + 2});
  }
};

// Between the two values of the coarser scale that are next to coordinate i.
template <class At>
Value widened(const Index& i, const At& at) {
  const Index next = lt::floordiv(i, 2);
  return at(next + lt::floormod(i, 2) * 2 - 1) * 0.25f + at(next) * 0.75f;
}

struct Laplacian {
  Spans y, x;
  const lt::Input<float, 3>& in;
  std::vector<lt::Tensor<float, 1>> table;
  std::vector<Plane> gray, result;     // by scale
  std::vector<Stack> remapped, stack;  // the first scale, of which rows are halved; the others
  std::vector<lt::Tensor<float, 3>> out;

  Laplacian(const App& app, const lt::Input<float, 3>& image) : y(app.h), x(app.w), in(image) {
    describe_gray();
    describe_stack();
    for (int j = scales; j-- > 0;) describe_result(j);
    out.push_back(lt::compute("out", {3, app.h, app.w}, [&](Var c, Var i, Var j) {
      const auto scale = (in(c, i, j) + 0.01f) / (gray_at(0, i, j) + 0.01f);
      return lt::clip(result.back()(i, j) * scale, 0.0f, 1.0f);
    }));
  }
  Value gray_at(int j, const Index& row, const Index& column) const {
    return gray[j](row - y.held[j].first, column - x.held[j].first);
  }
  // Of a scale, at an intensity.
  Value level_at(int j, const Index& row, const Index& k, const Index& column) const {
    if (j > 0) return stack[j - 1](row - y.held[j].first, k, column - x.held[j].first);
    const Value value = gray_at(0, row, column);
    const Index step = lt::cast<std::int64_t>(value * float((levels - 1) * table_steps));
    const Index at = lt::clip(step, 0, (levels - 1) * table_steps) - k * table_steps;
    const Value level = lt::cast<float>(k) * (1.0f / (levels - 1));
    return (value - level) * beta + level + table[0](at + (levels - 1) * table_steps);
  }
  void describe_gray() {
    table.push_back(lt::compute("table", {table_size}, [](Var i) {
      const auto f =
          lt::cast<float>(lt::cast<int>(i) - (levels - 1) * table_steps) * (1.0f / table_steps);
      return f * alpha * lt::exp(f * f * -0.5f);
    }));
    for (int j = 0; j < scales; ++j) {
      gray.push_back(lt::compute(
          "gray" + std::to_string(j), {y.held[j].size(), x.held[j].size()},
          [&](Var row, Var column) {
            const Index i = row + y.held[j].first, k = column + x.held[j].first;
            if (j > 0)
              return halved([&](int dy) {
                return halved([&](int dx) { return gray_at(j - 1, i * 2 + dy, k * 2 + dx); });
              });
            const auto edge = lt::clamp(in);
            return Value(edge(0, i, k) * 0.299f + edge(1, i, k) * 0.587f + edge(2, i, k) * 0.114f);
          }));
    }
  }
  void describe_stack() {
    remapped.push_back(lt::compute(
        "remapped", {y.held[0].size(), levels, x.held[0].size()}, [&](Var i, Var k, Var j) {
          return level_at(0, i + y.held[0].first, k, j + x.held[0].first);
        }));
    remapped.push_back(lt::compute(
        "halved_rows", {y.held[1].size(), levels, x.held[0].size()}, [&](Var i, Var k, Var j) {
          const Index row = (i + y.held[1].first) * 2 - y.held[0].first;
          return halved([&](int d) { return remapped[0](row + d, k, j); });
        }));
    for (int s = 1; s < scales; ++s) {
      stack.push_back(lt::compute(
          "stack" + std::to_string(s), {y.held[s].size(), levels, x.held[s].size()},
          [&](Var i, Var k, Var j) {
            const Index row = (i + y.held[s].first) * 2, column = (j + x.held[s].first) * 2;
            return halved([&](int dx) {
              if (s == 1) return Value(remapped[1](i, k, column + dx - x.held[0].first));
              return Value(
                  halved([&](int dy) { return level_at(s - 1, row + dy, k, column + dx); }));
            });
          }));
    }
  }
  // The detail of scale s at an intensity.
  Value detail_at(int s, const Index& row, const Index& k, const Index& column) const {
    const Value level = level_at(s, row, k, column);
    if (s == scales - 1) return level;
    return level - widened(row, [&](const Index& i) {
             return widened(column, [&](const Index& j) { return level_at(s + 1, i, k, j); });
           });
  }
  void describe_result(int s) {
    const std::vector<Plane> coarser = result;
    result.push_back(lt::compute(
        "result" + std::to_string(s), {y.shown[s].size(), x.shown[s].size()}, [&](Var i, Var j) {
          const Index row = i + y.shown[s].first, column = j + x.shown[s].first;
          const Value own = gray_at(s, row, column) * float(levels - 1);
          const Index k = lt::clip(lt::cast<std::int64_t>(own), 0, levels - 2);
          const Value f = own - lt::cast<float>(k);
          const Value detail =
              detail_at(s, row, k, column) * (1.0f - f) + detail_at(s, row, k + 1, column) * f;
          if (coarser.empty()) return detail;
          return widened(row,
                         [&](const Index& a) {
                           return widened(column, [&](const Index& b) {
                             return coarser.back()(a - y.shown[s + 1].first,
                                                   b - x.shown[s + 1].first);
                           });
                         }) +
                 detail;
        }));
  }
};

}  // namespace

LatheApp lathe_local_laplacian(const App& app, int) {
  const lt::Input<float, 3> in("in", {3, app.h, app.w});
  const Laplacian l(app, in);
  lt::Schedule s(l.out[0]);
  const lt::Schedule plain = s;
  // The first halving in tiles, so that the remapped picture never leaves the cache.
  auto [i, k, j] = s.loops<3>(l.stack[0]);
  auto [io, ii] = s.split<2>(i, {lt::infer, 8});
  auto [jo, ji] = s.split<2>(j, {lt::infer, 128});
  s.reorder({io, jo, k, ii, ji});
  for (const std::size_t stage : {1u, 0u}) s.compute_at(l.remapped[stage], k);
  s.parallel(io);
  for (const Stack& stage : l.remapped) lanes(s, stage, 16);
  for (const Stack& stage : l.stack) lanes(s, stage, 16);
  // Rows of the result with their finest scale.
  auto [c, y, x] = s.loops<3>(l.out[0]);
  auto [yo, yi] = s.split<2>(y, {lt::infer, 32});
  s.reorder({yo, yi, c, x});
  s.compute_at(l.result.back(), yi);
  s.parallel(yo);
  for (const Plane& plane : l.gray) lanes(s, plane, 16);
  for (const Plane& plane : l.result) lanes(s, plane, 16);
  lanes(s, l.out[0], 16);
  for (int scale = 0; scale < scales; ++scale) {
    s.parallel(s.loops(l.gray[scale])[0]);
    if (scale > 1) s.parallel(s.loops(l.stack[scale - 1])[0]);
    if (scale > 0) s.parallel(s.loops(l.result[scales - 1 - scale])[0]);
  }
  return {plain, s};
}
#endif

#ifdef BENCH_HALIDE
namespace {

const Halide::Var x("x"), y("y"), k("k"), c("c"), yo("yo");

using Vars = std::vector<Halide::Var>;

// Of a picture, or of one for each intensity.
Vars arguments(const Halide::Func& f) { return f.dimensions() == 3 ? Vars{x, y, k} : Vars{x, y}; }
Halide::Expr call(const Halide::Func& f, const Halide::Expr& i, const Halide::Expr& j) {
  return f.dimensions() == 3 ? f(i, j, k) : f(i, j);
}

Halide::Func halved(const Halide::Func& f) {
  const Vars at = arguments(f);
  Halide::Func columns("columns"), out("halved");
  columns(at) = halved([&](int d) { return call(f, 2 * x + d, y); });
  out(at) = halved([&](int d) { return call(columns, x, 2 * y + d); });
  return out;
}
Halide::Func widened(const Halide::Func& f) {
  const Vars at = arguments(f);
  Halide::Func columns("columns"), out("widened");
  columns(at) = 0.25f * call(f, (x / 2) - 1 + 2 * (x % 2), y) + 0.75f * call(f, x / 2, y);
  out(at) = 0.25f * call(columns, x, (y / 2) - 1 + 2 * (y % 2)) + 0.75f * call(columns, x, y / 2);
  return out;
}

struct HalideLaplacian {
  Halide::Func table{"table"}, out{"out"};
  std::vector<Halide::Func> gray, stack, result;
};

HalideLaplacian describe(const HalideImage& image) {
  using namespace Halide;
  HalideLaplacian l;
  const Func in = BoundaryConditions::repeat_edge(image);
  const Expr f = cast<float>(x) / float(table_steps);
  l.table(x) = alpha * f * exp(-f * f / 2.0f);
  l.gray.resize(scales), l.stack.resize(scales), l.result.resize(scales);
  l.gray[0](x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
  const Expr value = l.gray[0](x, y), level = k * (1.0f / (levels - 1));
  const Expr step =
      clamp(cast<int>(value * float((levels - 1) * table_steps)), 0, (levels - 1) * table_steps);
  l.stack[0](x, y, k) = beta * (value - level) + level + l.table(step - table_steps * k);
  for (int j = 1; j < scales; ++j) {
    l.gray[j] = halved(l.gray[j - 1]);
    l.stack[j] = halved(l.stack[j - 1]);
  }
  for (int j = scales; j-- > 0;) {
    Func detail("detail");
    if (j < scales - 1)
      detail(x, y, k) = l.stack[j](x, y, k) - widened(l.stack[j + 1])(x, y, k);
    else
      detail(x, y, k) = l.stack[j](x, y, k);
    const Expr own = l.gray[j](x, y) * float(levels - 1);
    const Expr lower = clamp(cast<int>(own), 0, levels - 2), part = own - lower;
    const Expr mixed = (1.0f - part) * detail(x, y, lower) + part * detail(x, y, lower + 1);
    if (j < scales - 1)
      l.result[j](x, y) = widened(l.result[j + 1])(x, y) + mixed;
    else
      l.result[j](x, y) = mixed;
  }
  l.out(x, y, c) =
      clamp(l.result[0](x, y) * (image(x, y, c) + 0.01f) / (l.gray[0](x, y) + 0.01f), 0.0f, 1.0f);
  return l;
}

}  // namespace

Halide::Func halide_local_laplacian(const HalideImage& image, const App&, int threads) {
  HalideLaplacian l = describe(image);
  const auto rows_parallel = [&](Halide::Func& f, int rows) {
    if (threads > 1) f.parallel(y, rows);
  };
  l.table.compute_root();
  l.out.bound(c, 0, 3).reorder(c, x, y).split(y, yo, y, 64).vectorize(x, 8).unroll(c);
  parallel_if(l.out, yo, threads);
  l.gray[0].compute_root().vectorize(x, 8);
  rows_parallel(l.gray[0], 32);
  for (int j = 1; j < scales; ++j) {
    l.gray[j].compute_root();
    l.stack[j].compute_root();
    if (j >= 5) {
      l.result[j].compute_root();
      continue;
    }
    l.gray[j].vectorize(x, 8);
    rows_parallel(l.gray[j], 32);
    l.stack[j].reorder_storage(x, k, y).reorder(k, y).vectorize(x, 8);
    rows_parallel(l.stack[j], 8);
    l.result[j].store_at(l.out, yo).compute_at(l.out, y).vectorize(x, 8);
  }
  l.result[0].compute_at(l.out, y).vectorize(x, 8);
  return l.out;
}
#endif

}  // namespace bench

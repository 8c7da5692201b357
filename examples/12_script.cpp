// Programs written as loops: a recursive filter for each of many channels, a histogram by many
// threads, and a product of a triangular matrix in blocks.
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

static lt::Program filter() {
  // [filter]
  lt::Dim channels("channels"), n("n");
  auto prog = lt::script("filter", [&](lt::Script& p) {
    auto x = p.input<float>("x", {channels, n});
    auto a = p.input<float>("a", {});  // a scalar, passed by value
    auto y = p.output<float>("y", {channels, n});
    p.for_("c", channels, [&](lt::Var c) {
      auto last = p.local<float>("last", {});
      p.store(last(), 0.0f);
      p.for_("t", n, [&](lt::Var t) {
        p.store(last(), x(c, t) + a() * last());
        p.store(y(c, t), last());
      });
    });
  });
  // [filter]
  return prog;
}

static void run_filter() {
  const int channels = 6, n = 1000;
  const lt::Program prog = filter();
  const std::vector<float> x = example::random_values(channels * n);
  std::vector<float> y(x.size()), wanted(x.size());
  for (int c = 0; c < channels; ++c) {
    float last = 0;
    for (int t = 0; t < n; ++t) wanted[c * n + t] = last = x[c * n + t] + 0.5f * last;
  }
  // [filter schedule]
  lt::Schedule s(prog);
  try {
    s.parallel(s.loop("t"));  // over time
  } catch (const lt::UserError& e) {
    std::puts(e.what());
  }
  s.parallel(s.loop("c"));  // over channels
  auto f = lt::jit<lt::View<const float, 2>, float, lt::View<float, 2>>(s);
  f(lt::view(x, {channels, n}), 0.5f, lt::view(y, {channels, n}));
  // [filter schedule]
  std::printf("\n%s\n", s.str().c_str());
  example::expect_close("filter", y, wanted, 1e-6);
}

static void run_histogram() {
  const int n = 100000;
  // [histogram]
  lt::Script p("histogram");
  auto x = p.input<float>("x", {n});
  auto count = p.output<int>("count", {10});
  p.for_("b", 10, [&](lt::Var b) { p.store(count(b), 0); });
  p.for_("i", n, [&](lt::Var i) {
    auto bin = p.let("bin", lt::cast<std::int64_t>((x(i) + 1) * 5));
    p.if_(bin >= 0 && bin < 10, [&] { p.atomic(lt::BinaryOp::add, count(bin), 1); });
  });
  lt::Schedule s(p.program());
  s.parallel(s.loop("i"));  // integers: no order of the additions shows
  auto f = lt::jit(s, x, count);
  // [histogram]
  const std::vector<float> values = example::random_values(n);
  std::vector<int> got(10), wanted(10);
  for (float v : values) {
    const int bin = static_cast<int>((v + 1) * 5);
    if (bin >= 0 && bin < 10) ++wanted[static_cast<std::size_t>(bin)];
  }
  f(values, got);
  example::expect_close("histogram", got, wanted, 0);
}

static void run_triangle() {
  const int n = 96;
  // [blocks]
  lt::Script p("triangle");
  auto L = p.input<float>("L", {n, n});
  auto B = p.input<float>("B", {n, n});
  auto C = p.output<float>("C", {n, n});
  p.for_("i", n, [&](lt::Var i) {
    p.for_("j", n, [&](lt::Var j) {
      p.for_("k", i + 1, [&](lt::Var k) {
        p.block("C", {i, j, k}, [&](lt::Var vi, lt::Var vj, lt::Var vk) {
          p.reduce(lt::Fold::sum, C(vi, vj), L(vi, vk) * B(vk, vj));
        });
      });
    });
  });
  lt::Schedule s(p.program());
  auto [i, j, k] = s.loops<3>("C");
  auto [jo, ji] = s.split<2>(j, {lt::infer, 16});
  s.reorder({i, jo, k, ji});
  s.vectorize(ji);
  s.parallel(i);
  auto f = lt::jit(s, L, B, C);
  // [blocks]
  std::printf("\n%s\n", s.str().c_str());
  const std::vector<float> l = example::random_values(n * n), b = example::random_values(n * n, 2);
  std::vector<float> c(n * n), wanted(n * n);
  for (int row = 0; row < n; ++row)
    for (int at = 0; at <= row; ++at)
      for (int column = 0; column < n; ++column)
        wanted[row * n + column] += l[row * n + at] * b[at * n + column];
  f(lt::view(l, {n, n}), lt::view(b, {n, n}), lt::view(c, {n, n}));
  example::expect_close("triangle", c, wanted, 1e-4);
}

int main() {
  run_filter();
  run_histogram();
  run_triangle();
}

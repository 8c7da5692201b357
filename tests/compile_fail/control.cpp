// The right form of what the other files get wrong: this one must compile.
#include <lathe/lathe.hpp>

namespace lt = lathe;

void control() {
  lt::Input<float, 2> X("X", {4, 8});
  lt::Input<int, 1> N("N", {4});
  lt::Reduce r("r", 8);
  auto sums = lt::compute("sums", {4}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto mean = lt::compute("mean", {4},
                          [&](lt::Var i) { return sums(i) * 0.125f + lt::cast<float>(N(i) + 1); });
  lt::Schedule s(mean);
  auto [i, q] = s.loops<2>(sums);
  auto [io, ii] = s.split<2>(i, {lt::infer, 2});
  s.reorder({io, q, ii});
  auto f = lt::jit(mean, X, N, mean);
  (void)f;
  lt::Script p("s");
  auto x = p.input<float>("x", {4});
  auto y = p.output<float>("y", {4});
  p.for_("i", 4, [&](lt::Var i) {
    p.block("y", {i}, [&](lt::Var v) { p.store(y(v), x(v) + lt::cast<float>(v)); });
  });
  auto g = lt::jit(p.program(), x, y);
  (void)g;
}

// Weights that are known when a kernel is made: packed once, shared by kernels, text without them.
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

int main() {
  const int m = 8, k = 256, n = 384;
  const std::vector<float> weights = example::random_values(k * n, 1);
  const std::vector<float> x = example::random_values(m * k, 2);

  // [constant]
  auto W = lt::constant("W", weights, {k, n});  // a copy
  lt::Input<float, 2> X("X", {m, k});
  lt::Reduce r("r", k);
  auto Y =
      lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(X(i, r) * W(r, j), r); });

  lt::Schedule s(Y);
  auto panels = s.cache_read(Y, W, lt::Scope::global);  // 16 columns of W as one run of memory
  s.transform_layout(panels,
                     [](lt::Index p, lt::Index j) { return lt::layout(j / 16, p, j % 16); });
  auto f = lt::jit(s, X, Y);  // W is no argument; its panels are packed here
  for (const lt::Program& part : f.once()) std::printf("%s\n", part.str().c_str());
  // [constant]

  // [text]
  const std::string text = s.program().str();
  std::printf("%s...\n\n", text.substr(0, text.find(')') + 1).c_str());
  const lt::Program again =
      lt::parse(text, [&](std::string_view, const lt::ContentHash&) { return W.content(); });
  // [text]
  std::printf("the same program: %s\n", lt::structurally_equal(again, s.program()) ? "yes" : "no");

  // [promised]
  lt::Input<float, 2> V("V", {k, n}, {.constant = true});
  auto Z =
      lt::compute("Z", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(X(i, r) * V(r, j), r); });
  lt::Schedule t(Z);
  panels = t.cache_read(Z, V, lt::Scope::global);
  t.transform_layout(panels,
                     [](lt::Index p, lt::Index j) { return lt::layout(j / 16, p, j % 16); });
  auto g = lt::jit(t, X, V, Z);  // the first call packs; here it finds what f has packed
  // [promised]

  std::vector<float> y(m * n), z(m * n), wanted(m * n);
  f(lt::view(x, {m, k}), lt::view(y, {m, n}));
  g(lt::view(x, {m, k}), lt::view(weights, {k, n}), lt::view(z, {m, n}));
  lt::evaluate(Y, X, Y)(lt::view(x, {m, k}), lt::view(wanted, {m, n}));
  example::expect_close("packed when made", y, wanted, 1e-4);
  example::expect_close("packed by the first call", z, wanted, 1e-4);
}

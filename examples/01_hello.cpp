// A matrix product with bias and ReLU: describe it, compile it, call it.
#include <cstdio>
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;

int main() {
  // [describe]
  const int m = 4, n = 3, k = 2;
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Input<float, 1> bias("bias", {n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {m, n},
                       [&](lt::Var i, lt::Var j) { return lt::max(C(i, j) + bias(j), 0.0f); });
  // [describe]

  // [run]
  auto f = lt::jit(D, A, B, bias, D);

  std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {1, 0, -1, 0, 1, -1}, shift = {0, -4, 5},
                     d(m * n);
  f(lt::view(a, {m, k}), lt::view(b, {k, n}), shift, lt::view(d, {m, n}));
  // [run]
  for (int i = 0; i < m; ++i)
    std::printf("%5.1f %5.1f %5.1f\n", d[i * n], d[i * n + 1], d[i * n + 2]);
}

// One half of a program whose two translation units have different -m flags (see main.cpp).
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;

float LATHE_ODR_NAME(int n) {
  lt::Input<float, 1> X("X", {n});
  lt::Reduce r("r", n);
  auto total = lt::compute("total", {}, [&] { return lt::sum(X(r) * X(r), r); });
  auto f = lt::jit(total, X, total);
  auto reference = lt::evaluate(total, X, total);
  std::vector<float> x(n, 2.0f), fast(1), slow(1);
  f(x, lt::View<float, 0>(fast.data()));
  reference(x, lt::View<float, 0>(slow.data()));
  return fast == slow ? fast[0] : -1.0f;
}

// The smallest program that uses all of Lathe: it compiles and runs one kernel.
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;

int main() {
  lt::Input<float, 1> X("X", {100});
  auto Y = lt::compute("Y", {100}, [&](lt::Var i) { return X(i) * 2.0f + 1.0f; });
  auto f = lt::jit(Y, X, Y);
  std::vector<float> x(100, 3.0f), y(100);
  f(x, y);
  return y == std::vector<float>(100, 7.0f) ? 0 : 1;
}

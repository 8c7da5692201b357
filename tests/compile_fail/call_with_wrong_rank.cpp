// A kernel of rank-2 arguments called with a view of rank 1.
// expect: no known conversion .*from .*View<float, 1>.* to .*View<const float, 2>
#include <lathe/lathe.hpp>

namespace lt = lathe;

void call_with_wrong_rank(lt::Input<float, 2> X, lt::Tensor<float, 2> Y, lt::View<float, 1> x,
                          lt::View<float, 2> y) {
  auto f = lt::jit(Y, X, Y);
  f(x, y);
}

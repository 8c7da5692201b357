// A kernel of rank-2 arguments called with a view of rank 1.
// expect: the parameter has another rank than this argument: lt::view
#include <lathe/lathe.hpp>

namespace lt = lathe;

void call_with_wrong_rank(lt::Input<float, 2> X, lt::Tensor<float, 2> Y, lt::View<float, 1> x,
                          lt::View<float, 2> y) {
  auto f = lt::jit(Y, X, Y);
  f(x, y);
}

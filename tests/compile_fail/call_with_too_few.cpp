// A kernel of two tensors called with one argument.
// expect: a kernel takes one argument for each tensor
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;

void call_with_too_few(lt::Input<float, 1> X, lt::Tensor<float, 1> Y, std::vector<float> y) {
  auto f = lt::jit(Y, X, Y);
  f(y);
}

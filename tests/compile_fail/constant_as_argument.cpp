// A constant among the arguments of a kernel.
// expect: a constant is no argument of a kernel: its elements are known
#include <lathe/lathe.hpp>

namespace lt = lathe;

void constant_as_argument(lt::Constant<float, 1> W, lt::Input<float, 1> X, lt::Tensor<float, 1> Y) {
  lt::jit(Y, X, W, Y);
}

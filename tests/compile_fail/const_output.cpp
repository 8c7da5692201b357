// A kernel's output is given as a const vector.
// expect: the kernel writes to this parameter
#include <lathe/lathe.hpp>

namespace lt = lathe;

#include <vector>

void const_output(lt::Input<float, 1> X, lt::Tensor<float, 1> Y, std::vector<float> x,
                  const std::vector<float> y) {
  auto f = lt::jit(Y, X, Y);
  f(x, y);
}

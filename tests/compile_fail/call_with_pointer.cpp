// A kernel called with a pointer, which does not say how many elements there are.
// expect: an argument of a kernel is a container of elements, lt::view
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;

void call_with_pointer(lt::Input<float, 1> X, lt::Tensor<float, 1> Y, float* x,
                       std::vector<float> y) {
  auto f = lt::jit(Y, X, Y);
  f(x, y);
}

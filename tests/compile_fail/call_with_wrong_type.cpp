// A kernel of float arguments called with a vector of double.
// expect: the elements of this argument have another type
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;

void call_with_wrong_type(lt::Input<float, 1> X, lt::Tensor<float, 1> Y, std::vector<double> x,
                          std::vector<float> y) {
  auto f = lt::jit(Y, X, Y);
  f(x, y);
}

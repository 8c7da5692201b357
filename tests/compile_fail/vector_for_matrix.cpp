// A kernel of matrices called with vectors, which do not say how long a row is.
// expect: lt::view\(container, \{rows, columns\}\) says which shape
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;

void vector_for_matrix(lt::Input<float, 2> X, lt::Tensor<float, 2> Y, std::vector<float> x,
                       std::vector<float> y) {
  auto f = lt::jit(Y, X, Y);
  f(x, y);
}

// Too few indices for a tensor of rank 2.
// expect: the number of indices is not the tensor's rank
#include <lathe/lathe.hpp>

namespace lt = lathe;

void wrong_rank(lt::Input<float, 2> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i); });
}

// Two extents, but a lambda of one index.
// expect: takes one lt::Var per axis, and compiles for them
#include <lathe/lathe.hpp>

namespace lt = lathe;

void lambda_with_wrong_arity(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4, 8}, [&](lt::Var i) { return X(i); });
}

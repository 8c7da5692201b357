// A reduction is a tensor's whole definition; what follows it belongs into a second compute.
// expect: a reduction is the whole value of a compute
// expect: use t\(i\) in a second compute
#include <lathe/lathe.hpp>

namespace lt = lathe;

void arithmetic_on_reduction(lt::Input<float, 2> X, lt::Reduce r) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return lt::sum(X(i, r), r) * 0.125f; });
}

// Elements of two types in one expression.
// expect: the operands have different element types\. Convert one: lt::cast<T>\(x\)
#include <lathe/lathe.hpp>

namespace lt = lathe;

void mixed_types(lt::Input<float, 1> X, lt::Input<int, 1> N) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + N(i); });
}

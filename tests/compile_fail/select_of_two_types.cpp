// Two numbers of different types: which of them the result has is not said.
// expect: select takes expressions, or two numbers of one type\. Give one arm its type
#include <lathe/lathe.hpp>

namespace lt = lathe;

void select_of_two_types(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return lt::select(X(i) > 0, 1.0f, 0); });
}

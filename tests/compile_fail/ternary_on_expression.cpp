// The choice of C++ between two expressions.
// expect: can't ask an expression.* lt::select\(condition, yes, no\)
#include <lathe/lathe.hpp>

namespace lt = lathe;

void ternary_on_expression(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return i > 2 ? X(i) : X(i) * 0.5f; });
}

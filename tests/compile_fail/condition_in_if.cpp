// An expression has no value yet: C++ cannot branch on it.
// expect: if, \?: and loops of C\+\+ can't ask an expression.* lt::select
#include <lathe/lathe.hpp>

namespace lt = lathe;

void condition_in_if(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) {
    if (X(i) > 0.0f) return X(i) * 1.0f;
    return X(i) * 0.5f;
  });
}

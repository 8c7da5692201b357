// A body with an error of its own, in a generic lambda or not.
// expect: no_such_function
#include <lathe/lathe.hpp>

namespace lt = lathe;

void body_that_does_not_compile(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return lt::no_such_function(X(i)); });
}

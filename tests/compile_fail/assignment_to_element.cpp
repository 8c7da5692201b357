// An element of a tensor is assigned.
// expect: an element is not assigned: the body of a compute returns its value
#include <lathe/lathe.hpp>

namespace lt = lathe;

void assignment_to_element(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) {
    X(i) = 1.0f;
    return X(i);
  });
}

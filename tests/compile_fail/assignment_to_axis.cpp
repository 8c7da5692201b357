// An axis is no counter.
// expect: an axis or a dim keeps its meaning\. Assign to a copy
#include <lathe/lathe.hpp>

namespace lt = lathe;

void assignment_to_axis(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) {
    i += 1;
    return X(i);
  });
}

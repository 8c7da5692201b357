// A floating literal among integers.
// expect: a floating literal needs a floating type
#include <lathe/lathe.hpp>

namespace lt = lathe;

void float_literal_into_int(lt::Input<int, 1> N) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return N(i) + 0.5f; });
}

// A number where select needs a condition.
// expect: (cannot convert|conversion from) .*Expr<int>.* to .*Expr<bool>
#include <lathe/lathe.hpp>

namespace lt = lathe;

void int_in_select(lt::Input<int, 1> N) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return lt::select(N(i), N(i), 0); });
}

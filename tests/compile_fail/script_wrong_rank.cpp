// Too many indices for a script's buffer of rank 1.
// expect: the number of indices is not the buffer's rank
#include <lathe/lathe.hpp>

namespace lt = lathe;

void script_wrong_rank() {
  lt::Script p("s");
  auto y = p.output<float>("y", {4});
  p.for_("i", 4, [&](lt::Var i) { p.store(y(i, 0), 1); });
}

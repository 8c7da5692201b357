// A store to a script's input.
// expect: inputs are read only
#include <lathe/lathe.hpp>

namespace lt = lathe;

void script_store_to_input() {
  lt::Script p("s");
  auto x = p.input<float>("x", {4});
  p.store(x(0), 1.0f);
}

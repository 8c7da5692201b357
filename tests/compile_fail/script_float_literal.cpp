// A floating number stored to a buffer of integers.
// expect: this number does not convert to the buffer's element type
#include <lathe/lathe.hpp>

namespace lt = lathe;

void script_float_literal() {
  lt::Script p("s");
  auto n = p.output<int>("n", {4});
  p.store(n(0), 1.5f);
}

// An integer expression stored to a buffer of floats.
// expect: the value is of another element type than the buffer. Convert it: lt::cast<T>\(x\)
#include <lathe/lathe.hpp>

namespace lt = lathe;

void script_wrong_type() {
  lt::Script p("s");
  auto n = p.input<int>("n", {4});
  auto y = p.output<float>("y", {4});
  p.store(y(0), n(0));
}

// A block's body takes one variable, but the block has two iterators.
// expect: the body of a block takes one lt::Var per iterator
#include <lathe/lathe.hpp>

namespace lt = lathe;

void script_block_with_wrong_arity() {
  lt::Script p("s");
  auto y = p.output<float>("y", {4, 4});
  p.for_("i", 4, [&](lt::Var i) {
    p.for_("j", 4, [&](lt::Var j) {
      p.block("y", {i, j}, [&](lt::Var v) { p.store(y(v, v), 1); });
    });
  });
}

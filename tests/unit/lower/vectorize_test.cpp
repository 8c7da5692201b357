#include <lathe/ir/visit.hpp>

#include "stages.hpp"

namespace lt = lathe;

namespace {

/// Selects whose conditions hold such selects, over 32 lanes.
lt::Program nested_selects(int depth) {
  lt::Input<float, 1> X("X", {64});
  auto Y = lt::compute("Y", {32}, [&](lt::Var i) {
    lt::Expr<float> e = X(i);
    for (int k = 1; k <= depth; ++k) {
      const auto least = static_cast<float>(k);
      e = lt::select(e < least, X(i + k), e * 0.5f);
    }
    return e;
  });
  lt::Schedule s(Y);
  s.vectorize(s.loops(Y)[0]);
  return s.program();
}

}  // namespace

TEST_CASE("masks of selects in conditions of selects grow with the program, they do not double") {
  const auto nodes = [](int depth) {
    const lt::Program p =
        lt::lower_until("vectorize", nested_selects(depth), lt::Target("x86-64-v4"));
    return lt::node_count(p->body);
  };
  CHECK(nodes(10) < 4 * nodes(5));
  test::check_stages(nested_selects(4));
}

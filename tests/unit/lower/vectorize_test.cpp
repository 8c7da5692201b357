#include <lathe/ir/visit.hpp>
#include <lathe/jit/jit.hpp>
#include <limits>

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

TEST_CASE("a tail is a vector too where all lanes share what is not proved to be inside") {
  lt::Input<std::int64_t, 1> I("I", {1});
  lt::Input<float, 1> X("X", {8}), K("K", {35});
  auto Y = lt::compute("Y", {35}, [&](lt::Var i) { return X(I(0)) * K(i); });
  lt::Schedule s(Y);
  s.vectorize(s.loops(Y)[0]);
  const std::string text = lt::lower_until("vectorize", s.program(), lt::Target("x86-64-v4")).str();
  INFO(text);
  CHECK(text.find("where ramp(0i32, 1i32, 4) < broadcast(3i32, 4)") != std::string::npos);
  CHECK(text.find("for i in 0..35") == std::string::npos);
}

TEST_CASE(
    "a bound that a caller gives may be any number: the count of lanes before it does not wrap") {
  using Int = std::int64_t;
  lt::Schedule s(
      lt::parse("program P(in k: i64, out Z: i64[8]):\n  for i in 0..8:\n"
                "    block Z(v in 0..8 = i) where v < k:\n      Z[v] = 1\n"));
  s.vectorize(s.split<2>(s.loops("Z")[0], {lt::infer, 2})[1]);
  constexpr Int least = std::numeric_limits<Int>::min(), most = std::numeric_limits<Int>::max();
  const lt::Program lowered = lt::lower(s.program(), lt::Target("x86-64"));
  const auto run = lt::evaluate<Int, lt::View<Int, 1>>(lowered);
  for (const Int k : {least, least + 3, Int{-1}, Int{0}, Int{3}, Int{8}, most - 3, most}) {
    CAPTURE(k);
    std::vector<Int> z(8, 0), expected(8, 0);
    for (Int i = 0; i < 8; ++i) expected[static_cast<std::size_t>(i)] = i < k;
    run(k, z);
    CHECK(z == expected);
  }
}

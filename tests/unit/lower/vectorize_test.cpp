#include <lathe/ir/visit.hpp>
#include <lathe/jit/jit.hpp>
#include <limits>
#include <support/text.hpp>

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

namespace {

/// Sums of columns kept in a register tile: 15 columns are 8 lanes and 7.
lt::Schedule column_sums(std::int64_t columns) {
  lt::Input<float, 2> X("X", {9, columns});
  lt::Reduce r("r", 9);
  auto Y = lt::compute("Y", {columns}, [&](lt::Var j) { return lt::sum(X(r, j), r); });
  lt::Schedule s(Y);
  auto [j, terms] = s.loops<2>(Y);
  s.reorder({terms, j});
  const lt::BlockRef out = s.cache_write(Y, lt::Scope::reg);
  const lt::BlockRef init = s.decompose_reduction(Y, terms);
  s.vectorize(j);
  s.vectorize(s.loops(init).back());
  s.vectorize(s.loops(out).back());
  return s;
}

}  // namespace

TEST_CASE("a tail in registers is one vector by mask with AVX2, and stored in parts") {
  const lt::Program program = column_sums(15).program();
  const std::string text = lt::lower(program, lt::Target("x86-64-v3")).str();
  INFO(text);
  CHECK(test::has(text, "alloc Y_cache_8: f32x8[]"));
  CHECK(test::has(text, "where ramp(0i32, 1i32, 8) < broadcast(7i32, 8)"));
  CHECK(test::has(text, "Y[ramp(8, 1, 4)] = shuffle(Y_cache_8[]; 0, 1, 2, 3)"));
  CHECK(test::has(text, "Y[14] = shuffle(Y_cache_8[]; 6)"));
  // Lanes beyond the end are never asked for: sums need no blend.
  CHECK(!test::has(text, "select("));
  test::check_stages(program);
}

TEST_CASE("a register that is read as a whole keeps what its lanes beyond a mask held") {
  const lt::Program start = lt::parse(
      "program P(in X: f32[16], out Y: f32[8]) scheduled:\n"
      "  alloc T: f32[8] scope register\n"
      "  vectorized for i in 0..8:\n"
      "    T[i] = 1.0\n"
      "  vectorized for i in 0..8:\n"
      "    if i < 5:\n"
      "      T[i] = X[i] * 2.0\n"
      "  vectorized for i in 0..8:\n"
      "    Y[i] = T[i]\n");
  test::check_stages(start);
  const std::string text = lt::lower(start, lt::Target("x86-64-v3")).str();
  INFO(text);
  CHECK(test::has(text, "select("));
}

namespace {

/// `steps` below a loop of 24 lanes, three registers with AVX2.
lt::Program three_registers(const std::string& steps) {
  return lt::parse(
      "program P(in X: f32[24], in C: f32[6], in N: i64[1], inout Y: f32[24]) scheduled:\n"
      "  vectorized for i in 0..24:\n" +
      steps);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++out;
  return out;
}

}  // namespace

TEST_CASE("registers of a vector run in step through loops in which each waits for itself") {
  const lt::Target target("x86-64-v3");
  const char* running =
      "    alloc v: f32[]\n"
      "    v[] = C[5]\n"
      "    for k in 0..5:\n"
      "      v[] = v[] * X[i] + C[k]\n"
      "      for l in 0..2:\n"
      "        if X[i] < C[l + 1]:\n"
      "          v[] = v[] + 1.0\n"
      "    Y[i] = Y[i] + v[]\n";
  const char* in_place =
      "    for k in 0..6:\n"
      "      Y[i] = Y[i] * X[i] + C[k]\n";
  for (const char* steps : {running, in_place}) {
    const lt::Program p = three_registers(steps);
    test::check_stages(p, {}, target);
    const std::string text = lt::lower(p, target).str();
    INFO(text);
    CHECK(count(text, "for k in 0..") == 1);
    CHECK(count(text, "X[ramp(0, 1, 8)]") > 0);
    CHECK(count(text, "X[ramp(16, 1, 8)]") > 0);
  }
}

TEST_CASE("a bound that is loaded is read by each register's loop for itself") {
  const lt::Program p = three_registers(
      "    for k in 0..min(6, max(N[0], 0)):\n"
      "      Y[i] = Y[i] * X[i] + C[k]\n");
  const lt::Target target("x86-64-v3");
  test::check_stages(p, {}, target);
  const std::string text = lt::lower_until("unroll", p, target).str();
  INFO(text);
  CHECK(count(text, "for k in 0..") == 3);
}

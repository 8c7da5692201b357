// Elements that change places: tiles that are turned, in the order in which memory is read.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "checked_plan.hpp"
#include "one_core.hpp"

using namespace test;
namespace {

// One core, whose last cache holds so little that results of a test leave it.
lt::Target with_caches(std::int64_t second, std::int64_t last) {
  lt::Target target = one_core();
  target.l2_bytes = second, target.l3_bytes = last;
  return target;
}

lt::Program transpose(std::int64_t m, std::int64_t n) {
  lt::Input<float, 2> X("X", {m, n});
  return lt::program_of(lt::compute("Y", {n, m}, [&](lt::Var i, lt::Var j) { return X(j, i); }));
}

lt::Program reverse_axes(std::int64_t a, std::int64_t b, std::int64_t c) {
  lt::Input<float, 3> X("X", {a, b, c});
  return lt::program_of(
      lt::compute("Y", {c, b, a}, [&](lt::Var i, lt::Var j, lt::Var k) { return X(k, j, i); }));
}

lt::Program swap_outer(std::int64_t a, std::int64_t b, std::int64_t c) {
  lt::Input<float, 3> X("X", {a, b, c});
  return lt::program_of(
      lt::compute("Y", {b, a, c}, [&](lt::Var i, lt::Var j, lt::Var k) { return X(j, i, k); }));
}

// The loops of the only nest from outside in, without what they mean: "i jo ii ji".
std::string planned(const lt::Program& program, const lt::Target& target,
                    const std::string& mark = {}) {
  std::vector<std::string> refused;
  const lt::Schedule s = lt::default_schedule(program, target, {}, refused);
  CHECK(refused.empty());
  CHECK(test::run(s.program()) == test::run(program));
  CHECK(has(s.str(), "@`stream`") == !mark.empty());
  if (!mark.empty()) CHECK(has(s.str(), "@`stream`=" + mark));
  std::string out;
  for (const auto& loop : s.loops("Y")) out += (out.empty() ? "" : " ") + loop.var->name;
  return out;
}

}  // namespace

TEST_CASE("a transpose that caches hold is written row by row") {
  CHECK(planned(transpose(70, 90), with_caches(1 << 20, 1 << 24)) == "io jo ii ji");
}

TEST_CASE("a transpose that they don't is read row by row, and stored in whole lines") {
  CHECK(planned(transpose(64, 90), with_caches(4096, 8192), "2") == "jo io ii ji");
  CHECK(planned(transpose(70, 90), with_caches(1 << 20, 8192), "2") == "io jo ii ji");
}

TEST_CASE("rows that lie on the same sets of the first cache are written in runs") {
  CHECK(planned(transpose(600, 1024), with_caches(4096, 8192), "2") == "j0_io j1 ii j2");
  CHECK(planned(transpose(600, 1024), with_caches(1 << 20, 1 << 24)) == "j0_io j1 ii j2");
  CHECK(planned(transpose(200, 1024), with_caches(1 << 20, 1 << 24)) == "io jo ii ji");
}

TEST_CASE("rows that end inside of a line are written in runs too") {
  CHECK(planned(transpose(70, 90), with_caches(4096, 8192), "2") == "io jo ii ji");
  CHECK(planned(transpose(601, 90), with_caches(4096, 8192), "2") == "j0_io j1 ii j2");
  CHECK(planned(reverse_axes(41, 6, 50), with_caches(1 << 20, 8192), "2") == "j io ko ii ki");
}

TEST_CASE("bytes, of which a line has parts of many tiles, are written in runs") {
  const auto bytes = [](std::int64_t m, std::int64_t n) {
    lt::Input<std::uint8_t, 2> X("X", {m, n});
    return lt::program_of(lt::compute("Y", {n, m}, [&](lt::Var i, lt::Var j) { return X(j, i); }));
  };
  CHECK(planned(bytes(2112, 30), with_caches(1 << 20, 1 << 24)) == "j0_io j1 ii j2");
  CHECK(planned(bytes(2100, 30), with_caches(1 << 20, 1 << 24)) == "j0_io j1 ii j2");  // and 52
  CHECK(planned(bytes(2048, 30), with_caches(4096, 8192), "2") == "j0_io j1 ii j2");
  CHECK(planned(bytes(500, 30), with_caches(1 << 20, 1 << 24)) == "io jo ii ji");
}

TEST_CASE("of more axes the outermost in memory is the outermost loop") {
  CHECK(planned(reverse_axes(48, 6, 50), with_caches(4096, 8192), "2") == "ko j io ii ki");
  CHECK(planned(reverse_axes(40, 6, 50), with_caches(1 << 20, 1 << 24)) == "io j ko ii ki");
}

TEST_CASE("rows that move as they are come in the order of the source if they are whole lines") {
  CHECK(planned(swap_outer(12, 10, 64), with_caches(4096, 8192), "1") == "j i ko ki");
  CHECK(planned(swap_outer(12, 10, 61), with_caches(4096, 8192), "2") == "i j ko ki");
  CHECK(planned(swap_outer(12, 10, 64), with_caches(1 << 20, 1 << 24)) == "i j ko ki");
}

TEST_CASE("rows that are no whole lines become one loop unless rows share what they read") {
  const std::int64_t m = 60, n = 50;
  lt::Input<float, 2> X("X", {m, n}), U("U", {m + 2, n});
  const auto one_loop = [&](const auto& value) {
    const lt::Tensor<float, 2> Y = lt::compute("Y", {m, n}, value);
    const lt::Program program = lt::program_of(Y);
    const lt::Schedule s = lt::default_schedule(program, with_caches(4096, 8192));
    CHECK(test::run(s.program()) == test::run(program));
    return has(s.str(), "floormod(");
  };
  CHECK(one_loop([&](lt::Var i, lt::Var j) { return X(i, j) * 2; }));
  CHECK(!one_loop([&](lt::Var i, lt::Var j) { return U(i, j) + U(i + 1, j) + U(i + 2, j); }));
  CHECK(!one_loop([&](lt::Var i, lt::Var j) { return X(lt::max(i - 1, 0), j) + X(i, j); }));
  CHECK(!one_loop([&](lt::Var i, lt::Var j) { return X(i, lt::max(j - 1, 0)) + X(i, j); }));
}

TEST_CASE("sizes that only a call tells are turned in the order of the result") {
  lt::Dim m("m"), n("n");
  lt::Input<float, 2> X("X", {m, n});
  const auto program =
      lt::program_of(lt::compute("Y", {n, m}, [&](lt::Var i, lt::Var j) { return X(j, i); }));
  std::vector<std::string> refused;
  const lt::Schedule s = lt::default_schedule(program, with_caches(4096, 8192), {}, refused);
  CHECK(refused.empty());
  CHECK(has(s.str(), "vectorized for ji"));
}

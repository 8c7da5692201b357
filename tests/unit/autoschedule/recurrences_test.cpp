// Rows of recurrences as lanes.
#include <functional>
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/run.hpp"

using namespace test;

namespace {

/// Sums so far of each row; step t adds what stands in `column` of t.
lt::Program sums_of_rows(std::int64_t m, std::int64_t n,
                         const std::function<lt::Expr<std::int64_t>(lt::Var)>& column) {
  return lt::script("rows", [&](lt::Script& p) {
    auto x = p.input<float>("x", {m, n});
    auto y = p.output<float>("y", {m, n});
    p.for_("i", m, [&](lt::Var i) {
      p.store(y(i, 0), x(i, 0));
      p.for_("t", 1, n, [&](lt::Var t) { p.store(y(i, t), y(i, t - 1) + x(i, column(t))); });
    });
  });
}

}  // namespace

TEST_CASE("rows become lanes where each step along them needs the one before") {
  const lt::Target v4("x86-64-v4");
  const auto same = [](lt::Var t) { return lt::Expr<std::int64_t>(t); };
  const lt::Program rows = sums_of_rows(20, 30, same);
  const lt::Schedule s = lt::default_schedule(rows, v4);
  CHECK(has(s.str(), "vectorized for ii in 0..16"));
  CHECK(has(s.str(), "unrolled for ti in 0..16"));
  CHECK(test::run(s.program()) == test::run(rows));
  CHECK(
      has(lt::default_schedule(sums_of_rows(6, 30, same), v4).str(), "vectorized for ii in 0..4"));
  const lt::Program back = sums_of_rows(20, 30, [](lt::Var t) { return 30 - t; });
  const lt::Schedule turned = lt::default_schedule(back, v4);
  CHECK(has(turned.str(), "vectorized for ii in 0..16"));
  CHECK(test::run(turned.program()) == test::run(back));
  CHECK(has(lt::default_schedule(sums_of_rows(2000, 300, same), v4).str(), "parallel for io"));
  // Three rows, and columns that lie apart.
  CHECK_FALSE(has(lt::default_schedule(sums_of_rows(3, 30, same), v4).str(), "vectorized"));
  const lt::Program apart = sums_of_rows(20, 30, [](lt::Var t) { return (t * 2) % 30; });
  CHECK_FALSE(has(lt::default_schedule(apart, v4).str(), "vectorized"));
}

TEST_CASE("columns of recurrences are taken some lines at a time") {
  const auto columns = [](lt::Extent m, std::int64_t n) {
    return lt::script("columns", [&](lt::Script& p) {
      auto x = p.input<float>("x", {m, n});
      auto y = p.output<float>("y", {m, n});
      p.for_("j", n, [&](lt::Var j) {
        p.store(y(0, j), x(0, j));
        p.for_("t", 1, m, [&](lt::Var t) { p.store(y(t, j), y(t - 1, j) * 0.5f + x(t, j)); });
      });
    });
  };
  const auto planned = [&](const lt::Program& program, const char* target) {
    const lt::Schedule s = lt::default_schedule(program, lt::Target(target));
    CHECK(test::run(s.program()) == test::run(program));
    return s.str();
  };
  CHECK(has(planned(columns(20, 300), "x86-64-v3"), "vectorized for ji in 0..64"));
  CHECK(has(planned(columns(20, 45), "x86-64-v3"), "vectorized for ji in 0..32"));
  CHECK(has(planned(columns(20, 9), "x86-64-v3"), "vectorized for ji in 0..8"));
  CHECK(has(planned(columns(20, 300), "x86-64-v4"), "vectorized for ji in 0..64"));
}

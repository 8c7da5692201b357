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

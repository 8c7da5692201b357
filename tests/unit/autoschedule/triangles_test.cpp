// Sums of triangles and bands: terms that are left out are not run over.
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lower/pipeline.hpp>
#include <support/text.hpp>

#include "../schedule/run.hpp"
#include "one_core.hpp"

using namespace test;

namespace {

/// The rows of a matrix of integers by a vector, of which `chosen` tells the terms.
template <class Chosen>
lt::Schedule planned(const Chosen& chosen) {
  lt::Input<std::int32_t, 2> A("A", {40, 50});
  lt::Input<std::int32_t, 1> x("x", {50});
  lt::Reduce r("r", 50);
  const lt::Program p = lt::program_of(lt::compute("y", {40}, [&](lt::Var i) {
    return lt::sum(lt::select(chosen(i, r), A(i, r) * x(r), 0), r);
  }));
  const lt::Schedule s = lt::default_schedule(p, one_core("x86-64-v3"));
  CHECK(test::run(s.program()) == test::run(p));
  return s;
}

}  // namespace

TEST_CASE("rows of a triangle fold in lanes, and end where it does") {
  const lt::Schedule s = planned([](auto i, auto r) { return r <= i; });
  CHECK(has(s.str(), "&& vro * 8 + vri <= vi reduce sum"));
  CHECK(has(lt::lower(s.program(), one_core("x86-64-v3")).str(), "for ro in 0..io >> 1"));
  planned([](auto i, auto r) { return lt::abs(r - i) < 3; });
  planned([](auto i, auto r) { return r > i && r < 2 * i; });
}

TEST_CASE("columns keep their choice: lanes of one vector would choose apart") {
  lt::Input<std::int32_t, 2> A("A", {50, 40});
  lt::Reduce r("r", 50);
  const lt::Program p = lt::program_of(lt::compute(
      "y", {40}, [&](lt::Var i) { return lt::sum(lt::select(r <= i, A(r, i), 0), r); }));
  const lt::Schedule s = lt::default_schedule(p, one_core("x86-64-v3"));
  CHECK(has(s.str(), "select("));
  CHECK(test::run(s.program()) == test::run(p));
}

TEST_CASE("a sum over a triangle is one over its rows") {
  lt::Input<std::int32_t, 2> A("A", {30, 40});
  lt::Reduce i("i", 30), j("j", 40);
  const lt::Program p = lt::program_of(lt::compute("y", {}, [&] {
    return lt::sum(lt::select(i <= j, A(i, j), 0), {i, j});
  }));
  const lt::Schedule s = lt::default_schedule(p, one_core("x86-64-v3"));
  CHECK_FALSE(has(s.str(), "floordiv"));
  CHECK(test::run(s.program()) == test::run(p));
}

TEST_CASE("triangles by their bounds have tiles and lanes as those by a condition") {
  lt::Input<std::int32_t, 2> A("A", {40, 40}), B("B", {40, 37});
  const auto C = lt::compute("C", {40, 37}, [&](lt::Var i, lt::Var j) {
    lt::Reduce r("r", {i, 40 - i});
    return lt::sum(A(i, r) * B(r, j), r);
  });
  lt::Input<std::int32_t, 1> X("X", {200});
  const auto lags = lt::compute("lags", {9}, [&](lt::Var t) {
    lt::Reduce r("r", {0, 200 - t});
    return lt::sum(X(r) * X(r + t), r);
  });
  for (const lt::Program& program : {lt::program_of(C), lt::program_of(lags)}) {
    std::vector<std::string> left_out;
    const lt::Schedule s = lt::default_schedule(program, one_core("x86-64-v3"), {}, left_out);
    INFO(s.str());
    CHECK(left_out.empty());
    CHECK(has(s.str(), "scope register"));
    CHECK(test::run(s.program()) == test::run(program));
  }
}

TEST_CASE("segments and bands by their bounds are no boxes") {
  lt::Input<std::int32_t, 1> X("X", {160});
  const auto segments = lt::compute("Y", {40}, [&](lt::Var i) {
    lt::Reduce r("r", {i * 4, 4});
    return lt::sum(X(r), r);
  });
  CHECK_FALSE(has(lt::default_schedule(segments, one_core("x86-64-v3")).str(), " where "));
}

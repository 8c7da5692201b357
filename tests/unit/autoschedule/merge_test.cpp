// Results that are read from the same places become one nest.
#include <support/text.hpp>

#include "checked_plan.hpp"

using namespace test;

namespace {

// Of results that another one reads, none is inlined.
std::string planned(const lt::Program& program, int cores = 1) {
  return checked_plan(program, {.cores = cores, .refuses = true}).str();
}

std::size_t nests(const std::string& text) {
  return count_of(text, "\n  for ") + count_of(text, "\n  parallel for ");
}

}  // namespace

TEST_CASE("the state of an optimizer and the weights that it changes are one nest") {
  lt::Input<float, 1> W("W", {4000}), U("U", {4000}), G("G", {4000});
  const auto v = lt::compute("v", {4000}, [&](lt::Var i) { return 2 * U(i) + G(i); });
  const auto w = lt::compute("w", {4000}, [&](lt::Var i) { return W(i) - v(i); });
  CHECK(nests(planned(lt::program_of(lt::outputs(w, v)))) == 1);
}

TEST_CASE("parts of rows are read once, also by vectors of other lengths") {
  lt::Input<float, 2> X("X", {70, 80});
  const auto low = lt::compute("low", {70, 40},
                               [&](lt::Var i, lt::Var j) { return X(i, 2 * j) + X(i, 2 * j + 1); });
  const auto high = lt::compute(
      "high", {70, 40}, [&](lt::Var i, lt::Var j) { return X(i, 2 * j) - X(i, 2 * j + 1); });
  const std::string text = planned(lt::program_of(lt::outputs(low, high)));
  INFO(text);
  CHECK(nests(text) == 1);
  CHECK(count_of(text, "for jo") == 1);
}

TEST_CASE("rows that others wait for stay apart, as threads share them") {
  lt::Input<float, 2> X("X", {600, 640});
  const auto a = lt::compute("a", {600, 640}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
  const auto b = lt::compute(
      "b", {600, 640}, [&](lt::Var i, lt::Var j) { return a(lt::max(i - 1, 0), j) * X(i, j); });
  const std::string text = planned(lt::program_of(lt::outputs(a, b)), 8);
  CHECK(count_of(text, "parallel for") == 2);
}

TEST_CASE("rows that are reduced twice are read once, where the second cache does not hold all") {
  const auto ranges = [](std::int64_t rows, std::int64_t columns, bool apart = false) {
    lt::Input<float, 2> X("X", {rows, columns}), Z("Z", {rows, columns});
    lt::Reduce r("r", columns), q("q", columns);
    const auto least =
        lt::compute("least", {rows}, [&](lt::Var i) { return lt::reduce_min(X(i, r), r); });
    const auto most = lt::compute(
        "most", {rows}, [&](lt::Var i) { return lt::reduce_max(apart ? Z(i, q) : X(i, q), q); });
    lt::Target target("x86-64-v3");
    target.cores = 1;
    target.l2_bytes = 16 * 1024;
    const lt::Program program = lt::program_of(lt::outputs(least, most));
    const lt::Schedule s = lt::default_schedule(program, target);
    if (rows * columns < 20000) CHECK(test::run(s.program()) == test::run(program));
    return s.str();
  };
  CHECK(nests(ranges(90, 60)) == 1);
  CHECK(nests(ranges(50, 60)) == 2);        // all of it stays
  CHECK(nests(ranges(40, 5000)) == 2);      // no row does
  CHECK(nests(ranges(90, 60, true)) == 2);  // nothing is shared
}

TEST_CASE("nests without iterations are left alone") {
  lt::Input<float, 1> X("X", {100000});
  const auto a = lt::compute("a", {0}, [&](lt::Var i) { return X(i) * 2.0f; });
  const auto b = lt::compute("b", {0}, [&](lt::Var i) { return X(i) + 1.0f; });
  CHECK(nests(planned(lt::program_of(lt::outputs(a, b)))) == 2);
}

TEST_CASE("what stays in the first cache anyhow stays apart") {
  lt::Input<float, 1> A("A", {500});
  const auto twice = lt::compute("twice", {500}, [&](lt::Var i) { return A(i) * 2.0f; });
  const auto more = lt::compute("more", {500}, [&](lt::Var i) { return A(i) + 1.0f; });
  CHECK(nests(planned(lt::program_of(lt::outputs(twice, more)))) == 2);
}

TEST_CASE("what shares nothing, or goes along other places, stays apart") {
  lt::Input<float, 1> A("A", {9000}), B("B", {9000});
  const auto twice = lt::compute("twice", {9000}, [&](lt::Var i) { return A(i) * 2.0f; });
  const auto other = lt::compute("other", {9000}, [&](lt::Var i) { return B(i) * 2.0f; });
  CHECK(nests(planned(lt::program_of(lt::outputs(twice, other)))) == 2);
  const auto back = lt::compute("back", {9000}, [&](lt::Var i) { return twice(8999 - i); });
  CHECK(nests(planned(lt::program_of(lt::outputs(twice, back)))) == 2);
}

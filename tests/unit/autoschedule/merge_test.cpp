// Results that are read from the same places become one nest.
#include <algorithm>
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

namespace {

/// Least, largest and sum of what `f` reads: results by index, over `terms` each.
template <class F>
lt::Program extremes_and_sum(std::int64_t results, std::int64_t terms, const F& f) {
  lt::Reduce r("r", terms), q("q", terms), p("p", terms);
  return lt::program_of(lt::outputs(
      lt::compute("least", {results}, [&](lt::Var i) { return lt::reduce_min(f(i, r), r); }),
      lt::compute("most", {results}, [&](lt::Var i) { return lt::reduce_max(f(i, q), q); }),
      lt::compute("total", {results}, [&](lt::Var i) { return lt::sum(f(i, p), p); })));
}

/// In one loop: the blocks that take the terms.
bool in_one_loop(const lt::Schedule& s, const char* a, const char* b) {
  const auto x = s.loops(a), y = s.loops(b);
  REQUIRE(std::min(x.size(), y.size()) > 1);
  return x[x.size() - 2] == y[y.size() - 2];
}

}  // namespace

TEST_CASE("folds of the same terms are one loop") {
  lt::Input<float, 2> X("X", {30, 200});
  const lt::Program program =
      extremes_and_sum(30, 200, [&](const auto& i, const auto& r) { return X(i, r); });
  const lt::Schedule rows = checked_plan(program);
  INFO(rows.str());
  CHECK(in_one_loop(rows, "least_lanes", "most_lanes"));
  CHECK(in_one_loop(rows, "least_lanes", "total_lanes"));
  // Of sixteen registers twelve hold what three folds have added, of eleven eight what two have.
  lt::Target few("x86-64-v3");
  few.cores = 1, few.vector_registers = 11;
  const lt::Schedule two = lt::default_schedule(program, few);
  INFO(two.str());
  CHECK(in_one_loop(two, "least_lanes", "most_lanes"));
  CHECK_FALSE(in_one_loop(two, "least_lanes", "total_lanes"));
  lt::Input<std::uint8_t, 1> U("U", {3000});
  lt::Reduce r("r", 3000), q("q", 3000);
  const lt::Schedule bytes = checked_plan(lt::program_of(
      lt::outputs(lt::compute("least", {}, [&] { return lt::reduce_min(U(r), r); }),
                  lt::compute("most", {}, [&] { return lt::reduce_max(U(q), q); }))));
  INFO(bytes.str());
  CHECK(in_one_loop(bytes, "least_lanes", "most_lanes"));
}

TEST_CASE("folds that need each other, or that read other rows, stay apart") {
  lt::Input<float, 2> X("X", {30, 200}), Z("Z", {30, 200});
  lt::Reduce r("r", 200), q("q", 200);
  const auto mean = lt::compute("mean", {30}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  const auto squares = lt::compute("squares", {30}, [&](lt::Var i) {
    return lt::sum((X(i, q) - mean(i)) * (X(i, q) - mean(i)), q);
  });
  const lt::Schedule needs = checked_plan(lt::program_of(lt::outputs(mean, squares)));
  INFO(needs.str());
  CHECK_FALSE(in_one_loop(needs, "mean_lanes", "squares_lanes"));
  const auto other = lt::compute("other", {30}, [&](lt::Var i) { return lt::sum(Z(i, q), q); });
  const lt::Schedule apart = checked_plan(lt::program_of(lt::outputs(mean, other)));
  CHECK_FALSE(in_one_loop(apart, "mean_lanes", "other_lanes"));
}

TEST_CASE("rows whose folds stay apart are read once, where the second cache does not hold all") {
  const auto ranges = [](std::int64_t rows, std::int64_t columns, bool apart = false) {
    lt::Input<float, 2> X("X", {rows, columns}), Z("Z", {rows, columns});
    lt::Reduce r("r", columns), q("q", columns);
    // Functions like these hide what one loop would load less.
    const auto least = lt::compute("least", {rows},
                                   [&](lt::Var i) { return lt::reduce_min(lt::sin(X(i, r)), r); });
    const auto most = lt::compute("most", {rows}, [&](lt::Var i) {
      return lt::reduce_max(lt::sin(apart ? Z(i, q) : X(i, q)), q);
    });
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

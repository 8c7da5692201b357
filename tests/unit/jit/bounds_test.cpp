// What a program does where an index names no element: clamp of a tensor without elements, and the
// evaluator's report.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <support/errors.hpp>
#include <vector>

namespace lt = lathe;

namespace {

/// The results of a compute over clamp(X), by evaluator and by machine code.
template <class X, class Y>
std::vector<std::vector<float>> both(const X& in, const Y& out, lt::View<const float, X::rank> x,
                                     std::vector<float> y) {
  std::vector<std::vector<float>> results;
  for (bool compiled : {false, true}) {
    auto f = compiled ? lt::jit(out, in, out) : lt::evaluate(out, in, out);
    results.push_back(y);
    f(x, results.back());
  }
  return results;
}

}  // namespace

TEST_CASE("clamp of a tensor without elements is 0") {
  const std::vector<float> zeros(20, 0);
  std::vector<float> x{1, 2, 3};
  SUBCASE("a constant extent") {
    lt::Input<float, 1> X("X", {0});
    auto Y = lt::compute("Y", {20}, [&](lt::Var i) { return lt::clamp(X)(i - 1); });
    for (const auto& y : both(X, Y, {nullptr, {0}}, std::vector<float>(20, -1))) CHECK(y == zeros);
  }
  SUBCASE("a Dim that is 0 at the call") {
    lt::Dim n("n");
    lt::Input<float, 1> X("X", {n});
    auto Y = lt::compute("Y", {20}, [&](lt::Var i) { return lt::clamp(X)(i - 1); });
    for (const auto& y : both(X, Y, {x.data(), {0}}, std::vector<float>(20, -1))) CHECK(y == zeros);
    for (const auto& y : both(X, Y, {x.data(), {3}}, std::vector<float>(20, -1))) {
      CHECK(y[0] == 1);
      CHECK(y[2] == 2);
      CHECK(y[19] == 3);
    }
  }
  SUBCASE("another axis than the one that is read around") {
    lt::Dim m("m"), n("n", {.min = 1});
    lt::Input<float, 2> X("X", {m, n});
    auto Y = lt::compute("Y", {20}, [&](lt::Var i) { return lt::clamp(X)(0, i); });
    for (const auto& y : both(X, Y, {x.data(), {0, 3}}, std::vector<float>(20, -1)))
      CHECK(y == zeros);
    for (const auto& y : both(X, Y, {x.data(), {1, 3}}, std::vector<float>(20, -1)))
      CHECK(y[19] == 3);
  }
}

TEST_CASE("clamp inside of a loop over the same Dim has no condition in the code") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return lt::clamp(X)(i - 1); });
  lt::Schedule s(Y);
  const std::string text = lt::lower_until("simplify_loops", s.program(), lt::host()).str();
  CHECK(text.find("select") == std::string::npos);
  CHECK(text.find("0 < n") == std::string::npos);
}

TEST_CASE("an index from data that names no element is the caller's mistake") {
  lt::Input<float, 2> X("X", {8, 2});
  lt::Input<std::int64_t, 1> I("I", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(I(i), i % 2); });
  std::vector<float> x(16, 1), y(4);
  std::vector<std::int64_t> at{0, 7, 1000000000, 2};
  lt::Context context({.log = [](lt::LogLevel, std::string_view) {}, .llvm = "off"});
  auto checked = lt::evaluate(Y, X, I, Y);
  auto interpreted = lt::jit({Y, {.context = &context}}, X, I, Y);  // what jit falls back to
  for (const auto& f : {checked, interpreted}) {
    const unsigned line = __LINE__ + 2;
    try {
      f(lt::view(x, {8, 2}), at, y);
      FAIL("no error");
    } catch (const lt::UserError& e) {
      CHECK(e.id() == "L0409");
      CHECK(e.message() == "evaluate: 'X' has no element [1000000000, 0], its shape is [8, 2]");
      CHECK(e.where().line == line);
      CHECK(std::string(e.what()).find(
                "\n  help: lt::pad(X, value) and lt::clamp(X) can be read outside, and "
                "lt::select(lt::in_bounds(X, …), …, …) reads inside only") != std::string::npos);
    }
  }
  at[2] = -1;
  CHECK(test::error_of([&] {
          checked(lt::view(x, {8, 2}), at, y);
        }) == "L0409 evaluate: 'X' has no element [-1, 0], its shape is [8, 2]");
  at[2] = 1;
  CHECK(test::error_of([&] { checked(lt::view(x, {8, 2}), at, y); }) == "none");
}

TEST_CASE("an index that only some call takes outside is found at that call") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i + 1); });
  std::vector<float> x(5), y(4);
  auto f = lt::evaluate(Y, X, Y);
  CHECK(test::error_of([&] { f(x, y); }) == "none");
  x.resize(4);
  CHECK(test::error_of([&] { f(x, y); }) ==
        "L0409 evaluate: 'X' has no element [4], its shape is [4]");
}

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

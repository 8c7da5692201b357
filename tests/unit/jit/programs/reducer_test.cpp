// Reducers of one's own whose identity is none: every way to run them gives the same.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <support/errors.hpp>
#include <vector>

namespace lt = lathe;

namespace {

struct Sums {
  static constexpr std::int64_t n = 100000;
  lt::Input<float, 1> X{"X", {n}};
  lt::Reduce r{"r", n};
  lt::Tensor<float, 0> S;

  explicit Sums(float start, lt::ReducerOptions options = {})
      : S(lt::compute("S", {}, [&] {
          auto plus = lt::reducer(
              "plus", lt::Expr<float>(start), [](auto a, auto b) { return a + b; }, options);
          return plus(std::tuple<lt::Expr<float>>(X(r)), r);
        })) {}

  std::string rfactor() const {
    return test::error_of([&] {
      lt::Schedule s(S);
      auto [outer, inner] = s.split<2>(s.loops(S)[0], {lt::infer, 100});
      s.rfactor(outer);
    });
  }
};

}  // namespace

TEST_CASE("a fold from an identity that is none is not split") {
  Sums sums(10);
  std::vector<float> x(Sums::n, 1);
  float compiled = 0, evaluated = 0;
  lt::jit(sums.S, sums.X, sums.S)(x, compiled);
  lt::evaluate(sums.S, sums.X, sums.S)(x, evaluated);
  CHECK(compiled == 100010);
  CHECK(evaluated == 100010);
  CHECK(sums.rfactor() ==
        "L0219 rfactor: the order of 'S' matters: the reducer is not associative: "
        "combine(identity, 11.0) is 21.0");
  const std::string text = lt::Schedule(sums.S).str();
  CHECK(text.find("reducer nonassociative plus") != std::string::npos);
  CHECK(lt::parse(text).str() == text);
}

TEST_CASE("what the caller says of a reducer is tried") {
  CHECK(Sums(0).rfactor() == "none");
  CHECK(Sums(0, {.associative = true}).rfactor() == "none");
  CHECK(test::error_of([] { Sums(10, {.associative = true}); }) ==
        "L0131 reducer 'plus' is not associative: combine(identity, 11.0) is 21.0");
  CHECK(Sums(0, {.associative = false}).rfactor() ==
        "L0219 rfactor: the order of 'S' matters: the reducer is not associative");
}

// Integers that are proven to fit narrower types than those that they are written in.
#include <support/text.hpp>

#include "checked_plan.hpp"

using namespace test;

namespace {

lt::Schedule planned(const lt::Program& program) {
  return checked_plan(program, {.target = "x86-64-v4", .options = {.strict = true}});
}

/// Folds of the rows of 7 x n bytes.
template <class Fold>
std::string rows(std::int64_t n, const Fold& fold) {
  lt::Input<std::uint8_t, 2> X("X", {7, n});
  lt::Reduce r("r", n);
  return planned(lt::program_of(lt::compute("Y", {7}, [&](lt::Var i) { return fold(X(i, r), r); })))
      .str();
}

}  // namespace

TEST_CASE("sums, counts, positions and extremes take the narrowest type that holds them") {
  const auto sum = [](auto x, auto r) { return lt::sum(lt::cast<std::int64_t>(x), r); };
  CHECK(has(rows(128, sum), "alloc Y_cache: i16[7]"));
  CHECK(has(rows(257, sum), "alloc Y_cache: u16[7]"));
  CHECK(has(rows(258, sum), "alloc Y_cache: i32[7]"));
  const auto count = [](auto x, auto r) { return lt::sum(lt::cast<int>(x > 9), r); };
  CHECK(has(rows(100, count), "alloc Y_cache: i8[7]"));
  CHECK(has(rows(300, count), "alloc Y_cache: i16[7]"));
  const auto first = [](auto x, auto r) { return lt::reduce_min(lt::select(x > 9, r, 300), r); };
  CHECK(has(rows(300, first), "alloc Y_cache: i16[7]"));
  const auto largest = [](auto x, auto r) { return lt::reduce_max(lt::cast<int>(x) - 9, r); };
  CHECK(has(rows(300, largest), "alloc Y_cache: i16[7]"));
}

TEST_CASE("stages between others are as narrow as what they hold") {
  lt::Input<std::uint8_t, 2> X("X", {30, 70});
  lt::Reduce p("p", 3), q("q", 3);
  auto H = lt::compute(
      "H", {30, 68}, [&](lt::Var i, lt::Var j) { return lt::sum(lt::cast<int>(X(i, j + q)), q); });
  auto V = lt::compute("V", {28, 68},
                       [&](lt::Var i, lt::Var j) { return lt::sum(H(i + p, j) * 25, p); });
  auto Y = lt::compute("Y", {28, 68},
                       [&](lt::Var i, lt::Var j) { return lt::cast<std::uint8_t>(V(i, j) >> 8); });
  const std::string text = planned(lt::program_of(Y)).str();
  INFO(text);
  CHECK(has(text, "H: i16["));
  CHECK(has(text, "V: u16["));  // up to 57,375
}

TEST_CASE("integers stay as wide as their terms are, or as nothing is proven of them") {
  lt::Input<std::int32_t, 2> X("X", {7, 40});
  lt::Reduce r("r", 40);
  const auto text = [&](auto term) {
    return planned(lt::program_of(
                       lt::compute("Y", {7}, [&](lt::Var i) { return lt::sum(term(X(i, r)), r); })))
        .str();
  };
  CHECK_FALSE(has(text([](auto x) { return x; }), "Y_cache: i16"));
  CHECK_FALSE(has(text([](auto x) { return lt::cast<std::int64_t>(x); }), "Y_cache: i32"));
  // The terms are i32, and so are the sums that a vector holds.
  CHECK_FALSE(has(text([](auto x) { return lt::cast<int>(x > 9); }), "Y_cache: i8"));
}

TEST_CASE("positions are as narrow as the values beside them, if these hold them") {
  lt::Input<std::uint8_t, 2> X("X", {7, 300});
  lt::Reduce r("r", 300);
  const auto best = lt::compute("best", {7}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  CHECK(has(planned(lt::program_of(best.get<1>())).str(), "best_1_cache: i16[7]"));
  // Along columns, too: both lie in registers.
  const auto along = lt::compute("along", {300}, [&](lt::Var j) {
    lt::Reduce k("k", 7);
    return lt::argmax(X(k, j), k);
  });
  CHECK(
      has(planned(lt::program_of(along.get<1>())).str(), "along_1_cache: i8[300] scope register"));
}

TEST_CASE("whether any or all of floats compare so is asked for several rows in turn") {
  lt::Input<float, 2> X("X", {9, 100});
  lt::Reduce r("r", 100);
  for (const bool any : {false, true}) {
    const auto Y = lt::compute("Y", {9}, [&](lt::Var i) {
      return any ? lt::any(X(i, r) > 0.5f, r) : lt::all(X(i, r) > 0.5f, r);
    });
    const std::string text = planned(lt::program_of(Y)).str();
    INFO(text);
    CHECK(has(text, "Y_part: bool[9, 16] scope register"));
    CHECK(has(text, "for ii in 0..4"));
  }
}

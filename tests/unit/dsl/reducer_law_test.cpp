// Laws of reducers of one's own: left open they do not hold, and what is claimed is tried.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <limits>
#include <support/errors.hpp>

namespace lt = lathe;

namespace {

constexpr lt::ReducerOptions kBoth{.associative = true, .commutative = true};
constexpr lt::ReducerOptions kGroups{.associative = true};
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T, class F>
std::string problem(T identity, F combine, lt::ReducerOptions options = kGroups) {
  const std::string text =
      test::error_of([&] { lt::reducer("r", lt::Expr<T>(identity), combine, options); });
  const std::string start = "L0131 reducer 'r' is not ";
  return text.find(start) == 0 ? text.substr(start.size()) : text;
}

using I = lt::Expr<int>;
using F = lt::Expr<float>;
using Pair = std::tuple<F, F>;

/// Folds n numbers with a reducer and says what rfactor and reorder think of it.
struct Fold {
  lt::Input<int, 2> X{"X", {30, 50}};
  lt::Reduce r{"r", 30}, q{"q", 50};
  lt::Tensor<int, 0> S;
  explicit Fold(const lt::Reducer<int>& how)
      : S(lt::compute("S", {}, [&] { return how(std::tuple<I>(X(r, q)), r, q); })) {}
  std::string rfactor() const {
    return test::error_of([&] {
      lt::Schedule s(S);
      s.rfactor(s.loops(S)[0]);
    });
  }
  std::string reorder() const {
    return test::error_of([&] {
      lt::Schedule s(S);
      s.reorder({s.loops(S)[1], s.loops(S)[0]});
    });
  }
  bool agree() const {
    std::vector<int> x(1500);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<int>(k * 2654435761u >> 25) - 60;
    int wanted = 0, got = 0, strict = 0;
    lt::evaluate(S, X, S)(lt::view(x, {30, 50}), wanted);
    lt::jit(S, X, S)(lt::view(x, {30, 50}), got);
    lt::jit({S, {.strict = true}}, X, S)(lt::view(x, {30, 50}), strict);
    return got == wanted && strict == wanted;
  }
};

}  // namespace

TEST_CASE("laws left open do not hold") {
  auto hash = lt::reducer("hash", I(0), [](I a, I b) { return a * 3 + b; });
  auto capped = lt::reducer("capped", I(0), [](I a, I b) { return lt::clip(a + b, -3, 3); });
  auto least = lt::reducer("least", I(0), [](I a, I b) { return lt::min(a, b) + 1; });
  auto mixed = lt::reducer("mixed", I(0), [](I a, I b) { return (a ^ b) << 1; });
  auto last = lt::reducer("last", I(0), [](I, I b) { return b; });
  for (const auto& r : {hash, capped, least, mixed, last}) {
    CHECK_FALSE(r.any()->associative);
    CHECK_FALSE(r.any()->commutative);
    const Fold fold(r);
    CHECK(fold.rfactor().find("L0219 rfactor: the order of 'S' matters: the reducer is not "
                              "associative") == 0);
    CHECK(fold.reorder() != "none");
    CHECK(fold.agree());
  }
}

TEST_CASE("laws that the combine shows hold") {
  auto sum = lt::reducer("sum", I(0), [](I a, I b) { return b + a; });
  auto most = lt::reducer("most", I(5), [](I a, I b) { return lt::max(a, b); });
  for (const auto& r : {sum, most}) {
    CHECK(r.any()->associative);
    CHECK(r.any()->commutative);
    const Fold fold(r);
    CHECK(fold.rfactor() == "none");
    CHECK(fold.reorder() == "none");
    CHECK(fold.agree());
  }
  auto both = lt::reducer("both", Pair{0.0f, -kInf}, [](Pair a, Pair b) {
    return Pair{std::get<0>(a) + std::get<0>(b), lt::max(std::get<1>(a), std::get<1>(b))};
  });
  CHECK(both.any()->associative);
  CHECK(both.any()->commutative);
  CHECK_FALSE(lt::reducer("r", I(10), [](I a, I b) { return a + b; }).any()->associative);
  CHECK(lt::welford_reducer(lt::kF32)->associative);
  CHECK(lt::log_sum_exp_reducer(lt::kF16)->commutative);
}

TEST_CASE("claims that numbers refute") {
  CHECK(problem(0, [](auto a, auto b) { return a * 3 + b; }) ==
        "associative: combine(combine(1, 2), 3) is 18, combine(1, combine(2, 3)) is 12");
  CHECK(problem(0, [](auto a, auto b) { return a - b; }) ==
        "associative: combine(combine(1, 2), 3) is -4, combine(1, combine(2, 3)) is 2");
  CHECK(problem(
            0, [](auto a, auto b) { return lt::clip(a + b, -3, 3); }, kBoth) ==
        "associative: combine(combine(1, 1), -2147483648) is -3, combine(1, combine(1, "
        "-2147483648)) is -2");
  CHECK(problem(0, [](auto a, auto b) { return (a + b) / 2; }) ==
        "associative: combine(combine(1, 2), 3) is 2, combine(1, combine(2, 3)) is 1");
  CHECK(problem(0, [](auto a, auto b) { return lt::min(a, b) + 1; }) != "none");
  CHECK(problem(0, [](auto a, auto b) { return lt::max(a, b * 2); }) != "none");
  CHECK(problem(0, [](auto a, auto b) { return (a ^ b) << 1; }) != "none");
  CHECK(problem(0, [](auto a, auto b) { return lt::select(a == 12345, 0, a + b); }) != "none");
  CHECK(problem<std::int8_t>(0, [](auto a, auto b) {
          return lt::cast<std::int8_t>(lt::clip(lt::cast<int>(a) + lt::cast<int>(b), -128, 127));
        }) != "none");
  CHECK(problem(0, [](auto a, auto b) { return a * 3 + b; }, {.commutative = true}) ==
        "commutative: combine(1, 2) is 5, combine(2, 1) is 7");
  CHECK(problem(10, [](auto a, auto b) { return a + b; }) ==
        "associative: combine(identity, 11) is 21");
  CHECK(problem(0, [](auto, auto b) { return b; }) == "associative: combine(1, identity) is 0");
}

TEST_CASE("claims of floats that more than rounding refutes") {
  CHECK(problem(0.0f, [](auto a, auto b) { return a * 0.5f + b; }) ==
        "associative: combine(combine(1.0, 2.0), 3.0) is 4.25, combine(1.0, combine(2.0, 3.0)) is "
        "4.5");
  CHECK(problem(0.0f, [](auto a, auto b) { return (a + b) * 0.5f; }) != "none");
  CHECK(problem(
            -kInf, [](auto a, auto b) { return lt::select(a > b, a, b); }, kBoth) ==
        "commutative: combine(1.0, nan) is nan, combine(nan, 1.0) is 1.0");
  CHECK(problem(-kInf, [](auto a, auto b) { return lt::fast_max(a, b); }) != "none");
  CHECK(problem(0.0, [](auto a, auto b) { return lt::clip(a + b, -1.0, 1.0); }) != "none");
}

TEST_CASE("claims that are right") {
  CHECK(problem<std::uint8_t>(
            0,
            [](auto a, auto b) {
              return lt::cast<std::uint8_t>(lt::min(lt::cast<int>(a) + lt::cast<int>(b), 255));
            },
            kBoth) == "none");
  CHECK(problem(
            0.0f, [](auto a, auto b) { return lt::max(lt::abs(a), lt::abs(b)); }, kBoth) == "none");
  CHECK(problem(
            0.0f, [](auto a, auto b) { return lt::sqrt(a * a + b * b); }, kBoth) == "none");
  CHECK(problem(
            -kInf, [](auto a, auto b) { return lt::log(lt::exp(a) + lt::exp(b)); }, kBoth) ==
        "none");
  CHECK(problem(
            0.5f - 0.5f, [](auto a, auto b) { return a + b - a * b; }, kBoth) == "none");
  CHECK(problem(0.0f, [](auto a, auto b) { return lt::select(a != 0, a, b); }) == "none");
  CHECK(problem(
            false, [](auto a, auto b) { return a != b; }, kBoth) == "none");
}

TEST_CASE("several values are tried by what their terms give") {
  lt::Input<int, 2> X("X", {4, 8});
  lt::Input<float, 1> Y("Y", {8}), Z("Z", {8});
  lt::Reduce r("r", 8);
  using M = std::tuple<I, I, I, I>;
  auto product = [](M x, M y) {
    auto [a, b, c, d] = x;
    auto [e, f, g, h] = y;
    return M{a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h};
  };
  auto fold = [&](lt::ReducerOptions options) {
    return test::error_of([&] {
      auto m = lt::reducer("m", M{1, 0, 0, 1}, product, options);
      auto t = lt::compute("t", {}, [&] { return m(M{X(0, r), X(1, r), X(2, r), X(3, r)}, r); });
      lt::Schedule s(t.get<0>());
      auto [outer, inner] = s.split<2>(s.loops(t.get<0>())[0], {lt::infer, 2});
      s.rfactor(outer);
    });
  };
  CHECK(fold(kGroups) == "none");
  CHECK(fold({}).find("L0219") == 0);
  CHECK(fold(kBoth).find("L0131 reducer 'm' is not commutative: combine(") == 0);

  // A mean is one of counts above 0 only, which the terms are.
  auto mean = lt::reducer(
      "mean", Pair{0.0f, 0.0f},
      [](Pair a, Pair b) {
        auto [n, x] = a;
        auto [m, y] = b;
        return Pair{n + m, (n * x + m * y) / lt::max(n + m, 1.0f)};
      },
      kBoth);
  CHECK(test::error_of([&] {
          lt::compute("t", {}, [&] { return mean(Pair{1.0f, Y(r)}, r); });
        }) == "none");
  CHECK(test::error_of([&] {
          lt::compute("t", {}, [&] { return mean(Pair{Z(r), Y(r)}, r); });
        }).find("L0131 reducer 'mean' is not ") == 0);
}

TEST_CASE("the text of a program is tried as well") {
  const std::string tail =
      "  for i in 0..8:\n    block Y(reduce v in 0..8 = i) reduce f init:\n      Y[] f= X[v]\n";
  auto parsed = [&](const std::string& reducer) {
    return test::error_of([&] {
      lt::parse("program P(in X: i32[8], out Y: i32[]):\n  reducer " + reducer + "\n" + tail);
    });
  };
  CHECK(parsed("nonassociative noncommutative f(a: i32 = 0i32; b) = a * 3i32 + b") == "none");
  CHECK(parsed("f(a: i32 = 0i32; b) = a + b") == "none");
  CHECK(parsed("noncommutative f(a: i32 = 0i32; b) = a * 3i32 + b").find("L0507") == 0);
  CHECK(parsed("f(a: i32 = 0i32; b) = a * 3i32 + b").find("L0507") == 0);
  CHECK(parsed("f(a: i32 = 10i32; b) = a + b").find("L0507") == 0);
  const lt::Program welford = [] {
    lt::Input<float, 1> X("X", {8});
    lt::Reduce r("r", 8);
    return lt::Schedule(lt::compute("W", {}, [&] { return lt::welford(X(r), r); }).get<0>())
        .program();
  }();
  CHECK(lt::parse(welford.str()).str() == welford.str());
  // Partial results of folds that were written out are still partial results; what folds those do
  // is tried.
  lt::Schedule parts = [] {
    lt::Input<float, 2> X("X", {9, 16});
    lt::Reduce r("r", 16);
    return lt::Schedule(
        lt::compute("W", {9}, [&](lt::Var i) { return lt::welford(X(i, r), r); }).get<0>());
  }();
  const auto [outer, inner] = parts.split<2>(parts.loops<2>("W")[1], {lt::infer, 4});
  const lt::BlockRef part = parts.rfactor(inner);
  const auto serial = parts.loops<3>(part)[1];
  parts.decompose_reduction(part, serial);
  parts.blockize(serial);
  const std::string written_out = parts.str();
  CHECK(written_out.find("_new") != std::string::npos);
  CHECK(lt::parse(written_out).str() == written_out);
  // So are those that wait in another type.
  lt::Schedule wide = [] {
    lt::Input<float, 2> X("X", {9, 16});
    lt::Reduce r("r", 16);
    return lt::Schedule(
        lt::compute("W", {9}, [&](lt::Var i) { return lt::welford(X(i, r), r); }).get<0>());
  }();
  wide.fold_lanes(wide.loops<2>("W")[1], 4);
  wide.change_type("W_0_part_1", lt::kF64);
  CHECK(lt::parse(wide.str()).str() == wide.str());
  std::string other = written_out;
  const std::size_t weight = other.find(" = 1.0\n");
  REQUIRE(weight != std::string::npos);
  other.replace(weight, 7, " = X[0, 0]\n");
  CHECK(test::error_of([&] { lt::parse(other); }).find("L0507") == 0);
  // Of several values what their terms give: a sum beside the largest element so far.
  const auto of_terms = [&](const std::string& first, const std::string& second) {
    return test::error_of([&] {
      lt::parse(
          "program P(in X: i32[8], out A: i32[], out B: i32[]):\n  reducer f(a0: i32 = 0i32, b0: "
          "i32 = 0i32; a1, b1) = a0 + a1, select(a1 > 100000i32, b0 * 3i32 + b1, b0 + b1)\n  for i "
          "in 0..8:\n    block A(reduce v in 0..8 = i) reduce f init:\n      A[] f= " +
          first + "\n      B[] f= " + second + "\n");
    });
  };
  CHECK(of_terms("1i32", "X[v]") == "none");
  CHECK(of_terms("X[v] * 7i32", "X[v]").find("L0507 parse: line 4, column ") == 0);
}

// Quotients and roots by estimates under Math::fast: where they pay, and nowhere else.
#include <lathe/lower/passes_machine.hpp>

#include "../../../support/errors.hpp"
#include "../../../support/text.hpp"
#include "../stages.hpp"

namespace lt = lathe;
using test::count_of;

namespace {

constexpr int kLanes = 64;

using Body = std::function<lt::Expr<float>(const lt::Expr<float>&, const lt::Expr<float>&)>;

lt::Schedule elements(const Body& f) {
  lt::Input<float, 1> X("X", {kLanes}), Y("Y", {kLanes});
  auto Z = lt::compute("Z", {kLanes}, [&](lt::Var i) { return f(X(i), Y(i)); });
  lt::Schedule s{lt::program_of(Z)};
  s.vectorize(s.split<2>(s.loops("Z")[0], {lt::infer, 16})[1]);
  return s;
}
std::string lowered(const Body& f, const char* target = "x86-64-v4",
                    lt::Math math = lt::Math::fast) {
  return lt::lower(elements(f).program(), lt::Target(target), {.math = math}).str();
}
lt::Expr<float> quotient(const lt::Expr<float>& x, const lt::Expr<float>& y) { return x / y; }
lt::Expr<float> root(const lt::Expr<float>& x, const lt::Expr<float>&) { return lt::sqrt(x); }
lt::Expr<float> length(const lt::Expr<float>& x, const lt::Expr<float>& y) {
  return lt::sqrt(x * x + y * y);
}
lt::Expr<float> by_root(const lt::Expr<float>& x, const lt::Expr<float>& y) {
  return x / lt::sqrt(y);
}

}  // namespace

TEST_CASE("a quotient and a root are one estimate each, a quotient by a root is one as well") {
  const std::string q = lowered(quotient), r = lowered(root), b = lowered(by_root);
  CHECK(count_of(q, "reciprocal_estimate(") == 1);
  CHECK(count_of(q, " / ") == 0);
  CHECK(count_of(r, "rsqrt_estimate(") == 1);
  CHECK(count_of(r, "sqrt(") == 0);
  CHECK(count_of(b, "rsqrt_estimate(") == 1);
  CHECK(count_of(b, "reciprocal_estimate(") == 0);
  CHECK(count_of(b, " / ") == 0);
}

TEST_CASE("the root of what is never negative needs no bounds on its estimate") {
  CHECK(count_of(lowered(root), "fast_m") == 2);
  CHECK(count_of(lowered(length), "rsqrt_estimate(") == 1);
  CHECK(count_of(lowered(length), "fast_m") == 0);
  CHECK(count_of(lowered([](auto x, auto y) { return lt::sqrt(x * x - y); }), "fast_m") == 2);
  CHECK(count_of(lowered([](auto x, auto y) { return lt::sqrt(lt::abs(x) * (y * y)); }),
                 "fast_m") == 0);
}

TEST_CASE("only fast has estimates, of f32, where the target has them") {
  for (const Body& f : {Body(quotient), Body(root), Body(by_root)}) {
    for (const lt::Math math : {lt::Math::accurate, lt::Math::normal})
      CHECK(count_of(lowered(f, "x86-64-v4", math), "estimate(") == 0);
    for (const char* target : {"x86-64-v3", "x86-64", "aarch64"})
      CHECK(count_of(lowered(f, target), "estimate(") == 0);
  }
  lt::Input<double, 1> X("X", {kLanes});
  lt::Schedule s{
      lt::program_of(lt::compute("Z", {kLanes}, [&](lt::Var i) { return lt::sqrt(X(i)) / X(i); }))};
  s.vectorize(s.split<2>(s.loops("Z")[0], {lt::infer, 8})[1]);
  const lt::Program wide =
      lt::lower(s.program(), lt::Target("x86-64-v4"), {.math = lt::Math::fast});
  CHECK(count_of(wide.str(), "estimate(") == 0);
}

TEST_CASE("quotients of narrow floats and of functions are exact") {
  lt::Input<lt::f16, 1> X("X", {kLanes}), Y("Y", {kLanes});
  lt::Schedule s{
      lt::program_of(lt::compute("Z", {kLanes}, [&](lt::Var i) { return X(i) / Y(i); }))};
  s.vectorize(s.split<2>(s.loops("Z")[0], {lt::infer, 16})[1]);
  const lt::Program p = lt::lower(s.program(), lt::Target("x86-64-v4"), {.math = lt::Math::fast});
  CHECK(count_of(p.str(), "reciprocal_estimate(") == 0);
  const std::string apart =
      lowered([](auto x, auto y) { return lt::tanh(x) + x / y + y / (x + 1) + x / (y + 2); });
  CHECK(count_of(apart, "reciprocal_estimate(") == 3);
  CHECK(count_of(apart, " / ") ==
        count_of(lowered([](auto x, auto) { return lt::tanh(x); }), " / "));
}

TEST_CASE("loops of any kind are judged by what they compute themselves") {
  const auto estimates = [](const std::string& loop) {
    const lt::Program p = lt::parse(
        "program P(in X: f32[64], inout K: i32[1], out Z: f32[64]) stage flat:\n"
        "  for i in 0..4:\n" +
        loop);
    std::vector<std::string> changes;
    return count_of(lt::use_estimates(p, lt::Target("x86-64-v4"), &changes).str(), "estimate(");
  };
  const std::string divide =
                        "Z[ramp(i * 16, 1, 16)] = X[ramp(i * 16, 1, 16)] / X[ramp(0, 1, 16)]\n",
                    count_up = "K[0] = K[0] + 1i32\n";
  CHECK(estimates("    " + divide) == 1);
  CHECK(estimates("    while K[0] < 3i32:\n      " + count_up + "      " + divide) == 1);
  CHECK(estimates("    parallel for j in 0..2:\n      " + divide) == 1);
}

TEST_CASE("where the divider works beside enough other work, it divides") {
  // Twelve multiplications wait for nothing of the quotient.
  const auto chained = [](int steps) {
    return [steps](const lt::Expr<float>& x, const lt::Expr<float>& y) {
      lt::Expr<float> sum = x;
      for (int k = 0; k < steps; ++k) sum = sum * x + y;
      return lt::Expr<float>(sum + x / y);
    };
  };
  CHECK(count_of(lowered(chained(2)), "reciprocal_estimate(") == 1);
  CHECK(count_of(lowered(chained(12)), "reciprocal_estimate(") == 0);
  // AMD's dividers are faster.
  CHECK(count_of(lowered(chained(2), "znver4"), "reciprocal_estimate(") == 0);
  CHECK(count_of(lowered(by_root, "znver4"), "rsqrt_estimate(") == 1);
}

TEST_CASE("one divisor of all lanes is divided by once") {
  lt::Input<float, 1> X("X", {kLanes});
  lt::Input<float, 0> Y("Y", {});
  lt::Schedule s{
      lt::program_of(lt::compute("Z", {kLanes}, [&](lt::Var i) { return X(i) + X(i) / Y(); }))};
  s.vectorize(s.loops("Z")[0]);
  const lt::Program p = lt::lower(s.program(), lt::Target("x86-64-v4"), {.math = lt::Math::fast});
  CHECK(count_of(p.str(), "estimate(") == 0);
}

TEST_CASE("what estimates change is listed") {
  for (const Body& f : {Body(quotient), Body(root), Body(by_root)}) {
    std::vector<std::string> changes;
    lt::lower(elements(f).program(), lt::Target("x86-64-v4"),
              {.math = lt::Math::fast, .changes = &changes});
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].find("fast: quotients and square roots of f32") == 0);
  }
}

TEST_CASE("estimates that a text has are divisions where the target has none") {
  for (const auto& [call, exact] :
       {std::pair("reciprocal_estimate(", " / x"), std::pair("rsqrt_estimate(", " / sqrt(x)")}) {
    const lt::Program p =
        lt::parse("program P(in X: f32[16], out Y: f32[16]) stage flat:\n  Y[ramp(0, 1, 16)] = " +
                  std::string(call) + "X[ramp(0, 1, 16)])\n");
    const lt::Program legal = lt::legalize_ops(p, lt::TargetCaps(lt::Target("x86-64-v3")));
    CHECK(count_of(legal.str(), call) == 0);
    CHECK(count_of(legal.str(), exact) == 1);
    CHECK(count_of(lt::legalize_ops(p, lt::TargetCaps(lt::Target("x86-64-v4"))).str(), call) == 1);
  }
  CHECK(test::error_of([] {
          lt::parse("program P(in X: f64[1], out Y: f64[1]):\n  Y[0] = rsqrt_estimate(X[0])\n");
        }).find("the argument is not an f32") != std::string::npos);
}

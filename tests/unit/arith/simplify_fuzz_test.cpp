// Random expressions: what simplification makes of them has the same value.
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>

#include "index_eval.hpp"

using namespace lathe;
using index_test::Env;
using index_test::Random;

namespace {

struct Fuzz {
  Random random;
  std::vector<VarRef> vars;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  Buffer data = make_buffer("data", kI64, {AnyExpr(100)}),
         narrow = make_buffer("nw", kI8, {AnyExpr(100)});
  Facts facts;

  explicit Fuzz(std::uint64_t seed) : random{seed} {
    for (int k = 0; k < 4; ++k) {
      vars.push_back(make_var(std::string(1, static_cast<char>('a' + k))));
      std::int64_t lo = random.below(3) ? 0 : random.between(-7, 7), extent = random.between(1, 9);
      ranges.emplace_back(lo, lo + extent - 1);
      facts.bind(vars.back(), AnyExpr(lo), AnyExpr(extent));
    }
  }
  std::int64_t constant() {
    static const std::int64_t some[] = {0, 1, 2, 3, 4, 8, 16, -1, -2, 5, 7, 12};
    return some[random.below(12)];
  }
  AnyExpr index(int depth) {
    if (depth == 0 || random.below(8) == 0) {
      if (random.below(3) == 0) return AnyExpr(constant());
      return AnyExpr(vars[static_cast<std::size_t>(random.below(4))]);
    }
    static const BinaryOp ops[] = {BinaryOp::add,      BinaryOp::add,      BinaryOp::sub,
                                   BinaryOp::mul,      BinaryOp::mul,      BinaryOp::floordiv,
                                   BinaryOp::floordiv, BinaryOp::floormod, BinaryOp::floormod,
                                   BinaryOp::min,      BinaryOp::max,      BinaryOp::div,
                                   BinaryOp::mod,      BinaryOp::bit_and};
    int pick = random.below(18);
    if (pick == 14) return make_select(boolean(depth - 1), index(depth - 1), index(depth - 1));
    if (pick == 15)
      return random.below(2) ? make_load(data, {index(depth - 1)})
                             : make_cast(kI64, make_load(narrow, {index(depth - 1)}));
    if (pick == 16) return -index(depth - 1);
    if (pick == 17) {
      VarRef t = make_var("t");
      AnyExpr value = index(depth - 1);
      return make_let(t, value, AnyExpr(t) + index(depth - 1) * AnyExpr(t));
    }
    BinaryOp op = ops[pick];
    AnyExpr right = (op == BinaryOp::floordiv || op == BinaryOp::floormod || op == BinaryOp::mul) &&
                            random.below(4)
                        ? AnyExpr(constant())
                        : index(depth - 1);
    return make_binary(op, index(depth - 1), right);
  }
  AnyExpr boolean(int depth) {
    static const BinaryOp ops[] = {BinaryOp::lt, BinaryOp::le, BinaryOp::gt,
                                   BinaryOp::ge, BinaryOp::eq, BinaryOp::ne};
    int pick = depth == 0 ? 9 : random.below(12);
    if (pick < 2) return logical_and(boolean(depth - 1), boolean(depth - 1));
    if (pick < 4) return logical_or(boolean(depth - 1), boolean(depth - 1));
    if (pick == 4) return logical_not(boolean(depth - 1));
    int below = depth > 0 ? depth - 1 : 0;
    return make_binary(ops[random.below(6)], index(below), index(below));
  }
  AnyExpr vector(int depth) {
    if (depth == 0 || random.below(5) == 0) {
      if (random.below(2)) return make_broadcast(index(1), 4);
      return make_ramp(index(1), AnyExpr(constant()), 4);
    }
    static const BinaryOp ops[] = {BinaryOp::add,      BinaryOp::sub,      BinaryOp::mul,
                                   BinaryOp::floordiv, BinaryOp::floormod, BinaryOp::min,
                                   BinaryOp::max};
    return make_binary(
        ops[random.below(7)], vector(depth - 1),
        random.below(2) ? make_broadcast(AnyExpr(constant()), 4) : vector(depth - 1));
  }
  Env point() {
    Env env;
    for (std::size_t k = 0; k < vars.size(); ++k)
      env[vars[k].get()] = random.between(ranges[k].first, ranges[k].second);
    return env;
  }
  /// Expressions that simplification changed.
  int changed = 0;

  /// What is wrong with the simplified expression, nothing if it has the same value at random
  /// points, inside const_bounds, and stays as it is when simplified again.
  std::string mistake(const AnyExpr& e) {
    AnyExpr s = simplify(e, facts), again = simplify(s, facts);
    const std::string what = str(e) + " to " + str(s);
    changed += str(s) != str(e);
    if (s.dtype() != e.dtype()) return "another type: " + what;
    if (str(s) != str(again)) return "not idempotent: " + what + " then " + str(again);
    ConstInterval range = const_bounds(e, facts);
    for (int t = 0; t < 12; ++t) {
      Env env = point();
      const auto want = index_test::eval(e, env), got = index_test::eval(s, env);
      bool inside = true;
      for (auto w : want) inside = inside && range.contains(w);
      if (want == got && inside) continue;
      std::string at = inside ? "another value: " : "out of its bounds: ";
      for (const auto& v : vars) at += v->name + "=" + std::to_string(env[v.get()]) + " ";
      return at + what;
    }
    return {};
  }
};

}  // namespace

TEST_CASE("fuzz: simplification keeps the value and is idempotent") {
  const int rounds = 1000;
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    Fuzz fuzz(seed);
    CHECK(fuzz.mistake(fuzz.index(3)) == "");
    CHECK(fuzz.mistake(fuzz.boolean(2)) == "");
    CHECK(fuzz.mistake(fuzz.vector(2)) == "");
    changed += fuzz.changed;
  }
  CHECK(changed >= rounds);
}

TEST_CASE("fuzz: a budget that runs out keeps the value") {
  int stopped = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Fuzz fuzz(seed * 104729);
    const AnyExpr e = seed % 2 ? fuzz.index(3) : fuzz.boolean(2);
    const int budget = static_cast<int>(fuzz.random.below(60));
    lathe::detail::Simplifier engine(fuzz.facts, budget);
    const AnyExpr s = engine.expr(e);
    stopped += engine.exhausted();
    INFO("seed " << seed << " budget " << budget << "\n  from " << str(e) << "\n  to " << str(s));
    REQUIRE(s.dtype() == e.dtype());
    for (int t = 0; t < 8; ++t) {
      Env env = fuzz.point();
      REQUIRE(index_test::eval(s, env) == index_test::eval(e, env));
    }
  }
  CHECK(stopped >= 1000);
}

TEST_CASE("fuzz: facts from conditions") {
  int points = 0;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    Fuzz fuzz(seed * 7919);
    AnyExpr condition = fuzz.boolean(1), e = fuzz.boolean(2);
    Facts under = fuzz.facts.with(condition);
    AnyExpr s = simplify(e, under);
    for (int t = 0; t < 40; ++t) {
      Env env = fuzz.point();
      if (!index_test::eval(condition, env)[0]) continue;
      ++points;
      if (index_test::eval(e, env) == index_test::eval(s, env)) continue;
      INFO("seed " << seed << " if " << str(condition) << "\n  from " << str(e) << "\n  to "
                   << str(s));
      CHECK(index_test::eval(e, env) == index_test::eval(s, env));
    }
  }
  CHECK(points >= 7000);
}

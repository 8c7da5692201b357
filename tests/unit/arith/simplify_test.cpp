#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/parse.hpp>

#include "index_eval.hpp"

using namespace lathe;
using index_test::Env;
using index_test::Random;

namespace {

/// The claim in one line: e simplifies to this text.
void check(const AnyExpr& e, const char* text, const Facts& facts = {}) {
  CHECK(str(simplify(e, facts)) == text);
}

struct Vars {
  VarRef i = make_var("i"), j = make_var("j"), k = make_var("k"), n = make_var("n"),
         x = make_var("x"), y = make_var("y");
  Facts facts;
  Vars() {
    facts.bind(n, ConstInterval{1, ConstInterval::kPosInf});
    facts.bind(i, AnyExpr(0), AnyExpr(8));
    facts.bind(j, AnyExpr(0), AnyExpr(4));
    facts.bind(k, AnyExpr(0), AnyExpr(n));
  }
};

}  // namespace

TEST_CASE("sums take one form") {
  Vars v;
  AnyExpr i(v.i), j(v.j), x(v.x), y(v.y), n(v.n);
  check(x + 0, "x");
  check(x + y - x, "y");
  check(x * 8 + y + 1 - x * 8, "y + 1");
  check((x + 1) * 4 + 2, "x * 4 + 6");
  check(x + x + x, "x * 3");
  check(-x + y, "y - x");
  check(x * y - y * x, "0");
  check((x + y) * n - n * y, "x * n");
  check(AnyExpr(3) - x, "3 - x");
  check(x - x, "0");
}

TEST_CASE("div and mod split along the divisor") {
  Vars v;
  AnyExpr i(v.i), j(v.j), x(v.x), y(v.y), n(v.n), k(v.k);
  check(floordiv(x * 8 + i, AnyExpr(8)), "x", v.facts);
  check(floormod(x * 8 + i, AnyExpr(8)), "i", v.facts);
  check(floordiv(x * 8 + y, AnyExpr(8)), "x + floordiv(y, 8)", v.facts);
  check(floordiv(x, AnyExpr(8)) * 8 + floormod(x, AnyExpr(8)), "x");
  check(x - floordiv(x, AnyExpr(8)) * 8, "floormod(x, 8)");
  check(floordiv(x * 4 + j, AnyExpr(8)), "floordiv(x, 2)", v.facts);
  check(floormod(x * 4 + j, AnyExpr(8)), "floormod(x, 2) * 4 + j", v.facts);
  check(floordiv(floordiv(x, AnyExpr(3)), AnyExpr(5)), "floordiv(x, 15)");
  check(floormod(floormod(x, AnyExpr(12)), AnyExpr(4)), "floormod(x, 4)");
  check(floordiv(floormod(x, AnyExpr(12)), AnyExpr(4)), "floormod(floordiv(x, 4), 3)");
  check(floordiv(x, AnyExpr(0)), "0");
  check(floordiv(x * n + k, n), "x", v.facts);
  check(floormod(x * n + k, n), "k", v.facts);
  check(floordiv(x * n, n), "x", v.facts);
  check(floordiv(x * y, y), "floordiv(x * y, y)", v.facts);
  check(floormod(x * y, y), "0", v.facts);
  AnyExpr back = floordiv(x, AnyExpr(8)) * 8 + floormod(floordiv(x, AnyExpr(2)), AnyExpr(4)) * 2 +
                 floormod(x, AnyExpr(2));
  check(back, "x");
}

TEST_CASE("conditions and symbolic bounds tell the period of a quotient") {
  Vars v;
  AnyExpr i(v.i), x(v.x), y(v.y);
  const AnyExpr place = x * 512 + y * 32 + i;
  const Facts inside = v.facts.with(x >= 0).with(y >= 0).with(place < 40000);
  check(floormod(place, AnyExpr(40000)), "x * 512 + y * 32 + i", inside);
  check(floordiv(place, AnyExpr(40000)), "0", inside);
  const Facts after = v.facts.with(place >= 1).with(place < 40001);
  check(floormod(place - 1, AnyExpr(40000)), "x * 512 + y * 32 + i - 1", after);
  check(floordiv(place - 1, AnyExpr(40000)), "0", after);
  const Facts open = v.facts.with(x >= 0).with(y >= 0).with(place < 40001);
  CHECK(simplify(floormod(place, AnyExpr(40000)), open).kind() == ExprKind::Binary);
  CHECK_FALSE(same_expr(simplify(floormod(place, AnyExpr(40000)), open), simplify(place, open)));
}

TEST_CASE("the absolute value of an index that can't be negative is the index") {
  Vars v;
  AnyExpr x(v.x), y(v.y), size = make_call(CallOp::abs, {x - y});
  check(size, "x - y", v.facts.with(x >= y));
  CHECK(simplify(size, v.facts.with(x + 1 >= y)).kind() == ExprKind::Call);
}

TEST_CASE("a dim's factor is used") {
  Facts facts;
  VarRef n = make_var("n"), i = make_var("i");
  facts.bind(make_ref<DimNode>(n, std::int64_t{0}, std::int64_t{4096}, std::int64_t{8}));
  facts.bind(i, AnyExpr(0), floordiv(AnyExpr(n), AnyExpr(8)));
  check(floordiv(AnyExpr(n), AnyExpr(8)) * 8, "n", facts);
  check(floormod(AnyExpr(n), AnyExpr(4)), "0", facts);
  check(floordiv(AnyExpr(n) + 7, AnyExpr(8)), "floordiv(n, 8)", facts);
  CHECK(prove(AnyExpr(i) * 8 + 7 < AnyExpr(n), facts));
  CHECK_FALSE(prove(AnyExpr(i) * 8 + 8 < AnyExpr(n), facts));
  CHECK(prove_divides(AnyExpr(8), AnyExpr(n) * 3 + 16, facts));
  CHECK_FALSE(prove_divides(AnyExpr(16), AnyExpr(n), facts));
}

TEST_CASE("comparisons are decided by ranges and relations") {
  Vars v;
  AnyExpr i(v.i), j(v.j), x(v.x), y(v.y), n(v.n), k(v.k);
  CHECK(prove(i < 8, v.facts));
  CHECK(prove(i * 4 + j < 32, v.facts));
  CHECK_FALSE(prove(i * 4 + j < 31, v.facts));
  CHECK(prove(k < n, v.facts));
  CHECK(prove(k * 8 + i < n * 8, v.facts));
  CHECK(prove(k >= 0, v.facts));
  CHECK_FALSE(prove(k + 1 < n, v.facts));
  CHECK(prove(k + 1 < n, v.facts.with(k * 2 < n * 2 - 2)));
  CHECK(prove(floordiv(n + 7, AnyExpr(8)) * 8 >= n, v.facts));
  CHECK(prove(make_binary(BinaryOp::min, x, y) <= y));
  CHECK(prove(make_binary(BinaryOp::min, x, n) <= make_binary(BinaryOp::max, n, y)));
  CHECK(prove(x < y + 3, Facts().with(x < y)));
  CHECK_FALSE(prove(x < y - 1, Facts().with(x < y)));
  check(x <= n - 1, "x < n");
  check(x >= 1, "x > 0");
  check(x > 0, "x > 0");
  check(AnyExpr(0) <= x, "x >= 0");
  check(x * 8 < y * 8 + 8, "x <= y");
  check(eq(x * 2, y * 2 + 1), "false");
  check(logical_not(x < y), "y <= x");
}

TEST_CASE("a test of a quotient is one of what is divided") {
  Vars v;
  AnyExpr x(v.x), y(v.y), i(v.i), j(v.j), n(v.n);
  check(floordiv(x, AnyExpr(14)) < 14, "x < 196");
  check(floordiv(x, AnyExpr(14)) <= 13, "x < 196");
  check(floordiv(x, AnyExpr(14)) > 2, "x > 41");
  check(floordiv(x, AnyExpr(14)) >= 0, "x >= 0");
  check(floordiv(x, AnyExpr(14)) < -1, "x < -14");
  check(floordiv(x * 16 + 8, AnyExpr(14)) < 13, "x < 11");
  check(floordiv(floordiv(x, AnyExpr(3)), AnyExpr(5)) < 2, "x < 30");
  check(logical_not(floordiv(x, AnyExpr(14)) < 14), "x > 195");
  CHECK(prove(floordiv(i * 4 + j, AnyExpr(3)) < 11, v.facts));
  CHECK_FALSE(prove(floordiv(i * 4 + j, AnyExpr(3)) < 10, v.facts));
  CHECK(prove(floordiv(x, AnyExpr(3)) < 10, Facts().with(x < 30)));
  CHECK(prove(x < 30, Facts().with(floordiv(x, AnyExpr(3)) < 10)));
  // The same by what is only known to be positive; y may be 0.
  check(floordiv(x, n) < y, "x < y * n", v.facts);
  check(floordiv(x, n) <= y, "x < n + y * n", v.facts);
  check(y < floordiv(x, n), "y * n + n <= x", v.facts);
  check(floordiv(x, n) < -2, "n * 2 + x < 0", v.facts);
  check(floordiv(x, y) < n, "floordiv(x, y) < n", v.facts);
  CHECK(prove(floordiv(x, n) < y, v.facts.with(x < y * n)));
}

TEST_CASE("conjunctions drop what the rest implies") {
  VarRef xv = make_var("x"), yv = make_var("y");
  AnyExpr x(xv), y(yv);
  check(logical_and(x < 10, x < 5), "x < 5");
  check(logical_and(x < 5, x < 10), "x < 5");
  check(logical_and(x<5, x> 7), "false");
  check(logical_or(x < 5, x >= 5), "true");
  check(logical_and(x < y, x < y), "x < y");
  check(make_select(x < y, make_binary(BinaryOp::min, x, y), AnyExpr(0)), "select(x < y, x, 0)");
}

TEST_CASE("lanes fold") {
  Vars v;
  AnyExpr x(v.x), i(v.i), n(v.n);
  AnyExpr ramp = make_ramp(x * 8, AnyExpr(1), 8), eight = make_broadcast(AnyExpr(8), 8);
  check(ramp + make_broadcast(i, 8), "ramp(x * 8 + i, 1, 8)", v.facts);
  check(make_broadcast(x, 4) * make_broadcast(i, 4), "broadcast(x * i, 4)", v.facts);
  check(floordiv(ramp, eight), "broadcast(x, 8)");
  check(floormod(ramp, eight), "ramp(0, 1, 8)");
  check(make_ramp(i, AnyExpr(1), 8) < make_broadcast(AnyExpr(15), 8), "broadcast(true, 8)",
        v.facts);
  check(make_ramp(i, AnyExpr(1), 8) < make_broadcast(AnyExpr(14), 8),
        "ramp(i, 1, 8) < broadcast(14, 8)", v.facts);
  check(make_ramp(i, AnyExpr(1), 8) >= make_broadcast(AnyExpr(15), 8), "broadcast(false, 8)",
        v.facts);
}

TEST_CASE("data: wrapping integers and floats get exact rules only") {
  VarRef a = make_var("a", kI32), f = make_var("f", kF32), u = make_var("u", kU8);
  check(AnyExpr(a) + 0, "a");
  check((AnyExpr(a) + 1) - AnyExpr(a), "a + 1i32 - a");
  check(AnyExpr(a) + 1 < AnyExpr(a), "a + 1i32 < a");
  CHECK(simplify(AnyExpr(f) + make_float(kF32, 0.0)).kind() == ExprKind::Binary);
  CHECK(simplify(AnyExpr(f) - make_float(kF32, 0.0)).kind() == ExprKind::Var);
  CHECK(simplify(AnyExpr(f) * make_float(kF32, 1.0)).kind() == ExprKind::Var);
  CHECK(simplify(AnyExpr(f) * make_float(kF32, 0.0)).kind() == ExprKind::Binary);
  CHECK(simplify(AnyExpr(f) - AnyExpr(f)).kind() == ExprKind::Binary);
  CHECK(simplify(eq(AnyExpr(f), AnyExpr(f))).kind() == ExprKind::Binary);
  CHECK(simplify(logical_not(AnyExpr(f) < AnyExpr(f))).kind() == ExprKind::Unary);
  AnyExpr third = simplify(make_float(kF32, 1.0) / make_float(kF32, 3.0));
  CHECK(third.as<ConstNode>()->f == static_cast<double>(1.0f / 3.0f));
  CHECK(is_const(simplify(make_int(kU8, 200) + make_int(kU8, 100)), 44));
  check(AnyExpr(u) < make_int(kU8, 0), "false");
  Buffer data = make_buffer("X", kI64, {AnyExpr(10)});
  AnyExpr load = make_load(data, {AnyExpr(0)});
  CHECK(simplify(load + 1 < load).kind() == ExprKind::Binary);
  check(load < load, "false");
  check(load + 1 - load, "1");
  CHECK(simplify(floordiv(load * 8, AnyExpr(8))).kind() == ExprKind::Binary);
}

TEST_CASE("a budget that runs out keeps the value") {
  VarRef x = make_var("x"), y = make_var("y");
  Facts facts;
  facts.bind(x, AnyExpr(0), AnyExpr(50));
  facts.bind(y, AnyExpr(1), AnyExpr(9));
  const AnyExpr div = floordiv(x, y),
                terms[] = {div * 1 + 0 + 2 - (div - 2),
                           floormod(x, y) + 3 - (floormod(x, y) * 1 - 4),
                           make_binary(BinaryOp::min, div + 2, AnyExpr(7)) - 5 + (div - 1)};
  for (int budget = 0; budget < 400; ++budget)
    for (const auto& e : terms)
      for (std::int64_t at : {0, 1, 17, 49}) {
        CAPTURE(budget);
        Env env{{x.get(), at}, {y.get(), 1 + at % 9}};
        AnyExpr s = lathe::detail::Simplifier(facts, budget).expr(e);
        CAPTURE(str(s));
        CHECK(index_test::eval(s, env) == index_test::eval(e, env));
      }
}

TEST_CASE("a part of a condition keeps the select that guards its own load") {
  const Buffer F = make_buffer("F", kI32, {AnyExpr(16)});
  const AnyExpr x = make_var("x"), load = make_load(F, {x}) > make_int(kI32, 0);
  const AnyExpr guarded = make_select(x >= 0, load, make_bool(false));
  CHECK(str(simplify(logical_and(x >= 0, guarded))).find("select(") != std::string::npos);
  CHECK(str(simplify(logical_and(x >= 0, load))).find("select(") == std::string::npos);
}

TEST_CASE("selects in conditions of selects take steps in proportion, from one budget") {
  const VarRef x = make_var("x");
  const Buffer X = make_buffer("X", kI64, {64}), F = make_buffer("F", kF32, {64});
  Facts facts;
  facts.bind(x, AnyExpr(0), AnyExpr(32));
  const auto steps_of = [&](int depth, int budget, bool index) {
    AnyExpr e = make_load(index ? X : F, {x});
    for (int k = 1; k <= depth; ++k) {
      const AnyExpr least = make_const(e.dtype(), k);
      e = make_select(logical_and(e < least, x < k), make_load(index ? X : F, {x + k}), least);
    }
    lathe::detail::Simplifier engine(facts, budget);
    engine.expr(e);
    return budget - engine.steps_left();
  };
  for (bool index : {false, true}) {
    const int few = steps_of(3, 1 << 20, index), more = steps_of(6, 1 << 20, index);
    CHECK(more < 3 * few);
    CHECK(steps_of(100, 20000, index) < 21000);
  }
}

TEST_CASE("the negation of a condition takes about the steps of the condition") {
  const auto steps_of = [](int depth, bool negated) {
    AnyExpr e;
    for (int k = 0; k < depth; ++k) {
      const AnyExpr a(make_var("a" + std::to_string(k), kF32)),
          b(make_var("b" + std::to_string(k), kF32));
      if (!e.get())
        e = a < b;
      else if (k % 2)
        e = logical_and(a < b, logical_or(b < a, e));
      else
        e = logical_or(a < b, logical_and(b < a, e));
    }
    const int budget = 1 << 20;
    const Facts facts;
    lathe::detail::Simplifier engine(facts, budget);
    engine.expr(negated ? logical_not(e) : e);
    return budget - engine.steps_left();
  };
  for (int depth : {3, 6, 8}) {
    CAPTURE(depth);
    CHECK(steps_of(depth, true) <= 2 * steps_of(depth, false));
  }
}

TEST_CASE("facts are taken apart, as they are written and as they are short") {
  Vars v;
  AnyExpr x(v.x), y(v.y);
  for (const AnyExpr& within : {logical_and(x >= 0, x <= 5), logical_not(logical_or(x<0, x> 5))}) {
    Facts facts;
    facts.assume(within);
    CHECK(prove(x >= 0, facts));
    CHECK(prove(x <= 5, facts));
    CHECK_FALSE(prove(x <= 4, facts));
  }
}

TEST_CASE("of what held before, the parts that read no memory stay true") {
  Vars v;
  AnyExpr x(v.x);
  Buffer flag = make_buffer("flag", kI64, {AnyExpr(1)});
  Facts facts;
  facts.assume_before(logical_and(make_load(flag, {AnyExpr(0)}) > 0, x >= 3));
  CHECK(prove(x >= 3, facts));
  CHECK_FALSE(prove(make_load(flag, {AnyExpr(0)}) > 0, facts));
}

TEST_CASE("a condition is read where those before it hold") {
  Vars v;
  AnyExpr x(v.x), y(v.y);
  const AnyExpr same = make_binary(BinaryOp::eq, fold_max(x, AnyExpr(0)), y);
  check(logical_and(x >= 0, same), "x >= 0 && x == y");
  check(logical_or(x < 0, same), "x < 0 || x == y");
}

TEST_CASE("a product is the same taken apart") {
  Vars v;
  AnyExpr x(v.x), y(v.y);
  CHECK(same_expr((x + y) * 2, x * 2 + y * 2));
  CHECK_FALSE(same_expr(x * 2 * y, x * y * 3));
}

TEST_CASE("sums of numbers wrap as their type does") {
  std::int64_t out = 0;
  CHECK((detail::fold_int(BinaryOp::add, kI8, 100, 100, out) && out == -56));
  CHECK((detail::fold_int(BinaryOp::add, kU8, 200, 100, out) && out == 44));
  CHECK((detail::fold_int(BinaryOp::mul, kI32, 1 << 16, 1 << 15, out) && out == INT32_MIN));
  CHECK((detail::fold_int(BinaryOp::sub, kI16, -32768, 1, out) && out == 32767));
}

TEST_CASE("the least number is not divided by minus one") {
  VarRef n = make_var("n");
  Facts facts;
  facts.bind(n, ConstInterval{0, 1});
  AnyExpr least = AnyExpr(n) * AnyExpr(INT64_MIN);
  CHECK(simplify(floordiv(least, AnyExpr(5) - n), facts).kind() == ExprKind::Binary);
  CHECK(simplify(floormod(least, AnyExpr(5) - n), facts).kind() == ExprKind::Binary);
}

TEST_CASE("what a caller gives may be any number, also where nobody says so") {
  const auto distance = [](const VarRef& k) {
    const AnyExpr i = make_var("i");
    const AnyExpr end = make_binary(BinaryOp::max, AnyExpr(k), i);
    return simplify(make_binary(BinaryOp::sub, end, i));
  };
  CHECK(str(distance(make_var("n"))) == "max(n - i, 0)");
  CHECK(str(distance(make_scalar_argument("k", kI64))) == "max(k, i) - i");
  const Program p = parse(
      "program P(in k: i64, out Z: i64[8]):\n  for i in 0..8:\n    block Z(v in 0..8 = i):\n"
      "      Z[v] = max(k, v) - v\n");
  CHECK(str(simplify(p->body)).find("max(k, v) - v") != std::string::npos);
  CHECK(p->params[0].var->data);
}

TEST_CASE("a quotient that is compared is a product on the other side") {
  const AnyExpr x(make_var("x")), n(make_var("n"));
  const auto bound = [&](const AnyExpr& condition) {
    Facts facts;
    facts.bind(VarRef(x.as<VarNode>()), -1000, 2000), facts.bind(VarRef(n.as<VarNode>()), 0, 1000);
    return str(simplify(condition, facts));
  };
  CHECK(bound(floordiv(x, AnyExpr(3)) < n) == "x < n * 3");
  CHECK(bound(floordiv(x, AnyExpr(3)) <= n) == "x < n * 3 + 3");
  CHECK(bound(floordiv(x, AnyExpr(3)) > n) == "n * 3 + 2 < x");
  CHECK(bound(floordiv(x, AnyExpr(3)) >= n) == "n * 3 <= x");
  CHECK(bound(floordiv(x * 8 + 5, AnyExpr(3)) + 2 < n) == "x * 8 + 11 < n * 3");
  // Of two quotients neither goes.
  CHECK(bound(floordiv(x, AnyExpr(3)) < floordiv(n, AnyExpr(5))).find("floordiv") !=
        std::string::npos);
  for (int v = -20; v < 20; ++v)
    for (int m = 0; m < 8; ++m)
      for (const BinaryOp op : {BinaryOp::lt, BinaryOp::le, BinaryOp::gt, BinaryOp::ge}) {
        const AnyExpr condition = make_binary(op, floordiv(x * 5 - 2, AnyExpr(7)), n - 3);
        const Substitution at{{VarRef(x.as<VarNode>()), AnyExpr(v)},
                              {VarRef(n.as<VarNode>()), AnyExpr(m)}};
        Facts facts;
        facts.bind(VarRef(x.as<VarNode>()), -20, 40), facts.bind(VarRef(n.as<VarNode>()), 0, 8);
        CHECK(str(simplify(substitute(simplify(condition, facts), at))) ==
              str(simplify(substitute(condition, at))));
      }
}

#include <lathe/arith/affine.hpp>
#include <lathe/arith/interval.hpp>

#include "index_eval.hpp"

using namespace lathe;
using index_test::Env;
using index_test::Random;

namespace {

std::string text(const Interval& i) {
  return "[" + (i.min ? str(i.min) : "-") + ", " + (i.max ? str(i.max) : "-") + "]";
}

}  // namespace

TEST_CASE("bounds relax the named variables and keep the others") {
  VarRef io = make_var("io"), ii = make_var("ii"), j = make_var("j"), n = make_var("n");
  AnyExpr IO(io), II(ii), J(j), N(n);
  Facts facts;
  facts.bind(n, ConstInterval{1, ConstInterval::kPosInf});
  facts.bind(io, AnyExpr(0), AnyExpr(16));
  facts.bind(ii, AnyExpr(0), AnyExpr(8));
  facts.bind(j, AnyExpr(0), N);
  CHECK(text(bounds(IO * 8 + II + 1, {ii}, facts)) == "[io * 8 + 1, io * 8 + 8]");
  CHECK(text(bounds(IO * 8 + II + 1, {io, ii}, facts)) == "[1, 128]");
  CHECK(text(bounds(IO * 8 - II, {ii}, facts)) == "[io * 8 - 7, io * 8]");
  CHECK(text(bounds(J * 2 + II, {j}, facts)) == "[ii, ii + n * 2 - 2]");
  CHECK(text(bounds(floordiv(J, AnyExpr(4)), {j}, facts)) == "[0, floordiv(n + 3, 4) - 1]");
  CHECK(text(bounds(floormod(J, AnyExpr(4)) + IO, {j}, facts)) == "[io, io + 3]");
  CHECK(text(bounds(J * N + II, {j}, facts)) == "[ii, ii + n * n - n]");
  VarRef free = make_var("free");
  CHECK(text(bounds(AnyExpr(free) + II, {free, ii}, facts)) == "[-, -]");
  CHECK(text(bounds(make_binary(BinaryOp::min, AnyExpr(free), II), {free, ii}, facts)) == "[-, 7]");
}

TEST_CASE("triangular ranges are eliminated from the inside out") {
  VarRef i = make_var("i"), j = make_var("j");
  Facts facts;
  facts.bind(i, AnyExpr(0), AnyExpr(10));
  facts.bind(j, AnyExpr(i), AnyExpr(10) - AnyExpr(i));
  CHECK(text(bounds(AnyExpr(j), {j}, facts)) == "[i, 9]");
  CHECK(text(bounds(AnyExpr(j) - AnyExpr(i), {j}, facts)) == "[0, 9 - i]");
  CHECK(text(bounds(AnyExpr(j) - AnyExpr(i), {i, j}, facts)) == "[0, 9]");
}

TEST_CASE("ends that move together bound their difference") {
  VarRef io = make_var("io");
  AnyExpr IO(io);
  Facts facts;
  facts.bind(io, AnyExpr(0), AnyExpr(34));
  auto range = [&](const AnyExpr& hi, const AnyExpr& lo) {
    ConstInterval r = const_bounds(hi - lo + 1, facts);
    return std::pair(r.min, r.max);
  };
  using Ends = std::pair<std::int64_t, std::int64_t>;
  auto least = [](AnyExpr a, AnyExpr b) { return make_binary(BinaryOp::min, a, b); };
  auto most = [](AnyExpr a, AnyExpr b) { return make_binary(BinaryOp::max, a, b); };
  AnyExpr first = most(IO * 32 - 2, 0);
  CHECK(range(least(IO * 32 + 33, 1079), first) == Ends{26, 36});
  // The hull of a window and of its clamped border.
  CHECK(range(most(IO * 32 + 31, least(IO * 32 + 33, 1079)), first).second == 36);
  // Both ends are clamped on both sides.
  CHECK(range(least(most(IO * 32 + 33, 0), 1079), least(most(IO * 32 - 2, 0), 1079)).second == 36);
}

TEST_CASE("affine forms") {
  VarRef i = make_var("i"), j = make_var("j"), n = make_var("n");
  AnyExpr I(i), J(j), N(n);
  auto a = affine_of(I * 8 + (J - 3) * N + N, {i, j});
  REQUIRE(a);
  CHECK(a->coef(0) == 8);
  CHECK(str(a->coefs[1]) == "n");
  CHECK_FALSE(a->coef(1));
  CHECK(str(a->rest) == "n * -2");
  CHECK_FALSE(affine_of(I * J, {i, j}));
  CHECK_FALSE(affine_of(floordiv(I, AnyExpr(2)), {i}));
  CHECK(affine_of(floordiv(N, AnyExpr(2)) + I, {i}));
  Facts unit;
  unit.bind(i, AnyExpr(0), AnyExpr(1));
  CHECK(affine_of(I * 5, {i}, unit)->coef(0) == 5);
  unit.multiple_of(n, 4);
  CHECK(affine_of(N * 3 + 1, {n}, unit)->coef(0) == 3);
}

TEST_CASE("facts: equalities, factors and strict bounds") {
  VarRef i = make_var("i"), n = make_var("n"), m = make_var("m");
  AnyExpr I(i), N(n), M(m);
  Facts facts = Facts().with(eq(N, M + 1)).with(I >= 0).with(I < M);
  CHECK(prove(I + 1 < N, facts));
  CHECK(prove(ne(I, N), facts));
  CHECK(prove(eq(N - M, AnyExpr(1)), facts));
  CHECK(facts.range(i).min == 0);
  CHECK(Facts().with(eq(floormod(N, AnyExpr(8)), AnyExpr(0))).factor(n.get()) == 8);
  CHECK(Facts().with(I >= 3).with(ne(I, AnyExpr(3))).range(i).min == 4);
  CHECK(Facts().with(logical_and(I > 1, I * 3 <= 10)).range(i) == ConstInterval{2, 3});
  Facts loop;
  loop.bind(i, AnyExpr(0), N);
  CHECK(prove(N >= 1, loop));
}

TEST_CASE("facts: what is said of a multiple is found again") {
  VarRef i = make_var("i"), j = make_var("j"), n = make_var("n");
  AnyExpr I(i), J(j), N(n);
  for (std::int64_t factor : {1, 8, 16}) {
    Facts facts;
    facts.bind(n, ConstInterval{0, ConstInterval::kPosInf});
    facts.multiple_of(n, factor);
    facts.bind(i, AnyExpr(0), floordiv(N + 47, AnyExpr(48)));
    facts.bind(j, AnyExpr(0), AnyExpr(48));
    facts.assume(I * 48 + J < N);
    CHECK(prove(I * 48 + J < N, facts));
    CHECK(prove(I * 48 < N, facts));
    CHECK_FALSE(prove(I * 48 + J + 1 < N, facts));
  }
}

TEST_CASE("nothing is proved of a quotient of what may wrap") {
  const VarRef x = make_var("x"), y = make_var("y");
  Facts far, near;
  far.bind(x, ConstInterval{0, std::int64_t{1} << 61}), far.bind(y, ConstInterval{3, 10});
  near.bind(x, ConstInterval{0, std::int64_t{1} << 40}), near.bind(y, ConstInterval{3, 10});
  for (const AnyExpr& e : {floordiv(AnyExpr(x) * 8 + y, AnyExpr(4)) * 4 + y,
                           floordiv(AnyExpr(x) * 8, AnyExpr(3)) * 3 + y}) {
    CHECK(prove(e >= 0, near));
    CHECK_FALSE(prove(e >= 0, far));  // x = 2^60
  }
}

TEST_CASE("proofs about quotients and remainders of symbolic divisors") {
  VarRef n = make_var("n"), m = make_var("m"), v = make_var("v"), i = make_var("i"),
         j = make_var("j");
  AnyExpr N(n), M(m), V(v), I(i), J(j);
  Facts facts;
  for (const auto& dim : {n, m}) facts.bind(dim, ConstInterval{0, ConstInterval::kPosInf});
  CHECK_FALSE(prove(M > 0, facts));
  Facts reshaped = facts;
  reshaped.bind(v, AnyExpr(0), N * M);  // runs, so that neither is 0
  CHECK(prove(M > 0, reshaped));
  CHECK(prove(floordiv(V, M) < N, reshaped));
  CHECK_FALSE(prove(floordiv(V, M) < N - 1, reshaped));
  CHECK(prove(floormod(V, M) < M, reshaped));
  CHECK_FALSE(prove(floormod(V, M) < M - 1, reshaped));
  Facts tiled = facts.with(M > 0);
  tiled.bind(i, AnyExpr(0), N);
  tiled.bind(j, AnyExpr(0), AnyExpr(16));
  CHECK(prove(floordiv(I * 16 + J, M) <= floordiv(I * 16 + 15, M), tiled));
  CHECK_FALSE(prove(floordiv(I * 16 + J, M) < floordiv(I * 16 + 15, M), tiled));
  CHECK(prove(floordiv(I * 16 + J, AnyExpr(10)) - floordiv(I * 8, AnyExpr(5)) <= 2, tiled));
  CHECK_FALSE(prove(floordiv(I * 16 + J, AnyExpr(10)) - floordiv(I * 8, AnyExpr(5)) <= 1, tiled));
  CHECK(const_bounds(floordiv(I * 16 + 15, AnyExpr(10)) - floordiv(I * 16, AnyExpr(10)), tiled) ==
        ConstInterval{1, 2});
}

TEST_CASE("fuzz: bounds and proofs with symbolic extents") {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random{seed};
    VarRef n = make_var("n"), m = make_var("m"), i = make_var("i"), j = make_var("j"),
           k = make_var("k");
    std::int64_t factor = random.below(2) ? 4 : 1;
    Facts facts;
    facts.bind(make_ref<DimNode>(n, std::int64_t{0}, std::int64_t{4096}, factor));
    facts.bind(m, ConstInterval{1, 64});
    AnyExpr extents[] = {AnyExpr(n), AnyExpr(m), AnyExpr(6), floordiv(AnyExpr(n) + 3, AnyExpr(4)),
                         AnyExpr(n) * AnyExpr(m)};
    AnyExpr size[] = {extents[random.below(5)], extents[random.below(5)],
                      random.below(2) ? AnyExpr(i) + 1 : extents[random.below(5)]};
    VarRef loops[] = {i, j, k};
    for (int l = 0; l < 3; ++l) facts.bind(loops[l], AnyExpr(0), size[l]);
    AnyExpr all[] = {AnyExpr(i), AnyExpr(j), AnyExpr(k), AnyExpr(n), AnyExpr(m)};
    auto atom = [&]() -> AnyExpr {
      AnyExpr e = all[random.below(5)];
      switch (random.below(10)) {
        case 0:
          return floordiv(e + random.between(-2, 5), AnyExpr(4));
        case 1:
          return floormod(e, AnyExpr(4));
        case 2:
          return e * all[3 + random.below(2)];
        case 3:
          return make_binary(random.below(2) ? BinaryOp::min : BinaryOp::max, e,
                             all[random.below(5)] + random.between(-1, 2));
        case 4:
          return floordiv(e, AnyExpr(m));
        case 5:
          return floordiv(e * random.between(1, 16) + all[random.below(5)],
                          random.below(2) ? AnyExpr(random.below(2) ? n : m)
                                          : AnyExpr(random.below(2) ? 5 : 10));
        case 6:
          return floormod(e + all[random.below(5)], all[3 + random.below(2)]);
        default:
          return e;
      }
    };
    auto sum = [&] {
      AnyExpr e = atom() * random.between(-3, 4);
      for (int t = random.below(3); t > 0; --t) e = e + atom() * random.between(-4, 4);
      return e + random.between(-3, 8);
    };
    AnyExpr e = sum(), other = sum();
    std::vector<VarRef> relaxed;
    for (const auto& v : loops)
      if (random.below(2)) relaxed.push_back(v);
    Interval range = bounds(e, relaxed, facts);
    AnyExpr s = simplify(e, facts);
    const bool less = prove(e < other, facts), not_less = prove(e >= other, facts),
               differ = prove(ne(e, other), facts);
    INFO("seed " << seed << " " << str(e) << " in " << text(range) << " vs " << str(other)
                 << ", sizes " << str(size[0]) << ", " << str(size[1]) << ", " << str(size[2])
                 << ", factor " << factor);
    bool inside = true, right = true, same = true;
    for (int t = 0; t < 40; ++t) {
      Env env;
      env[n.get()] = factor * random.between(0, 24 / factor);
      env[m.get()] = random.between(1, 5);
      bool empty = false;
      for (int l = 0; l < 3 && !empty; ++l) {
        std::int64_t extent = index_test::eval(size[l], env)[0];
        empty = extent < 1;
        if (!empty) env[loops[l].get()] = random.between(0, extent - 1);
      }
      if (empty) continue;
      std::int64_t x = index_test::eval(e, env)[0], y = index_test::eval(other, env)[0];
      if (range.min) inside = inside && index_test::eval(range.min, env)[0] <= x;
      if (range.max) inside = inside && x <= index_test::eval(range.max, env)[0];
      same = same && index_test::eval(s, env)[0] == x;
      right = right && (!less || x < y) && (!not_less || x >= y) && (!differ || x != y);
    }
    CHECK(inside);
    CHECK(same);
    CHECK(right);
    for (const auto& v : relaxed)
      for (const auto* end : {&range.min, &range.max})
        if (*end) CHECK_FALSE(uses_var(*end, v));
  }
}

TEST_CASE("fuzz: integers that wrap") {
  const DType types[] = {kI8, kU8, kI32, kU4, kI4, kU64, kI16, kI64, kI64, kI64};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random{seed * 31};
    DType t = types[random.below(10)];
    VarRef vars[] = {make_var("x", t), make_var("y", t)};
    struct Build {
      Random& random;
      DType t;
      VarRef* vars;
      AnyExpr operator()(int depth) {
        if (depth == 0) {
          static const std::int64_t some[] = {0, 1, -1, 2, 3, 7, 100};
          static const std::int64_t large[] = {
              6364136223846793005,   INT64_MAX,  INT64_MIN, std::int64_t{1} << 62,
              std::int64_t{1} << 33, -2654435761};
          if (t == kI64 && !random.below(4)) return make_int(t, large[random.below(6)]);
          if (random.below(2)) return make_int(t, some[random.below(7)]);
          return AnyExpr(vars[random.below(2)]);
        }
        auto op = static_cast<BinaryOp>(random.below(18));
        if (is_logic(op)) op = BinaryOp::add;
        switch (random.below(8)) {
          case 0:
            return make_unary(random.below(2) ? UnaryOp::neg : UnaryOp::bit_not,
                              (*this)(depth - 1));
          case 1:
            return make_select(compare(depth - 1), (*this)(depth - 1), (*this)(depth - 1));
          case 2:
            return make_cast(t, make_cast(random.below(2) ? kI32 : kU8, (*this)(depth - 1)));
          default:
            return make_binary(op, (*this)(depth - 1), (*this)(depth - 1));
        }
      }
      AnyExpr compare(int depth) {
        auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::eq) + random.below(6));
        return make_binary(op, (*this)(depth), (*this)(depth));
      }
    } build{random, t, vars};
    // The evaluator of this test orders u64 as signed: comparisons and division of it are left to
    // others.
    AnyExpr e = t == kU64         ? AnyExpr(vars[0]) * 3 + AnyExpr(vars[1]) * 0 - AnyExpr(vars[0])
                : random.below(2) ? build(3)
                                  : build.compare(2);
    Facts facts;
    const bool data = t != kI64 || random.below(2);  // else indices
    for (const auto& v : vars) {
      if (t != kI64) continue;
      if (data)
        facts.data(v);
      else
        facts.bind(v, ConstInterval{-3, 1000});
    }
    AnyExpr s = simplify(e, facts), again = simplify(s, facts);
    INFO("seed " << seed << " " << str(e) << " to " << str(s) << (data ? "" : " of indices"));
    CHECK(str(s) == str(again));
    bool same = true;
    for (int k = 0; k < 20; ++k) {
      Env env;
      for (const auto& v : vars) {
        const auto bits = static_cast<std::int64_t>(random.next() >> random.below(60));
        env[v.get()] = data ? index_test::wrap(t, bits) : random.between(-3, 1000);
      }
      same = same && index_test::eval(e, env) == index_test::eval(s, env);
    }
    CHECK(same);
  }
}

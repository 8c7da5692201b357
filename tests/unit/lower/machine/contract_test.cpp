// Which sums of products become fma, and which stay.
#include <lathe/lower/passes_machine.hpp>

#include "../../codegen/against.hpp"

using namespace lathe;
using namespace test;

namespace {

struct Values {
  Build b;
  Buffer x = b.buffer("x", kF32), r = b.output("r", kF32);
  AnyExpr a = make_load(x, {0}), c = make_load(x, {1}), d = make_load(x, {2}),
          e = make_load(x, {3});

  /// The expression after the pass.
  AnyExpr contracted(const AnyExpr& value, const Target& target = Target("x86-64-v3")) {
    Program p = contract(b.done(make_store(r, {0}, value)), target);
    return p->body.as<StoreNode>()->value;
  }
};

const CallNode* fused(const AnyExpr& e) {
  const auto* n = e.as<CallNode>();
  return n && n->op == CallOp::fma ? n : nullptr;
}

}  // namespace

TEST_CASE("a product plus, minus or under something is one fma") {
  Values v;
  auto result = v.contracted(v.a * v.c + v.d);
  REQUIRE(fused(result));
  CHECK(fused(result)->args[2].same_as(v.d));
  result = v.contracted(v.d + v.a * v.c);
  REQUIRE(fused(result));
  CHECK(fused(result)->args[0].same_as(v.a));
  result = v.contracted(v.a * v.c - v.d);
  REQUIRE(fused(result));
  CHECK(fused(result)->args[2].as<UnaryNode>());
  result = v.contracted(v.d - v.a * v.c);
  REQUIRE(fused(result));
  CHECK(fused(result)->args[0].as<UnaryNode>());
}

TEST_CASE("of two products the left one is fused, and chains are fused inside out") {
  Values v;
  auto result = v.contracted(v.a * v.c + v.d * v.e);
  REQUIRE(fused(result));
  CHECK(fused(result)->args[0].same_as(v.a));
  CHECK(fused(result)->args[2].as<BinaryNode>()->op == BinaryOp::mul);
  result = v.contracted((v.a * v.c + v.d) * v.e + v.a);
  REQUIRE(fused(result));
  CHECK(fused(fused(result)->args[0]));
}

TEST_CASE("integers, plain sums and targets without the instruction stay") {
  Values v;
  CHECK_FALSE(fused(v.contracted(v.a + v.c)));
  CHECK_FALSE(fused(v.contracted(v.a * v.c)));
  CHECK_FALSE(fused(v.contracted(v.a * v.c + v.d, Target("x86-64-v2"))));
  CHECK(fused(v.contracted(v.a * v.c + v.d, Target("neoverse-v1"))));
  auto i = make_var("i");
  AnyExpr whole = AnyExpr(i) * 3 + 1;
  Build b;
  auto r = b.output("r", kI64);
  Program p = b.done(make_let_stmt(i, 4, make_store(r, {0}, whole)));
  CHECK(contract(p, host())->body.same_as(p->body));
}

TEST_CASE("signs come out right") {
  Values v;
  for (const AnyExpr& e :
       {v.a * v.c - v.d, v.d - v.a * v.c, v.a * v.c + v.d, v.a * v.c - v.d * v.e}) {
    Program before = v.b.done(make_store(v.r, {0}, e)), after = contract(before, host());
    Bytes in = Bytes::of(std::vector<float>{3, 5, 7, 11}), out = Bytes::of(std::vector<float>{0});
    CHECK(evaluated(before, {in, out})[1].as<float>() ==
          evaluated(after, {in, out})[1].as<float>());
  }
}

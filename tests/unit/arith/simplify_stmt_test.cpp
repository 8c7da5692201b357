#include <doctest/doctest.h>

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/arith/impl/layer.ipp>
#endif

using namespace lathe;

TEST_CASE("statements: decided branches go, guards that the loops imply go, loops stay") {
  VarRef i = make_var("i"), j = make_var("j"), n = make_var("n");
  Buffer x = make_buffer("X", kF32, {AnyExpr(64)});
  Stmt put = make_store(x, {AnyExpr(i) * 8 + AnyExpr(j) + 0}, make_float(kF32, 1));
  auto nest = [&](AnyExpr outer, AnyExpr condition) {
    return make_for(i, AnyExpr(0), outer,
                    make_for(j, AnyExpr(0), AnyExpr(8), make_if(condition, put)));
  };
  CHECK(str(simplify(nest(AnyExpr(8), AnyExpr(i) * 8 + AnyExpr(j) < 64))) ==
        "for i in 0..8:\n  for j in 0..8:\n    X[i * 8 + j] = 1.0\n");
  CHECK(str(simplify(nest(AnyExpr(8), AnyExpr(i) * 8 + AnyExpr(j) < 63))) ==
        "for i in 0..8:\n  for j in 0..8:\n    if i * 8 + j < 63:\n      X[i * 8 + j] = 1.0\n");
  CHECK(str(simplify(nest(AnyExpr(8), AnyExpr(i) < 0))) == "pass\n");
  CHECK(str(simplify(nest(AnyExpr(0), AnyExpr(i) < 5))) == "pass\n");
  CHECK(str(simplify(nest(AnyExpr(1), AnyExpr(i) < 5))) ==
        "for i in 0..1:\n  for j in 0..8:\n    X[j] = 1.0\n");
}

TEST_CASE("statements: conditions that read memory don't outlive a store") {
  Buffer flag = make_buffer("flag", kI64, {AnyExpr(1)});
  AnyExpr set = make_load(flag, {AnyExpr(0)}) > 0;
  Stmt inner = make_if(set, make_store(flag, {AnyExpr(0)}, AnyExpr(7)));
  Stmt s = make_if(set, make_seq({make_store(flag, {AnyExpr(0)}, AnyExpr(0)), inner}));
  Stmt simple = simplify(s);
  const auto* body = simple.as<IfNode>()->then_body.as<SeqNode>();
  REQUIRE(body);
  CHECK(body->stmts[1].kind() == StmtKind::If);
}

TEST_CASE("statements: a loop whose bound its body changes") {
  VarRef i = make_var("i");
  Buffer len = make_buffer("len", kI64, {AnyExpr(1)});
  AnyExpr bound = make_load(len, {AnyExpr(0)});
  Stmt put = make_if(AnyExpr(i) < bound, make_store(len, {AnyExpr(0)}, AnyExpr(3)));
  Stmt changed = simplify(make_for(i, AnyExpr(0), bound, put));
  CHECK(changed.as<ForNode>()->body.kind() == StmtKind::If);
  Buffer y = make_buffer("y", kI64, {AnyExpr(9)});
  Stmt other = make_if(AnyExpr(i) < bound, make_store(y, {AnyExpr(0)}, AnyExpr(3)));
  Stmt kept = simplify(make_for(i, AnyExpr(0), bound, other));
  CHECK(kept.as<ForNode>()->body.kind() == StmtKind::Store);
}

TEST_CASE("statements: bindings keep unit loops, an empty reduce loop keeps its init") {
  VarRef i = make_var("i"), r = make_var("r"), vi = make_var("vi"), vr = make_var("vr");
  Buffer c = make_buffer("C", kF32, {AnyExpr(1)});
  std::vector<IterVar> iters{{vi, AnyExpr(0), AnyExpr(1), IterKind::spatial, AnyExpr(i) + 0},
                             {vr, AnyExpr(0), AnyExpr(0), IterKind::reduce, AnyExpr(r)}};
  BlockNode block(make_ref<BlockTagNode>("C"), iters,
                  make_store(c, {AnyExpr(vi)}, make_float(kF32, 1)));
  VarRef a = make_var("a", kF32), b = make_var("b", kF32);
  block.reducer = make_ref<ReducerNode>("sum", std::vector<AnyExpr>{make_float(kF32, 0)},
                                        std::vector<VarRef>{a}, std::vector<VarRef>{b},
                                        std::vector<AnyExpr>{AnyExpr(a) + AnyExpr(b)});
  block.init = true;
  Stmt s = simplify(
      make_for(i, AnyExpr(0), AnyExpr(1), make_for(r, AnyExpr(0), AnyExpr(0), make_block(block))));
  const auto* inner = s.as<ForNode>()->body.as<ForNode>();
  REQUIRE(inner);
  CHECK(inner->body.as<BlockNode>()->iters[0].binding.same_as(AnyExpr(i)));
}

TEST_CASE("statements: what a let binds keeps its range, of narrow types too") {
  VarRef i = make_var("i");
  Buffer x = make_buffer("X", kF32, {AnyExpr(64)});
  for (const DType type : {kI32, kU8, kI64}) {
    CAPTURE(type.str());
    VarRef k = make_var("k", type);
    Stmt put = make_store(x, {make_cast(kIndex, AnyExpr(k))}, make_float(kF32, 1));
    Stmt guarded = make_if(AnyExpr(k) < make_int(type, 8), put);
    Stmt loop = make_for(
        i, AnyExpr(0), AnyExpr(8),
        make_let_stmt(
            k, make_binary(BinaryOp::bit_and, make_cast(type, AnyExpr(i) + 0), make_int(type, 7)),
            guarded));
    const std::string text = str(simplify(loop));
    CHECK(text.find("if ") == std::string::npos);
    CHECK(text.find("X[") != std::string::npos);
  }
}

TEST_CASE("statements: computations over the budget still have simple places") {
  VarRef i = make_var("i"), n = make_var("n");
  Buffer x = make_buffer("X", kF32, {AnyExpr(n)});
  const auto place = [&](std::int64_t k) {
    const AnyExpr at = AnyExpr(i) * 8 + AnyExpr(k);
    return make_binary(
        BinaryOp::max,
        make_binary(BinaryOp::min, make_select(eq(AnyExpr(0), AnyExpr(0)), at, at * 3),
                    AnyExpr(n) - 1),
        AnyExpr(0));
  };
  AnyExpr sum = make_load(x, {place(0)});
  for (std::int64_t k = 1; k < 1000; ++k) sum = sum + make_load(x, {place(k)});
  CHECK(str(simplify(sum)).find("0 == 0") != std::string::npos);
  const std::string text = str(simplify(make_store(x, {AnyExpr(0)}, sum)));
  CHECK(text.find("X[max(min(i * 8 + 999, n - 1), 0)]") != std::string::npos);
  CHECK(text.find("0 == 0") == std::string::npos);
}

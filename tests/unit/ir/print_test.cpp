#include <doctest/doctest.h>

#include <cmath>
#include <lathe/ir/print.hpp>
#include <limits>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

#include "support/golden.hpp"
#include "support/programs.hpp"

using namespace lathe;

TEST_CASE("programs print as loop nests") {
  test::check_golden("ir/gemm", test::gemm(4, 8, 16).str());
  test::check_golden("ir/symbolic_gemm", test::symbolic_gemm().str());
  test::check_golden("ir/online_softmax", test::online_softmax(4, 9).str());
  test::check_golden("ir/row_argmax", test::row_argmax(3, 5).str());
  test::check_golden("ir/stencil", test::stencil(10).str());
  test::check_golden("ir/gather", test::gather(5, 6, 7).str());
  test::check_golden("ir/flat_axpb", test::flat_axpb(100).str());
}

TEST_CASE("literals carry their type unless it is i64 or f32") {
  const double inf = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(str(AnyExpr(3)) == "3");
  CHECK(str(AnyExpr(std::int64_t{INT64_MIN})) == "-9223372036854775808");
  CHECK(str(make_int(kU64, -1)) == "18446744073709551615u64");
  CHECK(str(make_int(kI4, -8)) == "-8i4");
  CHECK(str(make_bool(true)) == "true");
  CHECK(str(make_float(kF32, 0.1)) == "0.1");
  CHECK(str(make_float(kF32, -0.0)) == "-0.0");
  CHECK(str(make_float(kF64, 0.1)) == "0.1f64");
  CHECK(str(make_float(kF64, 1e300)) == "1e+300f64");
  CHECK(str(make_float(kBF16, 1.5)) == "1.5bf16");
  CHECK(str(make_float(kE4M3, 448)) == "448.0f8e4m3");
  CHECK(str(make_float(kF32, -inf)) == "-inf");
  CHECK(str(make_float(kF16, inf)) == "f16.inf");
  CHECK(str(make_float(kF32, std::copysign(nan, 1.0))) == "nan");
  CHECK(str(make_float(kF64, std::copysign(nan, -1.0))) == "-f64.nan");
}

TEST_CASE("operators print with the parentheses that C needs, and where C's precedence misleads") {
  AnyExpr a = make_var("a"), b = make_var("b"), c = make_var("c");
  CHECK(str(a + b * c) == "a + b * c");
  CHECK(str((a + b) * c) == "(a + b) * c");
  CHECK(str(a - (b - c)) == "a - (b - c)");
  CHECK(str((a - b) - c) == "a - b - c");
  CHECK(str(a / (b / c)) == "a / (b / c)");
  CHECK(str(floordiv(a, 8 * b) + floormod(a, c)) == "floordiv(a, 8 * b) + floormod(a, c)");
  CHECK(str(make_binary(BinaryOp::shl, a + b, c)) == "(a + b) << c");
  CHECK(str(eq(make_binary(BinaryOp::bit_and, a, b), c)) == "(a & b) == c");
  CHECK(str(logical_or(logical_and(a < b, b < c), logical_not(a < c))) ==
        "a < b && b < c || !(a < c)");
  CHECK(str(ne(a < b, b < c)) == "(a < b) != (b < c)");
  CHECK(str(-(-a)) == "--a");
  CHECK(str(-AnyExpr(3)) == "-(3)");
  CHECK(str(-AnyExpr(-3)) == "-(-3)");
  CHECK(str(a - AnyExpr(-3)) == "a - -3");
}

TEST_CASE("two visible names that are the same get numbers") {
  VarRef i = make_var("i"), j = make_var("i");
  CHECK(str(AnyExpr(i) + AnyExpr(j) + AnyExpr(i)) == "i + i_1 + i");
  Buffer b = make_buffer("i", kI64, {4, 4});
  Stmt store = make_store(b, {i, j}, AnyExpr(j));
  CHECK(str(make_for(i, 0, 4, make_for(j, 0, 4, store))) ==
        "for i in 0..4:\n"
        "  for i_1 in 0..4:\n"
        "    i_2[i, i_1] = i_1\n");
  CHECK(str(make_seq({make_for(i, 0, 4, make_store(b, {i, 0}, 1)),
                      make_for(j, 0, 4, make_store(b, {j, 0}, 2))})) ==
        "for i in 0..4:\n"
        "  i_1[i, 0] = 1\n"
        "for i in 0..4:\n"
        "  i_1[i, 0] = 2\n");
}

TEST_CASE("names that are keywords or no words stand between backticks") {
  CHECK(str(AnyExpr(make_var("for"))) == "`for`");
  CHECK(str(AnyExpr(make_var("conv/1"))) == "`conv/1`");
  CHECK(str(AnyExpr(make_var("a`b\\\n\x01"))) == "`a\\`b\\\\\\n\\x01`");
  CHECK(str(AnyExpr(make_var("x.s0"))) == "x.s0");
  CHECK(str(AnyExpr(make_var("x."))) == "`x.`");
  CHECK(str(AnyExpr(make_var("f64.nan"))) == "`f64.nan`");
}

TEST_CASE("an alloc or let that is last in its body has no indented body of its own") {
  Buffer a = make_buffer("a", kF32, {4}, Scope::local), b = make_buffer("b", kF32, {});
  Stmt use_a = make_store(a, {0}, make_float(kF32, 1)),
       use_b = make_store(b, {}, make_float(kF32, 2));
  CHECK(str(make_seq({make_alloc(a, use_a), make_alloc(b, use_b)})) ==
        "alloc a: f32[4] scope local:\n"
        "  a[0] = 1.0\n"
        "alloc b: f32[]\n"
        "b[] = 2.0\n");
  CHECK(str(make_alloc(a, make_seq({}))) == "alloc a: f32[4] scope local\npass\n");
}

TEST_CASE("ranges show their end where it is exact") {
  VarRef i = make_var("i"), n = make_var("n");
  Stmt nothing = make_seq({});
  CHECK(str(make_for(i, 0, n, nothing)) == "for i in 0..n:\n  pass\n");
  CHECK(str(make_for(i, 2, 10, nothing)) == "for i in 2..12:\n  pass\n");
  CHECK(str(make_for(i, 2, n, nothing)) == "for i in 2..+n:\n  pass\n");
  CHECK(str(make_for(i, n, 10, nothing)) == "for i in n..+10:\n  pass\n");
  CHECK(str(make_for(i, n, AnyExpr(10) - AnyExpr(n), nothing)) == "for i in n..10:\n  pass\n");
  CHECK(str(make_for(i, std::int64_t{INT64_MAX}, 10, nothing)) ==
        "for i in 9223372036854775807..+10:\n  pass\n");
}

TEST_CASE("statements without a value of their own") {
  Buffer b = make_buffer("b", kI32, {4});
  VarRef i = make_var("i");
  CHECK(str(Stmt(make_ref<AtomicNode>(BinaryOp::max, b, std::vector<AnyExpr>{i},
                                      make_int(kI32, 1)))) == "atomic b[i] max= 1i32\n");
  CHECK(str(Stmt(make_ref<AssertNode>(AnyExpr(i) < 4, "i is \"big\"\n"))) ==
        "assert i < 4, \"i is \\\"big\\\"\\n\"\n");
  CHECK(str(Stmt(make_ref<EvaluateNode>(make_call(CallOp::prefetch, {make_load(b, {i}), 3})))) ==
        "eval prefetch(b[i], 3)\n");
  CHECK(str(make_if(AnyExpr(i) < 4, make_seq({}), make_store(b, {i}, make_int(kI32, 0)))) ==
        "if i < 4:\n  pass\nelse:\n  b[i] = 0i32\n");
  Stmt marked = make_for(i, 0, 4, make_seq({}), ForKind::serial,
                         {UserHint{"user.a b", 4}, UserHint{"user.note", "x \"y\""},
                          TailAttr{Tail::mask}, UnrollAttr{4}, PrefetchAttr{"A \"1\"", 2, 0},
                          PipelineAttr{{0, 1}, {1, 0}}, HoistAttr{"T"}, HoistAttr{"U"}});
  CHECK(str(marked) ==
        "for i in 0..4 @`user.a b`=4 @user.note=\"x \\\"y\\\"\" @tail=\"mask\" @unroll_explicit=4 "
        "@prefetch(buffer=\"A \\\"1\\\"\", distance=2, locality=0) "
        "@software_pipeline(stages=[0, 1], orders=[1, 0]) @hoist_storage=\"T\" "
        "@hoist_storage=\"U\":\n  pass\n");
}

TEST_CASE("an excerpt shows the loops around a place and underlines it") {
  Program p = test::symbolic_gemm();
  const auto* outer = p->body.as<AllocNode>()->body.as<SeqNode>()->stmts[0].as<ForNode>();
  const auto* inner = outer->body.as<ForNode>()->body.as<ForNode>();
  CHECK(excerpt(p, outer->var) ==
        "for i in 0..m:\n"
        "    ^\n"
        "  for j in 0..n:\n"
        "    for r in 0..k:\n"
        "      block C(i in 0..m = i, j in 0..n = j, reduce r in 0..k = r) reduce sum init:\n");
  CHECK(excerpt(p, inner->body.as<BlockNode>()->tag) ==
        "for i in 0..m:\n"
        "  for j in 0..n:\n"
        "    for r in 0..k:\n"
        "      block C(i in 0..m = i, j in 0..n = j, reduce r in 0..k = r) reduce sum init:\n"
        "            ^\n"
        "        C[i, j] sum= A[i, r] * B[r, j]\n");
  CHECK(excerpt(p, make_var("i")).empty());
}

TEST_CASE("an excerpt leaves out what lies between") {
  Buffer b = make_buffer("b", kI64, {4});
  VarRef i = make_var("i"), j = make_var("j");
  Stmt last = make_for(j, 0, 4, make_store(b, {j}, AnyExpr(i)));
  Stmt loop = make_for(i, 0, 4, make_seq({make_store(b, {0}, 1), make_store(b, {1}, 2), last}));
  Program p = test::program("p", {test::out(b)}, loop);
  CHECK(excerpt(p, j) ==
        "for i in 0..4:\n"
        "  ...\n"
        "  for j in 0..4:\n"
        "      ^\n"
        "    b[j] = i\n");
}

TEST_CASE("incomplete trees print too") {
  CHECK(str(AnyExpr()) == "<none>");
  CHECK(str(Stmt()) == "<none>\n");
  CHECK(str(Program()) == "<none>\n");
  CHECK(str(make_for(make_var("i"), 0, AnyExpr(), Stmt())) == "for i in 0..<none>:\n  <none>\n");
}

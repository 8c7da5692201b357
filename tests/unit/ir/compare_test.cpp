#include <doctest/doctest.h>

#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <limits>
#include <string>
#include <support/capture.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

#include "support/programs.hpp"
#include "support/random_ir.hpp"

using namespace lathe;

namespace {

// Names differ, structure does not.
const std::string kBase =
    "program p<n in 1..=64 by 8>(in A: f32[n, 4] strides [s, 1], in x: f32, out B: f32[n]):\n"
    "  alloc t: f32[n] scope local align 64\n"
    "  for i in 0..n @user.a=1:\n"
    "    for r in 0..4:\n"
    "      block b(i in 0..n = i, reduce r in 0..4 = r) where r < 3 reduce sum init:\n"
    "        t[i] sum= A[i, r] * (let y = x in y * y)\n"
    "  for j in 0..n:\n"
    "    block c(j in 0..n = j):\n"
    "      B[j] = select(t[j] < 0.0, exp(-t[j]), t[j])\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}
std::string all_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

bool same(const std::string& a, const std::string& b) {
  Program p = parse(a), q = parse(b);
  bool equal = structurally_equal(p, q);
  CHECK(structurally_equal(q, p) == equal);
  CHECK((structural_hash(p) == structural_hash(q)) == equal);
  return equal;
}

}  // namespace

TEST_CASE("names matter where programs are to be equal but for contents") {
  const auto equal = [](const std::string& a, const std::string& b) {
    const Program p = parse(a), q = parse(b);
    CHECK(equal_but_for_contents(q, p) == equal_but_for_contents(p, q));
    return equal_but_for_contents(p, q);
  };
  CHECK(equal(kBase, kBase));
  CHECK(!equal(kBase, replaced(kBase, "program p", "program q")));
  CHECK(!equal(kBase, replaced(kBase, "block b(", "block first(")));
  CHECK(!equal(kBase, all_replaced(all_replaced(kBase, "t[", "tmp["), "alloc t", "alloc tmp")));
  CHECK(!equal(kBase, all_replaced(all_replaced(kBase, "A[", "left["), "in A:", "in left:")));
  CHECK(!equal(kBase, all_replaced(all_replaced(kBase, "let y", "let z"), "y * y", "z * z")));
  CHECK(!equal(kBase, replaced(replaced(kBase, "for j in", "for k in"), "= j)", "= k)")));
  CHECK(!equal(kBase, replaced(kBase, "r < 3", "r < 2")));
  CHECK(!equal_but_for_contents(parse(kBase), {}));
  const std::string constant =
      "program p(constant W: f32[4] hash \"00000000000000000000000000000001\", out Y: f32[4]):\n"
      "  for i in 0..4:\n"
      "    block c(i in 0..4 = i):\n"
      "      Y[i] = W[i]\n";
  CHECK(equal(constant, replaced(constant, "0001\",", "0002\",")));
  CHECK(equal(constant, replaced(constant, " hash \"00000000000000000000000000000001\"", "")));
}

TEST_CASE("names do not matter") {
  CHECK(same(kBase, kBase));
  CHECK(same(kBase, replaced(kBase, "program p", "program `another one`")));
  CHECK(same(kBase, replaced(kBase, "block b(", "block first(")));
  CHECK(same(kBase, all_replaced(all_replaced(kBase, "t[", "tmp["), "alloc t", "alloc tmp")));
  CHECK(same(kBase, all_replaced(all_replaced(kBase, "A[", "left["), "in A:", "in left:")));
  CHECK(same(kBase, all_replaced(all_replaced(kBase, "let y", "let z"), "y * y", "z * z")));
  CHECK(same(kBase, replaced(replaced(kBase, "for j in", "for k in"), "= j)", "= k)")));
  CHECK(same(kBase,
             replaced(kBase, "  alloc t", "  reducer other(u: f32 = 0.0; v) = u + v\n  alloc t")));
}

TEST_CASE("everything else matters") {
  const std::pair<const char*, const char*> changes[] = {
      {"n in 1..=64", "n in 1..=63"},
      {"by 8", "by 4"},
      {"strides [s, 1]", "strides [1, s]"},
      {" strides [s, 1]", ""},
      {"in A", "inout A"},
      {"scope local", "scope shared"},
      {"align 64", "align 32"},
      {"alloc t: f32[n]", "alloc t: f32[n + 1]"},
      {"for i in 0..n", "parallel for i in 0..n"},
      {"@user.a=1", "@user.a=2"},
      {"@user.a=1", "@user.a=\"1\""},
      {"@user.a=1", "@user.b=1"},
      {" @user.a=1", ""},
      {"0..4 = r", "1..4 = r"},
      {"reduce r in", "opaque r in"},
      {"where r < 3", "where r < 4"},
      {" where r < 3", ""},
      {"sum init", "sum"},
      {"reduce sum init:\n        t[i] sum=", "reduce max init:\n        t[i] max="},
      {"A[i, r]", "A[r, i]"},
      {"* (let", "+ (let"},
      {"y * y", "y * x"},
      {"< 0.0", "< -0.0"},
      {"< 0.0", "<= 0.0"},
      {"-t[j]), t[j])", "t[j]), -t[j])"},
      {"exp(", "exp2("},
      {"B[j] =", "stream B[j] ="},
      {"B[j] =", "stream_lines B[j] ="},
  };
  for (const auto& [from, to] : changes) {
    LATHE_CAPTURE(from);
    LATHE_CAPTURE(to);
    CHECK(!same(kBase, replaced(kBase, from, to)));
  }
}

TEST_CASE("the correspondence of names is one to one") {
  const std::string head =
      "program p(in A: i64[4], in B: i64[4], out C: i64[4]):\n  for i in 0..4:\n    for j in "
      "0..4:\n";
  CHECK(!same(head + "      C[i] = A[i] + B[j]\n", head + "      C[i] = A[i] + B[i]\n"));
  CHECK(!same(head + "      C[i] = A[i] + B[i]\n", head + "      C[i] = A[i] + B[j]\n"));
  CHECK(!same(head + "      C[i] = A[i] + B[j]\n", head + "      C[i] = A[i] + A[j]\n"));
  CHECK(!same(head + "      C[i] = A[j]\n", head + "      C[j] = A[i]\n"));
}

TEST_CASE("the order of parameters and the stage matter") {
  CHECK(!same("program p(in A: f32[4], out B: f32[4]):\n  B[0] = A[0]\n",
              "program p(out B: f32[4], in A: f32[4]):\n  B[0] = A[0]\n"));
  CHECK(!same("program p(out B: f32[4]):\n  B[0] = 1.0\n",
              "program p(out B: f32[4]) stage loops:\n  B[0] = 1.0\n"));
  CHECK(!same("program p(in x: i64, in y: i64, out B: i64[]):\n  B[] = x - y\n",
              "program p(in x: i64, in y: i64, out B: i64[]):\n  B[] = y - x\n"));
}

TEST_CASE("what is free equals itself only") {
  VarRef x = make_var("x"), y = make_var("x");
  CHECK(structurally_equal(AnyExpr(x) + 1, AnyExpr(x) + 1));
  CHECK(!structurally_equal(AnyExpr(x) + 1, AnyExpr(y) + 1));
  CHECK(structurally_equal(make_let(x, 1, AnyExpr(x) + 2), make_let(y, 1, AnyExpr(y) + 2)));
  CHECK(!structurally_equal(make_let(x, 1, AnyExpr(x) + 2), make_let(y, 1, AnyExpr(x) + 2)));
  CHECK(!structurally_equal(make_let(x, 1, AnyExpr(y) + 2), make_let(y, 1, AnyExpr(y) + 2)));
  Buffer a = make_buffer("a", kF32, {4}), b = make_buffer("a", kF32, {4});
  CHECK(structurally_equal(make_load(a, {x}), make_load(a, {x})));
  CHECK(!structurally_equal(make_load(a, {x}), make_load(b, {x})));
  CHECK(structurally_equal(AnyExpr(), AnyExpr()));
  CHECK(!structurally_equal(AnyExpr(), AnyExpr(1)));
  CHECK(structurally_equal(Stmt(), Stmt()));
}

TEST_CASE("constants are equal if their bits are") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(structurally_equal(make_float(kF32, nan), make_float(kF32, nan)));
  CHECK(!structurally_equal(make_float(kF32, 0.0), make_float(kF32, -0.0)));
  CHECK(!structurally_equal(make_float(kF32, 1), make_float(kF64, 1)));
  CHECK(!structurally_equal(make_int(kI64, 1), make_int(kI32, 1)));
}

TEST_CASE("sharing a subtree changes neither equality nor hash") {
  VarRef v = make_var("v");
  AnyExpr shared = make_let(v, 2, AnyExpr(v) * v);
  VarRef u = make_var("u"), w = make_var("w");
  AnyExpr apart = make_let(u, 2, AnyExpr(u) * u) + make_let(w, 2, AnyExpr(w) * w);
  CHECK(structurally_equal(shared + shared, apart));
  CHECK(structurally_equal(apart, shared + shared));
  CHECK(structural_hash(shared + shared) == structural_hash(apart));
}

TEST_CASE("hashes do not change from one build or machine to the next") {
  CHECK(structural_hash(parse(kBase)) == 18011718809113271613u);
  CHECK(structural_hash(test::gemm(4, 8, 16)) == 2050852159012803386u);
}

TEST_CASE("random programs differ from one another") {
  std::vector<std::pair<std::uint64_t, Program>> all;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Program p = test::RandomIr(seed).program();
    all.emplace_back(structural_hash(p), p);
  }
  for (const auto& [hash, p] : all)
    for (const auto& [other_hash, q] : all) CHECK(structurally_equal(p, q) == (hash == other_hash));
}

TEST_CASE("aligned strides matter") {
  const std::string base =
      "program p(in A: f32[4], out B: f32[4]):\n"
      "  alloc t: f32[4, 4] aligned [0, 8, 3]\n"
      "  t[0, 1] = A[0]\n  B[0] = t[0, 1]\n";
  CHECK(same(base, base));
  CHECK(parse(base).str() == base);
  for (const char* other : {"[0, 8, 2]", "[0, 16, 3]"})
    CHECK(!same(base, replaced(base, "[0, 8, 3]", other)));
  CHECK(!same(base, replaced(base, " aligned [0, 8, 3]", "")));
}

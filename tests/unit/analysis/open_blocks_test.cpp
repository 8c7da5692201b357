#include <doctest/doctest.h>

#include <lathe/analysis/open_blocks.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

std::string opened(const std::string& body) {
  const Program p =
      open_blocks(parse("program p(in A: i32[16], in I: i64[16], inout B: i32[16]):\n" + body));
  CHECK(verify_reason(p, Stage::blocks) == "");
  const std::string text = p.str();
  return text.substr(text.find('\n') + 1);
}

}  // namespace

TEST_CASE("blocks in blocks become their statements") {
  CHECK(opened("  for i in 0..4:\n    block X(v in 0..4 = i):\n      for j in 0..4:\n"
               "        block Y(u in 0..4 = v, reduce w in 0..4 = j) reduce sum init:\n"
               "          B[u] sum= A[u * 4 + w]\n") ==
        "  for i in 0..4:\n    block X(v in 0..4 = i):\n      B[v] = 0i32\n      for j in 0..4:\n"
        "        B[v] = B[v] + A[v * 4 + j]\n");
}

TEST_CASE("guards, predicates and lets are kept; a binding that reads is read once") {
  CHECK(opened("  for i in 0..4:\n    block X(v in 0..4 = i):\n      for j in 0..5:\n"
               "        let k = j * 2\n"
               "        block Y(u in 0..8 = k, t in 0..16 = I[v]) where A[t] > 0i32:\n"
               "          B[u] = A[t]\n") ==
        "  for i in 0..4:\n    block X(v in 0..4 = i):\n      for j in 0..5:\n"
        "        let k = j * 2\n        if k >= 0:\n          if k < 8:\n            let t = I[v]\n"
        "            if t >= 0:\n              if t < 16:\n                if A[t] > 0i32:\n"
        "                  B[k] = A[t]\n");
}

TEST_CASE("an init that would stand outside of the outer block has no place") {
  CHECK_THROWS_WITH_AS(
      opened("  for i in 0..4:\n    block X(v in 0..4 = 0, z in 0..4 = i):\n"
             "      block Y(u in 0..4 = v, reduce w in 0..4 = z) reduce sum init:\n"
             "        B[u] sum= A[w]\n"),
      doctest::Contains("block 'Y' inside block 'X' reduces over 'z'"), UserError);
}

TEST_CASE("a program without blocks in blocks is itself") {
  const Program p = parse("program p(out B: i32[4]):\n  for i in 0..4:\n    B[i] = 1i32\n");
  CHECK(open_blocks(p).get() == p.get());
}

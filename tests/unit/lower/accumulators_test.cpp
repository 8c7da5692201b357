// Sums under masks that wait in registers for the end of a loop.
#include <lathe/ir/parse.hpp>
#include <support/text.hpp>

#include "stages.hpp"

using namespace test;

namespace {

const char* kPass = "promote_accumulators";

const lt::Target kTarget("x86-64-v4");

/// Of the first m lanes.
lt::Program program_of(const std::string& body, const char* a = "12, 40") {
  return lt::parse("program p<m in 1..=15, n in 0..>(in A: f32[" + std::string(a) +
                   "], in M: f32[m], in N: f32[n], inout C: f32[60]):\n" + body);
}

/// What the pass leaves; all stages are compared.
std::string after(const lt::Program& p, std::int64_t n = 3) {
  for (const std::int64_t m : {1, 13, 15}) check_stages(p, {{"m", m}, {"n", n}}, kTarget);
  return lt::lower_until(kPass, p, kTarget).str();
}
bool keeps(const std::string& body, std::int64_t n = 3) {
  return after(program_of(body), n).find("alloc C_sum") != std::string::npos;
}

}  // namespace

TEST_CASE("a sum under a mask is loaded before its loop and stored after it") {
  const std::string text = after(program_of(R"(  for k in 0..12:
    vectorized for i in 0..16:
      if i < m:
        C[i] = C[i] + A[k, i]
)")),
                    loop = text.substr(text.find("for k"), text.rfind("C[") - text.find("for k"));
  CHECK(text.find("alloc C_sum1: f32x16[]") != std::string::npos);
  CHECK(loop.find("C_sum1[] = C_sum1[] + A[") != std::string::npos);
  CHECK(loop.find(" C[") == std::string::npos);
}

TEST_CASE("vectors of one tile, under masks and not, are a register each") {
  CHECK(keeps(R"(  for i in 0..3:
    for k in 0..12:
      vectorized for j in 0..8:
        C[i * 13 + j] = C[i * 13 + j] + A[k, i + j]
      vectorized for j in 0..8:
        if j < m - 8:
          C[j + 8 + 13 * i] = C[13 * i + 8 + j] + A[k, j + 8]
)"));
}

TEST_CASE("all loops around a sum that it does not move with are one") {
  const std::string text = after(program_of(R"(  for k in 0..4:
    for l in 0..3:
      vectorized for i in 0..16:
        if i < m:
          C[i] = C[i] + A[k, l, i]
)",
                                            "4, 3, 40"));
  CHECK(text.find("C_sum1[] = C[") < text.find("for k"));
}

TEST_CASE("a loop that may not run leaves memory alone") {
  const std::string body = R"(  for k in 0..n:
    vectorized for i in 0..16:
      if i < m:
        C[i] = C[i] + A[k, i]
)";
  for (const std::int64_t n : {0, 1, 5}) CHECK(keeps(body, n));
  const std::string text = after(program_of(body));
  CHECK(text.find("if 0 < n") < text.find("C_sum1[] = C["));
  // An inner one: the loop around it does not store for sure.
  const std::string nested = R"(  for k in 0..4:
    for l in 0..n:
      vectorized for i in 0..16:
        if i < m:
          C[i] = C[i] + A[l, i + k]
)";
  for (const std::int64_t n : {0, 2}) CHECK(keeps(nested, n));
  const std::string inside = after(program_of(nested));
  CHECK(inside.find("for k") < inside.find("C_sum1[] = C["));
}

TEST_CASE("places that move, meet or are stored at times stay in memory") {
  const auto loop = [](const std::string& body) { return "  for k in 0..12:\n" + body; };
  const auto vectors = [](const std::string& condition, const std::string& store) {
    return "    vectorized for i in 0..16:\n      if " + condition + ":\n        " + store + "\n";
  };
  const std::string sum = vectors("i < m", "C[i] = C[i] + A[k, i]");
  REQUIRE(keeps(loop(sum)));
  // The place, and the mask, move with the loop.
  CHECK_FALSE(keeps(loop(vectors("i < m", "C[i + k] = C[i + k] + A[k, i]"))));
  CHECK_FALSE(keeps(loop(vectors("i < k", "C[i] = C[i] + A[k, i]"))));
  // Others meet it: lanes of the next vector, one element, the same lanes under another mask.
  CHECK_FALSE(keeps(loop(sum + vectors("i < m - 4", "C[i + 8] = C[i + 8] + A[k, i]"))));
  CHECK_FALSE(keeps(loop(sum + "    C[3] = C[3] * 2.0\n")));
  CHECK_FALSE(keeps(loop(sum + vectors("i < m - 4", "C[i] = C[i] + A[k, i]"))));
  CHECK_FALSE(keeps(loop(sum + "    C[20 + k] = C[5]\n")));
  // Stored in some iterations alone, and not a sum.
  CHECK_FALSE(keeps(loop("    if A[k, 0] > 0.0:\n  " +
                         std::string("    vectorized for i in 0..16:\n        if i < m:\n"
                                     "          C[i] = C[i] + A[k, i]\n"))));
  CHECK_FALSE(keeps(loop(vectors("i < m", "C[i] = A[k, i]"))));
}

TEST_CASE("what is asserted, allocated, loaded or written at once in a loop stays in memory") {
  const auto sum_to = [](const std::string& place, const std::string& condition = "i < m") {
    return "    vectorized for i in 0..16:\n      if " + condition + ":\n        C[" + place +
           "] = C[" + place + "] + A[k, i]\n";
  };
  const auto loop = [](const std::string& body) { return "  for k in 0..12:\n" + body; };
  REQUIRE(keeps(loop(sum_to("i + 20"))));
  // It may be that the place is one.
  CHECK_FALSE(keeps(loop("    assert n < 9, \"large\"\n" + sum_to("i + 20"))));
  // Two places, of which nobody knows how far they lie apart, and places and masks of memory.
  CHECK_FALSE(keeps(loop(sum_to("i") + sum_to("i + n"))));
  CHECK_FALSE(keeps(loop(sum_to("i", "A[3, i] > 0.0 && i < m"))));
  CHECK_FALSE(keeps("  parallel for k in 0..1:\n" + sum_to("i")));
  const std::string name = "    let last = k + 1\n";
  CHECK_FALSE(keeps(loop(name + sum_to("i", "i < min(m, last)"))));
  // A buffer of the loop's own, at places of its own.
  const lt::Program p = lt::parse(
      R"(program p<m in 1..=8>(in M: f32[m], in A: f32[12, 40], inout D: f32[60]):
  for k in 0..12:
    alloc T: f32[16]
    vectorized for i in 0..16:
      if i < m:
        T[i + m] = A[k, i]
    vectorized for i in 0..16:
      if i < m:
        T[i + m] = T[i + m] * 2.0
    vectorized for i in 0..16:
      if i < m:
        D[i] = D[i] + T[i + m]
)");
  for (const std::int64_t m : {1, 5, 8}) check_stages(p, {{"m", m}}, kTarget);
}

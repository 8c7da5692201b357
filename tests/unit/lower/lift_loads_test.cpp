// Loads of arms that are done before the lanes choose.
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes.hpp>
#include <support/text.hpp>

#include "../schedule/run.hpp"

using namespace lathe;
using namespace test;

namespace {

Program in_lanes(const std::string& value, const std::string& rows = "0..64",
                 const std::string& access = "in") {
  return parse("program k(in M: u8[64], " + access +
               " X: u8[64, 3], in W: u8[64, 9], in I: i64[64], out Y: u8[64]):\n"
               "  vectorized for i in " +
               rows + ":\n    Y[i] = " + value + "\n");
}

std::string lifted(const Program& p) {
  const Program out = lift_loads(p);
  CHECK(verify_reason(out, Stage::blocks) == "");
  return out.str();
}
bool lifts(const std::string& value) { return has(lifted(in_lanes(value)), "let lifted"); }

}  // namespace

TEST_CASE("what arms load a few elements apart is loaded before the choice") {
  const std::string text = lifted(in_lanes("select(M[i] > 3u8, X[i, 2], X[i, 0] + X[i, 2])"));
  CAPTURE(text);
  CHECK(has(text,
            "let lifted = X[i, 2] in let lifted_1 = X[i, 0] in select(M[i] > 3u8, lifted, "
            "lifted_1 + lifted)"));
  CHECK(lifts("select(M[i] > 3u8, select(M[63 - i] > 5u8, X[63 - i, 1], 2u8), 7u8)"));
  CHECK(lifts("(let m = M[i] in select(m > 3u8, X[i, 1], m))"));
}

TEST_CASE("a loop over rows that follow each other is one over their elements") {
  const auto rows = [](const std::string& strides) {
    return lifted(parse("program k<h, w>(in M: u8[h, w], in X: u8[h, w, 3]" + strides +
                        ", out Y: u8[h, w]):\n"
                        "  for o in 0..floordiv(h * w, 16):\n    vectorized for l in 0..16:\n"
                        "      Y[floordiv(o * 16 + l, w), floormod(o * 16 + l, w)] = "
                        "select(M[floordiv(o * 16 + l, w), floormod(o * 16 + l, w)] > 3u8, "
                        "X[floordiv(o * 16 + l, w), floormod(o * 16 + l, w), 1], 0u8)\n"));
  };
  CHECK(has(rows(""), "let lifted"));
  CHECK(has(rows(" strides [w * 3, 3, 1]"), "let lifted"));
  CHECK_FALSE(has(rows(" strides [s, 3, 1]"), "let lifted"));
}

TEST_CASE("what may not be there, or is not apart, stays in its arm") {
  // One element after the other, one for all lanes, and more apart than shuffles are for.
  CHECK_FALSE(lifts("select(M[i] > 3u8, M[63 - i], 0u8)"));
  CHECK_FALSE(lifts("select(M[i] > 3u8, X[7, 1], 0u8)"));
  CHECK_FALSE(lifts("select(M[i] > 3u8, W[i, 2], 0u8)"));
  // Elements that an index from memory names, or that only the condition keeps inside.
  CHECK_FALSE(lifts("select(I[i] >= 0 && I[i] < 64, X[I[i], 1], 0u8)"));
  CHECK_FALSE(lifts("select(i < 63, X[i + 1, 1], 0u8)"));
  CHECK_FALSE(lifts("(let at = 63 - i in select(M[i] > 3u8, X[at, 1], 0u8))"));
  // One choice for all lanes is a branch.
  CHECK_FALSE(lifts("select(M[3] > 3u8, X[i, 1], 0u8)"));
  // Memory that is written.
  CHECK_FALSE(
      has(lifted(in_lanes("select(M[i] > 3u8, X[i, 1], 0u8)", "0..64", "inout")), "lifted"));
  // No loop of lanes.
  const Program serial = parse(
      "program k(in M: u8[64], in X: u8[64, 3], out Y: u8[64]):\n"
      "  for i in 0..64:\n    Y[i] = select(M[i] > 3u8, X[i, 1], 0u8)\n");
  CHECK_FALSE(has(lifted(serial), "lifted"));
}

TEST_CASE("a guard around says which lanes there are") {
  const auto guarded = [](const std::string& guard) {
    return lifted(
        parse("program k(in M: u8[64], in X: u8[60, 3], out Y: u8[64]):\n"
              "  vectorized for i in 0..64:\n    if " +
              guard + ":\n      Y[i] = select(M[i] > 3u8, X[i, 1], 0u8)\n"));
  };
  CHECK(has(guarded("i < 60"), "lifted"));
  CHECK_FALSE(has(guarded("i < 61"), "lifted"));
  CHECK_FALSE(has(guarded("M[i] < 60u8"), "lifted"));
}

TEST_CASE("lifted loads give what the evaluator gives") {
  const Program p = in_lanes("select(M[i] > 30u8, X[i, 2], X[i, 0] + X[i, 1])");
  CHECK(run(lift_loads(p)) == run(p));
}

// Extremes that ignore NaN and the sign of zeros, and when the loop runs again.
#include <cmath>
#include <cstring>
#include <lathe/ir/parse.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <limits>
#include <support/text.hpp>

#include "../../codegen/against.hpp"

using namespace test;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;)
    text.replace(at, what.size(), by);
  return text;
}

/// Of each row of 40 a vector of 8 windows, one of 2 and all elements.
lt::Program row_extremes(const std::string& fold, const std::string& identity) {
  const std::string text = R"(program rows(in x: f32[360], out y: f32[27]) stage flat:
  for i in 0..9:
    alloc m: f32x16[] scope register
    m[] = broadcast(ID, 16)
    for r in 0..8:
      m[] = FOLD(x[ramp(i * 40 + r * 3, 1, 16)], m[])
    y[i] = FOLD(shuffle(m[]; 0), shuffle(m[]; 5))
    alloc few: f32x16[] scope register
    few[] = broadcast(ID, 16)
    for r in 0..2:
      few[] = FOLD(few[], x[ramp(i * 40 + r * 16, 1, 16)])
    y[i + 9] = shuffle(few[]; 3)
    alloc t: f32[] scope register
    t[] = x[i * 40]
    for r in 0..40:
      t[] = FOLD(t[], x[i * 40 + r])
    y[i + 18] = t[]
)";
  return lt::parse(replaced(replaced(text, "FOLD", fold), "ID", identity));
}

}  // namespace

namespace {

/// Of each row of 40 a vector of 16 partial results, with a tail, joined across the lanes.
lt::Program joined_extremes(const std::string& fold, const std::string& identity) {
  const std::string text = R"(program rows(in x: f32[360], out y: f32[9]) stage flat:
  for i in 0..9:
    alloc m: f32x16[] scope register
    m[] = broadcast(ID, 16)
    for r in 0..2:
      m[] = FOLD(m[], x[ramp(i * 40 + r * 16, 1, 16)])
    let part = FOLD(shuffle(m[]; 0, 1, 2, 3, 4, 5, 6, 7), x[ramp(i * 40 + 32, 1, 8)]):
      m[] = select(ramp(0i32, 1i32, 16) < broadcast(8i32, 16), shuffle(part; 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0), m[])
    alloc h: f32x8[] scope register
    h[] = FOLD(shuffle(m[]; 0, 1, 2, 3, 4, 5, 6, 7), shuffle(m[]; 8, 9, 10, 11, 12, 13, 14, 15))
    alloc q: f32x4[] scope register
    q[] = FOLD(shuffle(h[]; 0, 1, 2, 3), shuffle(h[]; 4, 5, 6, 7))
    y[i] = ID
    y[i] = FOLD(y[i], shuffle(q[]; 0))
    y[i] = FOLD(FOLD(y[i], shuffle(q[]; 1)), FOLD(shuffle(q[]; 2), shuffle(q[]; 3)))
)";
  return lt::parse(replaced(replaced(text, "FOLD", fold), "ID", identity));
}

/// Rows of 40 with NaN, both zeros and both infinities in turn, each in every row and place once.
std::vector<float> rows_of_extremes(std::size_t shift) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> special{std::nanf(""), 0.0F, -0.0F, kInf, -kInf, 1.0F, -2.0F};
  std::vector<float> x(9 * 40);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t row = k / 40;
    x[k] = special[(k % 11 == row ? k / 11 : row + shift) % special.size()];
  }
  return x;
}

/// Checks that programs of these rows mean the same, one of them also as machine code.
void check_same(const lt::Program& before, const lt::Program& after, std::size_t results,
                bool compiled = true) {
  for (std::size_t shift = 0; shift < 7; ++shift) {
    const std::vector<Bytes> in{Bytes::of(rows_of_extremes(shift)),
                                Bytes{std::vector<unsigned char>(results * 4)}};
    const std::vector<Bytes> wanted = evaluated(before, in);
    const std::vector<Bytes> got =
        compiled ? check_against_evaluator(after, in) : evaluated(after, in);
    CHECK(got[1].data == wanted[1].data);
  }
}

}  // namespace

TEST_CASE("one comparison a term, and the loop again where that may be wrong") {
  const std::string text = lt::guess_extremes(row_extremes("max", "-inf")).str();
  CHECK(text.find("fast_max(term, m[])") != std::string::npos);
  CHECK(text.find("fast_max(term, t[])") != std::string::npos);
  // Two terms are fewer than the test after them takes.
  CHECK(text.find("few_sum") == std::string::npos);
}

TEST_CASE("NaN, both zeros and both infinities in each place give what max and min mean") {
  for (const char* fold : {"max", "min"}) {
    const lt::Program before = row_extremes(fold, std::string(fold) == "max" ? "-inf" : "inf");
    const lt::Program after = lt::guess_extremes(before);
    check_same(before, after, 27);
  }
}

TEST_CASE("partial results are joined by guess, and all of it again where that may be wrong") {
  for (const char* fold : {"max", "min"}) {
    const lt::Program before = joined_extremes(fold, std::string(fold) == "max" ? "-inf" : "inf");
    const lt::Program after = lt::guess_extremes(before);
    const std::string text = after.str(), exact = std::string(fold) + "(shuffle(h";
    CHECK(text.find("fast_" + exact) != std::string::npos);
    CHECK(text.find(" = " + exact) > text.find("if "));  // in the code for what was guessed wrong
    check_same(before, after, 9);
  }
}

TEST_CASE("one sum of the terms that the largest and the least share tells whether one is NaN") {
  const lt::Program before = lt::parse(
      R"(program rows(in x: f32[360], out y: f32[18]) stage flat:
  for i in 0..9:
    alloc most: f32x2[] scope register
    alloc least: f32x2[] scope register
    most[] = broadcast(-inf, 2)
    least[] = broadcast(inf, 2)
    for r in 0..19:
      most[] = max(most[], x[ramp(i * 40 + r * 2, 1, 2)])
      least[] = min(least[], x[ramp(i * 40 + r * 2, 1, 2)])
    least[] = min(least[], x[ramp(i * 40 + 38, 1, 2)])
    y[i] = max(shuffle(most[]; 0), shuffle(most[]; 1))
    y[i + 9] = min(shuffle(least[]; 0), shuffle(least[]; 1))
)");
  const lt::Program after = lt::guess_extremes(before);
  const std::string text = after.str();
  INFO(text);
  // Once in the loop, and once for what the least alone takes.
  CHECK(count_of(text, "] + term") == 2);
  CHECK(count_of(text, "fast_min(term") == 2);
  check_same(before, after, 18);
}

TEST_CASE("terms under the guards of tiles are guessed, results under one are not") {
  // Of row i the first 4 i + 3 elements; results behind the loop, or under a branch.
  const std::string whole = R"(program rows(in x: f32[360], out y: f32[18]) stage flat:
  for i in 0..9:
    alloc most: f32x8[] scope register
    alloc least: f32x8[] scope register
    most[] = broadcast(-inf, 8)
    least[] = broadcast(inf, 8)
    for r in 0..5:
      if r * 8 + 5 <= i * 4:
        most[] = max(most[], x[ramp(i * 40 + r * 8, 1, 8)])
        least[] = min(least[], x[ramp(i * 40 + r * 8, 1, 8)])
)",
                    rest = R"(      else:
        if r * 8 < i * 4 + 3:
          most[] = select(ramp(r * 8, 1, 8) < broadcast(i * 4 + 3, 8), max(most[], x[ramp(i * 40 + r * 8, 1, 8) where ramp(r * 8, 1, 8) < broadcast(i * 4 + 3, 8)]), most[])
          least[] = select(ramp(r * 8, 1, 8) < broadcast(i * 4 + 3, 8), min(least[], x[ramp(i * 40 + r * 8, 1, 8) where ramp(r * 8, 1, 8) < broadcast(i * 4 + 3, 8)]), least[])
)",
                    join = R"(
    y[i] = max(max(shuffle(most[]; 0), shuffle(most[]; 1)), max(shuffle(most[]; 2), shuffle(most[]; 7)))
    y[i + 9] = min(min(shuffle(least[]; 0), shuffle(least[]; 1)), min(shuffle(least[]; 2), shuffle(least[]; 7)))
)",
                    outside = whole + rest + join.substr(1),
                    inside = replaced(replaced(whole, "0..5", "0..9"), "r * 8", "r * 4") +
                             "    if i > 2:" + replaced(join, "\n    y", "\n      y");
  for (const std::string& text : {outside, inside}) {
    const lt::Program before = lt::parse(text), after = lt::guess_extremes(before);
    const std::string guessed = after.str();
    INFO(guessed);
    // Of a scope each term once in each branch; of a loop alone once for each register.
    CHECK(count_of(guessed, " + term") == 2);
    CHECK((guessed.find("fast_max(shuffle(") != std::string::npos) == (text == outside));
    check_same(before, after, 18);
  }
}

TEST_CASE("what a scope computes besides extremes keeps it as it is") {
  const std::string text = joined_extremes("max", "-inf").str();
  // Scopes inside of it may still be guessed, and mean the same.
  const auto stays = [&](const std::string& what, const std::string& by) {
    const std::string other = replaced(text, what, by);
    REQUIRE(other != text);
    const lt::Program before = lt::parse(other), after = lt::guess_extremes(before);
    check_same(before, after, 9, false);
    const std::string guessed = after.str();
    return guessed.find("fast_max(") >= guessed.find("alloc h");
  };
  // Read before it is stored to, and changed when it runs again.
  CHECK(stays("x[ramp(i * 40 + 32, 1, 8)]", "broadcast(y[i], 8)"));
  CHECK(stays("m[] = broadcast(-inf, 16)", "m[] = broadcast(nan, 16)"));
  // A name for what a register held, in a term: the sign of a zero would matter.
  CHECK(stays("let part = max(shuffle(m[]; 0, 1, 2, 3, 4, 5, 6, 7), x[ramp(i * 40 + 32, 1, 8)])",
              "let half = shuffle(m[]; 0, 1, 2, 3, 4, 5, 6, 7)\n    let part = max(half, "
              "x[ramp(i * 40 + 32, 1, 8)] / half)"));
  CHECK(stays("y[i] = -inf", "y[i] = y[i]"));  // not the same when it runs again
  CHECK(stays("m[] = broadcast(-inf, 16)", "m[] = x[ramp(i, 1, 16)]"));  // a term of no fold
  CHECK(stays("q[] = max(shuffle(h[]; 0, 1, 2, 3), ",
              "q[] = max(shuffle(h[]; 0, 1, 2, 3) * broadcast(2.0, 4), "));
}

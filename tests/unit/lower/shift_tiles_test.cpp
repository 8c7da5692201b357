// Last tiles that begin early, where a call tells how many there are and borders are clamped.
#include <lathe/dsl/dsl.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <support/text.hpp>

#include "stages.hpp"

using namespace lathe;

namespace {

/// Differences of neighbours that `border` reads, in tiles of lanes.
template <class B>
Program neighbours(const B& border, Tail tail = Tail::guard, int lanes = 8) {
  Dim h("h"), w("w");
  Input<float, 2> X("X", {h, w});
  const auto x = border(X);
  Schedule s(
      program_of(compute("Y", {h, w}, [&](Var i, Var j) { return x(i, j - 2) - x(i, j + 1); })));
  s.vectorize(s.split(s.loops(s.block("Y"))[1], {infer, lanes}, tail)[1]);
  return s.program();
}
Program clamped(Tail tail = Tail::guard, int lanes = 8) {
  return neighbours([](const auto& X) { return clamp(X); }, tail, lanes);
}

/// Sums of windows in registers, several rows at a time.
Program windows() {
  Dim h("h"), w("w");
  Input<float, 2> X("X", {h, w});
  Reduce a("a", 3), b("b", 3);
  Schedule s(program_of(compute("Y", {h, w}, [&](Var i, Var j) {
    return sum(clamp(X)(i + a - 1, j + b - 1), {a, b});
  })));
  const BlockRef block = s.block("Y");
  s.resolve_selects(block);
  const auto loops = s.loops(block);
  const auto rows = s.split(loops[0], {infer, 2}), lanes = s.split(loops[1], {infer, 8});
  s.reorder({rows[0], lanes[0], loops[2], loops[3], rows[1], lanes[1]});
  const BlockRef copy = s.cache_write(block, Scope::reg);
  s.reverse_compute_at(copy, lanes[0]);
  const BlockRef init = s.decompose_reduction(block, loops[2]);
  for (const BlockRef& b : {block, copy, init}) s.vectorize(s.loops(b).back());
  s.unroll(rows[1]);
  return s.program();
}

/// Twice as wide as the input, two vectors side by side.
Program double_size() {
  Dim h("h"), w("w");
  Input<std::uint8_t, 2> X("X", {h, w});
  Schedule s(program_of(compute("Y", {h, 2 * w}, [&](Var i, Var j) {
    return clamp(X)(i, j / 2) - clamp(X)(i, select(j % 2 == 0, j / 2 - 1, j / 2 + 1));
  })));
  const auto loops = s.loops(s.block("Y"));
  const auto pairs = s.split(loops[1], {infer, 2}), lanes = s.split(pairs[0], {infer, 8});
  s.reorder({loops[0], lanes[0], pairs[1], lanes[1]});
  s.unroll(pairs[1]);
  s.vectorize(lanes[1]);
  return s.program();
}

std::string shifted(const Program& p, const char* target = "x86-64-v4") {
  return lower_until("shift_tiles", p, Target(target)).str();
}

/// Few elements, a tile and what windows reach, one less, and every rest of a tile of 8.
void check_widths(const Program& p, std::int64_t lanes = 8) {
  const std::int64_t few = 3 * lanes;
  for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"})
    for (const std::int64_t w : {std::int64_t{1}, lanes, 2 * lanes, few - 1, few, few + 1, few + 2,
                                 few + 3, few + 4, few + 5, few + 6, few + 7, 5 * lanes + 1}) {
      CAPTURE(target);
      CAPTURE(w);
      test::check_stages(p, {{"h", 3}, {"w", w}}, Target(target));
    }
}

bool moves(const Program& p) {
  const Target target("x86-64-v4");
  return lower_until("shift_tiles", p, target).str() !=
         lower_until("simplify_loops", p, target).str();
}

/// Loops over tiles that hold `body`.
Program tiles(const std::string& body, const std::string& extent = "n") {
  return parse("program p<" + extent + R"(>(in X: f32[n], inout Y: f32[2 * n + 8]):
  for jo in 0..floordiv(n + 7, 8):
)" + body);
}
/// A tile whose lanes store `value`.
Program tile(const std::string& value, const std::string& index = "jo * 8 + ji") {
  return tiles(R"(
    vectorized for ji in 0..8:
      if jo * 8 + ji < n:
        Y[)" + index +
               "] = " + value + "\n");
}
constexpr char kBorder[] = "X[max(jo * 8 + ji - 1, 0)]";

}  // namespace

TEST_CASE("the last tile begins early, and borders have lanes that are numbers") {
  const std::string text = shifted(clamped());
  CAPTURE(text);
  CHECK(test::has(text, "if w > 23"));
  CHECK(test::has(text, "Y[i, ji] = X[i, max(ji - 2, 0)] - X[i, ji + 1]"));
  CHECK(test::has(text, "X[i, ji + min(jo * 8, w - 16) - 2] - X[i, ji + min(jo * 8, w - 16) + 1]"));
  CHECK(test::has(text, "Y[i, ji + w - 8] = X[i, ji + w - 10] - X[i, min(ji + w - 7, w - 1)]"));
  check_widths(clamped());
  for (const int lanes : {2, 4, 16, 32}) {
    CAPTURE(lanes);
    CHECK(moves(clamped(Tail::guard, lanes)));
    check_widths(clamped(Tail::guard, lanes), lanes);
  }
  check_widths(neighbours([](const auto& X) { return pad(X, 0.0f); }));
  check_widths(neighbours([](const auto& X) {
    return [X](Var i, const Expr<std::int64_t>& j) {
      const Expr<std::int64_t> w = X.extent(1);
      return X(i, (j + w * 2) % w);
    };
  }));
}

TEST_CASE("sums in registers of a tile are computed again") {
  CHECK(moves(windows()));
  check_widths(windows());
}

TEST_CASE("vectors that are stored interleaved end together") {
  const std::string text = shifted(double_size());
  CAPTURE(text);
  CHECK(test::has(text, "if w > 23"));
  CHECK(test::has(text, "Y[i, joi * 2 + w * 2 + ji - 16]"));
  check_widths(double_size());
}

TEST_CASE("tiles stay where a mask was asked for, there is no border, or they can't be that many") {
  CHECK(moves(clamped()));
  CHECK(!moves(clamped(Tail::mask)));
  CHECK(moves(tile(kBorder)));
  CHECK(!moves(tile("X[jo * 8 + ji]")));
  CHECK(!moves(tile("X[jo * 8 + ji] * select(floormod(jo * 8 + ji, 5) < 2, 1.0, 2.0)")));
  const std::string body = R"(
    vectorized for ji in 0..8:
      if jo * 8 + ji < n:
        Y[jo * 8 + ji] = X[max(jo * 8 + ji - 1, 0)]
)";
  CHECK(moves(tiles(body, "n in 0..=24")));
  CHECK(!moves(tiles(body, "n in 0..=23")));
  // Rows that became one loop.
  CHECK(!moves(parse(R"(program p<n, m>(in X: f32[n, m], out Y: f32[n, m]):
  for jo in 0..floordiv(n * m + 7, 8):
    vectorized for ji in 0..8:
      if jo * 8 + ji < n * m:
        Y[floordiv(jo * 8 + ji, m), floormod(jo * 8 + ji, m)] = X[floordiv(jo * 8 + ji, m), max(floormod(jo * 8 + ji, m) - 1, 0)]
)")));
}

TEST_CASE("tiles stay where what they store depends on where they begin, or on what they stored") {
  const std::string border = kBorder;
  CHECK(moves(tile(border + " * 2.0")));
  CHECK(moves(tile(border + " + f32(jo * 8 + ji)")));
  for (const char* more : {"f32(ji)", "f32(jo)", "X[jo * 8]", "X[ji]", "X[jo * 8 + ji * 2]",
                           "Y[jo * 8 + ji]", "Y[0]"}) {
    CAPTURE(more);
    CHECK(!moves(tile(border + " + " + more)));
  }
  CHECK(!moves(tile(border, "ji")));
  // Several positions have one place, or a place is stored to twice.
  CHECK(!moves(tile(border, "floordiv(jo * 8 + ji, 2)")));
  CHECK(!moves(tile(border, "min(jo * 8 + ji + 3, n - 1)")));
  const auto beside = [](const char* index) {
    return tiles(R"(
    for k in 0..2:
      vectorized for ji in 0..8:
        if jo * 8 + ji < n:
          Y[)" + std::string(index) +
                 "] = X[max(jo * 8 + ji - 1, 0)] + f32(k)\n");
  };
  CHECK(moves(beside("jo * 16 + ji * 2 + k")));
  CHECK(!moves(beside("jo * 8 + ji + k")));
  CHECK(!moves(beside("jo * 16 + ji * 2 + k * 2")));
  CHECK(!moves(tiles(R"(
    vectorized for ji in 0..8:
      if jo * 8 + ji < n:
        Y[jo * 8 + ji] = X[max(jo * 8 + ji - 1, 0)]
    vectorized for j in 0..8:
      if jo * 8 + j < n:
        Y[jo * 8 + j + 1] = X[jo * 8 + j] * 2.0
)")));
  // Loops that are longer in some places than in others.
  CHECK(!moves(tiles(R"(
    vectorized for ji in 0..8:
      for k in 0..ji + 1:
        if jo * 8 + ji < n:
          Y[jo * 8 + ji] = X[max(jo * 8 + ji - k, 0)]
)")));
}

TEST_CASE("tiles stay where lanes share what is the tile's own") {
  const auto own = [](const std::string& to, const std::string& from, const char* guard) {
    return moves(tiles(R"(
    alloc T: f32[16]
    vectorized for b in 0..8:
      if jo * 8 + b < n:
        T[b] = 5.0
    vectorized for ji in 0..8:
      if jo * 8 + ji < n:
        T[)" + to + R"(] = X[max(jo * 8 + ji - 1, 0)]
    vectorized for j in 0..8:
      if jo * 8 + j < )" +
                       std::string(guard) + R"(:
        Y[jo * 8 + j] = T[)" +
                       from + "]\n"));
  };
  CHECK(own("ji", "j", "n"));
  CHECK(!own("ji", "0", "n"));
  CHECK(!own("0", "j", "n"));
  CHECK(!own("ji * 2", "j", "n"));
  CHECK(!own("ji + 1", "j", "n"));
  CHECK(!own("ji", "j + 3", "n"));
  CHECK(!own("ji", "j", "n - 1"));
}

TEST_CASE("places that simplification has no steps left for move with their tile") {
  std::string sum = kBorder;
  for (int k = 0; k < 60; ++k) {
    const std::string at = "jo * 8 + ji + " + std::to_string(k);
    sum += " + X[max(min(floordiv(" + at + ", 3) + floormod(" + at + ", 5) - 9, n - 1), 0)]";
  }
  const Program p =
      tile(sum + " + f32(floormod(jo * 8 + ji, 4)) + f32(floordiv(jo * 8 + ji, 8) * 8)");
  const Target target("x86-64-v4");
  INFO(lower_until("simplify_loops", p, target).str());
  CHECK(test::has(lower_until("simplify_loops", p, target).str(), "floormod(jo * 8 + ji, 4)"));
  CHECK(moves(p));
  const Program after = lower_until("shift_tiles", p, target);
  for (const std::int64_t n : {24, 25, 31, 41})
    CHECK(test::evaluate_stage(after, p, {{"n", n}}) == test::evaluate_stage(p, p, {{"n", n}}));
}

TEST_CASE("large tiles stay, as each would be written four times") {
  std::string sum = "0.0";
  for (int k = 0; k < 600; ++k) sum += " + X[max(jo * 8 + ji - 1, 0)]";
  CHECK(!moves(tile(sum)));
}

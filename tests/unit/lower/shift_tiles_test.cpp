// Last tiles that begin early, where a call tells how many there are and borders are clamped.
#include <lathe/dsl/dsl.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <support/text.hpp>

#include "stages.hpp"

using namespace lathe;

namespace {

/// Differences of neighbours that `border` reads, in tiles of 8 lanes.
template <class B>
Program neighbours(const B& border, Tail tail = Tail::guard) {
  Dim h("h"), w("w");
  Input<float, 2> X("X", {h, w});
  const auto x = border(X);
  Schedule s(
      program_of(compute("Y", {h, w}, [&](Var i, Var j) { return x(i, j - 2) - x(i, j + 1); })));
  s.vectorize(s.split(s.loops(s.block("Y"))[1], {infer, 8}, tail)[1]);
  return s.program();
}
Program clamped(Tail tail = Tail::guard) {
  return neighbours([](const auto& X) { return clamp(X); }, tail);
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

/// Two tiles and what windows reach, one less, and every rest of a tile.
void check_widths(const Program& p) {
  for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"})
    for (const std::int64_t w : {1, 7, 8, 16, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 41}) {
      CAPTURE(target);
      CAPTURE(w);
      test::check_stages(p, {{"h", 3}, {"w", w}}, Target(target));
    }
}

/// A tile whose lanes store `value`, of any of n elements.
std::string tile(const std::string& value, const std::string& index = "jo * 8 + ji") {
  return shifted(parse(R"(program p<n>(in X: f32[n], inout Y: f32[n + 8]):
  for jo in 0..floordiv(n + 7, 8):
    vectorized for ji in 0..8:
      if jo * 8 + ji < n:
        Y[)" + index +
                       "] = " + value + "\n"));
}
constexpr char kBorder[] = "X[max(jo * 8 + ji - 1, 0)]";

}  // namespace

TEST_CASE("the last tile begins early, and borders have lanes that are numbers") {
  const std::string text = shifted(clamped());
  CAPTURE(text);
  CHECK(test::has(text, "if w > 23"));
  CHECK(test::has(text, "Y[i, ji] = X[i, max(ji - 2, 0)] - X[i, ji + 1]"));
  CHECK(test::has(text, "X[i, min(jo * 8, w - 16) + ji - 2] - X[i, min(jo * 8, w - 16) + ji + 1]"));
  CHECK(test::has(text, "Y[i, w + ji - 8] = X[i, w + ji - 10] - X[i, min(w + ji - 7, w - 1)]"));
  check_widths(clamped());
  check_widths(neighbours([](const auto& X) { return pad(X, 0.0f); }));
  check_widths(neighbours([](const auto& X) {
    return [X](Var i, const Expr<std::int64_t>& j) {
      const Expr<std::int64_t> w = X.extent(1);
      return X(i, (j + w * 2) % w);
    };
  }));
}

TEST_CASE("sums in registers of a tile are computed again") {
  const std::string text = shifted(windows());
  CAPTURE(text);
  CHECK(test::has(text, "if w > 23"));
  CHECK(test::has(text, "w + j - 8] = Y_cache["));
  check_widths(windows());
}

TEST_CASE("vectors that are stored interleaved end together") {
  const std::string text = shifted(double_size());
  CAPTURE(text);
  CHECK(test::has(text, "if w > 23"));
  CHECK(test::has(text, "Y[i, w * 2 + joi * 2 + ji - 16]"));
  check_widths(double_size());
}

TEST_CASE("tiles stay where a mask was asked for, or their number is known") {
  CHECK(!test::has(shifted(clamped(Tail::mask)), "if w >"));
  CHECK(test::has(tile(kBorder), "if n > 23"));
  // No border: masks do as well.
  CHECK(!test::has(tile("X[jo * 8 + ji]"), "if n > 23"));
}

TEST_CASE("tiles stay where what they store depends on where they begin, or on what they stored") {
  const std::string border = kBorder;
  CHECK(test::has(tile(border + " * 2.0"), "if n > 23"));
  CHECK(!test::has(tile(border + " + f32(ji)"), "if n > 23"));
  CHECK(!test::has(tile(border + " + f32(jo)"), "if n > 23"));
  CHECK(test::has(tile(border + " + f32(jo * 8 + ji)"), "if n > 23"));
  CHECK(!test::has(tile(border + " + X[jo * 8]"), "if n > 23"));
  CHECK(!test::has(tile(border + " + X[ji]"), "if n > 23"));
  CHECK(!test::has(tile(border + " + X[jo * 8 + ji * 2]"), "if n > 23"));
  CHECK(!test::has(tile(border + " + Y[jo * 8 + ji]"), "if n > 23"));
  CHECK(!test::has(tile(border + " + Y[0]"), "if n > 23"));
  CHECK(!test::has(tile(border, "ji"), "if n > 23"));
}

TEST_CASE("tiles stay where lanes share what is the tile's own") {
  const auto own = [](const std::string& to, const std::string& from, const char* guard) {
    return shifted(parse(R"(program p<n>(in X: f32[n], out Y: f32[n]):
  for jo in 0..floordiv(n + 7, 8):
    alloc T: f32[16]
    vectorized for ji in 0..8:
      if jo * 8 + ji < n:
        T[)" + to + R"(] = X[max(jo * 8 + ji - 1, 0)]
    vectorized for j in 0..8:
      if jo * 8 + j < )" +
                         std::string(guard) + R"(:
        Y[jo * 8 + j] = T[)" +
                         from + "]\n"));
  };
  CHECK(test::has(own("ji", "j", "n"), "if n > 23"));
  CHECK(!test::has(own("ji", "0", "n"), "if n > 23"));
  CHECK(!test::has(own("0", "j", "n"), "if n > 23"));
  CHECK(!test::has(own("ji * 2", "j", "n"), "if n > 23"));
  CHECK(!test::has(own("ji", "j", "n - 1"), "if n > 23"));
}

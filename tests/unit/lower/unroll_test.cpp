// What unrolling may make of a program: copies count as what is left of them.
#include "stages.hpp"

namespace lt = lathe;

namespace {

/// A transposed convolution of stride `stride`, a tile of it: of its taps, one in `stride` is there
/// for each point in each direction.
lt::Program transposed(int points, int taps, int stride, int channels, bool where) {
  const std::int64_t in = (points + taps) / stride + 1;
  lt::Input<float, 3> X("X", {in, in, channels});
  lt::Input<float, 3> W("W", {taps, taps, channels});
  lt::Reduce p("p", taps), q("q", taps), c("c", channels);
  auto Y = lt::compute("Y", {points, points}, [&](lt::Var h, lt::Var v) {
    auto a = h + taps - p, b = v + taps - q;
    auto there = lt::floormod(a, stride) == 0 && lt::floormod(b, stride) == 0;
    auto term = X(lt::floordiv(a, stride), lt::floordiv(b, stride), c) * W(p, q, c);
    return where ? lt::sum(term, {p, q, c}).where(there)
                 : lt::sum(lt::select(there, term, 0.0f), {p, q, c});
  });
  std::string text = lt::Schedule(Y).program().str();
  for (std::size_t at = 0; (at = text.find("for ", at)) != std::string::npos; at += 13)
    text.insert(at, "unrolled ");
  return lt::parse(text);
}

std::size_t unrolled_nodes(const lt::Program& p) {
  return lt::node_count(lt::lower_until("unroll", p, lt::Target("x86-64-v4"))->body);
}

std::string refusal(const lt::Program& p) {
  try {
    lt::lower_until("unroll", p, lt::Target("x86-64-v4"));
  } catch (const lt::UserError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("copies count as what their conditions leave") {
  const lt::Program p = transposed(8, 8, 2, 8, true);
  CHECK(refusal(p) == "");
  // Of 8·8·8·8·8 copies a quarter is left, as in a program that has no others.
  CHECK(unrolled_nodes(p) < 400000);
  for (const int stride : {1, 2, 3})
    for (const bool where : {false, true}) {
      CAPTURE(stride);
      test::check_stages(transposed(3, 4, stride, 2, where));
    }
}

TEST_CASE("what is too large after its conditions are decided is refused") {
  for (const lt::Program& p : {transposed(8, 8, 1, 8, true), transposed(16, 16, 2, 4, true)}) {
    const std::string text = refusal(p);
    INFO(text);
    CHECK(text.find("error[L0601] unroll: loop '") == 0);
    CHECK(text.find("over the budget of 400000 nodes a program") != std::string::npos);
    CHECK(text.find("split the loop and unroll the inner part only") != std::string::npos);
  }
}

TEST_CASE("copies of which nothing is left are not written without end") {
  const lt::Program p = lt::parse(R"(
program P(in X: f32[64], out Y: f32[64]):
  unrolled for a in 0..64:
    unrolled for b in 0..64:
      unrolled for c in 0..64:
        unrolled for d in 0..64:
          if ((a + c) * (a + c) + (b + d) * (b + d)) % 4 == 3:
            Y[a] = X[b]
)");
  CHECK(refusal(p).find("error[L0601] unroll: loop '") == 0);
}

TEST_CASE("a part of the iterations unrolled decides what their position decides") {
  const lt::Program p = lt::parse(R"(
program P(in X: f32[64], out Y: f32[64]):
  for i in 0..61 @unroll_explicit=4:
    if i % 4 == 1:
      Y[i] = X[i]
    if i % 2 == 0:
      Y[i] = X[63 - i] * 2.0
    if 61 <= i:
      Y[i] = 0.0
)");
  const std::string text = lt::lower_until("unroll", p, lt::Target("x86-64-v4")).str();
  INFO(text);
  CHECK(text.find("61 <= ") > text.find("if"));
  test::check_stages(p);
}

TEST_CASE("loops inside whose length a copy decides are copied as often as they run") {
  const lt::Program p = lt::parse(R"(
program P(in X: f32[8], out Y: f32[8, 8]):
  unrolled for i in 0..8:
    unrolled for j in 0..8:
      for k in 0..i - j:
        Y[i, j] = X[k] * 2.0
)");
  const std::string text = lt::lower_until("unroll", p, lt::Target("x86-64-v4")).str();
  INFO(text);
  std::size_t loops = 0;
  for (std::size_t at = 0; (at = text.find("for ", at)) != std::string::npos; ++at) ++loops;
  CHECK(loops == 28);
  test::check_stages(p);
}

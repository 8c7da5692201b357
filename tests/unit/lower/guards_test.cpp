// Guards of tiles: decided once for each tile, so that the lanes of most have none.
#include <lathe/ir/parse.hpp>
#include <lathe/lower/pipeline.hpp>

#include "../../support/text.hpp"
#include "../codegen/against.hpp"
#include "stages.hpp"

namespace lt = lathe;

namespace {

/// The body after guards were hoisted.
std::string hoisted(const std::string& body) {
  return test::body_after("simplify_borders", "in X: f32[100], out Y: f32[100]", body);
}

}  // namespace

TEST_CASE("each comparison of a conjunction is decided for the tile, and tiles outside are left") {
  CHECK(hoisted(R"(
  for io in 0..16:
    vectorized for ii in 0..8:
      if io * 8 + ii >= 9 && io * 8 + ii < 99:
        Y[io * 8 + ii] = X[io * 8 + ii - 1] + X[io * 8 + ii + 1]
)") == R"(  for io in 1..13:
    if io < 12:
      if io > 1:
        vectorized for ii in 0..8:
          Y[io * 8 + ii] = X[io * 8 + ii - 1] + X[io * 8 + ii + 1]
      else:
        vectorized for ii in 0..8:
          if ii > 0:
            Y[ii + 8] = X[ii + 7] + X[ii + 9]
    else:
      vectorized for ii in 0..3:
        Y[ii + 96] = X[ii + 95] + X[ii + 97]
)");
}

TEST_CASE("copies and lanes of one tile are decided together") {
  CHECK(hoisted(R"(
  for io in 0..4:
    unrolled for copy in 0..4:
      vectorized for lane in 0..8:
        if io * 32 + copy * 8 + lane < 100:
          Y[io * 32 + copy * 8 + lane] = X[io * 32 + copy * 8 + lane] * 2.0
)") == R"(  for io in 0..4:
    if io < 3:
      unrolled for copy in 0..4:
        vectorized for lane in 0..8:
          Y[io * 32 + copy * 8 + lane] = X[io * 32 + copy * 8 + lane] * 2.0
    else:
      unrolled for copy in 0..4:
        vectorized for lane in 0..8:
          if copy * 8 + lane < 4:
            Y[lane + 96] = X[lane + 96] * 2.0
)");
}

TEST_CASE("tails of two loops that run as one are told apart, each at its known iteration") {
  CHECK(hoisted(R"(
  parallel for p in 0..8:
    vectorized for ii in 0..8:
      unrolled for c in 0..2:
        if floordiv(p, 4) * 2 + c < 3:
          if floormod(p, 4) * 8 + ii < 29:
            Y[floordiv(p, 4) * 58 + floormod(p, 4) * 8 + c * 29 + ii] = 2.0
)") == R"(  parallel for p in 0..8:
    if floormod(p, 4) < 3:
      if p < 4:
        vectorized for ii in 0..8:
          unrolled for c in 0..2:
            Y[p * 8 + c * 29 + ii] = 2.0
      else:
        vectorized for ii in 0..8:
          Y[p * 8 + ii + 26] = 2.0
    else:
      if p < 4:
        vectorized for ii in 0..5:
          unrolled for c in 0..2:
            Y[c * 29 + ii + 24] = 2.0
      else:
        vectorized for ii in 0..5:
          Y[ii + 82] = 2.0
)");
}

TEST_CASE("a tail says where its tests go") {
  const auto with_tail = [](const std::string& tail) {
    return hoisted(R"(
  for io in 0..13:
    for ii in 0..8 @tail=")" +
                   tail + R"(":
      if io * 8 + ii < 100:
        Y[io * 8 + ii] = X[io * 8 + ii]
)");
  };
  CHECK(with_tail("guard") == R"(  for io in 0..13:
    if io < 12:
      for ii in 0..8:
        Y[io * 8 + ii] = X[io * 8 + ii]
    else:
      for ii in 0..4:
        Y[ii + 96] = X[ii + 96]
)");
  CHECK(with_tail("mask") == R"(  for io in 0..13:
    for ii in 0..8:
      if io * 8 + ii < 100:
        Y[io * 8 + ii] = X[io * 8 + ii]
)");
  CHECK(with_tail("peel") == R"(  for io in 0..12:
    for ii in 0..8:
      Y[io * 8 + ii] = X[io * 8 + ii]
  for ii in 0..4:
    Y[ii + 96] = X[ii + 96]
)");
}

TEST_CASE("a tail that is masked leaves other conditions to be decided") {
  CHECK(hoisted(R"(
  for io in 0..13:
    vectorized for ii in 0..8 @tail="mask":
      if io * 8 + ii < 100:
        Y[io * 8 + ii] = X[max(io * 8 + ii - 1, 0)]
)") == R"(  for io in 0..13:
    if io > 0:
      vectorized for ii in 0..8:
        if io * 8 + ii < 100:
          Y[io * 8 + ii] = X[io * 8 + ii - 1]
    else:
      vectorized for ii in 0..8:
        Y[ii] = X[max(ii - 1, 0)]
)");
}

TEST_CASE("a peeled tail leaves other conditions in its loop") {
  CHECK(hoisted(R"(
  for i in 0..10:
    for jo in 0..2:
      for ji in 0..8 @tail="peel":
        if i > 2:
          if jo * 8 + ji < 10:
            Y[i * 10 + jo * 8 + ji] = X[i * 10 + jo * 8 + ji]
)") == R"(  for i in 3..10:
    for ji in 0..8:
      Y[i * 10 + ji] = X[i * 10 + ji]
    for ji in 0..2:
      Y[i * 10 + ji + 8] = X[i * 10 + ji + 8]
)");
}

TEST_CASE(
    "what can't run apart stays one loop: a peeled tail inside copies, or of a loop never "
    "partitioned") {
  CHECK(hoisted(R"(
  for io in 0..13 @partition="never":
    for ii in 0..8 @tail="peel":
      if io * 8 + ii < 100:
        Y[io * 8 + ii] = X[io * 8 + ii]
)") == R"(  for io in 0..13:
    for ii in 0..8:
      if io * 8 + ii < 100:
        Y[io * 8 + ii] = X[io * 8 + ii]
)");
}

TEST_CASE("what is fetched ahead is no reason to test in the loop, nor to run a tile outside") {
  CHECK(hoisted(R"(
  for io in 0..16:
    for r in 0..3:
      eval prefetch(X[io * 8 + r + 16], 3)
      if floormod(io, 2) == 0:
        vectorized for ii in 0..8:
          if io * 8 + ii < 20:
            Y[io * 8 + ii] = X[io * 8 + ii] + X[r]
)") == R"(  for io in 0..16:
    if io < 2:
      if io == 0:
        for r in 0..3:
          eval prefetch(X[r + 16], 3)
          vectorized for ii in 0..8:
            Y[ii] = X[ii] + X[r]
    else:
      if io < 3:
        for r in 0..3:
          eval prefetch(X[r + 32], 3)
          vectorized for ii in 0..4:
            Y[ii + 16] = X[ii + 16] + X[r]
)");
}

TEST_CASE("clamps and wraps of lanes are decided for all copies of a tile at once") {
  const auto decided = [](const std::string& index) {
    const std::string text = hoisted(R"(
  for io in 0..12:
    unrolled for b in 0..3:
      vectorized for ii in 0..8:
        Y[io * 8 + ii] = X[)" + index +
                                     R"(]
)");
    INFO(text);
    const std::size_t inside = text.find("if io > 0:"), border = text.find("else:");
    REQUIRE(inside != std::string::npos);
    CHECK(text.substr(inside, border - inside).find("X[io * 8 + ii + b - 1]") != std::string::npos);
  };
  decided("max(io * 8 + ii + b - 1, 0)");
  decided("floormod(io * 8 + ii + b + 99, 100)");
}

TEST_CASE("what wraps or turns back where only a call tells is set apart from what does not") {
  const auto decided = [](const std::string& index, const std::string& inside) {
    const std::string text = lt::hoist_guards(
                                 lt::parse(R"(program k<n>(in X: f32[n], out Y: f32[n]):
  for io in 0..floordiv(n, 8):
    vectorized for ii in 0..8:
      Y[io * 8 + ii] = X[)" + index + "]\n"))
                                 .str();
    const std::string simple = lt::simplify_program(lt::parse(text)).str();
    CAPTURE(index);
    CAPTURE(simple);
    const std::size_t border = simple.find("else:");
    REQUIRE(border != std::string::npos);
    CHECK(simple.substr(0, border).find("X[" + inside + "]") != std::string::npos);
    CHECK(simple.find("X[" + inside + "]", border) == std::string::npos);
  };
  decided("floormod(io * 8 + ii + 3, n)", "io * 8 + ii + 3");
  decided("floormod(io * 8 + ii - 1, n)", "io * 8 + ii - 1");
  decided("abs(io * 8 + ii - 2)", "io * 8 + ii - 2");
  // The side that most places are on: here they are usually not less, and then usually less.
  decided("select(io * 8 + ii < 2, 1 - io * 8 - ii, io * 8 + ii - 2)", "io * 8 + ii - 2");
  decided("select(io * 8 + ii + 2 < n, io * 8 + ii + 2, n * 2 - 3 - io * 8 - ii)",
          "io * 8 + ii + 2");
  // Both ends at once, the second one of what the first makes of the place.
  decided(
      "select(abs(io * 8 + ii - 1) < n - 1, abs(io * 8 + ii - 1), "
      "n * 2 - 3 - abs(io * 8 + ii - 1))",
      "io * 8 + ii - 1");
}

TEST_CASE(
    "a border that a call tells keeps its loops where they are long, but those of registers") {
  const auto of = [](const std::string& terms, const std::string& extent) {
    const std::string text =
        "program k<n>(in X: f32[100000], out Y: f32[4000]):\n"
        "  for io in 0..floordiv(" +
        extent +
        " + 7, 8):\n"
        "    alloc R: f32[4, 8] scope register\n"
        "    unrolled for r in 0..4:\n"
        "      vectorized for ii in 0..8:\n"
        "        if io * 8 + ii < " +
        extent +
        ":\n"
        "          R[r, ii] = 0.0\n"
        "    unrolled for a in 0.." +
        terms +
        ":\n"
        "      unrolled for b in 0.." +
        terms +
        ":\n"
        "        unrolled for r in 0..4:\n"
        "          vectorized for ii in 0..8:\n"
        "            if io * 8 + ii < " +
        extent +
        ":\n"
        "              R[r, ii] = R[r, ii] + X[io * 8 + ii + a * 8 + b] * 2.0\n"
        "    unrolled for r in 0..4:\n"
        "      vectorized for ii in 0..8:\n"
        "        if io * 8 + ii < " +
        extent +
        ":\n"
        "          Y[r * 1000 + io * 8 + ii] = R[r, ii]\n";
    return lt::hoist_guards(lt::parse(text)).str();
  };
  const auto count = [](const std::string& text, const std::string& what) {
    return test::count_of(text, what);
  };
  // One of two copies is the border.
  CHECK(count(of("7", "n"), "unrolled for a in") == 1);
  CHECK(count(of("7", "n"), "    for b in 0..7") == 1);
  CHECK(count(of("7", "n"), "unrolled for r in") == 6);
  CHECK(count(of("2", "n"), "unrolled for a in") == 2);
  CHECK(count(of("7", "100"), "unrolled for a in") == 2);
}

TEST_CASE("tiles that a mask leaves nothing of compute what all lanes have once") {
  const auto masked = [](const char* value) {
    return test::body_after("simplify_borders", "in X: f32[576], out Y: f32[576]",
                            "  for i in 0..24:\n    for jo in 0..3:\n"
                            "      vectorized for ji in 0..8:\n"
                            "        Y[i * 24 + jo * 8 + ji] = " +
                                std::string(value) + "\n");
  };
  CHECK(masked("exp(select(jo * 8 + ji <= i, X[i * 24 + jo * 8 + ji], -inf) - X[i])") ==
        R"(  for i in 0..24:
    for jo in 0..3:
      if jo * 8 + 6 < i:
        vectorized for ji in 0..8:
          Y[i * 24 + jo * 8 + ji] = exp(X[i * 24 + jo * 8 + ji] - X[i])
      else:
        if i < jo * 8:
          vectorized for ji in 0..8:
            Y[i * 24 + jo * 8 + ji] = exp(-inf - X[i])
        else:
          vectorized for ji in 0..8:
            Y[i * 24 + jo * 8 + ji] = exp(select(jo * 8 + ji <= i, X[i * 24 + jo * 8 + ji], -inf) - X[i])
)");
  // What is short, or differs between lanes, has no version of its own.
  for (const char* value : {"select(jo * 8 + ji <= i, X[i * 24 + jo * 8 + ji], -inf) - X[i]",
                            "exp(select(jo * 8 + ji <= i, X[i * 24 + jo * 8 + ji], X[ji]) - X[i])"})
    CHECK(test::count_of(masked(value), "vectorized") == 2);
}

TEST_CASE("rows under a mask are the same, whatever they hold") {
  const lt::Program p = lt::parse(
      "program k(in X: f32[480], in T: f32[10], out Y: f32[480]):\n"
      "  for i in 0..10:\n    for jo in 0..6:\n      vectorized for ji in 0..8:\n"
      "        Y[i * 48 + jo * 8 + ji] = exp(select("
      "jo * 8 + ji <= i * 5 + 3 && jo * 8 + ji > i - 3, X[i * 48 + jo * 8 + ji], -inf) - T[i]) * "
      "log(select(ji * 2 < jo, 2.0, X[ji]))\n");
  std::vector<float> x(480), tops{0, 1, -1, 80, -80, INFINITY, -INFINITY, NAN, 1e-40f, 0.5f};
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = k % 17 == 0 ? -INFINITY : k % 23 == 0 ? NAN : static_cast<float>(k % 31) - 15;
  const std::vector<test::Bytes> in{test::Bytes::of(x), test::Bytes::of(tops),
                                    test::Bytes{std::vector<unsigned char>(4 * 480)}};
  for (const char* name : {"host", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const lt::Target target = std::string(name) == "host" ? lt::host() : lt::Target(name);
    const lt::Program guarded = lt::lower_until("simplify_borders", p, target);
    CHECK(guarded.str().find("exp(-inf - T[i])") != std::string::npos);
    CHECK(test::evaluated(p, in)[2].data == test::evaluated(guarded, in)[2].data);
  }
  test::check_against_evaluator(lt::lower(p, lt::host()), in);
}

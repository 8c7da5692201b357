// The last tile of rows that come in blocks.
#include <support/text.hpp>

#include "stages.hpp"

namespace lt = lathe;

namespace {

std::string solved(const std::string& body) {
  return test::body_after("simplify_borders", "in X: f32[1024], out Y: f32[1024]", body);
}

}  // namespace

TEST_CASE("what is left of the last tile is a constant, whatever loops count the tiles") {
  // 85 whole tiles of twelve, and four elements.
  for (const char* guard : {"j0 * 120 + j1 * 12 + j2 < 1024", "1023 >= j0 * 120 + j1 * 12 + j2"}) {
    const std::string text = solved(R"(
  for j0 in 0..9:
    for j1 in 0..10:
      vectorized for j2 in 0..12:
        if )" + std::string(guard) + R"(:
          Y[j0 * 120 + j1 * 12 + j2] = X[j0 * 120 + j1 * 12 + j2]
)");
    INFO(text);
    CHECK(test::has(text, "vectorized for j2 in 0..4"));
    CHECK(test::has(text, "Y[j2 + 1020] = X[j2 + 1020]"));
  }
}

TEST_CASE("where a call tells how many there are lanes ask for it") {
  const lt::Program p = lt::parse(R"(program p<n in 1..=100>(in X: f32[n], out Y: f32[n]):
  for j0 in 0..floordiv(n + 39, 40):
    for j1 in 0..5:
      vectorized for j2 in 0..8:
        if j0 * 40 + j1 * 8 + j2 < n:
          Y[j0 * 40 + j1 * 8 + j2] = X[j0 * 40 + j1 * 8 + j2]
)");
  for (const std::int64_t n : {1, 7, 8, 39, 40, 41, 96, 100}) test::check_stages(p, {{"n", n}});
  // Of a tile of eight one of seven numbers of elements may be left.
  CHECK(test::has(lt::lower_until("simplify_borders", p, lt::host()).str(),
                  "if j0 * 40 + j1 * 8 + j2 < n:"));
}

TEST_CASE("branches that one sum of loops takes have that sum") {
  const auto stages = [](const std::string& condition) {
    return solved(R"(
  for i in 0..8:
    for j in 0..16:
      for l in 0..8:
        if )" + condition +
                  R"(:
          Y[i * 128 + j * 8 + l] = X[i * 128 + j * 8 + l] * 2.0
        else:
          Y[i * 128 + j * 8 + l] = X[i * 128 + j * 8 + l] + 1.0
)");
  };
  CHECK(test::has(stages("i * 128 + j * 8 + l < 1023"), "Y[1023] = X[1023] + 1.0"));
  CHECK(test::has(stages("i * 128 + j * 8 + l <= 1022"), "Y[1023] = X[1023] + 1.0"));
  CHECK(test::has(stages("i * 128 + j * 8 + l > 0"), "Y[0] = X[0] + 1.0"));
  CHECK(test::has(stages("i * 128 + j * 8 + l >= 1"), "Y[0] = X[0] + 1.0"));
  CHECK(test::has(stages("i * 128 + j * 8 + l >= 1023"), "Y[1023] = X[1023] * 2.0"));
  CHECK(test::has(stages("0 >= i * 128 + j * 8 + l"), "Y[0] = X[0] * 2.0"));
  // More than one element.
  CHECK_FALSE(test::has(stages("i * 128 + j * 8 + l < 1022"), "X[1023]"));
}

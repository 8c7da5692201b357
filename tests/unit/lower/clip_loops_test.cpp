// Loops run no further than their guards let them do something.
#include "stages.hpp"

namespace lt = lathe;

namespace {

/// The body after loops were clipped.
std::string clipped(const std::string& body) {
  return test::body_after("clip_loops", "in X: f32[20, 100], inout Y: f32[20]", body);
}

}  // namespace

TEST_CASE("terms of a triangle and of a band are those that the loop runs over") {
  CHECK(clipped(R"(
  for i in 0..20:
    for r in 0..100:
      if r <= i:
        Y[i] = Y[i] + X[i, r]
)") == R"(  for i in 0..20:
    for r in 0..i + 1:
      Y[i] = Y[i] + X[i, r]
)");
  CHECK(clipped(R"(
  for i in 0..20:
    for r in 0..100:
      if r * 2 >= i - 3 && r < i + 4:
        Y[i] = Y[i] + X[i, r]
)") == R"(  for i in 0..20:
    for r in max(0, floordiv(i, 2) - 1)..+i - max(0, floordiv(i, 2) - 1) + 4:
      Y[i] = Y[i] + X[i, r]
)");
}

TEST_CASE("what loops inside count is taken at its widest") {
  CHECK(clipped(R"(
  for i in 0..20:
    for ro in 0..12:
      for ri in 0..8:
        if ro * 8 + ri < i:
          Y[i] = Y[i] + X[i, ro * 8 + ri]
)") == R"(  for i in 1..20:
    for ro in 0..floordiv(i + 7, 8):
      for ri in 0..8:
        if ro * 8 + ri < i:
          Y[i] = Y[i] + X[i, ro * 8 + ri]
)");
}

TEST_CASE("loops stay where something is done everywhere, or memory decides") {
  const auto stays = [](const std::string& body) {
    INFO(body);
    CHECK(clipped("  for i in 0..20:\n    for r in 0..100:\n" + body).find("for r in 0..100:") !=
          std::string::npos);
  };
  stays("      Y[i] = Y[i] * 0.5\n      if r < i:\n        Y[i] = Y[i] + X[i, r]\n");
  stays("      if r < i:\n        Y[i] = Y[i] + X[i, r]\n      else:\n        Y[i] = 1.0\n");
  stays("      if X[i, r] > 1.0:\n        Y[i] = Y[i] + X[i, r]\n");
  stays("      if r < i || r > 50:\n        Y[i] = Y[i] + X[i, r]\n");
}

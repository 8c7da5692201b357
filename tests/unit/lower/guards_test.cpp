// Guards of tiles: decided once for each tile, so that the lanes of most have none.
#include "stages.hpp"

namespace lt = lathe;

namespace {

/// The body after guards were hoisted.
std::string hoisted(const std::string& body) {
  const lt::Program p = lt::parse("program P(in X: f32[100], out Y: f32[100]):\n" + body);
  test::check_stages(p);
  const std::string text = lt::lower_until("simplify_borders", p, lt::host()).str();
  return text.substr(text.find('\n') + 1);
}

}  // namespace

TEST_CASE("each comparison of a conjunction is decided for the tile, and tiles outside are left") {
  CHECK(hoisted(R"(
  for io in 0..16:
    vectorized for ii in 0..8:
      if io * 8 + ii >= 9 && io * 8 + ii < 99:
        Y[io * 8 + ii] = X[io * 8 + ii - 1] + X[io * 8 + ii + 1]
)") == R"(  for io in 0..16:
    if io > 1 && io < 12:
      vectorized for ii in 0..8:
        Y[io * 8 + ii] = X[io * 8 + ii - 1] + X[io * 8 + ii + 1]
    else:
      if io > 0 && io < 13:
        vectorized for ii in 0..8:
          if io * 8 + ii > 8:
            if io * 8 + ii < 99:
              Y[io * 8 + ii] = X[io * 8 + ii - 1] + X[io * 8 + ii + 1]
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

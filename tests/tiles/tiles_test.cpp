// A sample of the register tiles that fit a machine: their loops stay in registers.
#include "tiles.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <support/random.hpp>
#include <support/skip.hpp>

TEST_CASE("loops of register tiles move no vector to or from the stack") {
  const lathe::Llvm* llvm = lathe::Llvm::find();
  if (!llvm) LATHE_SKIP("no LLVM here");
  constexpr int kSample = 24;
  const char* asked = std::getenv("LATHE_TILES_SEED");
  const std::uint64_t seed = asked ? std::strtoull(asked, nullptr, 10) : 1;
  MESSAGE("seed " << seed << " (LATHE_TILES_SEED); tile_moves looks at all tiles");
  test::Random random(seed);
  const std::vector<test::RegisterTile> all = test::register_tiles();
  for (int k = 0; k < kSample; ++k) {
    const test::RegisterTile& tile = random.pick(all);
    CAPTURE(tile.name());
    const test::TileLoop loop = test::loop_of(tile, *llvm);
    CHECK(loop.found);
    if (!test::spills_in_llvm(tile)) CHECK(loop.moves == 0);
  }
}

TEST_CASE("a tile of more accumulators than registers does move them") {
  const lathe::Llvm* llvm = lathe::Llvm::find();
  if (!llvm) LATHE_SKIP("no LLVM here");
  const test::TileLoop loop = test::loop_of({"znver4", false, 14, 4, 1}, *llvm);
  CHECK(loop.found);
  CHECK(loop.moves > 0);
}

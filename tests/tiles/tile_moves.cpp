// Compiles all register tiles, and prints those whose loop moves vectors to or from the stack.
// Fails where LLVM alone is not to blame.
#include <cstdio>

#include "tiles.hpp"

int main() {
  const lathe::Llvm& llvm = lathe::Llvm::get();
  int all = 0, moving = 0, unexpected = 0;
  for (const test::RegisterTile& tile : test::register_tiles()) {
    const test::TileLoop loop = test::loop_of(tile, llvm);
    ++all;
    if (loop.moves == 0 && loop.found) continue;
    ++moving;
    const bool known = loop.found && test::spills_in_llvm(tile);
    unexpected += known ? 0 : 1;
    std::printf("%s: %zu stack moves%s%s\n", tile.name().c_str(), loop.moves,
                loop.found ? "" : ", other multiplications than expected",
                known ? ", as known" : "");
  }
  std::printf("LLVM %s: %d of %d tiles move vectors to or from the stack, %d of them unexpected\n",
              llvm.version().c_str(), moving, all, unexpected);
  return unexpected == 0 ? 0 : 1;
}

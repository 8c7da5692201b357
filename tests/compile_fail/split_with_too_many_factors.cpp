// Two loops asked for, three factors given.
// expect: to .const lathe::Factor \(&\)\[2\]|too many initializers in .* 'const lathe::Factor\[2\]'
#include <lathe/lathe.hpp>

namespace lt = lathe;

void split_with_too_many_factors(lt::Schedule s, lt::LoopRef i) {
  auto [outer, inner] = s.split<2>(i, {lt::infer, 4, 8});
}

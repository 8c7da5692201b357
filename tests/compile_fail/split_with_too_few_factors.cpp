// Two loops asked for, one factor given.
// expect: to .const lathe::Factor|too few initializers in list argument to 'const lathe::Factor
#include <lathe/lathe.hpp>

namespace lt = lathe;

void split_with_too_few_factors(lt::Schedule s, lt::LoopRef i) {
  auto [outer, inner] = s.split<2>(i, {8});
}

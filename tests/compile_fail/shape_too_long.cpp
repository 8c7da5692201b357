// Three extents for a tensor of rank 2.
// expect: no matching (function for call to|constructor for initialization of) .*Input<float, 2>
#include <lathe/lathe.hpp>

namespace lt = lathe;

void shape_too_long() { lt::Input<float, 2> X("X", {4, 5, 6}); }

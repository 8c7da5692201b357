// One extent for a tensor of rank 2.
// expect: to .const lathe::Extent.|no matching constructor for initialization of 'lt::Input<float, 2>'
#include <lathe/lathe.hpp>

namespace lt = lathe;

void shape_too_short() { lt::Input<float, 2> X("X", {4}); }

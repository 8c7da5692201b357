// A C++ type that no element type carries.
// expect: this C\+\+ type is no element type\. There are bool, the integers of 8, 16, 32 and 64 bits
#include <lathe/lathe.hpp>

namespace lt = lathe;

void unknown_element_type() { lt::Input<long double, 1> X("X", {4}); }

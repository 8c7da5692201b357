// One operation on one lane, by the name that programs outside of the library include.
#pragma once

#include <lathe/ir/scalar.hpp>

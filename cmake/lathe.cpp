// All of lathe::compiled as one translation unit, for builds by hand.
#include <lathe/impl/src.hpp>

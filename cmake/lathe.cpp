// The one translation unit of lathe::compiled.
#include <lathe/impl/src.hpp>

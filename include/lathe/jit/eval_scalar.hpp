// The former place of lathe/eval/scalar.hpp, for programs that include it from here.
#pragma once

#include <lathe/eval/scalar.hpp>

// Where lathe/eval/scalar.hpp was; for programs that include it from here.
#pragma once

#include <lathe/eval/scalar.hpp>

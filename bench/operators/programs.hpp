// Operators as users of Lathe write them.
#pragma once

#include "core/operator.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

/// Its parameters are the arrays of shapes_of(what), the result last.
lt::Program program_of(const Operator& what);

lt::Program convolution_program(const Convolution& p, int batch);

}  // namespace bench
#endif

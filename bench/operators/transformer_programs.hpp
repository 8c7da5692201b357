// What transformers are made of, as users of Lathe write it.
#pragma once

#include "core/operator.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

lt::Program program(const Attention& p, int batch);
lt::Program program(const Linear& p, int batch);
lt::Program program(const GatedUnit& p, int batch);
lt::Program program(const RowNorm& p, int batch);
lt::Program program(const Rotation& p, int batch);

}  // namespace bench
#endif

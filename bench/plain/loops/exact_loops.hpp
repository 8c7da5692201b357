// Loops that -ffast-math computes with reciprocals and roots from the processor's estimates, again
// without: compiled with -O3 -march=native -fno-math-errno.
#pragma once

#include "plain/loops/loops.hpp"

namespace bench::exact_loops {

decltype(loops::layer_norm) layer_norm;
decltype(loops::rms_norm) rms_norm;
decltype(loops::unit_rows) unit_rows;
decltype(loops::group_norm) group_norm;
decltype(loops::normal_groups) normal_groups;
decltype(loops::normal_columns) normal_columns;
decltype(loops::unit_vectors) unit_vectors;
decltype(loops::sobel) sobel;
decltype(loops::sigmoid) sigmoid;
decltype(loops::gelu) gelu;
decltype(loops::length) length;
decltype(loops::lstm_gates) lstm_gates;
decltype(loops::swiglu) swiglu;
decltype(loops::black_scholes) black_scholes;

}  // namespace bench::exact_loops

// Programs over images without a schedule, beside plain loops and OpenCV.
#pragma once

#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

PlainPrograms filter_programs();
PlainPrograms colour_programs();
PlainPrograms geometry_programs();

/// Adds a program whose sizes are known when it is compiled, and the same for any size.
template <class L>
void add(PlainPrograms& all, const std::string& name, lt::Program (*of_size)(int, int),
         lt::Program (*of_any_size)(lt::Dim, lt::Dim), L loops, std::initializer_list<Shape> sizes,
         Numbers numbers = {}) {
  all.push_back({name, of_size, loops, sizes, numbers});
  all.push_back({name + " of any size", of_any_size, loops, sizes, numbers});
}

}  // namespace bench
#endif

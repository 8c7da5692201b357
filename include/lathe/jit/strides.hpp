// For which strides of arguments a kernel has machine code.
#pragma once

#include <cstdint>

namespace lathe {

/// For which views a kernel has machine code. A parameter that declares no layout takes row-major
/// views, between whose rows there may be gaps; where there are none, the compiler knows strides.
/// A program that nobody scheduled is planned anew for gaps: rows are then no longer one loop.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // scoped or not: g++ 12 has lt::dense in mind
#endif
enum class Strides : std::uint8_t {
  dense,  ///< for views without gaps; others are refused (L0305)
  both,   ///< for all, compiled before the first call
  late    ///< for views without gaps; for others when a call first has one, which then waits
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace lathe

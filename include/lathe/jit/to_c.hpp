// C source of a computation: what jit would compile, as text that any C compiler takes.
#pragma once

#include <lathe/jit/jit.hpp>

namespace lathe {

/// A translation unit of C11 (with GCC's vectors, which clang has too) without other headers than
/// the C library's. It defines `int32_t lathe_<name>(const uint64_t *slots, lathe_runtime *rt)`;
/// a comment says what each slot holds, and what is returned. Constants are the last slots: their
/// elements, row-major without gaps, at a multiple of 64 bytes. With `rt` null it needs nothing of
/// Lathe; a host may pass a table of its own. Options are jit's; the target is the least machine of
/// this architecture unless they name one, and only decides how a default schedule cuts loops and
/// whether x * y + z is one fma.
///     std::string text = lt::to_c(D);  // a tensor, by its default schedule
///     lt::to_c(schedule) · lt::to_c({program, {.strict = true}}) · lt::to_c(kernel)
/// Errors as jit, but no LLVM is needed, and: L0620 a target that is no CPU · L0622 a program that
/// was lowered already, for a machine of which C says less
std::string to_c(const Source& source);
/// Of a kernel: what it was compiled from, with all its versions; of one that is interpreted, its
/// program under the default schedule. L0313 for an empty one · L0623 for one of which a part runs
/// once
std::string to_c(const AnyKernel& kernel, Location where = Location::here());
template <class... P>
std::string to_c(const Kernel<P...>& kernel, Location where = Location::here()) {
  return to_c(kernel.any(), where);
}

}  // namespace lathe

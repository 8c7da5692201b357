// Temporaries that a loop's iterations allocate one after the other.
#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// Those on the heap that each iteration of the loop over `var` allocates for itself, with a size
/// that is the same in all: one allocation before the loop serves them, of a thread's part of a
/// parallel one too. An allocation costs as much as some hundred elements. None of inner parallel
/// loops, of branches, and of loops that may run nothing. `taken`: see frame_bytes().
Vec<Buffer> early_allocs(const VarRef& var, const Stmt& body, std::int64_t taken);

}  // namespace lathe::detail

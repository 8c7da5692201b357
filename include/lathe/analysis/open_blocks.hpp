// Programs whose blocks hold no blocks.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/error.hpp>

namespace lathe {

/// The program with each block inside another one as its statements, over the iterators of the one
/// around it: bindings are substituted, guards written, the init stands before the outermost loop
/// inside the block around that feeds a reduce iterator. Schedules, their analyses and lowering
/// know blocks with loops in them; none knows blocks in blocks. The program itself if it has none.
///     block X(v = i): for j: block Y(u = v, reduce w = j) sum init: B[u] += A[u * 4 + w]
///   → block X(v = i): { B[v] = 0; for j: B[v] = B[v] + A[v * 4 + j] }
/// L0506 an inner reduction whose init would stand outside of the outer block.
Program open_blocks(const Program& program, Location where = {});

}  // namespace lathe

// LLVM IR text of a program at Stage::machine.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/target.hpp>

namespace lathe {

/// The program as a module for LLVM `llvm_major` (16 to 22). Element buffers need only be aligned
/// to their elements unless the program says more. Every value means what ir/expr.hpp says: the
/// program keeps the rules of ir/machine_form.hpp, and no flag licenses LLVM to change a float.
/// The kernel returns 0 or the first status that is not (runtime/abi.hpp); whatever it allocated is
/// freed on every path. Parallel loops take "max_threads" from the loop's annotation of that name.
/// InternalError for a node that a pass should have removed (a type or a math call that the target
/// lacks, a vectorized or unrolled loop, a block), L0620 for a Target that is no CPU or an LLVM
/// that is not supported.
/// `symbol` names the entry; empty: made from the program's name. A process links a symbol once.
LlvmKernel emit_llvm(const Program& program, const Target& target, int llvm_major,
                     std::string_view symbol = {});

}  // namespace lathe

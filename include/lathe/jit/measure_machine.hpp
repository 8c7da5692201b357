// The row of this machine, measured.
#pragma once

#include <lathe/cost/machine.hpp>
#include <lathe/support/context.hpp>

namespace lathe {

/// The table's row of host() with what kernels of a few lines reach here: multiply-adds and other
/// operations a cycle of the table's clock, loads, and bytes a second from each cache and memory.
/// Takes some 0.3 s, on one thread and once on all; keep its text (Machine::parse) to measure once.
/// A number whose repetitions differ by half stays the table's, which the context's log is told.
/// Without LLVM all are.
Machine measure_machine(const Context& context);
Machine measure_machine();

}  // namespace lathe

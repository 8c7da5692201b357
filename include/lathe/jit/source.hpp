// The program that a Source stands for, and the parameter for each argument of the call.
#pragma once

#include <lathe/jit/jit.hpp>
#include <lathe/jit/kernel_code.hpp>
#include <lathe/jit/kernel_constants.hpp>
#include <lathe/lower/pipeline.hpp>

namespace lathe::detail {

struct BoundProgram {
  Program program;
  Vec<int> order;  ///< of the program's parameters, one per argument
};

const Context& context_of(const Source& source);
/// L0310 a param that the program does not have, or lacks · L0316; errors as program_of.
BoundProgram bound_program(const Source& source, const Vec<ProgramParam>& params);
/// Versions without what runs once; each has the constants that all of them compute.
struct SplitVersions {
  ProgramVersions rest;
  Vec<OncePart> once;
};
SplitVersions split_versions(const ProgramVersions& versions);
/// One program, in which the first version whose Dims allow it runs.
Program dispatched(const ProgramVersions& versions);
/// What is lowered: under the default schedule where the source has none.
ProgramVersions scheduled_versions(const Source& source, const Program& program,
                                   const Target& target);
/// One program, of each version lowered by itself, under what is known of its Dims.
Program lowered_versions(const ProgramVersions& versions, const Target& target,
                         const LowerOptions& options);
/// L0317 a constant without elements.
AnyKernel make_evaluator(const BoundProgram& bound, const Source& source);

}  // namespace lathe::detail

// The verifier: the rules of each stage, and whether a program keeps them.
//
// At every stage: nodes are complete and typed as expr.hpp says; each variable is bound once (from
// flat on by a node that may stand at several places) and used where it is visible (inside a block:
// its iterators, those of blocks around it, dims, scalar params, and loops and lets inside); each
// buffer is a param or allocated once, and used inside; indices are i64 scalars or vectors of one
// length, as many as the buffer's rank; a mask is bool with the value's lanes; nothing stores to an
// 'in' param; bounds and conditions are scalars; a reducer is closed, its block is one store per
// value; block names and tags are unique; vectors lie only in registers of rank 0; impure calls
// stand in Evaluate.
//   loops    no blocks
//   vector   and no loop that is vectorized or unrolled
//   flat     and one index per access (rank 0 may have none), allocated buffers of rank 1 or 0
//   without strides;
//            index arithmetic may be i32
//   machine  and no node that means more than a machine does: the list is in ir/machine_form.hpp
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/target_caps.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// Why the program breaks a rule of the stage, naming the culprit; empty if it keeps them all.
/// Never throws for it.
/// Stage::machine depends on what a target can do; without `caps` it is what some target can.
std::string verify_reason(const Program& program, Stage stage,
                          const TargetCaps& caps = TargetCaps());
/// The same as an InternalError that says the reason and shows the place; `after` names the pass or
/// step.
void verify(const Program& program, Stage stage, std::string_view after = {},
            const TargetCaps& caps = TargetCaps());
inline void verify(const Program& program) { verify(program, program->stage); }
/// The same for a program that a user wrote: UserError L0506.
void verify_user(const Program& program, Location where = Location::here());

/// What is wrong with the types of one expression node, its children taken for granted; empty if
/// nothing is.
std::string_view typing_problem(const AnyExpr& e);
/// Why the init of a reducer block has no place, with what to do instead; empty if it has one. It
/// runs before the loops of the reduction, so what it stores to must not depend on their iterators.
std::string init_problem(const BlockNode& block);
/// As verify_dim for each Dim; L0506 where a program at Stage::blocks never stores to an output, or
/// reads an output or an alloc before anything was stored in it. Later stages may have dropped
/// loops that run nothing.
void verify_defined(const Program& program, Location where = Location::here());
/// L0114 where no parameter has the Dim, alone, as an extent: a call could not tell its value.
void verify_dim(const VarRef& dim, const Vec<Param>& params, Location where = Location::here());

}  // namespace lathe

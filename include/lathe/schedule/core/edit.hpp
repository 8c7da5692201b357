// Checks that steps share, nests of blocks that move, and the wording of refusals.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/region.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/describe.hpp>
#include <lathe/ir/fates.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/records.hpp>

namespace lathe::detail {

// --- wording
// ------------------------------------------------------------------------------------------------------

/// "loops of 'C': i(100) j(64) r:reduce(64)"
std::string describe_loops(const Program& program, const BlockTag& block);

Refusal refusal(std::string_view id, std::string message, std::string help = {});
Refusal refusal_at(const VarRef& loop, std::string_view id, std::string message,
                   std::string help = {});
Refusal refusal_at(const BlockTag& block, std::string_view id, std::string message,
                   std::string help = {});

/// L0206 if a bound of the loop is read from memory that is written below it: steps that state the
/// bound anew would read another number.
Verdict check_fixed_bounds(const ForNode& loop);
/// `id` if a statement in no block touches a buffer that the block touches, and one of them writes:
/// what moves blocks looks at blocks alone. Of one buffer, if it is given.
Verdict check_bare_touches(const Program& program, const BlockNode& block, std::string_view id,
                           const Buffer& only = {});
/// `id` if the block reads a buffer whose elements change while a program goes on, as under a loop
/// that carries state: elsewhere, or computed again, it would read other values.
Verdict check_settled_inputs(const Program& program, const BlockNode& block, std::string_view id);
/// L0204 if the loop carries an attribute that forbids the change (ir/fates.hpp).
Verdict check_change(const ForNode& loop, Change change);
/// The same, and unless it is serial.
Verdict check_serial_change(const ForNode& loop, Change change);

// --- nests for blocks that move or are new
// ----------------------------------------------------------------------------

/// The values that each iterator of a block has to take so that `indices` reach every element of
/// the region, over the variables of the region; an empty range where that can't be solved. One per
/// iterator.
Vec<Range> solve_ranges(const BlockNode& block, const Vec<AnyExpr>& indices, const Region& region,
                        const Facts& facts);
/// The whole domain of each iterator.
Vec<Range> whole_domains(const BlockNode& block);
/// A range that holds what both hold: the first if it is proven not to be longer; where they start
/// together and neither is proven the longer one, the minimum of the extents; else the second.
/// Give the one that is always right first.
Range shorter(const Range& a, const Range& b, const Facts& facts);
/// The block under one serial loop per iterator: binding = range.min + loop. Loops are named after
/// the iterators.
Stmt nest_of(BlockNode block, const Vec<Range>& ranges, Vec<std::string> used_names);
/// Names of the loops around and below a loop.
Vec<std::string> names_around(const LoopSite& site);
/// Loops that are in one program and no longer in the other, as consumed by a step.
void consume_lost_loops(const Stmt& before, const Vec<ForRef>& loops, Edit& edit,
                        const std::string& what);

/// `id` if the init of a block may not move past those loops around it, from position `from` on,
/// that are named: out of them or into them. No two iterations may reach one point, nothing in them
/// may write what decides where the init stores, and nothing else touch what it stores to.
Verdict check_moved_init(const Program& program, const BlockSite& site, std::size_t from,
                         const Vec<VarRef>& passed, std::string_view id);

/// The nests of a program that a step made; the others stood in it before.
Vec<Stmt> changed_nests(const Program& before, const Program& after);
/// L0259 if a step moved an init past loops that its block keeps, where it may not, or brought a
/// writer of what the init depends on inside its reduction: in the nests that it made.
Verdict check_inits(const Program& before, const Vec<Stmt>& changed);

/// What every step has to keep: that inits stay, what loops and their marks promise, where buffers
/// live. L0220 L0225 L0259
Verdict check_kept(const Program& before, const Program& after);

// --- steps used by other steps
// ------------------------------------------------------------------------------------

/// The promises of a loop's kind, tested anew.
Verdict check_parallel(const Program& program, const VarRef& loop);
Verdict check_vectorized(const Program& program, const VarRef& loop);
Verdict check_unrolled(const Program& program, const VarRef& loop);
Verdict check_kind(const Program& program, const ForNode& loop);
/// L0255 if loops that are bound to axes do not make kernels.
Verdict check_bound_loops(const Program& program);
/// What a program says of itself that a schedule of it would have proved: kinds of loops, regions
/// that blocks declare, marks, stores past the caches, scopes and strides of temporaries. Programs
/// that come as text or as a script are held to it; those of tensors say none of it.
Verdict check_claims(const Program& program);
/// What an attribute asks of a loop, tested where it is set; the error is that of the step.
Verdict check_mark(const Program& program, const LoopSite& site, const Attribute& a,
                   std::string help = {});
/// The same of all that loops of a program carry.
Verdict check_claimed_marks(const Program& program);
/// What attributes of loops ask for, tested anew after a step in the nests that it made, and that
/// none which others rely on went with its loop: L0225.
Verdict check_marks(const Program& before, const Program& after, const Vec<Stmt>& changed);
/// L0220 if a buffer outside global memory is touched both inside and outside a loop
/// whose iterations can't share it: a parallel one, one over blocks, one over threads.
Verdict check_lifetime(const Program& program, const Buffer& buffer);

// --- parts of the above

inline constexpr std::int64_t kNoBound = 1 << 30;
AnyExpr constant_extent(const AnyExpr& extent, const Facts& facts);
Verdict check_promises(const Program& before, const Program& after, const Vec<Stmt>& changed);
Verdict check_lifetimes(const Program& before, const Program& after, const Vec<Stmt>& changed);

}  // namespace lathe::detail

// The lowering passes from blocks to flat loops, in pipeline order; each in a file of its name.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/lower/gaps.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/target.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe {

/// Gives every parameter without declared strides a variable for each stride that calls choose, so
/// that the same code serves padded views; the innermost stride is 1.
Program open_strides(const Program& program, Gaps gaps = Gaps::rows);

/// Prepares loops with a PipelineAttr: keeps their statements apart, and allocates inside what an
/// iteration has to itself. Must run while there are blocks, which tell that. L0603 if it is not
/// legal.
Program stage_pipelines(const Program& program);

/// Moves each Alloc down to the smallest statement that holds all accesses: into a loop where each
/// iteration is proven to write all that it reads. Must run while there are blocks, which tell
/// that, and before parallel loops are split, as a buffer inside one belongs to the iteration.
Program place_buffers(const Program& program);

/// Loops bound to axes of a GPU become parallel (the outermost over blocks) or serial. They promise
/// what parallel ones do; where a loop over threads ends is where threads would wait.
Program lower_bindings(const Program& program);

/// Allocates each buffer that a loop's DoubleBufferAttr names inside that loop, so that it gets the
/// size that one iteration needs. Must run while there are blocks, which tell that. L0603 if it is
/// not legal.
Program place_doubled(const Program& program);

/// A block that a loop's RollingAttr names keeps the rows that iterations share. L0603 if it can't.
/// Must run after Allocs are placed: what it makes is no longer proved to be filled by an
/// iteration.
///     for y: { alloc P[n, m]; for r < 3: for x: block P(y + r, x); … }
///   → alloc P[3, m]; for y: { for r from min(y * 2, 2) to 3: for x: block P(y + r, x); … }
Program roll_buffers(const Program& program);

/// Blocks become their bodies: bindings are substituted, the guard "binding in domain" is written
/// where it can't be proved, the predicate becomes an If, a reducer's store becomes the update, and
/// its init a nest of its own before the outermost loop that feeds a reduce iterator.
///     for i, r: block C(vi = i, vr = r) sum init: C[vi] = A[vi, vr]
///   → for i: { C[i] = 0; for r: C[i] = C[i] + A[i, r] }
Program lower_blocks(const Program& program);

/// Puts an assertion before each access that is not proved to be inside of its buffer, under the
/// conditions under which it happens, with indices and shape as its values. Must run before
/// anything makes indices of its own, and when it is written which of them are guarded.
///     if (i < n) Y[i] = X[I[i]]
///   → if (i < n) { assert 0 <= I[i] && I[i] < m, "'X' has no element [{0}], …" % (I[i], m); … }
Program check_accesses(const Program& program);

/// Shrinks each buffer to the box that is stored to below its Alloc. Must run while guards are
/// still at the accesses (a hoisted one hides the bounds it implies).
///     for xo: { alloc P[n]; for a < 10: P[xo*8 + a] = …;
///               for xi < 8: C = P[xo*8 + xi] + P[xo*8 + xi + 2] }
///   → for xo: { alloc P[10]; for a: P[a] = …; for xi: C = P[xi] + P[xi + 2] }
Program compact_buffers(const Program& program);

/// Moves the Allocs that a loop's HoistAttr, DoubleBufferAttr or PipelineBufferAttr names from
/// inside of it to right above it. Must run when they have their final shape, which is
/// that of one iteration.
Program hoist_storage(const Program& program);

/// Gives the buffers that a loop's DoubleBufferAttr names two versions, of which its iterations
/// take one each in turn. Must run when their Allocs stand above the loop.
///     alloc P[10]; for xo: { for a: P[a] = …; … }
///   → alloc P[2, 10]; for xo: { for a: P[xo % 2, a] = …; … }
Program double_buffers(const Program& program);

/// Loops with a PipelineAttr become three: steps in which the first iterations
/// enter, steps in which each statement runs, for an iteration of its own, and those in which the
/// last ones leave.
Program software_pipelines(const Program& program);

/// A loop's PrefetchAttr becomes a prefetch, at the start of each iteration, of the
/// elements that the iteration `distance` later reads first, once a cache line of the target. The
/// address may lie outside of the buffer: a prefetch never faults.
Program place_prefetches(const Program& program, const Target& target);

/// Takes guards out of hot loops: an If moves above every loop that its condition does not depend
/// on, and a loop nest whose guards fail only in border tiles is split into an unguarded and a
/// guarded version.
///     for io: for ii < 8: if (io*8 + ii < n) S
///   → for io: if (io*8 + 8 <= n) { for ii: S } else { for ii: if (io*8 + ii < n) S }
/// Tiles of which a mask leaves nothing, as above the diagonal of attention, are a third version
/// where that is a function of what all lanes have, which is computed once.
///     exp(select(j <= i, X[j], -inf) - m) → exp(-inf - m)
Program hoist_guards(const Program& program);

/// Serial loops over tiles of lanes, of which a call tells the number and places at borders are
/// clamped: the last tile begins so early that it is whole, and computes places again. The first
/// and the last one run apart, so each has the borders of one side, in lanes that are numbers.
/// A schedule asks for such tails of one loop by Tail::shift.
///     for jo < (w + 63) / 64: for ji < 64: if (jo * 64 + ji < w) S(jo * 64 + ji)
///   → S(0 + ji); for jo in 1..: S(min(jo * 64, w - 80) + ji); S(w - 64 + ji)   where w >= 96
Program shift_tiles(const Program& program);

/// A branch that is taken for one sum of loops alone, as the last tile of a row that comes in
/// blocks, has one loop in terms of the others: how much of the tile is left is a constant where
/// the row's length is one.
///     if jo * 10 + ji < 85: S else: T(ji)   becomes   if …: S else: T(85 - jo * 10)
Program solve_tails(const Program& program);

/// Serial loops run no further than guards inside let their body do something.
///     for r < n: if (i <= r + 3) if (r <= i + 3) S   →   for r in max(i - 3, 0)..min(i + 4, n): S
Program clip_loops(const Program& program);

/// Integers in loops of lanes that are converted to fewer bits in the end, or compared, are
/// computed in as few bits as give the same, so that more lanes fit a register. Must run before the
/// loops are vectors.
///     u8((i32(a) * 77 + i32(b) * 29) >> 8) → u8((u16(a) * 77 + u16(b) * 29) >> 8)
Program narrow_integers(const Program& program);
/// The same while blocks still say how many terms sums have: temporaries of 8 and 16 bits hold
/// fewer numbers than their types.
///     t of i16 sums nine bytes: u8((i32(t[i]) + 4) / 9) → u8((u16(t[i]) + 4) / 9)
Program narrow_held_integers(const Program& program);

/// Of Math::fast: divisors of f32 and f64 that stay the same while the innermost loop runs become
/// factors, and `changes`, if not null, gets a line. Must run when blocks are loops, and before
/// those of lanes are vectors.
///     for j: Y[i, j] = E[i, j] / S[i]   → for j: Y[i, j] = E[i, j] * (1.0 / S[i])
Program use_reciprocals(const Program& program, std::vector<std::string>* changes);

/// Loads in the arms of selects that lanes choose are done before the choice, where lanes lie a few
/// elements apart and an array that is only read surely has them all: with no mask for each lane
/// they are dense loads and shuffles. Must run before the loops are vectors.
///     vectorized j: Y[j] = select(M[j] > 0, X[j, 2], 0)
///   → vectorized j: Y[j] = (let lifted = X[j, 2] in select(M[j] > 0, lifted, 0))
Program lift_loads(const Program& program);

/// Vectorized loops become explicit vectors of at most one register; guards inside become masks.
///     vectorized j < 32: B[j] = A[j] * 2   → B[ramp(0, 1, 16)] = A[ramp(0, 1, 16)] * 2 …, twice
Program vectorize_loops(const Program& program, const Target& target);

/// Unrolled loops become copies, and so do short loops over the rows of a temporary in registers; a
/// loop with an UnrollAttr of f becomes a loop over f copies and a remainder. A copy keeps what its
/// iteration runs, where the number of the iteration decides that. Throws UserError L0601 where
/// what is left of the copies exceeds the budget.
Program unroll_loops(const Program& program);

/// Rows of a local or register tile lie as far apart as the vectors along them reach, which else
/// would overlap and be no registers. Must run when loops over lanes are vectors, and before their
/// indices become one.
///     alloc T: f32[5, 5] local; T[1, ramp(0, 1, 8)] = …
///   → alloc T: f32[5, 5] local aligned [0, 8, 0]; …
Program align_rows(const Program& program);

/// Every buffer gets rank 1 and every access one index; strides of temporaries are dense but
/// for their rules.
Program flatten_buffers(const Program& program);

/// Fragments become tile registers, and operands of tiles that lie in memory are loaded into those
/// that are left. Sizes are set up before what uses them, and given back at the end of the kernel
/// and of each parallel body. On a target without such registers fragments are memory, and tiles
/// become loops over rows that give the same bits. Must run when indices are constants, and before
/// types are those of the machine. L0606 a fragment that is accessed by parts, or more tiles at
/// once than there are registers
///     alloc C: f32[256] scope fragment; for k: C[…] = tile_dot(C[…], A[…], B[…])
///   → tile_configure(…); alloc C_0: f32x256[] scope fragment tile 0; for k: {
///       alloc tile1, tile2; tile1 = tile(A[…], 16); tile2 = tile(B[…], 16);
///       C_0 = tile_dot(C_0, tile1, tile2) }
Program place_tiles(const Program& program, const TargetCaps& caps, Location where = {});

/// Temporaries whose every index is a constant become variables of rank 0, one a register: an
/// accumulator tile never touches memory. Must run after unrolling (constant indices) and
/// flattening (one index).
Program promote_registers(const Program& program);

/// What a serial loop adds to places of memory that stay the same in it waits in registers until
/// the loop ends, where places are under masks: LLVM's scalar promotion leaves such in memory, and
/// no masked load is forwarded from a masked store. Must run after flattening.
Program promote_accumulators(const Program& program);

/// simplify() of the whole body.
Program simplify_program(const Program& program);

}  // namespace lathe

// The lowering passes from flat code to what a target's instructions can do, in pipeline order;
// each in a file of its name.
#pragma once

#include <lathe/ir/math_table.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/target_caps.hpp>
#include <string>
#include <vector>

namespace lathe {

/// x * y + z becomes fma(x, y, z), one rounding less, where the product has no other use. A target
/// without the instruction keeps its program. Not run under `strict`.
///     a * b + c → fma(a, b, c)      c - a * b → fma(-a, b, c)      a * b - c → fma(a, b, -c)
Program contract(const Program& program, const TargetCaps& caps);

/// Functions that no target has an instruction for (is_transcendental) become arithmetic of f32 or
/// f64, with the errors of docs/math.md on targets with fma, and 1 unit (f64: 1.5) more on others.
/// Special values are the C library's. Each lane's result depends on that lane's argument alone.
/// Narrower types compute in f32 and round. `math` says how exact they are; what Math::fast has
/// less exact is added to `changes`, if not null. L0605 a function without an accurate version
Program expand_math(const Program& program, const TargetCaps& caps, Math math = Math::normal,
                    Location where = {}, std::vector<std::string>* changes = nullptr);

/// f16, bf16, 8-bit floats and 4-bit integers become their bits: buffers, variables and lanes hold
/// unsigned integers (i4: i8), arithmetic decodes to f32 (i32), computes, and encodes with one
/// rounding. Bit-exact to ir/narrow.hpp. Params change their buffers' dtype to the integer of the
/// same size.
Program legalize_types(const Program& program, const TargetCaps& caps);

/// For Math::fast: quotients and square roots of vectors of f32 by the estimates of the processor,
/// where it has them, and a step of Newton's method: to 2 units in the last place, and 1. What it
/// changed is added to `changes`, if not null. Unlike those of other passes, the results are not
/// the same bits on all machines, nor those of the evaluator.
///     x / y → with r = reciprocal_estimate(y): x * fma(r, fma(-y, r, 1), r)
Program use_estimates(const Program& program, const TargetCaps& caps,
                      std::vector<std::string>* changes = nullptr);

/// Calls that kMathTable expands for the target become arithmetic: scalb without AVX-512, rounding
/// without SSE4.1, dot4 without VNNI, dot2 without BF16, and permute by choices. floordiv and
/// floormod become shifts, masks or truncating division where the dividend can't be negative.
Program legalize_ops(const Program& program, const TargetCaps& caps);

/// Arg-reductions into registers whose positions never fall from one iteration to the next compare
/// no positions: of equal values the first one stays. A register that holds the identity before the
/// loop gets the position of the first element, which is the result where no element is better.
///     for r: keep = x < v || is_nan(v) && !is_nan(x) || (x == v || …) && p <= r
///   → p = 0; for r: keep = x <= v || is_nan(v)
/// Must run after registers have been found.
Program rising_positions(const Program& program);

/// Loops that take the largest or the smallest floats into registers do it by one comparison a
/// term, and run again as they stood where that may not give what max and min mean.
///     for i: m = max(m, X[i])
///   → start = m; sum = 0; for i: m = fast_max(X[i], m), sum = sum + X[i];
///     if (sum + m is NaN or m == 0) m = start; for i: m = max(m, X[i])
/// Must run while max and min are operators, and after registers have been found.
Program guess_extremes(const Program& program);

/// Terms of partial sums of i32, of which only the total is asked for, are added as dots of four
/// bytes, or as sums of two products of 16 bits, where they are products, single values or absolute
/// differences of that few bits: lanes take other terms than before.
///     r0 += i32(A[ramp(k, 1, 16)]); … r3 += i32(A[ramp(k + 48, 1, 16)])
///   → r0 = dot4(r0, A[ramp(k, 1, 64)], broadcast(1i8, 64))
/// Must run after registers have been found.
Program dot_sums(const Program& program, const TargetCaps& caps);

/// Loads whose lanes go on at the other end of a period become dense loads where no lane of them
/// does, or else, if the period is as long as the vector, choices of two such.
///     X[floormod(ramp(i, 1, 8), broadcast(n, 8))]
///   → let start = floormod(i, n) in select(start + 7 < n, X[ramp(start, 1, 8)], select(8 <= n,
///     X[select(ramp(start, 1, 8) < broadcast(n, 8), ramp(start, 1, 8), ramp(start - n, 1, 8))],
///     …))
/// Must run before remainders become what machines have.
Program wrapped_loads(const Program& program);

/// Loads of lanes that run through pixels, of which those beyond a border are the outermost one,
/// become a dense load and the channels of that pixel in turn, under masks.
///     X[max(floordiv(ramp(f, 1, 8), 3) - 1, 0) * 3 + floormod(ramp(f, 1, 8), 3)]
///   → select(ramp(f, 1, 8) < 3, …X[broadcast(0, 8)], X[broadcast(1, 8)]…, X[ramp(f - 3, 1, 8)])
/// Must run before remainders become what machines have.
Program pixel_borders(const Program& program, const TargetCaps& caps);

/// Loads of neighbours in a row of which a border repeats some, or a mask takes not all, become
/// loads of a whole vector that lies in the row, whose lanes are permuted: where instructions have
/// no masks for elements that narrow, and where the row is proved to be one of the buffer's.
///     X[y, max(ramp(j - 1, 1, 16), broadcast(0, 16))]
///   → let start = max(min(j - 1, n - 16), 0) in permute(n >= 16 ? X[y, ramp(start, 1, 16)] : …,
///     max(ramp(i8(j - 1 - start), 1i8, 16), 0))
/// Must run while buffers have all their dimensions, and loops have become lanes.
Program whole_loads(const Program& program, const TargetCaps& caps);

/// Loads whose lanes lie side by side in pieces become dense loads under masks, chosen by lanes:
/// borders that repeat the outermost element, or that turn back.
///     X[min(ramp(i, 1, 8), broadcast(n - 1, 8))]
///   → select(ramp(i, 1, 8) > broadcast(n - 1, 8), X[broadcast(n - 1, 8)], X[ramp(i, 1, 8)])
/// Must run before comparisons become counts and before arms get masks.
Program piecewise_loads(const Program& program, const TargetCaps& caps);

/// Comparisons of indices that step evenly from lane to lane become masks of as many lanes as a
/// scalar counts.
///     ramp(i, 1, 8) < broadcast(n, 8) → ramp(0, 1, 8) < broadcast(i < n ? min(n - i, 8) : 0, 8)
Program count_lanes(const Program& program, const TargetCaps& caps);

/// Loads of temporaries under a mask of their first lanes take all lanes, where instructions have
/// no masks for elements that narrow: the temporary gets as many elements more.
///     alloc T: u8[n]: … T[ramp(i, 1, 16) where first lanes]
///   → alloc T: u8[n + 16]: … select(first lanes, T[ramp(max(min(i, n), 0), 1, 16)], 0)
/// Must run after comparisons have become counts and before arms get masks.
Program round_up_loads(const Program& program, const TargetCaps& caps);

/// As many stores that follow each other as the stride says that their lanes lie apart, to elements
/// next to each other, become shuffles and dense stores where those are fewer instructions. What
/// they store must not be read from the same buffer.
///     Y[ramp(i*2, 2, 8)] = a; Y[ramp(i*2 + 1, 2, 8)] = b
///   → Y[ramp(i*2, 1, 8)] = shuffle({a, b}, 0 8 1 9 …); Y[ramp(i*2 + 8, 1, 8)] = shuffle(…)
/// Must run before loads are shared, which stores end.
Program zip_stores(const Program& program, const TargetCaps& caps);

/// Stores of neighbouring columns of a matrix, lane l to row l, become one transposition in
/// registers and dense stores of rows, where the last of them stands. Other statements may stand
/// between them; loads of what they store take the value.
///     Y[ramp(i, n, 8)] = a; Y[ramp(i + 1, n, 8)] = b; …
///   → let column = a; let column = b; … Y[ramp(i, 1, 8)] = shuffle(…); Y[ramp(i + n, 1, 8)] = …
/// Must run before loads are shared, as stores end that.
Program turn_stores(const Program& program, const TargetCaps& caps);

/// Loads whose lanes are known numbers of elements apart, in no order that a ramp says but within
/// the length of one vector, or of two, become dense loads of these elements and shuffles: borders
/// that repeat the outermost element, or go on at the other side.
///     X[max(ramp(-1, 1, 8), broadcast(0, 8))]
///   → shuffle({X[ramp(0, 1, 4)], X[ramp(3, 1, 4)]}, 0 0 1 2 3 5 6 7)
Program near_loads(const Program& program, const TargetCaps& caps);

/// Loads whose lanes lie 2 or more elements apart become dense loads, which end with the last
/// element that is read, and shuffles of them, where those are fewer instructions than moving each
/// element. Loads of neighbours, of one statement or of several that nothing is stored between,
/// share them.
///     X[ramp(i*2, 2, 8)] + X[ramp(i*2 + 1, 2, 8)]
///   → let a = X[ramp(i*2, 1, 8)], b = X[ramp(i*2 + 8, 1, 8)];
///     shuffle({a, b}, 0 2 4 6 8 10 12 14) + shuffle({a, b}, 1 3 5 7 9 11 13 15)
/// Must run after masks have become counts, of which a dense load takes as many elements as the
/// lanes need.
Program deinterleave_loads(const Program& program, const TargetCaps& caps);

/// Vectors between shuffles, which are computed lane by lane, have their lanes in the order that
/// makes those shuffles the fewest instructions: what does not leave 16 bytes is one below AVX-512,
/// where others are two or more. Loads and stores keep the order of memory.
///     a = shuffle({x, y}, 0 2 4 6 8 10 12 14); b = shuffle({x, y}, 1 3 5 7 9 11 13 15);
///     X[…] = shuffle({a * 2, b}, 0 8 1 9 2 10 3 11)
///   → a = shuffle({x, y}, 0 2 8 10 4 6 12 14); b = shuffle({x, y}, 1 3 9 11 5 7 13 15);
///     X[…] = shuffle({a * 2, b}, 0 8 1 9 4 12 5 13)
/// Must run after loads and stores that lie apart have become shuffles.
Program order_lanes(const Program& program, const TargetCaps& caps);

/// Loads in the arms of a select by lanes get the lanes that choose the arm as their mask, so that
/// both arms can be computed; an arm of much work becomes one of a select by "any lane".
///     select(c, X[i], 0.0) → select(c, X[i] if c, 0.0)
Program mask_arms(const Program& program);

/// Indices of lanes that lie anywhere become a scalar and lanes of 32 bits, where those are enough:
/// also where only limits say so of a float that became an integer, which then limit the float.
///     X[broadcast(k, 8) + max(min(i64(x), 99), 0)]
///   → X[i64(i32(fast_min(99.0, fast_max(0.0, x)))) + broadcast(k, 8)]
Program narrow_indices(const Program& program);

/// Vectors of i64 become floats as i32 where they have no more bits, as places in a row, and else
/// as mantissas where the target converts them one by one.
///     for i < 100: f32x8(ramp(i * 8, 1, 8)) → f32x8(ramp(i32(i * 8), 1, 8))
Program narrow_conversions(const Program& program, const TargetCaps& caps);

/// Quotients and remainders of indices by what is no constant are bound ahead of the serial loops
/// that they do not depend on, also where only an arm needs them: x / 0 is a number here.
///     for j: Y[j + n*i] = select(c, X[(i + 1) % n * n + j], 0.0)
///   → let q = (i + 1) % n: for j: Y[j + n*i] = select(c, X[q*n + j], 0.0)
Program hoist_quotients(const Program& program);

/// Operators whose meaning no machine has become ones that it has (ir/machine_form.hpp): division
/// by 0 and -1, shifts by the width and more, min and max of floats, saturating casts.
///     a / b → select(b == 0, 0, a / max(b, 1))      x << n → x << (n & 31)
Program guard_operators(const Program& program, const TargetCaps& caps);

/// Stores of long computations that follow each other, copies of an unrolled loop or registers of
/// one vector, become their operations in turn, then the stores: while one waits for a result
/// another can go on. All stores below the same names, as a reducer's results, are one computation.
/// A processor looks ahead less far than such a computation is long, and LLVM leaves it where it
/// stands. As many go in turn as the target's units and registers take. What reads what another
/// stores stays behind it.
Program interleave_stores(const Program& program, const Target& target);

}  // namespace lathe

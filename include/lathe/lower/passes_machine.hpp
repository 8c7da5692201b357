// The lowering passes from flat code to what a target's instructions can do, in pipeline order;
// each in a file of its name.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/target.hpp>

namespace lathe {

/// x * y + z becomes fma(x, y, z), one rounding less, where the product has no other use. A target
/// without the instruction keeps its program. Not run under `strict`.
///     a * b + c → fma(a, b, c)      c - a * b → fma(-a, b, c)      a * b - c → fma(a, b, -c)
Program contract(const Program& program, const Target& target);

/// exp exp2 log log2 sin cos tan tanh erf and pow become arithmetic of f32 or f64. The error
/// against the exact result, in units in the last place, is at most
///          exp  exp2  log  log2  sin  cos  tan  tanh  erf  pow
///     f32  1.0   1.0  1.9   1.8  2.2  2.2  4.0   2.7  1.7  0.6
///     f64  1.0   1.0  1.0   1.0  1.8  1.8  4.0   2.7  1.5  1.0
/// on targets with fma, and 1 (f64: 1.5) more on others; measured, for f32 on every 257th of all
/// arguments. Special values are the C library's. Each lane's result depends on that lane's
/// argument alone. Narrower types compute in f32 and round.
Program expand_math(const Program& program, const Target& target);

/// f16, bf16, 8-bit floats and 4-bit integers become their bits: buffers, variables and lanes hold
/// unsigned integers (i4: i8), arithmetic decodes to f32 (i32), computes, and encodes with one
/// rounding. Bit-exact to ir/narrow.hpp. Params change their buffers' dtype to the integer of the
/// same size.
Program legalize_types(const Program& program, const Target& target);

/// Operators that no instruction of the target does become ones that it has: floordiv and floormod
/// become shifts, masks or truncating division where the dividend can't be negative; scalb without
/// AVX-512, rounding without SSE4.1, dot4 without VNNI and dot2 without BF16 become arithmetic.
Program legalize_ops(const Program& program, const Target& target);

/// Stores of long computations that follow each other, copies of an unrolled loop or registers of
/// one vector, become their operations in turn, then the stores: while one waits for a result
/// another can go on. A processor looks ahead less far than such a computation is long, and LLVM
/// leaves it where it stands. What reads what another stores stays behind it.
Program interleave_stores(const Program& program);

}  // namespace lathe

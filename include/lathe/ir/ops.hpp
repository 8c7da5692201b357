// The operators of expressions: one table for each kind, which names, printer, parser, evaluator
// and back ends follow.
#pragma once

#include <cstdint>
#include <string_view>

namespace lathe {

// clang-format off

// Binary operators: name, and how the text form spells it (a word means call syntax).
#define LATHE_BINARY_OPS(X) \
  X(add, "+")         X(sub, "-")         X(mul, "*")         X(div, "/")         X(mod, "%")   \
  X(floordiv, "floordiv")                 X(floormod, "floormod")                               \
  X(min, "min")       X(max, "max")       X(fast_min, "fast_min")  X(fast_max, "fast_max")      \
  X(and_, "&&")       X(or_, "||")                                                              \
  X(bit_and, "&")     X(bit_or, "|")      X(bit_xor, "^")     X(shl, "<<")        X(shr, ">>")  \
  X(eq, "==")  X(ne, "!=")  X(lt, "<")  X(le, "<=")  X(gt, ">")  X(ge, ">=")

#define LATHE_UNARY_OPS(X) X(neg, "-") X(not_, "!") X(bit_not, "~")

// Calls: name, number of arguments, pure. round is to nearest even. reinterpret keeps the bits and
// changes the dtype. prefetch(load, locality) is an Evaluate only.
// scalb(x, n) is x * 2^n with one rounding, n of x's type and rounded down; infinite n multiply by
// infinity or 0, and what they make of NaN isn't said (x86 has infinity and 0).
// logb(x) is the exponent of |x|, floor(log2(|x|)): -inf of zeros. significand(x) is x * 2^n in
// [3/4, 3/2) with n an integer: 1 of zeros and of inf, NaN of negative numbers.
// reciprocal_estimate(x) is 1/x and rsqrt_estimate(x) 1/sqrt(x), of f32, to 2^-14: machines differ
// in the bits behind. Exact of zeros, infinities and NaN; rsqrt_estimate(-0) is -inf.
// permute(v, lanes): lane l is v[lanes[l]], of numbers of i8 from 0 to the count of v's lanes - 1.
// Lanes of a and b are folded in groups into those of the sum, which has fewer:
//   dot4(sum, a, b): sum[l] + a[4l]*b[4l] + … + a[4l+3]*b[4l+3], of integers of 8 bits, each signed
//   or not, in i32, modulo 2^32.
//   dot_words(sum, a, b): sum[l] + a[2l]*b[2l] + a[2l+1]*b[2l+1], of i16 in i32, modulo 2^32.
//   sad8(sum, a, b): sums of absolute differences, sum[2l] + |a[8l] - b[8l]| + … + |a[8l+7] -
//   b[8l+7]| and sum[2l+1] as it is, of u8 in i32, modulo 2^32.
//   mat_dot8(sum, a, b): of 2 x 2 sums, 2 rows of 8 in a, and 2 columns of 8 in b, of integers as
//   dot4 has them: sum[4t + 2i + j] + a[16t + 8i]*b[16t + 8j] + … + a[16t + 8i + 7]*b[16t + 8j + 7].
//   dot2(sum, a, b): of bf16 (or of their bits, u16) in f32: fma(a[2l], b[2l], fma(a[2l+1],
//   b[2l+1], sum[l])), two roundings; operands that are subnormal, and results that would be with
//   any exponent, are zeros of their sign.
//   odd_dot2(sum, a, b): of bf16 (or their bits) in f32, sum[l] + (a[2l]*b[2l] + a[2l+1]*b[2l+1]),
//   each sum rounded to odd: to one of its two neighbours, that whose last bit is set, or infinite.
//   Subnormal numbers as above.
//   odd_mat_dot4(sum, a, b): of 2 x 2 sums, 2 rows of 4 in a, and 2 columns of 4 in b: odd_dot2 of
//   their first halves, and then of the others.
// Two-dimensional tiles, their rows one after the other in the lanes, are values of stores alone:
//   tile(value, rows): the value, a load or zeros, as a tile of so many rows.
//   tile_dot(sum, a, b): of m x n, m x k, and k x n whose rows stand in each other by groups of 4
//   (integers of 8 bits, as for dot4) or 2 (bf16, as for dot2): lane (p, q*4 + g) is row p*4 + g.
//   The sum is what is stored to. Of bf16, products of each of the two parts of all groups are
//   folded by fma, then both added, then the sum: fma(…fma(a[0], b[0], 0)…), subnormals as above.
//   tile_configure(rows, columns of the first four, of the last four): how large the eight tile
//   registers are, a byte and 16 bits each, in bytes; zeros give them back. An Evaluate only.
#define LATHE_CALL_OPS(X) \
  X(exp, 1, true)       X(exp2, 1, true)      X(log, 1, true)       X(log2, 1, true)      \
  X(sin, 1, true)       X(cos, 1, true)       X(tan, 1, true)       X(tanh, 1, true)      \
  X(erf, 1, true)       X(sqrt, 1, true)      X(pow, 2, true)       X(abs, 1, true)       \
  X(floor, 1, true)     X(ceil, 1, true)      X(trunc, 1, true)     X(round, 1, true)     \
  X(fma, 3, true)       X(copysign, 2, true)  X(is_nan, 1, true)    X(scalb, 2, true)     \
  X(popcount, 1, true)  X(reinterpret, 1, true)                                           \
  X(prefetch, 2, false) X(dot4, 3, true)      X(dot2, 3, true)      X(dot_words, 3, true) \
  X(expm1, 1, true)     X(log1p, 1, true)     X(atan, 1, true)      X(atan2, 2, true)     \
  X(cbrt, 1, true)      X(tile, 2, true)      X(tile_dot, 3, true)                        \
  X(tile_configure, 3, false)                 X(logb, 1, true)      X(significand, 1, true) \
  X(mat_dot8, 3, true)  X(odd_dot2, 3, true)  X(odd_mat_dot4, 3, true)                    \
  X(sad8, 3, true)      X(permute, 2, true)                                               \
  X(reciprocal_estimate, 1, true)             X(rsqrt_estimate, 1, true)

// clang-format on

enum class BinaryOp : std::uint8_t {
#define LATHE_OP(name, text) name,
  LATHE_BINARY_OPS(LATHE_OP)
#undef LATHE_OP
};
enum class UnaryOp : std::uint8_t {
#define LATHE_OP(name, text) name,
  LATHE_UNARY_OPS(LATHE_OP)
#undef LATHE_OP
};
enum class CallOp : std::uint8_t {
#define LATHE_OP(name, arity, pure) name,
  LATHE_CALL_OPS(LATHE_OP)
#undef LATHE_OP
};

std::string_view op_text(BinaryOp op);
std::string_view op_text(UnaryOp op);
std::string_view op_text(CallOp op);
int op_arity(CallOp op);
bool op_pure(CallOp op);
/// Calls whose result has fewer lanes than some arguments.
constexpr bool is_dot(CallOp op) {
  return op == CallOp::dot4 || op == CallOp::dot2 || op == CallOp::dot_words ||
         op == CallOp::mat_dot8 || op == CallOp::odd_dot2 || op == CallOp::odd_mat_dot4 ||
         op == CallOp::sad8 || op == CallOp::tile_dot;
}
/// Calls whose lanes take others than the same lanes of each argument.
constexpr bool crosses_lanes(CallOp op) { return is_dot(op) || op == CallOp::permute; }
/// Whose products, or differences, a lane of a dot adds up: `count` lanes of each operand, from
/// these on.
struct DotLanes {
  int a = 0, b = 0, count = 1;
};
/// Of every dot but tile_dot.
constexpr DotLanes dot_lanes(CallOp op, int sum) {
  if (op == CallOp::sad8) return {sum / 2 * 8, sum / 2 * 8, sum % 2 == 0 ? 8 : 0};
  const int count = op == CallOp::mat_dot8                             ? 8
                    : op == CallOp::dot4 || op == CallOp::odd_mat_dot4 ? 4
                                                                       : 2;
  if (op == CallOp::mat_dot8 || op == CallOp::odd_mat_dot4)
    return {sum / 2 * count, (sum / 4 * 2 + sum % 2) * count, count};
  return {sum * count, sum * count, count};
}
/// Calls that are the value of a store, and of nothing else.
constexpr bool is_tile(CallOp op) { return op == CallOp::tile || op == CallOp::tile_dot; }
/// Calls that put exponents on or take them off.
constexpr bool is_of_exponents(CallOp op) {
  return op == CallOp::scalb || op == CallOp::logb || op == CallOp::significand;
}
/// Calls whose results differ between machines.
constexpr bool is_estimate(CallOp op) {
  return op == CallOp::reciprocal_estimate || op == CallOp::rsqrt_estimate;
}
constexpr bool is_comparison(BinaryOp op) { return op >= BinaryOp::eq; }
constexpr bool is_logic(BinaryOp op) { return op == BinaryOp::and_ || op == BinaryOp::or_; }
/// a op b is b op a.
constexpr bool is_commutative(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::mul:
    case BinaryOp::min:
    case BinaryOp::max:
    case BinaryOp::and_:
    case BinaryOp::or_:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::eq:
    case BinaryOp::ne:
      return true;
    default:
      return false;
  }
}

}  // namespace lathe

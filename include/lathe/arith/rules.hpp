// Identities for data of every integer and floating type: a table, one rule a line.
#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe {
namespace detail {

// Identities that hold for every value of the type, one per line: operator, what the right operand
// is, the result, the types. Integer arithmetic wraps, so only what holds modulo 2^bits is here;
// for floats, only what is exact for NaN, infinities and both zeros (x + 0 isn't: -0 + 0 is +0).
enum class When : std::uint8_t {
  zero,
  one,
  all_ones,
  minus_zero,
  same,
  left_zero,
  left_one,
  left_all_ones
};
enum class Gives : std::uint8_t { left, right, zero, all_ones };
enum class For : std::uint8_t { ints, floats, bools };

struct DataRule {
  BinaryOp op;
  When when;
  Gives gives;
  For type;
};

inline constexpr DataRule kDataRules[] = {
    {BinaryOp::add, When::zero, Gives::left, For::ints},
    {BinaryOp::add, When::left_zero, Gives::right, For::ints},
    {BinaryOp::add, When::minus_zero, Gives::left, For::floats},
    {BinaryOp::sub, When::zero, Gives::left, For::ints},
    {BinaryOp::sub, When::zero, Gives::left, For::floats},
    {BinaryOp::sub, When::same, Gives::zero, For::ints},
    {BinaryOp::mul, When::one, Gives::left, For::ints},
    {BinaryOp::mul, When::one, Gives::left, For::floats},
    {BinaryOp::mul, When::left_one, Gives::right, For::ints},
    {BinaryOp::mul, When::left_one, Gives::right, For::floats},
    {BinaryOp::mul, When::zero, Gives::zero, For::ints},
    {BinaryOp::mul, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::div, When::one, Gives::left, For::ints},
    {BinaryOp::div, When::one, Gives::left, For::floats},
    {BinaryOp::div, When::zero, Gives::zero, For::ints},
    {BinaryOp::div, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::mod, When::one, Gives::zero, For::ints},
    {BinaryOp::mod, When::zero, Gives::zero, For::ints},
    {BinaryOp::mod, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::mod, When::same, Gives::zero, For::ints},
    {BinaryOp::floordiv, When::one, Gives::left, For::ints},
    {BinaryOp::floordiv, When::zero, Gives::zero, For::ints},
    {BinaryOp::floordiv, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::floormod, When::one, Gives::zero, For::ints},
    {BinaryOp::floormod, When::zero, Gives::zero, For::ints},
    {BinaryOp::floormod, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::floormod, When::same, Gives::zero, For::ints},
    {BinaryOp::min, When::same, Gives::left, For::ints},
    {BinaryOp::max, When::same, Gives::left, For::ints},
    {BinaryOp::fast_min, When::same, Gives::left, For::ints},
    {BinaryOp::fast_max, When::same, Gives::left, For::ints},
    {BinaryOp::bit_and, When::same, Gives::left, For::ints},
    {BinaryOp::bit_and, When::zero, Gives::zero, For::ints},
    {BinaryOp::bit_and, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::bit_and, When::all_ones, Gives::left, For::ints},
    {BinaryOp::bit_and, When::left_all_ones, Gives::right, For::ints},
    {BinaryOp::bit_or, When::same, Gives::left, For::ints},
    {BinaryOp::bit_or, When::zero, Gives::left, For::ints},
    {BinaryOp::bit_or, When::left_zero, Gives::right, For::ints},
    {BinaryOp::bit_or, When::all_ones, Gives::all_ones, For::ints},
    {BinaryOp::bit_or, When::left_all_ones, Gives::all_ones, For::ints},
    {BinaryOp::bit_xor, When::same, Gives::zero, For::ints},
    {BinaryOp::bit_xor, When::zero, Gives::left, For::ints},
    {BinaryOp::bit_xor, When::left_zero, Gives::right, For::ints},
    {BinaryOp::shl, When::zero, Gives::left, For::ints},
    {BinaryOp::shl, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::shr, When::zero, Gives::left, For::ints},
    {BinaryOp::shr, When::left_zero, Gives::zero, For::ints},
    {BinaryOp::and_, When::one, Gives::left, For::bools},
    {BinaryOp::and_, When::left_one, Gives::right, For::bools},
    {BinaryOp::and_, When::zero, Gives::zero, For::bools},
    {BinaryOp::and_, When::left_zero, Gives::zero, For::bools},
    {BinaryOp::and_, When::same, Gives::left, For::bools},
    {BinaryOp::or_, When::zero, Gives::left, For::bools},
    {BinaryOp::or_, When::left_zero, Gives::right, For::bools},
    {BinaryOp::or_, When::one, Gives::right, For::bools},
    {BinaryOp::or_, When::left_one, Gives::left, For::bools},
    {BinaryOp::or_, When::same, Gives::left, For::bools},
};

}  // namespace detail
}  // namespace lathe

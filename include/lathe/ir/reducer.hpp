// The reducers that have a name of their own.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/vec.hpp>
#include <string_view>

namespace lathe {

/// The reducer with this name for elements of these dtypes; none if there is no such reducer.
///   sum prod           0 and a + b, 1 and a * b                              (integers and floats)
///   min max            the largest and the least value, min(a, b), max(a, b); floats start from
///   ±inf, e4m3 from ±448 any all            false and a || b, true and a && b (bool) argmin argmax
///   (value, position): the better value, on ties the lower position; a NaN is better than any
///   number.
///                      Starts from the identity of min or max and the largest position.
ReducerRef builtin_reducer(std::string_view name, const Vec<DType>& dtypes);

/// How an operator behaves as a combiner.
struct CombinerRow {
  BinaryOp op;
  bool ints, floats;  ///< associative and commutative there
  bool rounds;        ///< reordering floats changes the rounding
};
/// Null for operators that have no law on any type.
const CombinerRow* find_combiner(BinaryOp op);
/// Whether it combines as argmin or argmax do, from whatever identity.
bool is_arg_reducer(const ReducerNode& reducer);
/// An arg-reducer with positions of another type, of which the identity has the largest.
ReducerRef with_position_type(const ReducerNode& reducer, DType position);

}  // namespace lathe

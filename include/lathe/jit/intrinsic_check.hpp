// Trials of tensor intrinsics: whether a row computes what it says.
#pragma once

#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/support/error.hpp>
#include <string>

namespace lathe {

/// The first element in which implementation and description differ when the evaluator runs both;
/// empty if there is none. On bits of all kinds, or, for a row that changes rounding, on small
/// integers, whose sums are exact in any order. For tests of rows: tensorize believes them. L0236 a
/// row of no use.
std::string intrinsic_difference(const TensorIntrin& row, Location where = Location::here());

}  // namespace lathe

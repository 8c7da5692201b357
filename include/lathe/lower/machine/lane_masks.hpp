// Masks as expressions: whether any lane is chosen, and which lanes of an operand feed chosen ones.
#pragma once

#include <lathe/ir/expr.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe::detail {

/// Whether a lane of the mask is set, as a scalar.
AnyExpr any_lane(const AnyExpr& mask);
/// The mask of an operand whose lane map[l] feeds lane l of what `mask` chooses (-1: none does).
AnyExpr mask_of_operand(const AnyExpr& mask, int operand_lanes, const Vec<int>& map);
/// The same where each of `lanes` lanes may feed any other.
AnyExpr mask_of_lanes(const AnyExpr& mask, int lanes);
AnyExpr mask_and(const AnyExpr& a, const AnyExpr& b);  ///< an empty one chooses all

/// The integers that masks of so many lanes compare. A mask is as wide as what is compared: where
/// no register is one of bits, bytes if words would fill several.
DType mask_integer(int lanes, const TargetCaps& caps);
/// Lanes 0 to count - 1 of a mask, where 0 <= count <= lanes.
AnyExpr first_lanes(const AnyExpr& count, int lanes, const TargetCaps& caps);
/// The count of such a mask, or of one of known numbers; empty for any other.
AnyExpr count_of_first_lanes(const AnyExpr& mask);
/// How many of the elements first, first + 1 … of as many lanes are below the limit.
AnyExpr lanes_before(const AnyExpr& limit, std::int64_t first, int lanes);

}  // namespace lathe::detail

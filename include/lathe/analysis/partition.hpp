// Steady iterations of a loop: those in which conditions below it hold whatever the loops inside
// do. For the step partition, and for lowering, which peels the other iterations.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/arith/facts.hpp>
#include <lathe/ir/stmt.hpp>
#include <optional>

namespace lathe::detail {

/// What the schedule says of a loop.
Partition partition_of(const ForNode& loop);

/// The tail of the split that this loop is the inner one of; exact if there is none.
Tail tail_of(const ForNode& loop);

/// A comparison below a loop that its variable decides, and the end of the range [from, to) of that
/// variable in which it is `value`.
struct SteadyCondition {
  const ExprNode* node;  ///< none: not in the program, but what a block's domain or a clamp asks
  bool value;
  bool exact;        ///< outside of the range it is not `value`
  bool peeled;       ///< a guard that depends on a loop whose tail is peel
  AnyExpr full;      ///< the loop's variable is in that range
  AnyExpr from, to;  ///< one of both

  bool is_start() const { return bool(from); }
};

/// What is between the bounds of min and max of min and max.
AnyExpr unclamped(AnyExpr e);

/// x of an index abs(x), which turns back at 0; else empty.
AnyExpr turned_at_zero(const AnyExpr& index);

/// A place that goes on at the other side, (i - 1 + n) % n, is dividend - shift but for a few
/// iterations: where shift <= dividend < end.
struct Wrapped {
  AnyExpr dividend, shift, end;
};
/// None where less than two thirds of the values lie in one period, or, of a period that only a
/// call tells, it is not known that they do.
std::optional<Wrapped> wrapped(const AnyExpr& e, const Facts& facts);

/// An index, or a comparison of two, as it is away from borders: between the ends of min and max,
/// on this side of what wraps around or is turned back, and as conditions usually choose it.
AnyExpr away_from_borders(const AnyExpr& e, const Facts& facts);
/// What a comparison of indices is for most of the values that its sides take; none where that is
/// not known.
std::optional<bool> usual_value(const AnyExpr& comparison, const Facts& facts);

/// Those below a loop whose value differs between its iterations, in program order, guards first.
/// `known` are the Dims and the loops around; conditions that depend on loops whose partition is
/// never are left out, and guards that depend on loops whose tail is mask.
Vec<SteadyCondition> steady_conditions(const ForNode& loop, const Facts& around,
                                       const Vec<VarRef>& known);

}  // namespace lathe::detail

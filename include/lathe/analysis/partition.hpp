// Steady iterations of a loop: those in which conditions below it hold whatever the loops inside
// do. For the step partition, and for lowering, which peels the other iterations.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/arith/facts.hpp>
#include <lathe/ir/stmt.hpp>

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

/// Those below a loop whose value differs between its iterations, in program order, guards first.
/// `known` are the Dims and the loops around; conditions that depend on loops whose partition is
/// never are left out, and guards that depend on loops whose tail is mask.
Vec<SteadyCondition> steady_conditions(const ForNode& loop, const Facts& around,
                                       const Vec<VarRef>& known);

}  // namespace lathe::detail

// Between which values an index expression lies when some of its variables run over their ranges.
#pragma once

#include <lathe/arith/facts.hpp>

namespace lathe {

/// Both ends inclusive; none means unbounded on that side.
struct Interval {
  AnyExpr min, max;

  bool bounded() const { return min.get() && max.get(); }
};

/// Constant bounds of an integer or boolean expression (all lanes of a vector) under the facts;
/// never too narrow.
ConstInterval const_bounds(const AnyExpr& e, const Facts& facts = {});

/// Bounds of the i64 expression e over the other variables, with the named ones relaxed over the
/// ranges that the facts give them: io*8 + ii + 1 with ii in [0, 8) relaxed is [io*8 + 1, io*8 +
/// 8]. The ends hold for every value of the relaxed variables; for an affine e with independent
/// ranges they are attained. Ranges are eliminated newest first, so a range may name an older
/// relaxed variable.
Interval bounds(const AnyExpr& e, const Vec<VarRef>& relaxed, const Facts& facts);

Interval interval_hull(const Interval& a, const Interval& b, const Facts& facts = {});
Interval interval_intersect(const Interval& a, const Interval& b, const Facts& facts = {});

}  // namespace lathe

// Vectors of indices whose lanes step by one, or not at all, in each of a few pieces.
#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe::detail {

bool is_uniform(const AnyExpr& index);  ///< all lanes are one, as is told from the form

/// Of the sum that an index is, the part that differs between lanes; the rest, a scalar, is added
/// to `base`. The whole index if it is no such sum.
AnyExpr without_uniform_terms(AnyExpr index, AnyExpr& base);

/// The ends that min and max by scalars put to lanes, from the inside out.
struct LaneEnds {
  AnyExpr lowest, highest;  ///< scalars; empty: no such end

  /// What such an operator holds, its end added; empty for any other expression.
  AnyExpr inside(const AnyExpr& e);

 private:
  void add(bool least, const AnyExpr& end);
};

/// Lanes that lie side by side, forwards or backwards, or are one element.
struct LanePiece {
  AnyExpr where;  ///< a mask: those of the lanes that no piece before takes; empty: all of them
  AnyExpr index;
};

/// What borders make of an index: min, max and abs of such vectors and choices between them. Each
/// lane belongs to the first piece that takes it, the last one takes what is left. Empty for other
/// indices, and for more than four pieces.
///     select(ramp(i, 1, 8) < n, ramp(i, 1, 8), ramp(2*n - i - 1, -1, 8))
///   → {ramp(i, 1, 8) < n: ramp(i, 1, 8)}, {ramp(2*n - i - 1, -1, 8)}
Vec<LanePiece> lane_pieces(const AnyExpr& index);

}  // namespace lathe::detail

// Vectors of indices whose lanes step by one, or not at all, in each of a few pieces.
#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe::detail {

bool is_uniform(const AnyExpr& index);  ///< all lanes are one, as is told from the form

/// Of the sum that an index is, the part that differs between lanes; the rest, a scalar, is added
/// to `base`. The whole index if it is no such sum.
AnyExpr without_uniform_terms(AnyExpr index, AnyExpr& base);

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

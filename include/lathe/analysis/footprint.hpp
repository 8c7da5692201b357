// Footprints: the memory that one iteration of a loop touches, buffer by buffer, and its
// operations.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe {

/// What is touched of one buffer: the smallest box known to hold it in each iteration. Sizes are
/// over Dims, the largest that they are in any iteration.
struct Footprint {
  Buffer buffer;
  Vec<AnyExpr> extents;  ///< of the box, at most the buffer's; none where nothing is known
  AnyExpr bytes;         ///< of the box; none: unknown
  bool exact = false;    ///< all of the box is touched in each iteration: proven
  bool reads = false, writes = false;
};

/// What one iteration of a loop does.
struct Work {
  Vec<Footprint> buffers;  ///< in order of first use
  AnyExpr bytes;           ///< of all of them; none: unknown
  /// Arithmetic, comparisons and math functions on values, not on indices. An expression node
  /// counts once, fma twice, both arms of a select, a dot product's terms twice each. None:
  /// unknown.
  AnyExpr operations;
  bool exact = false;  ///< no guard, condition or inner bound makes the operations fewer: proven
};

/// Of one iteration of the loop with this variable, which the program must have; of the whole
/// program for none.
Work work_of(const Program& program, const VarRef& loop = {});

namespace detail {

/// Operations of an expression, as Work counts them.
std::int64_t value_cost(const AnyExpr& e);
/// Of two sizes, where none stands for unknown and for what is beyond i64.
AnyExpr size_product(const AnyExpr& a, const AnyExpr& b);

}  // namespace detail

}  // namespace lathe

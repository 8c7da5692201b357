// Overlapping tiles of loops whose tail is Tail::shift: their plan, for split, the checks after
// later steps, and the pass that moves the last tile inward.
#pragma once

#include <lathe/analysis/access.hpp>
#include <string>

namespace lathe::detail {

/// The tiles start, start + …, and cover what is before `end`; the one that would reach past `end`
/// starts at end - extent of the loop instead and recomputes what the tile before it stored.
struct ShiftPlan {
  VarRef nest;      ///< the outermost loop that counts the tiles
  AnyExpr start;    ///< of a tile
  AnyExpr end;      ///< of all tiles; names no loop that counts them
  AnyExpr fits;     ///< there is one whole tile; names no loop that counts them
  std::string why;  ///< why this is not right, if it is not
};

bool is_shifted(const ForNode& loop);
ShiftPlan plan_shift(const Program& program, const VarRef& loop);
/// Loops with this tail, in program order.
Vec<VarRef> shifted_loops(const Stmt& s);

}  // namespace lathe::detail

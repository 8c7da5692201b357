// Registers of partial sums of integers, of which only the total is asked for.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// What is added to a register, as r = r + term; empty: the store does something else. `chosen`:
/// also to some lanes of it, r = select(c, r + term, r).
AnyExpr added_term(const StoreNode& n, bool chosen = false);

/// What is below an alloc of registers, if it does no more than begin sums with 0, add terms to
/// them, and then add up all lanes: which lane takes which term makes no difference then.
///     r0 = 0; r1 = 0; for k: {r0 = r0 + a; r1 = r1 + b}; s = r0 + r1; Y[0] = lanes of s, added up
class PartialSums {
 public:
  /// The registers of one total each; registers of any other use are in none. `reached` gets the
  /// allocs that this is about: those inside of loops are another question.
  static Vec<Vec<Buffer>> of(const Stmt& body, NodeSet& reached);
};

}  // namespace lathe::detail

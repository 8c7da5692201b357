// Expressions whose shared parts are computed once: a graph of nodes turned into values by name.
#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe {

/// The same expression with what stands at several places bound by lets, and with what is too tall
/// for recursion cut into pieces: of about as many nodes as e has distinct ones, where it would be
/// exponentially longer written out. Linear in the distinct nodes, without recursion.
///
/// A value is bound as far out as each evaluation needs it, never outside of the arm of a select
/// unless it is needed in any case or its loads are harmless: of elements that are read in any
/// case, or that their own form or the condition of their select keeps in bounds. What is short
/// stays written out, as matching and index analysis see through it; so e itself comes back where
/// nothing is worth a name.
AnyExpr bind_shared(const AnyExpr& e);

}  // namespace lathe

// The inputs that two points of a domain share wherever they share the values of some expressions.
#pragma once

#include <lathe/arith/iter_map.hpp>

namespace lathe {

/// Per input: proven equal in any two points of the domain that give every one of the (i64) values
/// the same result. The other variables, and what is loaded from memory, count as one in both
/// points. condition (may be none) holds in both. The domains may depend on each other.
///
/// Unlike iter_map it needs no form: floordiv(e, c) and floormod(e, c) tell e whatever e is, and a
/// sum tells its parts where those with small factors stay below the others' factors.
Vec<bool> determined_by(const Vec<AnyExpr>& values, const Vec<IterDomain>& inputs,
                        const AnyExpr& condition = {}, const Facts& facts = {});

/// Whether that holds of every input: different points never give the same values.
bool tell_apart(const Vec<AnyExpr>& values, const Vec<IterDomain>& inputs,
                const AnyExpr& condition = {}, const Facts& facts = {});

}  // namespace lathe

// Laws of a reducer: those that its structure proves, and those that numbers refute.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <span>
#include <string>

namespace lathe {

/// A fold that is split starts each part from the identity, and joins parts, of which some may be
/// empty, into one that started from it. That is right if combine(identity, x) and
/// combine(x, identity) are x for every x that folds give. Tried for a few of these: the first that
/// is changed, "combine(identity, 11.0) is 21.0", else empty.
std::string identity_problem(const ReducerNode& reducer);

/// Whether associativity and commutativity follow from the operators: each value combines by itself
/// with one that has them, or the reducer is argmin or argmax. Says nothing about the identity.
bool has_known_laws(const ReducerNode& reducer);

/// What refutes the laws that a reducer claims by its flags; else empty:
///     is not associative: combine(combine(1, 2), 3) is 17, combine(1, combine(2, 3)) is 12
/// Tried are all pairs and triples of the first values at which folds go wrong: the least numbers,
/// the ends of the type, the numbers in the combine itself with their neighbours, patterns of bits;
/// of integers of up to 16 bits all of these, where a combine is small and has few constants. Then
/// triples drawn from all of these, from what sums, quotients and differences reach a constant, and
/// from numbers of all magnitudes. Floats count as equal up to rounding. A reducer of several
/// values is tried with what `terms` give for such values of all that they read, and with folds of
/// that; without terms, with tuples of one number only, and folds of those.
std::string law_problem(const ReducerNode& reducer, std::span<const AnyExpr> terms = {});

}  // namespace lathe

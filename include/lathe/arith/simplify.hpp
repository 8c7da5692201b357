// Simplification, bounds and proofs of expressions, given facts about their variables.
#pragma once

#include <lathe/arith/facts.hpp>

namespace lathe {

/// An expression with the same value and dtype wherever the facts hold. Idempotent.
/// i64 expressions take a canonical form: a sum of coefficient * product + constant, terms in order
/// of occurrence, floordiv and floormod split along the divisor, comparisons with all terms on the
/// side where they are positive. Other integers get rules that hold modulo 2^bits; floats get exact
/// constant folding and identities that are exact for every value. Ramps and broadcasts are folded
/// lane-wise. Loads are kept; their indices are simplified. Expressions over budget are returned as
/// they are.
AnyExpr simplify(const AnyExpr& e, const Facts& facts = {});

/// Simplifies everything inside, collecting facts on the way (loops, block iterators, conditions).
/// Drops branches and asserts that are decided and loops that run nothing (not if a block inside
/// owns an init). Loops, unit loops included, and blocks keep their identity and their variables.
Stmt simplify(const Stmt& s, const Facts& facts = {});

/// True only if the boolean condition holds wherever the facts hold (on a vector: in all lanes).
bool prove(const AnyExpr& condition, const Facts& facts = {});
bool prove_eq(const AnyExpr& a, const AnyExpr& b, const Facts& facts = {});
bool prove_le(const AnyExpr& a, const AnyExpr& b, const Facts& facts = {});
bool prove_lt(const AnyExpr& a, const AnyExpr& b, const Facts& facts = {});

/// True if a = factor * k for an integer k wherever the facts hold; factor may be symbolic.
bool prove_divides(const AnyExpr& factor, const AnyExpr& a, const Facts& facts = {});

/// The value of an integer or boolean expression if it is one constant.
std::optional<std::int64_t> const_int(const AnyExpr& e, const Facts& facts = {});

/// Equality of structure with variables by identity; operands of sums, products, min, max, and, or
/// in any order.
bool same_expr(const AnyExpr& a, const AnyExpr& b);

/// Smart constructors for index arithmetic: constants fold, zero and one vanish, nothing else is
/// looked at.
AnyExpr fold_add(const AnyExpr& a, const AnyExpr& b);
AnyExpr fold_sub(const AnyExpr& a, const AnyExpr& b);
AnyExpr fold_mul(const AnyExpr& a, const AnyExpr& b);
AnyExpr fold_floordiv(const AnyExpr& a, const AnyExpr& b);
AnyExpr fold_floormod(const AnyExpr& a, const AnyExpr& b);
AnyExpr fold_min(const AnyExpr& a, const AnyExpr& b);
AnyExpr fold_max(const AnyExpr& a, const AnyExpr& b);
/// Conjunction where an empty expression means true.
AnyExpr fold_and(const AnyExpr& a, const AnyExpr& b);

}  // namespace lathe

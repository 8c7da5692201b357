#pragma once

#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

/// A nest that is to be one instance of a block: the loops around it, and those in it.
struct TileLoops {
  Vec<VarRef> outer, inner;
  Facts around;  ///< what holds outside of the nest
  Facts within;  ///< and at one of its blocks
  Vec<Buffer> written;

  bool names_outer(const AnyExpr& e) const { return names(e, outer); }
  bool names_inner(const AnyExpr& e) const { return names(e, inner); }
  static bool names(const AnyExpr& e, const Vec<VarRef>& vars) {
    for (const auto& v : vars)
      if (uses_var(e, v)) return true;
    return false;
  }
};

/// A binding as scale * quotient + rest + inner: the loops around are in the quotient alone, those
/// of the nest in `inner` alone.
struct SeparateBinding {
  AnyExpr scale, quotient, rest, inner;
};

// The terms with a factor that all of them have, over no loop, taken out of them; empty if there is
// none.
inline AnyExpr take_common_factor(Vec<Mono>& terms, const TileLoops& loops) {
  for (std::size_t k = 0; terms[0].degree() > 1 && k < terms[0].degree(); ++k) {
    const AnyExpr factor = terms[0].factor(k);
    if (loops.names_outer(factor)) continue;
    Vec<Mono> without;
    for (const auto& t : terms) {
      Vec<AnyExpr> left;
      bool found = false;
      for (std::size_t f = 0; f < t.degree(); ++f)
        if (!found && same_expr(t.factor(f), factor))
          found = true;
        else
          left.push_back(t.factor(f));
      if (!found || left.empty()) break;
      Mono next{t.coef, left[0], {}};
      for (std::size_t f = 1; f < left.size(); ++f) next.more.push_back(left[f]);
      without.push_back(std::move(next));
    }
    if (without.size() != terms.size()) continue;
    terms = std::move(without);
    return factor;
  }
  return {};
}

// The part over the loops around, divided by what all of its terms are multiples of.
inline bool take_quotient(const AnyExpr& outer, const TileLoops& loops, SeparateBinding& out) {
  Simplifier engine(loops.around);
  Poly sum = engine.poly(outer), rest = poly_const(sum.constant);
  if (engine.exhausted()) return false;
  Poly quotient;
  for (const auto& t : sum.terms) {
    bool varies = false;
    for (std::size_t k = 0; k < t.degree(); ++k) varies |= loops.names_outer(t.factor(k));
    if (!varies && !poly_add_term(rest, t)) return false;
    if (varies) quotient.terms.push_back(t);
  }
  const std::int64_t divisor = poly_gcd(quotient);
  if (divisor < 1) return false;
  for (auto& t : quotient.terms) t.coef /= divisor;
  out.scale = AnyExpr(divisor);
  while (AnyExpr factor = take_common_factor(quotient.terms, loops)) {
    if (!prove(factor > 0, loops.around)) return false;
    out.scale = fold_mul(out.scale, factor);
  }
  out.quotient = engine.emit(quotient);
  out.rest = engine.emit(rest);
  return true;
}

/// False if the loops of the nest and those around it don't separate. Without a quotient the
/// binding does not change from one instance to the next.
inline bool separate(const AnyExpr& binding, const TileLoops& loops, SeparateBinding& out) {
  Substitution first;
  for (const auto& v : loops.inner) first.emplace_back(v, AnyExpr(0));
  const AnyExpr whole = simplify(binding, loops.within);
  const AnyExpr outer = simplify(substitute(whole, first), loops.around);
  out.inner = simplify(fold_sub(whole, outer), loops.within);
  if (loops.names_outer(out.inner)) return false;
  if (loops.names_outer(outer)) return take_quotient(outer, loops, out);
  out.rest = outer;
  return true;
}

/// Whether each instance lies in the iterator's domain as a whole or not at all, because both count
/// in steps of the scale; then the domain of the quotient.
inline bool domain_in_steps(const IterVar& it, const SeparateBinding& b, const TileLoops& loops,
                            Range& out) {
  const Interval span = bounds(b.inner, loops.inner, loops.within);
  if (!span.bounded() || loops.names_outer(span.min) || loops.names_outer(span.max)) return false;
  const AnyExpr first = fold_add(b.rest, span.min);
  const AnyExpr count = fold_add(fold_sub(span.max, span.min), AnyExpr(1));
  const AnyExpr start = fold_sub(it.min, first);
  if (!prove_le(count, b.scale, loops.around) || !prove_divides(b.scale, start, loops.around) ||
      !prove_divides(b.scale, it.extent, loops.around))
    return false;
  out = {simplify(fold_floordiv(start, b.scale), loops.around),
         simplify(fold_floordiv(it.extent, b.scale), loops.around)};
  for (const auto* e : {&out.min, &out.extent})
    if (loops.names_outer(*e) || loops.names_inner(*e)) return false;
  return true;
}

/// All values that the quotient takes; whether they lie in the iterator's domain is another
/// question.
inline bool domain_reached(const Program& program, const SeparateBinding& b, const TileLoops& loops,
                           Range& out) {
  const Interval reached = bounds(b.quotient, loops.outer, loops.around);
  if (!reached.bounded() || !over_dims(program, reached.min) || !over_dims(program, reached.max))
    return false;
  out = {simplify(reached.min, loops.around),
         simplify(fold_add(fold_sub(reached.max, reached.min), AnyExpr(1)), loops.around)};
  return true;
}

}  // namespace lathe::detail

// Terms of polynomials as products.
#pragma once

#include <lathe/arith/poly.hpp>

namespace lathe::detail {

inline AnyExpr product_of(const Mono& m) {
  AnyExpr out(m.coef);
  for (std::size_t k = 0; k < m.degree(); ++k)
    if (m.factor(k)) out = fold_mul(m.factor(k), out);
  return out;
}

inline void add_factor(Mono& m, const AnyExpr& factor) {
  if (m.atom)
    m.more.push_back(factor);
  else
    m.atom = factor;
}

// term = unit * out, factor by factor.
inline bool divide_term(const Mono& term, const Mono& unit, Mono& out) {
  if (unit.coef == 0 || term.coef % unit.coef != 0) return false;
  Vec<bool> gone(term.degree(), false);
  for (std::size_t k = 0; unit.atom.get() && k < unit.degree(); ++k) {
    std::size_t at = 0;
    while (at < term.degree() && (gone[at] || !same_expr(term.factor(at), unit.factor(k)))) ++at;
    if (at == term.degree()) return false;
    gone[at] = true;
  }
  out = Mono();
  out.coef = term.coef / unit.coef;
  for (std::size_t k = 0; k < term.degree(); ++k)
    if (!gone[k]) add_factor(out, term.factor(k));
  return static_cast<bool>(out.atom);
}

}  // namespace lathe::detail

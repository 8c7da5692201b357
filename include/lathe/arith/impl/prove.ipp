#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// p = factor * var + rest; false if var occurs more than once in a product or inside another part.
inline bool split_var(const Poly& p, const VarNode* var, Poly& factor, Poly& rest) {
  factor = rest = Poly();
  rest.constant = p.constant;
  for (const auto& t : p.terms) {
    std::size_t hits = 0, at = 0;
    for (std::size_t k = 0; k < t.degree(); ++k)
      if (t.factor(k).get() == var) ++hits, at = k;
    if (hits > 1) return false;
    if (hits == 0) {
      rest.terms.push_back(t);
      continue;
    }
    if (t.degree() == 1) {
      factor.constant = t.coef;
      continue;
    }
    Mono m;
    m.coef = t.coef;
    for (std::size_t k = 0; k < t.degree(); ++k) {
      if (k == at) continue;
      if (!m.atom.get())
        m.atom = t.factor(k);
      else
        m.more.push_back(t.factor(k));
    }
    factor.terms.push_back(std::move(m));
  }
  return true;
}

inline bool poly_mentions(const Poly& p, const VarNode* var) {
  for (const auto& t : p.terms)
    for (std::size_t k = 0; k < t.degree(); ++k)
      if (t.factor(k).get() == var) return true;
  return false;
}

// Replaces fact.var by the end of its range that bounds p.
LATHE_DECL bool Simplifier::bound_var(Poly& p, bool upper, const Facts::Node& fact) {
  Poly factor, rest, product;
  if (!split_var(p, fact.var.get(), factor, rest)) return false;
  if (factor.is_const() && factor.constant == 0) return true;
  Poly minus = factor;
  if (!poly_scale(minus, -1)) return false;
  const bool positive = nonneg(factor, 1);
  if (!positive && !nonneg(minus, 1)) return false;
  const bool take_max = positive == upper;
  AnyExpr end = take_max ? fact.max : fact.min;
  Poly value;
  ConstInterval r = facts_.range(fact.var);
  if (!end.get() || as_const_int(end)) {
    if (take_max ? !r.has_max() : !r.has_min()) return false;
    value = poly_const(take_max ? r.max : r.min);
  } else {
    value = poly(end);
  }
  if (!poly_mul(product, factor, value) || !poly_add(rest, product)) return false;
  p = recombine(std::move(rest));
  return true;
}

LATHE_DECL bool Simplifier::nonneg(const Poly& p, int depth) {
  if (p.is_const()) return p.constant >= 0;
  if (--budget_ <= 0) return false;
  ConstInterval r = range(p);
  if (r.min >= 0) return true;
  // Simplifying inside a proof asks for proofs again: those get less depth than the one around
  // them.
  const int around = allowed_;
  if (depth > around) depth = around;
  if (r.max < 0 || depth <= 0) return false;
  allowed_ = depth - 1;
  const bool proven = nonneg_symbolic(p, depth - 1) || nonneg_facts(p, depth - 1) ||
                      nonneg_atoms(p, depth - 1) || nonneg_multiplied(p, depth - 1);
  allowed_ = around;
  return proven;
}

// Conditions that compare a quotient are facts about its dividend.
LATHE_DECL bool Simplifier::nonneg_multiplied(const Poly& p, int depth) {
  Poly less = p;  // p >= 0 is -p - 1 < 0
  return poly_scale(less, -1) && poly_add(less, poly_const(-1)) && multiply_quotient(less) &&
         poly_add(less, poly_const(1)) && poly_scale(less, -1) && nonneg(less, depth);
}

// Eliminates variables with symbolic ranges, newest first, then asks again.
LATHE_DECL bool Simplifier::nonneg_symbolic(const Poly& p, int depth) {
  Poly q;
  bool changed = false, linear = true;
  for (const auto& t : p.terms) linear = linear && t.more.empty();
  for (const auto* f = facts_.newest(); f && budget_ > 0; f = f->next.get()) {
    if (f->kind != Facts::Kind::symbolic) continue;
    const bool constant_ends = as_const_int(f->min) && as_const_int(f->max);
    const Poly& now = changed ? q : p;
    if ((linear && constant_ends) || !poly_mentions(now, f->var.get())) continue;
    Poly factor, rest;
    if (!split_var(now, f->var.get(), factor, rest)) continue;
    // Constant ends with a constant factor are what range() uses anyway.
    if (factor.is_const() && constant_ends) continue;
    if (!changed) q = p;
    if (!bound_var(q, false, *f)) continue;
    changed = true;
    if (range(q).min >= 0) return true;
  }
  if (linear && !changed) return false;
  if (!changed) q = p;
  for (std::size_t k = 0; k < q.terms.size(); ++k) {
    const Mono t = q.terms[k];
    for (std::size_t f = 0; t.degree() > 1 && f < t.degree(); ++f) {
      const auto* v = t.factor(f).as<VarNode>();
      Facts::Node constant;
      constant.var = VarRef(v);
      if (!v || !bound_var(q, false, constant)) continue;
      changed = true;
      if (range(q).min >= 0) return true;
      k = static_cast<std::size_t>(-1);
      break;
    }
  }
  return changed && depth > 0 && (nonneg_facts(q, depth - 1) || nonneg_atoms(q, depth - 1));
}

// p >= 0 follows from f >= 0 if p*b - f*a >= 0 for a, b > 0 chosen so that a common term cancels.
LATHE_DECL bool Simplifier::nonneg_facts(const Poly& p, int depth) {
  int tried = 0;
  for (const auto* f = facts_.newest(); f && budget_ > 0 && tried < 16; f = f->next.get()) {
    if (f->kind != Facts::Kind::nonneg && f->kind != Facts::Kind::zero) continue;
    Poly fact = poly_of_emitted(f->min);
    for (const auto& t : p.terms) {
      const Mono* match = nullptr;
      for (const auto& u : fact.terms)
        if (same_product(t, u)) match = &u;
      if (!match) continue;
      const bool same_sign = (match->coef > 0) == (t.coef > 0);
      if (!same_sign && f->kind == Facts::Kind::nonneg) continue;
      std::int64_t g = gcd64(t.coef, match->coef);
      if (g <= 0) continue;
      std::int64_t a = t.coef / g, b = match->coef / g;
      if (b < 0) a = -a, b = -b;
      Poly q = p;
      ++tried;
      if (poly_scale(q, b) && poly_add(q, fact, -a) && nonneg(recombine(std::move(q)), depth))
        return true;
    }
  }
  return false;
}

// For d > 0, q >= e floordiv d exactly where (q + 1) * d > e, and e floordiv d >= -q exactly where
// e >= -q * d.
LATHE_DECL bool Simplifier::nonneg_quotient(const Poly& p, std::size_t k, int depth) {
  const Mono term = p.terms[k];
  const auto* n = term.atom.as<BinaryNode>();
  if (term.coef != 1 && term.coef != -1) return false;
  const Poly inner = poly_of_emitted(n->a), divisor = poly_of_emitted(n->b);
  Poly q = p, above = divisor, product;
  q.terms.erase_at(k);
  if (term.coef < 0 && !poly_add(q, poly_const(1))) return false;
  if (!poly_add(above, poly_const(-1)) || !poly_mul(product, q, divisor)) return false;
  if (!poly_add(product, inner, term.coef) || !safe(inner) || !safe(product)) return false;
  if (term.coef < 0 && !poly_add(product, poly_const(-1))) return false;
  return nonneg(above, depth) && nonneg(product, depth);
}

// a floordiv d is at least b floordiv d where a >= b and d > 0.
LATHE_DECL bool Simplifier::nonneg_quotients(const Poly& p, int depth) {
  QuotientPair pair;
  if (!quotient_pair(p, pair)) return false;
  if (range_of(pair, 0).min >= 0) return true;
  Poly above = poly_of_emitted(pair.divisor);
  return poly_add(above, poly_const(-1)) && nonneg(pair.gap, depth) && nonneg(above, depth) &&
         nonneg(pair.rest, depth);
}

// For d > 0, e floormod d is at most d - 1.
LATHE_DECL bool Simplifier::nonneg_remainder(const Poly& p, std::size_t k, int depth) {
  const Mono term = p.terms[k];
  Poly last = poly_of_emitted(term.atom.as<BinaryNode>()->b), q = p;
  q.terms.erase_at(k);
  return term.coef < 0 && !last.is_const() && poly_add(last, poly_const(-1)) &&
         poly_add(q, last, term.coef) && safe(q) && nonneg(last, depth) && nonneg(q, depth);
}

// u * (e floordiv c) lies between u/c * (e - c + 1) and u/c * e where c divides u.
LATHE_DECL bool Simplifier::nonneg_div(const Poly& p, std::size_t k, int depth) {
  const Mono term = p.terms[k];
  const auto* n = term.atom.as<BinaryNode>();
  const auto* c = n->b.as<ConstNode>();
  if (!c) return nonneg_quotient(p, k, depth);
  if (c->i <= 1 || term.coef % c->i != 0) return false;
  std::int64_t v = term.coef / c->i;
  Poly inner = poly_of_emitted(n->a), q = p;
  if (v > 0 && !poly_add(inner, poly_const(c->i - 1), -1)) return false;
  q.terms.erase_at(k);
  return safe(inner) && poly_add(q, inner, v) && nonneg(q, depth);
}

// Takes min, max, select and divisions apart. A min that counts positively must hold for both
// sides; one that counts negatively is at least either side.
LATHE_DECL bool Simplifier::nonneg_atoms(const Poly& p, int depth) {
  if (nonneg_quotients(p, depth)) return true;
  for (std::size_t k = 0; k < p.terms.size() && budget_ > 0; ++k) {
    const Mono& t = p.terms[k];
    if (!t.more.empty()) continue;
    const auto* n = t.atom.as<BinaryNode>();
    const auto* s = t.atom.as<SelectNode>();
    if (n && n->op == BinaryOp::floordiv && nonneg_div(p, k, depth)) return true;
    if (n && n->op == BinaryOp::floormod && nonneg_remainder(p, k, depth)) return true;
    const bool is_min = n && n->op == BinaryOp::min, is_max = n && n->op == BinaryOp::max;
    if (!is_min && !is_max && !s) continue;
    Poly with_a = p, with_b;
    with_a.terms.erase_at(k);
    with_b = with_a;
    const Poly a = poly_of_emitted(n ? n->a : s->yes), b = poly_of_emitted(n ? n->b : s->no);
    if (!safe(a) || !safe(b) || !poly_add(with_a, a, t.coef) || !poly_add(with_b, b, t.coef))
      continue;
    if (!safe(with_a) || !safe(with_b)) continue;
    const bool both = s || (t.coef > 0) == is_min;
    if (both ? nonneg(with_a, depth) && nonneg(with_b, depth)
             : nonneg(with_a, depth) || nonneg(with_b, depth))
      return true;
  }
  return false;
}

// Bounds over relaxed variables

inline bool mentions_any(const AnyExpr& e, const Vec<VarRef>& vars) {
  if (const auto* v = e.as<VarNode>()) {
    for (const auto& x : vars)
      if (x.get() == v) return true;
    return false;
  }
  if (const auto* n = e.as<BinaryNode>())
    return mentions_any(n->a, vars) || mentions_any(n->b, vars);
  if (e.kind() == ExprKind::Const) return false;
  for (const auto& v : vars)
    if (uses_var(e, v)) return true;
  return false;
}

LATHE_DECL bool Simplifier::bound_atom(const AnyExpr& atom, bool upper, const Vec<VarRef>& relaxed,
                                       int depth, Poly& out) {
  const auto* n = atom.as<BinaryNode>();
  auto side = [&](const AnyExpr& e, bool up, Poly& p) {
    p = poly(e);
    return safe(p) && bound(p, up, relaxed, depth - 1);
  };
  Poly a, b;
  const bool extremum = n && (n->op == BinaryOp::min || n->op == BinaryOp::max);
  if (extremum) {
    const bool left = side(n->a, upper, a), right = side(n->b, upper, b);
    if (left && right) return out = min_max(n->op, a, b), true;
    // min(a, b) <= a even if nothing is known of b.
    if (upper == (n->op == BinaryOp::min) && (left || right)) return out = left ? a : b, true;
  }
  if (n && n->op == BinaryOp::floordiv && !mentions_any(n->b, relaxed)) {
    Poly divisor = poly(n->b), positive = divisor;
    if (poly_add(positive, poly_const(-1)) && nonneg(positive) && side(n->a, upper, a))
      return out = floordiv(a, divisor), true;
  }
  if (n && n->op == BinaryOp::floormod && !mentions_any(n->b, relaxed)) {
    Poly divisor = poly(n->b), positive = divisor;
    if (poly_add(positive, poly_const(-1)) && nonneg(positive)) {
      ConstInterval r = range(atom);
      if (upper ? r.has_max() : true)
        return out = poly_const(upper ? r.max : r.min > 0 ? r.min : 0), true;
      return out = positive, true;
    }
  }
  if (const auto* s = atom.as<SelectNode>()) {
    if (side(s->yes, upper, a) && side(s->no, upper, b))
      return out = min_max(upper ? BinaryOp::max : BinaryOp::min, a, b), true;
  }
  ConstInterval r = range(atom);
  if (upper ? !r.has_max() : !r.has_min()) return false;
  out = poly_const(upper ? r.max : r.min);
  return true;
}

// Bounds every part other than a plain variable that mentions a relaxed variable.
LATHE_DECL bool Simplifier::bound_atoms(Poly& p, bool upper, const Vec<VarRef>& relaxed,
                                        int depth) {
  for (std::size_t k = 0; k < p.terms.size(); ++k) {
    const Mono t = p.terms[k];
    std::size_t hits = 0, at = 0;
    bool plain = true;
    for (std::size_t f = 0; f < t.degree(); ++f) {
      if (!mentions_any(t.factor(f), relaxed)) continue;
      ++hits, at = f;
      plain = plain && t.factor(f).kind() == ExprKind::Var;
    }
    if (hits == 0 || (hits == 1 && plain)) continue;
    Poly rest = poly_const(t.coef), part, value;
    for (std::size_t f = 0; f < t.degree(); ++f)
      if (f != at && (!poly_mul(part, rest, poly_atom(t.factor(f))) || (rest = part, false)))
        return false;
    p.terms.erase_at(k);
    Poly minus = rest;
    if (!poly_scale(minus, -1)) return false;
    const bool positive = hits == 1 && nonneg(rest),
               negative = hits == 1 && !positive && nonneg(minus);
    if ((positive || negative) &&
        bound_atom(t.factor(at), upper == positive, relaxed, depth, value)) {
      if (!poly_mul(part, rest, value)) return false;
    } else {
      Poly whole;
      whole.terms.push_back(t);
      ConstInterval r = range(whole);
      if (upper ? !r.has_max() : !r.has_min()) return false;
      part = poly_const(upper ? r.max : r.min);
    }
    if (!poly_add(p, part)) return false;
    k = static_cast<std::size_t>(-1);
    if (--budget_ <= 0) return false;
  }
  return true;
}

LATHE_DECL bool Simplifier::bound(Poly& p, bool upper, const Vec<VarRef>& relaxed, int depth) {
  if (relaxed.empty()) return true;
  if (depth <= 0 || budget_ <= 0 || !bound_atoms(p, upper, relaxed, depth)) return false;
  for (const auto* f = facts_.newest(); f; f = f->next.get()) {
    if (f->kind != Facts::Kind::symbolic || !poly_mentions(p, f->var.get())) continue;
    bool wanted = false;
    for (const auto& v : relaxed) wanted = wanted || v == f->var;
    if (!wanted) continue;
    Poly before = p;
    if (!bound_var(p, upper, *f)) {
      // The sign of the factor isn't known, or the variable occurs squared: constants only.
      p = before;
      continue;
    }
    if (!bound_atoms(p, upper, relaxed, depth)) return false;
  }
  for (const auto& v : relaxed) {
    if (!poly_mentions(p, v.get())) continue;
    Facts::Node constant;
    constant.var = v;
    if (bound_var(p, upper, constant)) continue;
    ConstInterval r = range(p);
    if (upper ? !r.has_max() : !r.has_min()) return false;
    p = poly_const(upper ? r.max : r.min);
  }
  return true;
}

}  // namespace detail
}  // namespace lathe

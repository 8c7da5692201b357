#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>

namespace lathe {
namespace detail {

LATHE_DECL Poly Simplifier::floordiv(const Poly& a, const Poly& b) {
  if (b.is_const()) return floordiv_const(a, b.constant);
  return div_symbolic(a, b, false);
}
LATHE_DECL Poly Simplifier::floormod(const Poly& a, const Poly& b) {
  if (b.is_const()) return floormod_const(a, b.constant);
  return div_symbolic(a, b, true);
}

// a = c*q + r, where c divides none of r's coefficients and r's constant lies in [0, c).
LATHE_DECL Poly Simplifier::floordiv_const(const Poly& a, std::int64_t c) {
  if (c == 0) return poly_const(0);
  if (a.is_const()) return poly_const(floor_div(a.constant, c));
  if (c == 1) return a;
  if (!safe(a) || c == ConstInterval::kNegInf) return op_atom(BinaryOp::floordiv, a, poly_const(c));
  if (c < 0) {
    Poly negated = a;
    if (!poly_scale(negated, -1)) return op_atom(BinaryOp::floordiv, a, poly_const(c));
    return floordiv_const(negated, -c);
  }
  Poly q, r;
  for (const auto& t : a.terms) {
    Mono m = t;
    if (t.coef % c == 0) m.coef /= c;
    (t.coef % c == 0 ? q : r).terms.push_back(std::move(m));
  }
  q.constant = floor_div(a.constant, c);
  r.constant = floor_mod(a.constant, c);
  if (!safe(r)) return op_atom(BinaryOp::floordiv, a, poly_const(c));
  Poly rest = floordiv_rest(std::move(r), c);
  if (!poly_add(q, rest)) return op_atom(BinaryOp::floordiv, a, poly_const(c));
  return recombine(std::move(q));
}

// Coefficients beyond c are taken apart (x*9 is x*8 + x) only where that settles the division: x*8
// + y, divided by 6, must stay recognisable as one counter.
LATHE_DECL bool Simplifier::reduce_coefs(const Poly& r, std::int64_t c, Poly& q, Poly& rest) {
  bool large = false;
  q = Poly();
  rest = poly_const(r.constant);
  for (const auto& t : r.terms) {
    Mono high = t, low = t;
    high.coef = t.coef / c;
    low.coef = t.coef % c;
    large = large || high.coef != 0;
    if (high.coef != 0) q.terms.push_back(std::move(high));
    if (low.coef != 0) rest.terms.push_back(std::move(low));
  }
  if (!large) return false;
  ConstInterval in = range(rest);
  if (!in.has_min() || !in.has_max()) return false;
  std::int64_t shift = floor_div(in.min, c);
  if (shift != floor_div(in.max, c)) return false;
  return poly_add(q, poly_const(shift)) && poly_add(rest, poly_const(c), -shift);
}

// Which multiple of c lies below all that r is, if conditions or bounds that name other variables
// say so. With its constant in [0, c), 1 is x - 1 where x is at least 1.
LATHE_DECL std::optional<std::int64_t> Simplifier::period_of(const Poly& r, std::int64_t c) {
  const std::int64_t period = r.constant > c / 2 ? 1 : 0;
  Poly above = r, room;
  if (!poly_add(above, poly_const(c), -period)) return {};
  room = poly_const(c - 1);
  if (!poly_add(room, above, -1) || !nonneg(above) || !nonneg(room)) return {};
  return period;
}

LATHE_DECL Poly Simplifier::floordiv_rest(Poly r, std::int64_t c) {
  if (r.is_const()) return poly_const(floor_div(r.constant, c));
  ConstInterval range_r = range(r);
  if (range_r.has_min() && range_r.has_max()) {
    std::int64_t lo = floor_div(range_r.min, c);
    if (lo == floor_div(range_r.max, c)) return poly_const(lo);
  }
  if (const auto period = period_of(r, c)) return poly_const(*period);
  Poly high, low, out;
  std::int64_t g = 1;
  if (reduce_coefs(r, c, high, low)) return high;
  if (pull_gcd(r, c, g, high, low)) return floordiv_const(high, c / g);
  if (budget_ > 0 && floordiv_nested(r, c, out)) return out;
  return op_atom(BinaryOp::floordiv, r, poly_const(c));
}

// (p floordiv d + k) floordiv c is (p + k*d) floordiv (c*d); (p floormod m) floordiv c is
// (p floordiv c) floormod (m / c) where c divides m.
LATHE_DECL bool Simplifier::floordiv_nested(const Poly& r, std::int64_t c, Poly& out) {
  if (r.terms.size() != 1 || r.terms[0].coef != 1 || !r.terms[0].more.empty()) return false;
  const auto* n = r.terms[0].atom.as<BinaryNode>();
  const auto* d = n ? n->b.as<ConstNode>() : nullptr;
  if (!d || d->i <= 0) return false;
  if (n->op == BinaryOp::floordiv) {
    const auto* var = n->a.as<VarNode>();
    if (var && facts_.factor(var) % d->i == 0) return false;
    std::int64_t shift, product;
    if (__builtin_mul_overflow(r.constant, d->i, &shift) ||
        __builtin_mul_overflow(c, d->i, &product))
      return false;
    Poly p = poly(n->a);
    if (!poly_add(p, poly_const(shift))) return false;
    if (shift != 0 && !safe(p)) return false;
    out = floordiv_const(p, product);
    return true;
  }
  if (n->op == BinaryOp::floormod && r.constant == 0 && d->i % c == 0) {
    out = floormod_const(floordiv_const(poly(n->a), c), d->i / c);
    return true;
  }
  return false;
}

// r = g * high + low with 0 <= low < g and g > 1 a divisor of c: (g*high + low) floordiv c is high
// floordiv (c/g). What low exceeds by a multiple of g goes into high.
LATHE_DECL bool Simplifier::pull_gcd(const Poly& r, std::int64_t c, std::int64_t& g, Poly& high,
                                     Poly& low) {
  Vec<std::int64_t> candidates;
  for (const auto& t : r.terms) {
    std::int64_t d = gcd64(t.coef, c);
    for (const auto& x : candidates)
      if (x == d) d = 1;
    if (d > 1) candidates.push_back(d);
  }
  for (std::size_t tried = candidates.size(); tried > 0; --tried) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < candidates.size(); ++k)
      if (candidates[k] > candidates[best]) best = k;
    g = candidates[best];
    candidates.erase_at(best);
    high = poly_const(floor_div(r.constant, g));
    low = poly_const(floor_mod(r.constant, g));
    for (const auto& t : r.terms) {
      Mono m = t;
      if (t.coef % g == 0) m.coef /= g;
      (t.coef % g == 0 ? high : low).terms.push_back(std::move(m));
    }
    ConstInterval in = range(low);
    if (!in.has_min() || !in.has_max()) continue;
    std::int64_t shift = floor_div(in.min, g);
    if (shift != floor_div(in.max, g)) continue;
    if (poly_add(high, poly_const(shift)) && poly_add(low, poly_const(g), -shift)) return true;
  }
  return false;
}

LATHE_DECL Poly Simplifier::floormod_const(const Poly& a, std::int64_t c) {
  if (c == 0 || c == 1 || c == -1) return poly_const(0);
  if (a.is_const()) return poly_const(floor_mod(a.constant, c));
  if (!safe(a) || c == ConstInterval::kNegInf) return op_atom(BinaryOp::floormod, a, poly_const(c));
  if (c < 0) {
    Poly out = a;
    if (!poly_scale(out, -1)) return op_atom(BinaryOp::floormod, a, poly_const(c));
    out = floormod_const(out, -c);
    return poly_scale(out, -1) ? out : op_atom(BinaryOp::floormod, a, poly_const(c));
  }
  // p floormod m inside stands for p where c divides its coefficient times m.
  Poly r = poly_const(floor_mod(a.constant, c));
  bool opened = false;
  for (const auto& t : a.terms) {
    Mono m = t;
    if (t.coef % c == 0) continue;
    const auto* n = t.more.empty() ? t.atom.as<BinaryNode>() : nullptr;
    const auto* d = n && n->op == BinaryOp::floormod ? n->b.as<ConstNode>() : nullptr;
    std::int64_t period;
    bool open = d && d->i > 0 && !__builtin_mul_overflow(m.coef, d->i, &period) && period % c == 0;
    Poly inner = open ? poly_shallow(n->a) : Poly();
    if (open && safe(inner) && poly_add(r, inner, m.coef))
      opened = true;
    else if (!poly_add_term(r, std::move(m)))
      return op_atom(BinaryOp::floormod, a, poly_const(c));
  }
  if (!safe(r)) return op_atom(BinaryOp::floormod, a, poly_const(c));
  if (opened && budget_-- > 0) return floormod_const(r, c);
  return recombine(floormod_rest(r, c));
}

LATHE_DECL Poly Simplifier::floormod_rest(const Poly& r, std::int64_t c) {
  if (r.is_const()) return poly_const(floor_mod(r.constant, c));
  ConstInterval in = range(r);
  Poly out = r;
  if (in.has_min() && in.has_max()) {
    std::int64_t lo = floor_div(in.min, c);
    if (lo == floor_div(in.max, c) && poly_add(out, poly_const(c), -lo)) return out;
  }
  if (const auto period = period_of(r, c); period && poly_add(out, poly_const(c), -*period))
    return out;
  Poly high, low;
  std::int64_t g = 1;
  if (reduce_coefs(r, c, high, low)) return low;
  if (pull_gcd(r, c, g, high, low)) {
    out = floormod_const(high, c / g);
    if (poly_scale(out, g) && poly_add(out, low)) return out;
  }
  return op_atom(BinaryOp::floormod, r, poly_const(c));
}

// Symbolic divisors

// t = u * (product over rest); false if u's product isn't contained in t's.
inline bool divide_mono(const Mono& t, const Mono& u, Poly& quotient) {
  if (t.coef % u.coef != 0 || u.degree() > t.degree()) return false;
  Vec<bool> used(t.degree(), false);
  for (std::size_t i = 0; i < u.degree(); ++i) {
    std::size_t j = 0;
    while (j < t.degree() && (used[j] || !same_expr(u.factor(i), t.factor(j)))) ++j;
    if (j == t.degree()) return false;
    used[j] = true;
  }
  quotient = poly_const(t.coef / u.coef);
  for (std::size_t j = 0; j < t.degree(); ++j) {
    Poly next;
    if (!used[j] && (!poly_mul(next, quotient, poly_atom(t.factor(j))) || (quotient = next, false)))
      return false;
  }
  return true;
}

// a = b*q + r, q from the terms of a that b's term of highest degree divides.
inline bool divide_poly(const Poly& a, const Poly& b, Poly& q, Poly& r) {
  const Mono* lead = &b.terms[0];
  for (const auto& t : b.terms)
    if (t.degree() > lead->degree()) lead = &t;
  if (lead->coef == ConstInterval::kNegInf || lead->coef == -1) return false;
  q = Poly();
  for (const auto& t : a.terms) {
    Poly part;
    if (divide_mono(t, *lead, part) && !poly_add(q, part)) return false;
  }
  Poly product;
  r = a;
  return poly_mul(product, q, b) && poly_add(r, product, -1);
}

LATHE_DECL Poly Simplifier::div_symbolic(const Poly& a, const Poly& b, bool mod) {
  const BinaryOp op = mod ? BinaryOp::floormod : BinaryOp::floordiv;
  if (a.is_const() && a.constant == 0) return a;
  Poly q, r;
  if (!safe(a) || !safe(b) || !divide_poly(a, b, q, r)) return op_atom(op, a, b);
  const bool exact = r.is_const() && r.constant == 0;
  if (exact && mod) return r;
  Poly above = b;  // b - 1: both b > 0 and, minus r, r < b
  if (!poly_add(above, poly_const(1), -1)) return op_atom(op, a, b);
  const bool positive = nonneg(above);
  if (exact && positive) return q;
  const bool moved = !(q.is_const() && q.constant == 0);
  // x*n + n - 1 first gives x + 1 and -1: a step back may be what lands in [0, b).
  for (int back = 0; back < 2; ++back) {
    Poly room = above, rest = r, quotient = q;
    if (back && (!poly_add(rest, b) || !poly_add(quotient, poly_const(-1)))) break;
    if (poly_add(room, rest, -1) && nonneg(rest) && nonneg(room)) return mod ? rest : quotient;
  }
  if (!positive || !moved) return op_atom(op, a, b);
  Poly rest = op_atom(op, r, b);
  if (mod) return rest;
  return poly_add(q, rest) ? q : op_atom(op, a, b);
}

}  // namespace detail
}  // namespace lathe

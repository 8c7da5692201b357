#pragma once

#include <algorithm>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

LATHE_DECL Poly Simplifier::poly_var(const VarNode* var) {
  AnyExpr self = VarRef(var);
  if (!facts_.newest()) return poly_atom(self);
  if (!facts_.keeps_unit_vars()) {
    ConstInterval r = facts_.range(var);
    if (r.is_point()) return poly_const(r.min);
  }
  std::int64_t m = facts_.factor(var);
  // n = m * (n floordiv m): the divisibility then shows up in every rule; emit_mono turns it back.
  return m > 1 ? poly_atom(lathe::floordiv(self, AnyExpr(m)), m) : poly_atom(self);
}

LATHE_DECL Poly Simplifier::poly_of_emitted(const AnyExpr& e) {
  Poly sum = poly_shallow(e), out = poly_const(sum.constant);
  auto is_multiple = [&](const AnyExpr& factor) {
    const auto* var = factor.as<VarNode>();
    return var && facts_.factor(var) > 1;
  };
  bool multiples = false;
  for (const Mono& t : sum.terms)
    for (std::size_t k = 0; k < t.degree(); ++k) multiples = multiples || is_multiple(t.factor(k));
  if (!multiples) return sum;
  for (const Mono& t : sum.terms) {
    Poly product = poly_const(t.coef), more;
    for (std::size_t k = 0; k < t.degree(); ++k) {
      const AnyExpr f = t.factor(k);
      if (!poly_mul(more, product, is_multiple(f) ? poly_var(f.as<VarNode>()) : poly_atom(f)))
        return sum;
      product = more;
    }
    if (!poly_add(out, product)) return sum;
  }
  return out;
}

LATHE_DECL Poly Simplifier::poly(const AnyExpr& e) {
  if (const auto* c = e.as<ConstNode>()) return poly_const(c->i);
  if (--budget_ <= 0) return poly_atom(e);
  switch (e.kind()) {
    case ExprKind::Var:
      return poly_var(e.as<VarNode>());
    case ExprKind::Binary:
      return poly_binary(*e.as<BinaryNode>());
    case ExprKind::Unary: {
      const auto* n = e.as<UnaryNode>();
      if (n->op != UnaryOp::neg) break;
      Poly p = poly(n->a);
      if (poly_scale(p, -1)) return p;
      break;
    }
    default:
      break;
  }
  AnyExpr s = structural(e);
  if (const auto* c = s.as<ConstNode>()) return poly_const(c->i);
  // A folded select or let leaves something that is canonical already.
  if (s.kind() == ExprKind::Binary || s.kind() == ExprKind::Var) return poly(s);
  return poly_atom(s);
}

LATHE_DECL Poly Simplifier::poly_mul_or_atom(const Poly& a, const Poly& b) {
  Poly out;
  if (a.terms.size() * b.terms.size() <= 24 && poly_mul(out, a, b)) return out;
  return op_atom(BinaryOp::mul, a, b);
}

LATHE_DECL Poly Simplifier::op_atom(BinaryOp op, const Poly& a, const Poly& b) {
  return poly_atom(make_binary(op, emit(a), emit(b)));
}

LATHE_DECL Poly Simplifier::poly_binary(const BinaryNode& n) {
  Poly a = poly(n.a), b = poly(n.b);
  switch (n.op) {
    case BinaryOp::add:
    case BinaryOp::sub:
      if (!poly_add(a, b, n.op == BinaryOp::add ? 1 : -1)) return op_atom(n.op, poly(n.a), b);
      return recombine(std::move(a));
    case BinaryOp::mul:
      return recombine(poly_mul_or_atom(a, b));
    case BinaryOp::floordiv:
      return floordiv(a, b);
    case BinaryOp::floormod:
      return floormod(a, b);
    case BinaryOp::div:
    case BinaryOp::mod: {
      bool floor = safe(a) && safe(b) && nonneg(a) && nonneg(b);
      if (floor) return n.op == BinaryOp::div ? floordiv(a, b) : floormod(a, b);
      break;
    }
    case BinaryOp::min:
    case BinaryOp::fast_min:
      return min_max(BinaryOp::min, a, b);
    case BinaryOp::max:
    case BinaryOp::fast_max:
      return min_max(BinaryOp::max, a, b);
    case BinaryOp::shl:
    case BinaryOp::shr: {
      if (!b.is_const()) break;
      std::int64_t width = floor_mod(b.constant, 64);
      if (width > 62) break;
      Poly power = poly_const(std::int64_t{1} << width);
      return n.op == BinaryOp::shl ? poly_mul_or_atom(a, power) : floordiv(a, power);
    }
    default:
      break;
  }
  AnyExpr s = binary_data(n.op, emit(a), emit(b));
  const auto* kept = s.as<BinaryNode>();
  return kept && kept->op == n.op ? poly_atom(s) : poly(s);
}

LATHE_DECL Poly Simplifier::min_max(BinaryOp op, const Poly& a, const Poly& b) {
  const bool is_min = op == BinaryOp::min;
  if (poly_equal(a, b)) return a;
  Poly diff = a;
  if (!poly_add(diff, b, -1) || !safe(a) || !safe(b)) {
    AnyExpr s = binary_data(op, emit(a), emit(b));
    return s.as<ConstNode>() ? poly_const(s.as<ConstNode>()->i) : poly_atom(s);
  }
  if (nonneg(diff)) return is_min ? b : a;
  if (poly_scale(diff, -1) && nonneg(diff)) return is_min ? a : b;
  const AnyExpr* right_atom = b.as_atom();
  const auto* nested = right_atom ? right_atom->as<BinaryNode>() : nullptr;
  if (nested && nested->op == op)
    return min_max(op, min_max(op, a, poly(nested->a)), poly(nested->b));
  // min(min(x, c), d): try d against each operand, so that constants meet.
  const AnyExpr* atom = a.as_atom();
  const auto* inner = atom ? atom->as<BinaryNode>() : nullptr;
  if (inner && inner->op == op) {
    AnyExpr left = inner->a, right = inner->b;
    Poly p = poly(left), q = poly(right);
    auto comparable = [&](const Poly& x, const Poly& y) {
      Poly d = x, e = y;
      return poly_add(d, y, -1) && poly_add(e, x, -1) && (nonneg(d, 1) || nonneg(e, 1));
    };
    if (comparable(q, b)) return min_max(op, p, min_max(op, q, b));
    if (comparable(p, b)) return min_max(op, min_max(op, p, b), q);
  }
  return op_atom(op, a, b);
}

// Sums

LATHE_DECL AnyExpr Simplifier::emit_mono(const Mono& m, std::int64_t coef, Vec<AnyExpr>& emitted) {
  AnyExpr out;
  for (std::size_t k = 0; k < m.degree(); ++k) {
    AnyExpr f = m.factor(k);
    if (f.kind() > ExprKind::Var) {
      // Two copies of what binds variables bind two.
      const bool again = std::any_of(emitted.begin(), emitted.end(),
                                     [&](const AnyExpr& e) { return e.same_as(f); });
      emitted.push_back(f);
      if (again) f = fresh_lets(f);
    }
    const auto* div = f.as<BinaryNode>();
    const auto* var = div && div->op == BinaryOp::floordiv ? div->a.as<VarNode>() : nullptr;
    const auto* c = var ? div->b.as<ConstNode>() : nullptr;
    if (c && c->i > 1 && coef % c->i == 0 && facts_.factor(var) % c->i == 0) {
      f = div->a;
      coef /= c->i;
    }
    out = out ? make_binary(BinaryOp::mul, out, f) : f;
  }
  return coef == 1 ? out : make_binary(BinaryOp::mul, out, AnyExpr(coef));
}

LATHE_DECL AnyExpr Simplifier::emit(const Poly& p) {
  AnyExpr out;
  Vec<AnyExpr> emitted;
  auto add = [&](AnyExpr e, bool minus) {
    out = !out.get() ? std::move(e)
                     : make_binary(minus ? BinaryOp::sub : BinaryOp::add, out, std::move(e));
  };
  for (const auto& t : p.terms)
    if (t.coef > 0) add(emit_mono(t, t.coef, emitted), false);
  const bool constant_first = !out.get() && !p.terms.empty() && p.constant > 0;
  if (constant_first) out = AnyExpr(p.constant);
  for (const auto& t : p.terms) {
    if (t.coef >= 0) continue;
    if (!out.get() || t.coef == ConstInterval::kNegInf)
      add(emit_mono(t, t.coef, emitted), false);
    else
      add(emit_mono(t, -t.coef, emitted), true);
  }
  if (!out.get()) return AnyExpr(p.constant);
  if (p.constant == 0 || constant_first) return out;
  if (p.constant > 0 || p.constant == ConstInterval::kNegInf)
    add(AnyExpr(p.constant), false);
  else
    add(AnyExpr(-p.constant), true);
  return out;
}

// x floordiv c * c + x floormod c is x, and x - x floordiv c * c is x floormod c

// Subtracts from p the terms of part, which must all be there with the same coefficients; constants
// always go.
inline bool take_out(Poly& p, const Poly& part) {
  Poly rest = p;
  std::size_t before = rest.terms.size();
  if (!poly_add(rest, part, -1) || rest.terms.size() + part.terms.size() != before) return false;
  p = std::move(rest);
  return true;
}

// Whether a term of p may be the quotient of this remainder: a division, too, or a remainder of
// one, times the divisor. Asked before the quotient is made, which takes proofs.
inline bool may_hold_quotient(const Poly& p, std::size_t k, const AnyExpr& divisor) {
  const auto* c = as_const_int(divisor);
  auto is_quotient = [](const AnyExpr& e) {
    const auto* n = e.as<BinaryNode>();
    return n && (n->op == BinaryOp::floordiv || n->op == BinaryOp::floormod);
  };
  for (std::size_t j = 0; j < p.terms.size(); ++j) {
    const Mono& t = p.terms[j];
    bool found = false;
    for (std::size_t f = 0; f < t.degree() && j != k; ++f)
      found = found || is_quotient(t.factor(f));
    if (found && (c ? *c != 0 && t.coef % *c == 0 : t.degree() > 1)) return true;
  }
  return false;
}

LATHE_DECL bool Simplifier::recombine_mod(Poly& p, std::size_t k, std::size_t f) {
  const Mono term = p.terms[k];
  const AnyExpr factor = term.factor(f);
  const auto* mod = factor.as<BinaryNode>();
  if (!may_hold_quotient(p, k, mod->b)) return false;
  Poly rest = poly_const(term.coef), part, whole;
  for (std::size_t j = 0; j < term.degree(); ++j)
    if (j != f && (!poly_mul(part, rest, poly_atom(term.factor(j))) || (rest = part, false)))
      return false;
  Poly inner = poly_shallow(mod->a), divisor = poly_shallow(mod->b);
  Poly quotient = floordiv(poly(mod->a), poly(mod->b));
  if (!poly_mul(part, quotient, divisor) || !poly_mul(whole, part, rest)) return false;
  if (quotient.terms.size() != 1 || !poly_add_term(whole, term)) return false;
  Poly result = p;
  if (!take_out(result, whole) || !poly_mul(part, inner, rest) || !poly_add(result, part))
    return false;
  p = std::move(result);
  return true;
}

LATHE_DECL bool Simplifier::recombine_div(Poly& p, std::size_t k) {
  const Mono term = p.terms[k];
  const auto* div = term.atom.as<BinaryNode>();
  const auto* c = term.more.empty() ? div->b.as<ConstNode>() : nullptr;
  if (!c || c->i <= 1 || term.coef % c->i != 0) return false;
  const auto* var = div->a.as<VarNode>();
  if (var && facts_.factor(var) % c->i == 0) return false;
  std::int64_t v = -(term.coef / c->i);
  Poly inner = poly_shallow(div->a), part = inner, result = p;
  if (!poly_scale(part, v) || !poly_add_term(part, term) || !take_out(result, part)) return false;
  Poly mod = floormod(inner, poly_const(c->i));
  if (!poly_scale(mod, v) || !poly_add(result, mod)) return false;
  p = std::move(result);
  return true;
}

// Splits p into the terms, but for term k, that meet a term of a or b, and the rest.
inline void split_shared(const Poly& p, std::size_t k, const Poly& a, const Poly& b, Poly& shared,
                         Poly& rest) {
  rest.constant = p.constant;
  for (std::size_t j = 0; j < p.terms.size(); ++j) {
    bool meets = false;
    for (const auto* side : {&a, &b})
      for (const auto& t : side->terms) meets = meets || (j != k && same_product(t, p.terms[j]));
    (meets ? shared : rest).terms.push_back(p.terms[j]);
  }
}

// min(a, b) + x becomes min(a + x, b + x) where that is shorter, x being terms that occur in a or
// b; x - min(a, b) becomes a max. The constant goes in only if it shortens by itself.
LATHE_DECL bool Simplifier::recombine_min_max(Poly& p, std::size_t k) {
  if (!p.terms[k].more.empty()) return false;
  const auto* n = p.terms[k].atom.as<BinaryNode>();
  if (!n || (n->op != BinaryOp::min && n->op != BinaryOp::max)) return false;
  const Mono term = p.terms[k];
  if (term.coef != 1 && term.coef != -1) return false;
  Poly a = poly_shallow(n->a), b = poly_shallow(n->b), shared, rest;
  split_shared(p, k, a, b, shared, rest);
  if (shared.terms.empty() && p.constant == 0) return false;
  const Poly constant = poly_const(p.constant);
  auto cost = [](const Poly& x) { return x.terms.size() + (x.constant != 0); };
  const std::size_t before = cost(a) + cost(b) + cost(shared) + cost(constant);
  if (!safe(a) || !safe(b) || !safe(shared)) return false;
  if (!poly_scale(a, term.coef) || !poly_scale(b, term.coef)) return false;
  if (!poly_add(a, shared) || !poly_add(b, shared)) return false;
  Poly a_in = a, b_in = b;
  if (!poly_add(a_in, constant) || !poly_add(b_in, constant)) return false;
  const std::size_t outside = cost(a) + cost(b) + cost(constant), inside = cost(a_in) + cost(b_in);
  if (outside >= before && inside >= before) return false;
  const bool in = inside < outside, is_min = (n->op == BinaryOp::min) == (term.coef > 0);
  Poly left = recombine(in ? a_in : a), right = recombine(in ? b_in : b);
  Poly out = min_max(is_min ? BinaryOp::min : BinaryOp::max, left, right);
  if (in) rest.constant = 0;
  Poly removed;
  removed.terms.push_back(term);
  if (!poly_add(rest, removed, -1) || !poly_add(rest, out)) return false;
  p = std::move(rest);
  return true;
}

LATHE_DECL bool Simplifier::recombine_step(Poly& p, std::size_t k) {
  bool has_div = false;
  if (recombine_min_max(p, k)) return true;
  for (std::size_t f = 0; f < p.terms[k].degree(); ++f) {
    AnyExpr factor = p.terms[k].factor(f);
    const auto* n = factor.as<BinaryNode>();
    if (n && n->op == BinaryOp::floormod && recombine_mod(p, k, f)) return true;
    has_div = has_div || (n && n->op == BinaryOp::floordiv);
  }
  return has_div && p.terms[k].more.empty() && recombine_div(p, k);
}

LATHE_DECL Poly Simplifier::recombine(Poly p) {
  if (p.terms.size() < 2 && p.constant == 0) return p;
  for (int rounds = 0; rounds < 16 && budget_ > 0; ++rounds) {
    bool changed = false;
    for (std::size_t k = 0; k < p.terms.size() && !changed; ++k) changed = recombine_step(p, k);
    if (!changed) break;
  }
  return p;
}

}  // namespace detail
}  // namespace lathe

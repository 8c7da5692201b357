#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>

namespace lathe {
namespace detail {

inline void flatten_logic(BinaryOp op, const AnyExpr& e, Vec<AnyExpr>& out) {
  const auto* n = e.as<BinaryNode>();
  if (!n || n->op != op) return out.push_back(e);
  flatten_logic(op, n->a, out);
  flatten_logic(op, n->b, out);
}

// The parts of a conjunction (or disjunction).
inline Vec<AnyExpr> parts_of(BinaryOp op, const AnyExpr& e) {
  Vec<AnyExpr> out;
  flatten_logic(op, e, out);
  return out;
}

LATHE_DECL AnyExpr Simplifier::boolean(const AnyExpr& e) {
  if (e.kind() == ExprKind::Const) return e;
  AnyExpr out;
  if (const auto* n = e.as<BinaryNode>()) {
    if (is_comparison(n->op))
      out = comparison(*n);
    else if (is_logic(n->op))
      out = logic(n->op, parts_of(n->op, e), false);
    else
      out = binary_data(n->op, expr(n->a), expr(n->b));
  } else if (const auto* u = e.as<UnaryNode>()) {
    out = u->op == UnaryOp::not_ ? negation(expr(u->a)) : unary_data(u->op, expr(u->a));
  } else {
    out = structural(e);
  }
  return out.kind() == ExprKind::Const ? out : known_truth(out);
}

inline BinaryOp inverse_comparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::eq:
      return BinaryOp::ne;
    case BinaryOp::ne:
      return BinaryOp::eq;
    case BinaryOp::lt:
      return BinaryOp::ge;
    case BinaryOp::le:
      return BinaryOp::gt;
    case BinaryOp::gt:
      return BinaryOp::le;
    default:
      return BinaryOp::lt;
  }
}
inline BinaryOp swapped_comparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::lt:
      return BinaryOp::gt;
    case BinaryOp::le:
      return BinaryOp::ge;
    case BinaryOp::gt:
      return BinaryOp::lt;
    case BinaryOp::ge:
      return BinaryOp::le;
    default:
      return op;
  }
}

// One is the negation of the other, read off their form.
inline bool opposite(const AnyExpr& x, const AnyExpr& y) {
  const auto *u = x.as<UnaryNode>(), *v = y.as<UnaryNode>();
  if (u && u->op == UnaryOp::not_ && same_expr(u->a, y)) return true;
  if (v && v->op == UnaryOp::not_ && same_expr(v->a, x)) return true;
  const auto *a = x.as<BinaryNode>(), *b = y.as<BinaryNode>();
  if (!a || !b || !is_comparison(a->op) || !is_comparison(b->op) || a->a.dtype().is_float())
    return false;
  const BinaryOp inverse = inverse_comparison(a->op);
  if (b->op == inverse && same_expr(a->a, b->a) && same_expr(a->b, b->b)) return true;
  return b->op == swapped_comparison(inverse) && same_expr(a->a, b->b) && same_expr(a->b, b->a);
}

// e itself, or what an assumption says about it literally.
LATHE_DECL AnyExpr Simplifier::known_truth(const AnyExpr& e) {
  for (const auto* f = facts_.newest(); f; f = f->next.get()) {
    if (f->kind != Facts::Kind::truth) continue;
    if (same_expr(f->min, e)) return make_bool(true);
    if (opposite(f->min, e)) return make_bool(false);
  }
  return e;
}

// What the parts of simplified logic say of each other, their negations say too, so that nothing is
// left to be learned: taking each under the others again takes time exponential in the depth.
LATHE_DECL AnyExpr Simplifier::negated_parts(BinaryOp op, const AnyExpr& e) {
  const BinaryOp dual = op == BinaryOp::and_ ? BinaryOp::or_ : BinaryOp::and_;
  AnyExpr out;
  for (const auto& part : parts_of(op, e)) {
    for (const auto& no : parts_of(dual, negation(part))) {
      const auto* c = as_const_int(no);
      if (c && (*c != 0) == (dual == BinaryOp::or_)) return make_bool(dual == BinaryOp::or_);
      if (!c) out = out.get() ? make_binary(dual, out, no) : no;
    }
  }
  return out.get() ? out : make_bool(dual == BinaryOp::and_);
}

// The operand is simplified. Ordered float comparisons have no inverse (NaN); eq and ne do.
LATHE_DECL AnyExpr Simplifier::negation(const AnyExpr& e) {
  if (const auto* c = as_const_int(e)) return make_int(e.dtype(), *c == 0);
  if (const auto* u = e.as<UnaryNode>(); u && u->op == UnaryOp::not_) return u->a;
  const auto* n = e.as<BinaryNode>();
  if (!n) return make_unary(UnaryOp::not_, e);
  if (is_comparison(n->op)) {
    const bool invertible =
        !n->a.dtype().is_float() || n->op == BinaryOp::eq || n->op == BinaryOp::ne;
    if (!invertible) return make_unary(UnaryOp::not_, e);
    return settled(make_binary(inverse_comparison(n->op), n->a, n->b));
  }
  if (is_logic(n->op)) {
    const AnyExpr out = negated_parts(n->op, e);
    return out.kind() == ExprKind::Const ? out : known_truth(out);
  }
  return make_unary(UnaryOp::not_, e);
}

// What is simplified under fewer facts, or is one operator of simplified parts: what the facts say
// of it as a whole. The parts are not entered, where each level would be walked for each around it.
LATHE_DECL AnyExpr Simplifier::settled(const AnyExpr& e) {
  const auto* n = e.as<BinaryNode>();
  AnyExpr out = e;
  if (n && is_logic(n->op))
    out = logic(n->op, parts_of(n->op, e), true);
  else if (n && is_comparison(n->op) && n->a.dtype() == kIndex)
    out = compare_index(n->op, poly_of_emitted(n->a), poly_of_emitted(n->b));
  else if (n && is_comparison(n->op))
    out = compare_range(n->op, n->a, n->b);
  return out.kind() == ExprKind::Const ? out : known_truth(out);
}

LATHE_DECL AnyExpr Simplifier::comparison(const BinaryNode& n) {
  if (n.a.dtype() == kIndex) return compare_index(n.op, poly(n.a), poly(n.b));
  AnyExpr a = expr(n.a), b = expr(n.b);
  if (n.a.dtype().is_bool() && (n.op == BinaryOp::eq || n.op == BinaryOp::ne)) {
    if (as_const_int(a)) std::swap(a, b);
    if (const auto* c = as_const_int(b))
      return (*c != 0) == (n.op == BinaryOp::eq) ? a : negation(a);
  }
  return compare_range(n.op, a, b);
}

// By constant ranges only: right for every integer type, since nothing is moved across the
// comparison.
LATHE_DECL AnyExpr Simplifier::compare_range(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  if (op == BinaryOp::gt) return compare_range(BinaryOp::lt, b, a);
  if (op == BinaryOp::ge) return compare_range(BinaryOp::le, b, a);
  if (a.dtype().is_float()) return binary_data(op, a, b);
  const bool same = same_expr(a, b);
  if (same) return make_bool(op == BinaryOp::eq || op == BinaryOp::le);
  ConstInterval x = range(a), y = range(b);
  const bool below = x.has_max() && y.has_min() && x.max < y.min;
  const bool above = y.has_max() && x.has_min() && y.max < x.min;
  switch (op) {
    case BinaryOp::eq:
    case BinaryOp::ne:
      if (below || above) return make_bool(op == BinaryOp::ne);
      break;
    case BinaryOp::lt:
      if (below) return make_bool(true);
      if (x.has_min() && y.has_max() && x.min >= y.max) return make_bool(false);
      break;
    default:
      if (x.has_max() && y.has_min() && x.max <= y.min) return make_bool(true);
      if (above) return make_bool(false);
      break;
  }
  return binary_data(op, a, b);
}

LATHE_DECL AnyExpr Simplifier::compare_index(BinaryOp op, const Poly& a, const Poly& b) {
  if (op == BinaryOp::gt || op == BinaryOp::ge)
    return compare_index(op == BinaryOp::gt ? BinaryOp::lt : BinaryOp::le, b, a);
  Poly diff = a;
  const bool equality = op == BinaryOp::eq || op == BinaryOp::ne;
  if (!poly_add(diff, b, -1)) return compare_range(op, emit(a), emit(b));
  if (!safe(a) || !safe(b) || !safe(diff)) {
    // Equality survives wrapping, order doesn't.
    const bool decided = diff.is_const() && (equality || diff.constant == 0);
    if (!decided) return compare_range(op, emit(a), emit(b));
    return make_bool((diff.constant == 0) == (op == BinaryOp::eq || op == BinaryOp::le));
  }
  if (op == BinaryOp::le && !poly_add(diff, poly_const(1), -1))
    return compare_range(op, emit(a), emit(b));
  diff = recombine(std::move(diff));
  if (equality) return emit_equal(op, diff);
  // diff < 0
  Poly minus = diff;
  if (!poly_scale(minus, -1) || !poly_add(minus, poly_const(-1)))
    return compare_range(op, emit(a), emit(b));
  if (nonneg(minus)) return make_bool(true);
  if (nonneg(diff)) return make_bool(false);
  Poly product = diff;
  if (multiply_quotient(product)) return compare_index(BinaryOp::lt, product, poly_const(0));
  return emit_less(diff);
}

// floordiv(x, c) + r < 0  →  x + c * r < 0, and r - floordiv(x, c) < 0  →  c * r + c - 1 - x < 0,
// as a test of a fused loop's outer part is one of the loop. `diff` is less than 0; it stays as it
// is if it has no quotient, or two.
LATHE_DECL bool Simplifier::multiply_quotient(Poly& diff) {
  std::size_t at = diff.terms.size();
  for (std::size_t k = 0; k < diff.terms.size(); ++k) {
    const auto* n = diff.terms[k].atom.as<BinaryNode>();
    if (!n || n->op != BinaryOp::floordiv) continue;
    if (at < diff.terms.size()) return false;
    at = k;
  }
  if (at == diff.terms.size() || !diff.terms[at].more.empty()) return false;
  const std::int64_t sign = diff.terms[at].coef;
  const auto* quotient = diff.terms[at].atom.as<BinaryNode>();
  const Poly c = poly_of_emitted(quotient->b);
  const ConstInterval divisor = range(c);
  if ((sign != 1 && sign != -1) || !divisor.has_min() || divisor.min < 1) return false;
  Poly others = diff, rest;
  others.terms.erase_at(at);
  if (!poly_mul(rest, others, c) || !poly_add(rest, poly_of_emitted(quotient->a), sign) ||
      (sign < 0 && (!poly_add(rest, c) || !poly_add(rest, poly_const(-1)))) || !safe(rest))
    return false;
  diff = std::move(rest);
  return true;
}

// Splits diff into what is positive, on the left, and what is negative, on the right.
inline void split_sides(const Poly& diff, Poly& left, Poly& right) {
  for (const auto& t : diff.terms) {
    Mono m = t;
    if (t.coef > 0)
      left.terms.push_back(std::move(m));
    else
      m.coef = -t.coef, right.terms.push_back(std::move(m));
  }
}

LATHE_DECL AnyExpr Simplifier::emit_less(const Poly& diff) {
  Poly d = diff, left, right;
  // sum of g*t + k < 0 is sum of t < -k/g rounded up.
  std::int64_t g = poly_gcd(d);
  if (g > 1) {
    for (auto& t : d.terms) t.coef /= g;
    d.constant = floor_div(d.constant, g);
  }
  for (const auto& t : d.terms)
    if (t.coef == ConstInterval::kNegInf) return make_binary(BinaryOp::lt, emit(diff), AnyExpr(0));
  if (d.constant == ConstInterval::kNegInf)
    return make_binary(BinaryOp::lt, emit(diff), AnyExpr(0));
  split_sides(d, left, right);
  if (left.terms.empty()) {
    if (d.constant >= 0) return make_binary(BinaryOp::gt, emit(right), AnyExpr(d.constant));
    return make_binary(BinaryOp::ge, emit(right), AnyExpr(d.constant + 1));
  }
  if (!right.terms.empty() && d.constant == -1)
    return make_binary(BinaryOp::le, emit(left), emit(right));
  if (!right.terms.empty() && d.constant > 0)
    left.constant = d.constant;
  else
    right.constant = -d.constant;
  return make_binary(BinaryOp::lt, emit(left), emit(right));
}

LATHE_DECL AnyExpr Simplifier::emit_equal(BinaryOp op, const Poly& diff) {
  const AnyExpr no = make_bool(op == BinaryOp::ne);
  if (diff.is_const()) return make_bool((diff.constant == 0) == (op == BinaryOp::eq));
  Poly d = diff, left, right, above = diff, below = diff;
  std::int64_t g = poly_gcd(d);
  if (g > 1) {
    if (d.constant % g != 0) return no;
    for (auto& t : d.terms) t.coef /= g;
    d.constant /= g;
  }
  if (poly_add(above, poly_const(-1)) && nonneg(above)) return no;
  if (poly_scale(below, -1)) {
    if (nonneg(diff) && nonneg(below)) return make_bool(op == BinaryOp::eq);
    if (poly_add(below, poly_const(-1)) && nonneg(below)) return no;
  }
  for (const auto* f = facts_.newest(); f; f = f->next.get()) {
    if (f->kind != Facts::Kind::zero) continue;
    Poly zero = poly_of_emitted(f->min), minus = zero;
    if (poly_equal(zero, d) || (poly_scale(minus, -1) && poly_equal(minus, d)))
      return make_bool(op == BinaryOp::eq);
  }
  if (d.constant == ConstInterval::kNegInf) return make_binary(op, emit(diff), AnyExpr(0));
  for (const auto& t : d.terms)
    if (t.coef == ConstInterval::kNegInf) return make_binary(op, emit(diff), AnyExpr(0));
  split_sides(d, left, right);
  if (left.terms.empty()) std::swap(left, right), d.constant = -d.constant;
  if (!right.terms.empty() && d.constant > 0)
    left.constant = d.constant;
  else
    right.constant = -d.constant;
  return make_binary(op, emit(left), emit(right));
}

// and, or

// Whether loads happen on a condition of the expression's own.
inline bool guards_loads(const AnyExpr& e) {
  class Guards : public Visitor {
   public:
    bool found = false;
    void expr(const AnyExpr& e) override {
      const auto* select = e.as<SelectNode>();
      const auto* load = e.as<LoadNode>();
      found = found || (load && load->mask.get()) ||
              (select && !(is_load_free(select->yes) && is_load_free(select->no)));
      if (!found) descend(e);
    }
  } guards;
  guards.expr(e);
  return guards.found;
}

// Each part of a conjunction is read under the parts before it, of a disjunction under their
// negations; but one that guards loads itself, as all parts may be evaluated.
LATHE_DECL AnyExpr Simplifier::logic(BinaryOp op, const Vec<AnyExpr>& parts, bool simplified) {
  Vec<AnyExpr> kept;
  const bool is_and = op == BinaryOp::and_;
  const bool scoped = parts.size() <= 8 && budget_ > 0;
  Facts facts = facts_;
  for (const auto& part : parts) {
    AnyExpr e = part;
    if (scoped && !is_load_free(part) && guards_loads(part))
      e = simplified ? part : expr(part);
    else if (scoped)
      e = simplified ? Simplifier(facts, *this).settled(part) : Simplifier(facts, *this).expr(part);
    else if (!simplified)
      e = expr(part);
    for (const auto& piece : parts_of(op, e)) {
      if (const auto* c = as_const_int(piece)) {
        if ((*c != 0) != is_and) return make_bool(!is_and);
        continue;
      }
      bool seen = false;
      for (const auto& k : kept) seen = seen || same_expr(k, piece);
      if (seen) continue;
      kept.push_back(piece);
      if (scoped) facts.learn(is_and ? piece : Simplifier(facts, *this).negation(piece), *this);
    }
  }
  // A later part may imply an earlier one, which goes unless a load in between is kept in bounds by
  // it.
  std::size_t from = kept.size();
  while (from > 0 && is_load_free(kept[from - 1])) --from;
  from = from > 0 ? from - 1 : 0;
  for (std::size_t k = from; scoped && kept.size() > 1 && k < kept.size(); ++k) {
    Facts others = facts_;
    for (std::size_t j = 0; j < kept.size(); ++j)
      if (j != k)
        others.learn(is_and ? kept[j] : Simplifier(others, *this).negation(kept[j]), *this);
    const AnyExpr rest = Simplifier(others, *this).settled(kept[k]);
    const auto* c = as_const_int(rest);
    if (!c) continue;
    if ((*c != 0) != is_and) return make_bool(!is_and);
    kept.erase_at(k--);
  }
  if (kept.empty()) return make_bool(is_and);
  AnyExpr out = kept[0];
  for (std::size_t k = 1; k < kept.size(); ++k) out = make_binary(op, out, kept[k]);
  return out;
}

}  // namespace detail
}  // namespace lathe

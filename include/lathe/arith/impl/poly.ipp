#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>

namespace lathe {
namespace detail {

LATHE_DECL std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  std::int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}
LATHE_DECL std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
LATHE_DECL std::int64_t gcd64(std::int64_t a, std::int64_t b) {
  auto magnitude = [](std::int64_t v) {
    return v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  };
  std::uint64_t x = magnitude(a), y = magnitude(b);
  while (y) {
    std::uint64_t r = x % y;
    x = y;
    y = r;
  }
  return x > static_cast<std::uint64_t>(ConstInterval::kPosInf) ? 1 : static_cast<std::int64_t>(x);
}

LATHE_DECL Poly poly_const(std::int64_t value) {
  Poly p;
  p.constant = value;
  return p;
}
LATHE_DECL Poly poly_atom(AnyExpr atom, std::int64_t coef) {
  Poly p;
  if (coef != 0) p.terms.push_back({coef, std::move(atom), {}});
  return p;
}

LATHE_DECL bool same_product(const Mono& a, const Mono& b) {
  if (a.degree() != b.degree()) return false;
  if (a.degree() == 1) return same_expr(a.atom, b.atom);
  Vec<bool> used(b.degree(), false);
  for (std::size_t i = 0; i < a.degree(); ++i) {
    std::size_t j = 0;
    while (j < b.degree() && (used[j] || !same_expr(a.factor(i), b.factor(j)))) ++j;
    if (j == b.degree()) return false;
    used[j] = true;
  }
  return true;
}

LATHE_DECL bool poly_equal(const Poly& a, const Poly& b) {
  if (a.constant != b.constant || a.terms.size() != b.terms.size()) return false;
  for (const auto& t : a.terms) {
    bool found = false;
    for (const auto& u : b.terms) found = found || (t.coef == u.coef && same_product(t, u));
    if (!found) return false;
  }
  return true;
}

LATHE_DECL bool poly_add_term(Poly& a, Mono term) {
  if (term.coef == 0) return true;
  for (std::size_t k = 0; k < a.terms.size(); ++k) {
    auto& t = a.terms[k];
    if (!same_product(t, term)) continue;
    if (__builtin_add_overflow(t.coef, term.coef, &t.coef)) return false;
    if (t.coef == 0) a.terms.erase_at(k);
    return true;
  }
  a.terms.push_back(std::move(term));
  return true;
}

LATHE_DECL bool poly_add(Poly& a, const Poly& b, std::int64_t scale) {
  std::int64_t scaled;
  if (__builtin_mul_overflow(b.constant, scale, &scaled)) return false;
  if (__builtin_add_overflow(a.constant, scaled, &a.constant)) return false;
  for (const auto& t : b.terms) {
    Mono term = t;
    if (__builtin_mul_overflow(t.coef, scale, &term.coef)) return false;
    if (!poly_add_term(a, std::move(term))) return false;
  }
  return true;
}

LATHE_DECL bool poly_scale(Poly& a, std::int64_t scale) {
  if (scale == 0) {
    a = Poly();
    return true;
  }
  if (__builtin_mul_overflow(a.constant, scale, &a.constant)) return false;
  for (auto& t : a.terms)
    if (__builtin_mul_overflow(t.coef, scale, &t.coef)) return false;
  return true;
}

LATHE_DECL bool poly_mul(Poly& out, const Poly& a, const Poly& b) {
  out = b.is_const() ? a : Poly();
  if (b.is_const()) return poly_scale(out, b.constant);
  if (!poly_add(out, b, a.constant)) return false;
  for (const auto& t : a.terms) {
    Mono scaled = t;
    if (__builtin_mul_overflow(t.coef, b.constant, &scaled.coef)) return false;
    if (!poly_add_term(out, std::move(scaled))) return false;
    for (const auto& u : b.terms) {
      Mono product = t;
      if (__builtin_mul_overflow(t.coef, u.coef, &product.coef)) return false;
      for (std::size_t k = 0; k < u.degree(); ++k) product.more.push_back(u.factor(k));
      if (!poly_add_term(out, std::move(product))) return false;
    }
  }
  return true;
}

LATHE_DECL std::int64_t poly_gcd(const Poly& p) {
  std::int64_t g = 0;
  for (const auto& t : p.terms) g = gcd64(g, t.coef);
  return g;
}

inline bool shallow_into(Poly& out, const AnyExpr& e, std::int64_t scale) {
  if (const auto* c = e.as<ConstNode>()) {
    std::int64_t v;
    return !__builtin_mul_overflow(c->i, scale, &v) &&
           !__builtin_add_overflow(out.constant, v, &out.constant);
  }
  const auto* n = e.as<BinaryNode>();
  if (n && n->op == BinaryOp::add)
    return shallow_into(out, n->a, scale) && shallow_into(out, n->b, scale);
  std::int64_t next;
  if (n && n->op == BinaryOp::sub)
    return !__builtin_mul_overflow(scale, std::int64_t{-1}, &next) &&
           shallow_into(out, n->a, scale) && shallow_into(out, n->b, next);
  if (n && n->op == BinaryOp::mul) {
    const auto *c = n->b.as<ConstNode>(), *d = n->a.as<ConstNode>();
    if (c) return !__builtin_mul_overflow(scale, c->i, &next) && shallow_into(out, n->a, next);
    if (d) return !__builtin_mul_overflow(scale, d->i, &next) && shallow_into(out, n->b, next);
    Mono term{scale, n->a, {n->b}};
    // Products are left-associated; take the left spine apart.
    for (const auto* m = term.atom.as<BinaryNode>();
         m && m->op == BinaryOp::mul && !m->b.as<ConstNode>(); m = term.atom.as<BinaryNode>()) {
      AnyExpr left = m->a, right = m->b;
      term.more.insert_at(0, right);
      term.atom = left;
    }
    return poly_add_term(out, std::move(term));
  }
  return poly_add_term(out, {scale, e, {}});
}

LATHE_DECL Poly poly_shallow(const AnyExpr& e) {
  Poly out;
  if (!shallow_into(out, e, 1)) out = poly_atom(e);
  return out;
}

inline bool same_exprs(const Vec<AnyExpr>& a, const Vec<AnyExpr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!same_expr(a[k], b[k])) return false;
  return true;
}

inline bool same_binary(const AnyExpr& x, const AnyExpr& y) {
  const auto *a = x.as<BinaryNode>(), *b = y.as<BinaryNode>();
  if (a->op == b->op) {
    if (same_expr(a->a, b->a) && same_expr(a->b, b->b)) return true;
    if (is_commutative(a->op) && same_expr(a->a, b->b) && same_expr(a->b, b->a)) return true;
  }
  auto linear = [](BinaryOp op) {
    return op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul;
  };
  if (x.dtype() != kIndex || !linear(a->op) || !linear(b->op)) return false;
  Poly p = poly_shallow(x), q = poly_shallow(y);
  if (p.as_atom() || q.as_atom()) return false;
  return poly_equal(p, q);
}

inline bool same_const(const ConstNode& a, const ConstNode& b) {
  return a.dtype.is_float() ? __builtin_memcmp(&a.f, &b.f, sizeof(double)) == 0 : a.i == b.i;
}

}  // namespace detail

LATHE_DECL bool same_expr(const AnyExpr& a, const AnyExpr& b) {
  if (a.same_as(b)) return true;
  if (!a.get() || !b.get() || a.kind() != b.kind() || a.dtype() != b.dtype()) return false;
  switch (a.kind()) {
    case ExprKind::Var:
    case ExprKind::Let:
      return false;
    case ExprKind::Const:
      return detail::same_const(*a.as<ConstNode>(), *b.as<ConstNode>());
    case ExprKind::Binary:
      return detail::same_binary(a, b);
    case ExprKind::Unary:
      return a.as<UnaryNode>()->op == b.as<UnaryNode>()->op &&
             same_expr(a.as<UnaryNode>()->a, b.as<UnaryNode>()->a);
    case ExprKind::Cast:
      return same_expr(a.as<CastNode>()->value, b.as<CastNode>()->value);
    case ExprKind::Call:
      return a.as<CallNode>()->op == b.as<CallNode>()->op &&
             detail::same_exprs(a.as<CallNode>()->args, b.as<CallNode>()->args);
    case ExprKind::Broadcast:
      return same_expr(a.as<BroadcastNode>()->value, b.as<BroadcastNode>()->value);
    case ExprKind::Ramp: {
      const auto *x = a.as<RampNode>(), *y = b.as<RampNode>();
      return x->lanes == y->lanes && same_expr(x->base, y->base) && same_expr(x->stride, y->stride);
    }
    case ExprKind::Load: {
      const auto *x = a.as<LoadNode>(), *y = b.as<LoadNode>();
      return x->buffer == y->buffer && detail::same_exprs(x->indices, y->indices) &&
             same_expr(x->mask, y->mask);
    }
    case ExprKind::Select: {
      const auto *x = a.as<SelectNode>(), *y = b.as<SelectNode>();
      return same_expr(x->condition, y->condition) && same_expr(x->yes, y->yes) &&
             same_expr(x->no, y->no);
    }
    case ExprKind::Shuffle: {
      const auto *x = a.as<ShuffleNode>(), *y = b.as<ShuffleNode>();
      return x->lanes == y->lanes && detail::same_exprs(x->vectors, y->vectors);
    }
  }
  return false;
}

}  // namespace lathe

#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {

LATHE_DECL ConstInterval const_bounds(const AnyExpr& e, const Facts& facts) {
  detail::Simplifier engine(facts);
  AnyExpr s = engine.expr(e);
  if (s.dtype() != kIndex) return engine.range(s);
  detail::Poly p = engine.poly(s);
  if (!engine.safe(p)) return engine.range(s);
  ConstInterval r = engine.range_by_cases(p);
  // Relations between variables (i < n, n <= 100) may give an end that the parts alone don't.
  Vec<VarRef> vars;
  if (!r.has_min() || !r.has_max()) vars = free_vars(s);
  if (vars.empty()) return r;
  detail::Poly lo = p, hi = p;
  if (!r.has_min() && engine.bound(lo, false, vars) && lo.is_const()) r.min = lo.constant;
  if (!r.has_max() && engine.bound(hi, true, vars) && hi.is_const()) r.max = hi.constant;
  return r;
}

LATHE_DECL Interval bounds(const AnyExpr& e, const Vec<VarRef>& relaxed, const Facts& facts) {
  if (e.kind() == ExprKind::Const) return {e, e};
  detail::Simplifier engine(facts);
  detail::Poly p = engine.poly(e), lo = p, hi = p;
  if (!engine.safe(p)) {
    for (const auto& v : relaxed)
      if (uses_var(e, v)) return {};
    AnyExpr same = engine.emit(p);
    return {same, same};
  }
  Interval out;
  if (engine.bound(lo, false, relaxed)) out.min = engine.emit(lo);
  if (engine.bound(hi, true, relaxed)) out.max = engine.emit(hi);
  auto free_of_relaxed = [&](AnyExpr& end) {
    for (const auto& v : relaxed)
      if (end.get() && uses_var(end, v)) end = {};
  };
  free_of_relaxed(out.min), free_of_relaxed(out.max);
  return out;
}

LATHE_DECL Interval interval_hull(const Interval& a, const Interval& b, const Facts& facts) {
  Interval out;
  if (a.min.get() && b.min.get()) out.min = simplify(fold_min(a.min, b.min), facts);
  if (a.max.get() && b.max.get()) out.max = simplify(fold_max(a.max, b.max), facts);
  return out;
}

LATHE_DECL Interval interval_intersect(const Interval& a, const Interval& b, const Facts& facts) {
  Interval out;
  out.min = !a.min.get() ? b.min : !b.min.get() ? a.min : simplify(fold_max(a.min, b.min), facts);
  out.max = !a.max.get() ? b.max : !b.max.get() ? a.max : simplify(fold_min(a.max, b.max), facts);
  return out;
}

namespace detail {

// Writes m * (v floordiv m) * rest as v * rest; false where the coefficient isn't a multiple of m.
inline bool unfold_factor(const Poly& p, const VarRef& v, std::int64_t m, Poly& out) {
  out = poly_const(p.constant);
  for (const auto& t : p.terms) {
    Mono next = t;
    for (std::size_t k = 0; k < t.degree(); ++k) {
      const auto* n = t.factor(k).as<BinaryNode>();
      if (!n || n->op != BinaryOp::floordiv || n->a.get() != v.get() || !is_const(n->b, m))
        continue;
      if (next.coef % m != 0) return false;
      next.coef /= m;
      (k == 0 ? next.atom : next.more[k - 1]) = v;
    }
    if (!poly_add_term(out, std::move(next))) return false;
  }
  return true;
}

}  // namespace detail

// Linear forms

LATHE_DECL bool Affine::is_const() const {
  for (const auto& c : coefs)
    if (!as_const_int(c)) return false;
  return as_const_int(rest) != nullptr;
}

LATHE_DECL std::optional<Affine> affine_of(const AnyExpr& e, const Vec<VarRef>& vars,
                                           const Facts& facts) {
  if (!e.get() || e.dtype() != kIndex) return std::nullopt;
  // A variable of one value must keep its coefficient.
  Facts keep = facts;
  keep.keep_unit_vars();
  detail::Simplifier engine(keep);
  detail::Poly rest = engine.poly(e);
  if (engine.exhausted()) return std::nullopt;
  Affine out;
  for (const auto& v : vars) {
    detail::Poly factor, next;
    std::int64_t m = keep.factor(v.get());
    if (m > 1) {
      // v is held as m * (v floordiv m).
      detail::Poly unfolded;
      if (!detail::unfold_factor(rest, v, m, unfolded)) return std::nullopt;
      rest = std::move(unfolded);
    }
    if (!detail::split_var(rest, v.get(), factor, next)) return std::nullopt;
    out.coefs.push_back(engine.emit(factor));
    rest = std::move(next);
  }
  out.rest = engine.emit(rest);
  for (const auto& v : vars) {
    if (uses_var(out.rest, v)) return std::nullopt;
    for (const auto& c : out.coefs)
      if (uses_var(c, v)) return std::nullopt;
  }
  return out;
}

}  // namespace lathe

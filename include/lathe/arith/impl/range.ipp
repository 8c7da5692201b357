#pragma once

#include <algorithm>
#include <lathe/arith/poly.hpp>

namespace lathe {
namespace detail {

__extension__ typedef __int128 Wide;

inline std::int64_t saturate(Wide v) {
  if (v <= static_cast<Wide>(ConstInterval::kNegInf)) return ConstInterval::kNegInf;
  if (v >= static_cast<Wide>(ConstInterval::kPosInf)) return ConstInterval::kPosInf;
  return static_cast<std::int64_t>(v);
}

inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? ConstInterval::kNegInf : ConstInterval::kPosInf;
}

LATHE_DECL ConstInterval range_add(ConstInterval a, ConstInterval b) {
  ConstInterval out;
  if (a.has_min() && b.has_min()) out.min = saturated_sum(a.min, b.min);
  if (a.has_max() && b.has_max()) out.max = saturated_sum(a.max, b.max);
  return out;
}
LATHE_DECL ConstInterval range_neg(ConstInterval a) {
  ConstInterval out;
  // The smallest number as an upper end negates to itself: nothing is known then.
  if (a.has_max() && a.max != ConstInterval::kNegInf) out.min = -a.max;
  if (a.has_min() && a.max != ConstInterval::kNegInf) out.max = -a.min;
  return out;
}
LATHE_DECL ConstInterval range_scale(ConstInterval a, std::int64_t c) {
  if (c == 0) return {0, 0};
  if (c == ConstInterval::kNegInf) return {};
  if (c < 0) return range_neg(range_scale(a, -c));
  ConstInterval out;
  if (a.has_min()) out.min = saturate(static_cast<Wide>(a.min) * c);
  if (a.has_max()) out.max = saturate(static_cast<Wide>(a.max) * c);
  return out;
}
LATHE_DECL ConstInterval range_mul(ConstInterval a, ConstInterval b) {
  if (a.is_point()) return range_scale(b, a.min);
  if (b.is_point()) return range_scale(a, b.min);
  // An unbounded end behaves like a very large number; zero times it is zero.
  auto times = [](std::int64_t x, std::int64_t y) { return static_cast<Wide>(x) * y; };
  Wide corners[] = {times(a.min, b.min), times(a.min, b.max), times(a.max, b.min),
                    times(a.max, b.max)};
  Wide lo = corners[0], hi = corners[0];
  for (Wide c : corners) {
    if (c < lo) lo = c;
    if (c > hi) hi = c;
  }
  return {saturate(lo), saturate(hi)};
}
LATHE_DECL ConstInterval range_hull(ConstInterval a, ConstInterval b) {
  return {a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}
LATHE_DECL ConstInterval range_meet(ConstInterval a, ConstInterval b) {
  return {a.min > b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
}

LATHE_DECL ConstInterval range_of_type(DType t) {
  if (t.is_bool()) return {0, 1};
  if (!t.is_int() || (t.bits == 64 && t.is_signed())) return {};
  if (t.bits == 64) return {0, ConstInterval::kPosInf};
  if (t.is_unsigned()) return {0, (std::int64_t{1} << t.bits) - 1};
  return {-(std::int64_t{1} << (t.bits - 1)), (std::int64_t{1} << (t.bits - 1)) - 1};
}

inline bool finite(ConstInterval r) { return r.has_min() && r.has_max(); }

inline ConstInterval range_floordiv(ConstInterval a, ConstInterval b) {
  if (b.is_point() && b.min > 0) {
    ConstInterval out;
    if (a.has_min()) out.min = floor_div(a.min, b.min);
    if (a.has_max()) out.max = floor_div(a.max, b.min);
    return out;
  }
  // Dividing by n >= 1 moves toward zero or -1; by zero gives zero.
  if (b.min >= 0) {
    ConstInterval out;
    if (a.has_min()) out.min = a.min < 0 ? a.min : 0;
    if (a.has_max()) out.max = a.max > 0 ? a.max : 0;
    if (a.has_max() && a.max < 0 && b.min == 0) out.max = 0;
    if (a.has_max() && a.max < 0 && b.min > 0) out.max = -1;
    return out;
  }
  return {};
}

inline ConstInterval range_floormod(ConstInterval a, ConstInterval b) {
  if (b.min < 0) return {};
  if (b.is_point() && b.min > 0 && finite(a) && floor_div(a.min, b.min) == floor_div(a.max, b.min))
    return {floor_mod(a.min, b.min), floor_mod(a.max, b.min)};
  ConstInterval out{0, b.has_max() ? (b.max > 0 ? b.max - 1 : 0) : ConstInterval::kPosInf};
  if (a.min >= 0 && a.max < out.max) out.max = a.max;
  return out;
}

inline ConstInterval range_trunc(BinaryOp op, ConstInterval a, ConstInterval b) {
  if (a.min >= 0 && b.min >= 0)
    return op == BinaryOp::div ? range_floordiv(a, b) : range_floormod(a, b);
  if (!b.is_point() || b.min <= 0) return {};
  if (op == BinaryOp::div) {
    ConstInterval out;
    if (a.has_min()) out.min = a.min / b.min;
    if (a.has_max()) out.max = a.max / b.min;
    return out;
  }
  return {a.min >= 0 ? 0 : 1 - b.min, a.max <= 0 ? 0 : b.min - 1};
}

LATHE_DECL ConstInterval Simplifier::range_binary(const BinaryNode& n, int depth) {
  if (is_comparison(n.op) || is_logic(n.op)) return {0, 1};
  ConstInterval a = range(n.a, depth + 1), b = range(n.b, depth + 1), out;
  switch (n.op) {
    case BinaryOp::add:
      out = range_add(a, b);
      break;
    case BinaryOp::sub:
      out = range_add(a, range_neg(b));
      break;
    case BinaryOp::mul:
      out = range_mul(a, b);
      break;
    case BinaryOp::floordiv:
      out = range_floordiv(a, b);
      break;
    case BinaryOp::floormod:
      out = range_floormod(a, b);
      break;
    case BinaryOp::div:
    case BinaryOp::mod:
      out = range_trunc(n.op, a, b);
      break;
    case BinaryOp::min:
    case BinaryOp::fast_min:
      out = {a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
      break;
    case BinaryOp::max:
    case BinaryOp::fast_max:
      out = {a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
      break;
    case BinaryOp::bit_and:
      if (a.min >= 0 || b.min >= 0)
        out = {0, a.min < 0 ? b.max : b.min < 0 ? a.max : a.max < b.max ? a.max : b.max};
      break;
    case BinaryOp::shr:
      if (b.is_point() && b.min >= 0 && b.min < 63 && n.dtype.bits > b.min)
        out = range_floordiv(a, {std::int64_t{1} << b.min, std::int64_t{1} << b.min});
      break;
    default:
      break;
  }
  const bool index = n.dtype.scalar() == kIndex;
  if (index && finite(out)) return out;
  const ConstInterval type = range_of_type(n.dtype);
  const bool may_wrap = n.op == BinaryOp::add || n.op == BinaryOp::sub || n.op == BinaryOp::mul;
  if (!finite(out) && !index) return type;
  // Ends that are known for both sides and not for the result lie outside of i64.
  if (!finite(out) && may_wrap && ((finite(a) && finite(b)) || reach_binary(n).size > kReachSafe))
    return type;
  if (!index && (out.min < type.min || out.max > type.max)) return type;
  return out;
}

inline ConstInterval range_const(const ConstNode& c) {
  if (c.dtype == kU64 && c.i < 0) return range_of_type(kU64);
  return {c.i, c.i};
}

// The least number of a type is its own magnitude.
inline ConstInterval range_abs(const ConstInterval& a, const ConstInterval& type) {
  if (!finite(a) || a.min == type.min) return a.min >= 0 ? a : type;
  const ConstInterval other = range_neg(a);
  if (a.min >= 0 || a.max <= 0) return a.min >= 0 ? a : other;
  return {0, std::max(a.max, other.max)};
}

LATHE_DECL ConstInterval Simplifier::range(const AnyExpr& e, int depth) {
  const bool known = !e.dtype().is_float() && depth <= 40 && --budget_ > 0;
  if (known && e.kind() == ExprKind::Const) return range_const(*e.as<ConstNode>());
  if (known && e.kind() == ExprKind::Var) return facts_.range(e.as<VarNode>());
  if (known && e.kind() == ExprKind::Binary) return range_binary(*e.as<BinaryNode>(), depth);
  const ConstInterval type = range_of_type(e.dtype().scalar());
  if (!known) return type;
  switch (e.kind()) {
    case ExprKind::Unary: {
      if (e.as<UnaryNode>()->op != UnaryOp::neg || e.dtype().scalar() != kIndex) return type;
      return range_neg(range(e.as<UnaryNode>()->a, depth + 1));
    }
    case ExprKind::Select:
      return range_hull(range(e.as<SelectNode>()->yes, depth + 1),
                        range(e.as<SelectNode>()->no, depth + 1));
    case ExprKind::Cast: {
      const AnyExpr& v = e.as<CastNode>()->value;
      if (v.dtype().is_float() || v.dtype().scalar() == kU64) return type;
      ConstInterval r = range(v, depth + 1);
      return r.min >= type.min && r.max <= type.max ? r : type;
    }
    case ExprKind::Call:
      if (e.as<CallNode>()->op == CallOp::abs)
        return range_abs(range(e.as<CallNode>()->args[0], depth + 1), type);
      return e.as<CallNode>()->op == CallOp::popcount ? ConstInterval{0, e.dtype().bits} : type;
    case ExprKind::Broadcast:
      return range(e.as<BroadcastNode>()->value, depth + 1);
    case ExprKind::Ramp: {
      const auto* r = e.as<RampNode>();
      ConstInterval base = range(r->base, depth + 1);
      ConstInterval out =
          range_hull(base, range_add(base, range_scale(range(r->stride, depth + 1), r->lanes - 1)));
      if (e.dtype().scalar() == kIndex) return finite(out) || safe(e) ? out : type;
      return finite(out) && out.min >= type.min && out.max <= type.max ? out : type;
    }
    default:
      return type;
  }
}

LATHE_DECL ConstInterval Simplifier::range(const Poly& p, int depth) {
  ConstInterval out{p.constant, p.constant};
  for (const auto& t : p.terms) {
    ConstInterval r = range(t.atom, depth + 1);
    for (const auto& f : t.more) r = range_mul(r, range(f, depth + 1));
    out = range_add(out, range_scale(r, t.coef));
  }
  return out;
}

// p with the atom of linear term k replaced.
LATHE_DECL bool Simplifier::replaced_term(const Poly& p, std::size_t k, const AnyExpr& value,
                                          Poly& out) {
  out = p;
  out.terms.erase_at(k);
  const Poly with = poly(value);
  if (!safe(with) || !poly_add(out, with, p.terms[k].coef)) return false;
  out = recombine(std::move(out));
  return true;
}

inline const BinaryNode* as_quotient(const Mono& term) {
  const auto* n = term.more.empty() ? term.atom.as<BinaryNode>() : nullptr;
  return n && n->op == BinaryOp::floordiv ? n : nullptr;
}

// b floordiv c as a quotient by a multiple of c: false if d is none.
inline bool over_divisor(Poly& b, const AnyExpr& c, const AnyExpr& d) {
  if (same_expr(c, d)) return true;
  const auto *x = as_const_int(c), *y = as_const_int(d);
  return x && y && *x > 0 && *y > 0 && *y % *x == 0 && poly_scale(b, *y / *x);
}

// Two quotients of one divisor that count against each other.
LATHE_DECL bool Simplifier::quotient_pair(const Poly& p, QuotientPair& out) {
  for (std::size_t k = 0; k < p.terms.size(); ++k) {
    const auto* a = p.terms[k].coef > 0 ? as_quotient(p.terms[k]) : nullptr;
    for (std::size_t j = 0; a && j < p.terms.size(); ++j) {
      const auto* b = p.terms[j].coef == -p.terms[k].coef ? as_quotient(p.terms[j]) : nullptr;
      if (!b) continue;
      Poly less = poly_of_emitted(b->a);
      out = {poly_of_emitted(a->a), p, a->b, p.terms[k].coef};
      if (!over_divisor(less, b->b, a->b)) {
        out.divisor = b->b;
        if (!over_divisor(out.gap, a->b, b->b)) continue;
      }
      out.rest.terms.erase_at(std::max(j, k));
      out.rest.terms.erase_at(std::min(j, k));
      if (safe(out.gap) && safe(less) && poly_add(out.gap, less, -1)) return true;
    }
  }
  return false;
}

// a floordiv c less b floordiv c is (a - b) floordiv c or one more, however far a and b go
// together: the rows that a piece of a fused loop meets.
LATHE_DECL ConstInterval Simplifier::range_of(const QuotientPair& pair, int depth) {
  const auto* c = as_const_int(pair.divisor);
  const ConstInterval gap = range(pair.gap);
  if (!c || *c <= 0 || !gap.has_min() || !gap.has_max()) return {};
  const ConstInterval apart{floor_div(gap.min, *c), floor_div(gap.max, *c) + (gap.max % *c != 0)};
  return range_add(range_scale(apart, pair.scale), range_by_cases(pair.rest, depth));
}

LATHE_DECL ConstInterval Simplifier::range_by_cases(const Poly& p, int depth) {
  ConstInterval whole = range(p);
  if (depth == 0 || p.terms.size() < 2) return whole;
  if (QuotientPair pair; quotient_pair(p, pair))
    whole = range_meet(whole, range_of(pair, depth - 1));
  for (std::size_t k = 0; k < p.terms.size(); ++k) {
    const auto* n = p.terms[k].atom.as<BinaryNode>();
    if (!n || !p.terms[k].more.empty() || (n->op != BinaryOp::min && n->op != BinaryOp::max))
      continue;
    Poly with_a, with_b;
    if (!replaced_term(p, k, n->a, with_a) || !replaced_term(p, k, n->b, with_b)) return whole;
    const ConstInterval a = range_by_cases(with_a, depth - 1);
    const ConstInterval b = range_by_cases(with_b, depth - 1);
    const bool smaller = (n->op == BinaryOp::min) == (p.terms[k].coef > 0);
    const ConstInterval least{a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
    const ConstInterval greatest{a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
    return range_meet(whole, smaller ? least : greatest);
  }
  return whole;
}

}  // namespace detail
}  // namespace lathe

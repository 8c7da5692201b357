#pragma once

#include <cmath>
#include <lathe/arith/poly.hpp>

// Index arithmetic is simplified as arithmetic over all integers. That is what the machine computes
// where no value leaves i64, and always modulo 2^64: sums of products may be rearranged freely, but
// comparing, dividing and bounding ask here first.
namespace lathe {
namespace detail {

inline double reach_of(ConstInterval r) {
  const double low = r.has_min() ? std::fabs(static_cast<double>(r.min)) : kReachAny,
               high = r.has_max() ? std::fabs(static_cast<double>(r.max)) : kReachAny;
  return low > high ? low : high;
}

inline Reach reach_product(Reach a, Reach b) {
  const bool open = a.open || b.open;
  if (!open || a.constant || b.constant) return {a.size * b.size, open};
  return {a.size > b.size ? a.size : b.size, true};
}

LATHE_DECL bool Simplifier::is_index_by_use(const AnyExpr& e) {
  for (const auto* f = facts_.newest(); f; f = f->next.get())
    if (f->kind == Facts::Kind::index && same_expr(f->min, e)) return true;
  return false;
}

LATHE_DECL Reach Simplifier::reach_leaf(const AnyExpr& e) {
  const auto* var = e.as<VarNode>();
  const ConstInterval r = var ? facts_.range(var) : ConstInterval();
  if (r.has_min() && r.has_max()) return {reach_of(r)};
  if ((!var || facts_.is_data(var)) && !is_index_by_use(e)) return {kReachAny};
  const double end = r.has_min()   ? std::fabs(static_cast<double>(r.min))
                     : r.has_max() ? std::fabs(static_cast<double>(r.max))
                                   : 0;
  return {end > kReachOpen ? end : kReachOpen, true};
}

LATHE_DECL Reach Simplifier::reach_binary(const BinaryNode& n) {
  const Reach a = reach(n.a), b = reach(n.b);
  const double divisor = b.constant && b.size > 0 ? b.size : 1;
  const Reach value{a.size < kReachAny ? a.size : kReachAny, a.open};  // once it is wrapped
  const bool small_shift = b.constant && b.size < 63;
  switch (n.op) {
    case BinaryOp::add:
    case BinaryOp::sub:
      return {a.size + b.size, a.open || b.open};
    case BinaryOp::mul:
      return reach_product(a, b);
    case BinaryOp::shl:
      return small_shift ? Reach{std::ldexp(a.size, static_cast<int>(b.size)), a.open}
                         : Reach{kReachAny};
    case BinaryOp::shr:
      return small_shift ? Reach{std::ldexp(value.size, -static_cast<int>(b.size)) + 1, a.open}
                         : value;
    case BinaryOp::floordiv:
    case BinaryOp::div:
      return {value.size / divisor + 1, a.open};
    case BinaryOp::floormod:
    case BinaryOp::mod:
      return b.size < kReachAny ? b : Reach{kReachAny};
    case BinaryOp::min:
    case BinaryOp::max:
    case BinaryOp::fast_min:
    case BinaryOp::fast_max:
      return {a.size > b.size ? a.size : b.size, a.open || b.open};
    default:
      return {kReachAny};
  }
}

LATHE_DECL Reach Simplifier::reach(const AnyExpr& e) {
  if (--budget_ <= 0) return {kReachAny};
  if (e.dtype().scalar() != kIndex) return {reach_of(range(e))};
  const auto* n = e.as<BinaryNode>();
  const bool sum = n && (n->op == BinaryOp::add || n->op == BinaryOp::sub ||
                         n->op == BinaryOp::mul || n->op == BinaryOp::shl);
  if ((n && !sum) || e.kind() == ExprKind::Select)  // a value of its own, which is in its range
    if (const ConstInterval r = range(e); r.has_min() && r.has_max()) return {reach_of(r)};
  switch (e.kind()) {
    case ExprKind::Const:
      return {std::fabs(static_cast<double>(e.as<ConstNode>()->i)), false, true};
    case ExprKind::Var:
    case ExprKind::Load:
      return reach_leaf(e);
    case ExprKind::Binary:
      return reach_binary(*n);
    case ExprKind::Unary: {
      const Reach a = reach(e.as<UnaryNode>()->a);
      return {a.size + 1, a.open};
    }
    case ExprKind::Select: {
      const Reach yes = reach(e.as<SelectNode>()->yes), no = reach(e.as<SelectNode>()->no);
      return {yes.size > no.size ? yes.size : no.size, yes.open || no.open};
    }
    case ExprKind::Cast: {
      const AnyExpr& value = e.as<CastNode>()->value;
      return {value.dtype().is_float() ? kReachAny : reach_of(range(value))};
    }
    case ExprKind::Call:
      if (e.as<CallNode>()->op == CallOp::popcount) return {64};
      return e.as<CallNode>()->op == CallOp::abs ? reach(e.as<CallNode>()->args[0])
                                                 : Reach{kReachAny};
    case ExprKind::Broadcast:
      return reach(e.as<BroadcastNode>()->value);
    case ExprKind::Ramp: {
      const auto* r = e.as<RampNode>();
      const Reach base = reach(r->base), stride = reach(r->stride);
      return {base.size + stride.size * (r->lanes - 1), base.open || stride.open};
    }
    default:
      return {kReachAny};
  }
}

LATHE_DECL bool Simplifier::safe(const Poly& p) {
  double sum = std::fabs(static_cast<double>(p.constant));
  for (const auto& t : p.terms) {
    Reach r = reach(t.atom);
    r.constant = false;
    for (const auto& f : t.more) r = reach_product(r, reach(f));
    sum += r.size * std::fabs(static_cast<double>(t.coef));
  }
  return sum <= kReachSafe;
}

LATHE_DECL bool Simplifier::safe(const AnyExpr& e) { return reach(e).size <= kReachSafe; }

LATHE_DECL void Simplifier::note_let(const VarRef& var, const AnyExpr& value, Facts& inner) {
  const ConstInterval r = range(value);
  inner.bind(var, r);
  // As a variable its own it would count as small.
  if ((!r.has_min() || !r.has_max()) && reach(value).size > kReachOpen) inner.data(var);
}

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/analysis/borders.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>

namespace lathe::detail {

LATHE_DECL AnyExpr unclamped(AnyExpr e) {
  while (const auto* n = e.as<BinaryNode>()) {
    if (n->op != BinaryOp::min && n->op != BinaryOp::max) break;
    e = n->a;
  }
  return e;
}

LATHE_DECL AnyExpr turned_at_zero(const AnyExpr& index) {
  const auto* n = index.as<CallNode>();
  return n && n->op == CallOp::abs && n->dtype.scalar() == kIndex ? n->args[0] : AnyExpr();
}

// How far beyond the ends of a period of unknown length a place may lie and still be at a border.
inline constexpr std::int64_t kFewBeyond = 64;

LATHE_DECL std::optional<Wrapped> wrapped(const AnyExpr& e, const Facts& facts) {
  const auto* n = e.as<BinaryNode>();
  if (!n || n->op != BinaryOp::floormod || n->a.dtype() != kIndex) return {};
  const std::int64_t* period = as_const_int(n->b);
  if (!period) {
    if (!prove_le(AnyExpr(-kFewBeyond), n->a, facts) ||
        !prove_lt(n->a, fold_add(n->b, AnyExpr(kFewBeyond)), facts))
      return {};
    return Wrapped{n->a, AnyExpr(0), n->b};
  }
  if (*period < 2 || *period > kMostOffset) return {};
  const ConstInterval all = const_bounds(n->a, facts);
  if (all.min < -kMostOffset || all.max > kMostOffset || all.max - all.min >= *period + *period / 2)
    return {};
  const std::int64_t middle = all.min + (all.max - all.min) / 2;
  const std::int64_t shift = middle - ((middle % *period) + *period) % *period;
  return Wrapped{n->a, AnyExpr(shift), AnyExpr(shift + *period)};
}

LATHE_DECL std::optional<bool> usual_value(const AnyExpr& comparison, const Facts& facts) {
  const auto* n = comparison.as<BinaryNode>();
  if (!n || n->a.dtype() != kIndex) return {};
  const bool less = n->op == BinaryOp::lt || n->op == BinaryOp::le;
  if (!less && n->op != BinaryOp::gt && n->op != BinaryOp::ge) return {};
  const ConstInterval gap = const_bounds(fold_sub(n->a, n->b), facts);
  if (!gap.has_min() && !gap.has_max()) return {};
  if (!gap.has_min() || !gap.has_max()) return less == gap.has_max();
  if (gap.min < -kMostOffset || gap.max > kMostOffset || -gap.min == gap.max) return {};
  return less == (-gap.min > gap.max);
}

LATHE_DECL AnyExpr away_from_borders(const AnyExpr& e, const Facts& facts) {
  const auto inside = [&](const AnyExpr& part) { return away_from_borders(part, facts); };
  if (const auto* n = e.as<BinaryNode>(); n && n->a.dtype() == kIndex) {
    if (n->op == BinaryOp::min || n->op == BinaryOp::max) return inside(n->a);
    if (n->op == BinaryOp::add) return fold_add(inside(n->a), inside(n->b));
    if (n->op == BinaryOp::sub) return fold_sub(inside(n->a), inside(n->b));
    if (is_comparison(n->op)) return make_binary(n->op, inside(n->a), inside(n->b));
    if (const auto w = wrapped(e, facts)) return simplify(w->dividend - w->shift, facts);
  }
  if (const AnyExpr x = turned_at_zero(e))
    return usual_value(x >= 0, facts).value_or(false) ? inside(x) : e;
  if (const auto* n = e.as<SelectNode>())
    if (const auto value = usual_value(inside(n->condition), facts))
      return inside(*value ? n->yes : n->no);
  return e;
}

}  // namespace lathe::detail

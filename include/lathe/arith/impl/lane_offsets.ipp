#pragma once

#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/rules.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

inline bool small_offset(std::int64_t v) { return v < kMostOffset && v > -kMostOffset; }

inline std::optional<LaneOffsets> repeated(const AnyExpr& inner, int count, std::int64_t step) {
  auto one = lane_offsets(inner);
  if (!one || !small_offset(step)) return {};
  LaneOffsets out{one->base, {}};
  for (int k = 0; k < count; ++k)
    for (std::int64_t o : one->offsets) {
      out.offsets.push_back(o + k * step);
      if (!small_offset(out.offsets.back())) return {};
    }
  return out;
}

// Each lane of both is a number.
inline std::optional<LaneOffsets> of_numbers(BinaryOp op, const LaneOffsets& a,
                                             const LaneOffsets& b) {
  const std::int64_t *x = as_const_int(a.base), *y = as_const_int(b.base);
  if (!x || !y || !small_offset(*x) || !small_offset(*y)) return {};
  LaneOffsets out{AnyExpr(0), {}};
  for (std::size_t l = 0; l < a.offsets.size(); ++l) {
    const AnyExpr lane =
        simplify(make_binary(op, AnyExpr(*x + a.offsets[l]), AnyExpr(*y + b.offsets[l])));
    const std::int64_t* number = as_const_int(lane);
    if (!number || !small_offset(*number)) return {};
    out.offsets.push_back(*number);
  }
  return out;
}

inline std::optional<LaneOffsets> combined(const BinaryNode& n) {
  auto a = lane_offsets(n.a), b = lane_offsets(n.b);
  if (!a || !b) return {};
  const bool product = n.op == BinaryOp::mul, minus = n.op == BinaryOp::sub;
  if (!product && !minus && n.op != BinaryOp::add) return of_numbers(n.op, *a, *b);
  if (product) {
    if (as_const_int(a->base) && all_equal(a->offsets)) std::swap(a, b);
    const std::int64_t* c = as_const_int(b->base);
    if (!c || !all_equal(b->offsets) || !small_offset(*c + b->offsets[0])) return {};
    const std::int64_t factor = *c + b->offsets[0];
    for (std::int64_t& o : a->offsets)
      if (__builtin_mul_overflow(o, factor, &o) || !small_offset(o)) return {};
    return LaneOffsets{fold_mul(a->base, AnyExpr(factor)), std::move(a->offsets)};
  }
  for (std::size_t l = 0; l < a->offsets.size(); ++l) {
    a->offsets[l] += minus ? -b->offsets[l] : b->offsets[l];
    if (!small_offset(a->offsets[l])) return {};
  }
  a->base = minus ? fold_sub(a->base, b->base) : fold_add(a->base, b->base);
  return a;
}

// Whether a comparison holds in each lane, where both sides are numbers apart.
inline std::optional<Vec<bool>> known_lanes(const AnyExpr& condition) {
  const auto* n = condition.as<BinaryNode>();
  if (!n || n->op < BinaryOp::eq || n->op > BinaryOp::ge) return {};
  const auto a = lane_offsets(n->a), b = lane_offsets(n->b);
  const AnyExpr difference = a && b ? simplify(a->base - b->base) : AnyExpr();
  const std::int64_t* apart = difference ? as_const_int(difference) : nullptr;
  if (!apart || !small_offset(*apart)) return {};
  Vec<bool> out;
  for (std::size_t l = 0; l < a->offsets.size(); ++l) {
    const AnyExpr lane =
        simplify(make_binary(n->op, AnyExpr(*apart + a->offsets[l]), AnyExpr(b->offsets[l])));
    const std::int64_t* number = as_const_int(lane);
    if (!number) return {};
    out.push_back(*number != 0);
  }
  return out;
}

// Of each lane the arm that its number chooses, if these are numbers apart.
inline std::optional<LaneOffsets> chosen(const SelectNode& n) {
  auto yes = lane_offsets(n.yes);
  const auto no = yes ? lane_offsets(n.no) : std::nullopt;
  const auto first = no ? known_lanes(n.condition) : std::nullopt;
  const AnyExpr difference = first ? simplify(no->base - yes->base) : AnyExpr();
  const std::int64_t* apart = difference ? as_const_int(difference) : nullptr;
  if (!apart || first->size() != yes->offsets.size()) return {};
  for (std::size_t l = 0; l < first->size(); ++l)
    if (!(*first)[l]) yes->offsets[l] = no->offsets[l] + *apart;
  for (const std::int64_t o : yes->offsets)
    if (!small_offset(o)) return {};
  return yes;
}

// offsets[l] = offsets[l % period] + step * (l / period)
inline bool periodic(const Vec<std::int64_t>& offsets, std::size_t period, std::int64_t& step) {
  step = offsets[period] - offsets[0];
  for (std::size_t l = 0; l < offsets.size(); ++l)
    if (offsets[l] != offsets[l % period] + step * static_cast<std::int64_t>(l / period))
      return false;
  return true;
}

// What an expression is in the lane of a variable number.
class OneLane : public Mutator {
 public:
  explicit OneLane(VarRef lane) : lane_(std::move(lane)) {}
  bool ok = true;  ///< no lane takes from another

  AnyExpr expr(const AnyExpr& e) override {
    if (const VarRef* own = scalars_.find(e.get())) return AnyExpr(*own);
    if (!e.dtype().is_vector() && is_whole(e)) return e;
    if (!ok || !e.dtype().is_vector()) return fail(e);
    if (const auto* n = e.as<LetNode>()) return let(*n);
    switch (e.kind()) {
      case ExprKind::Broadcast:
        return whole(e.as<BroadcastNode>()->value);
      case ExprKind::Ramp:
        return ramp(*e.as<RampNode>());
      case ExprKind::Load:
        return load(*e.as<LoadNode>());
      case ExprKind::Cast:
        return make_cast(e.dtype().scalar(), expr(e.as<CastNode>()->value));
      case ExprKind::Call:
        return stays_in_lanes(*e.as<CallNode>()) ? descend(e) : fail(e);
      case ExprKind::Binary:
      case ExprKind::Unary:
      case ExprKind::Select:
        return descend(e);
      default:
        return fail(e);
    }
  }

 private:
  static bool stays_in_lanes(const CallNode& n) {
    return op_pure(n.op) && !crosses_lanes(n.op) && !is_tile(n.op) && n.op != CallOp::reinterpret;
  }
  // The operators around are built of scalars, also where the whole is thrown away.
  AnyExpr fail(const AnyExpr& e) {
    ok = false;
    return make_const(e.dtype().scalar(), 0);
  }
  AnyExpr whole(const AnyExpr& e) { return e.dtype().is_vector() ? fail(e) : expr(e); }
  AnyExpr ramp(const RampNode& n) {
    const AnyExpr lane = make_cast(n.dtype.scalar(), AnyExpr(lane_));
    return fold_add(whole(n.base), fold_mul(lane, n.stride));
  }
  AnyExpr load(const LoadNode& n) {
    if (n.buffer->dtype.is_vector()) return fail(AnyExpr(Ref<LoadNode>(&n)));
    Vec<AnyExpr> indices;
    for (const auto& i : n.indices) indices.push_back(expr(i));
    AnyExpr value = make_load(n.buffer, std::move(indices));
    const AnyExpr zero = make_const(value.dtype(), 0);
    return n.mask ? make_select(expr(n.mask), std::move(value), zero) : value;
  }
  AnyExpr let(const LetNode& n) {
    Vec<LetBinding> bindings;
    for (const auto& b : n.bindings) {
      AnyExpr value = expr(b.value);
      VarRef own = b.var;
      if (own->dtype.is_vector()) scalars_[b.var.get()] = own = make_var(own->name, value.dtype());
      bindings.push_back({std::move(own), std::move(value)});
    }
    return make_let(std::move(bindings), expr(n.body));
  }
  // Whether a scalar takes no lane of what is a vector no more.
  bool is_whole(const AnyExpr& e) const {
    for (const auto& var : free_vars(e))
      if (scalars_.contains(var.get())) return false;
    return true;
  }

  const VarRef lane_;
  NodeMap<VarRef> scalars_;  ///< of the vectors that lets bind
};

}  // namespace detail

LATHE_DECL AnyExpr in_lane(const AnyExpr& e, const VarRef& lane) {
  detail::OneLane one(lane);
  AnyExpr value = one.expr(e);
  return one.ok ? value : AnyExpr();
}

LATHE_DECL AnyExpr even_lanes(const AnyExpr& e, const Facts& facts) {
  if (e.dtype().scalar() != kIndex || !e.dtype().is_vector()) return {};
  const int lanes = e.dtype().lanes;
  const VarRef lane = make_var("lane");
  const AnyExpr value = in_lane(e, lane);
  if (!value) return {};
  Facts inside = facts;
  inside.bind(lane, 0, lanes);
  const AnyExpr first = substitute(value, {{lane, AnyExpr(0)}}),
                second = substitute(value, {{lane, AnyExpr(1)}});
  const AnyExpr stride = simplify(second - first, facts);
  if (!as_const_int(stride)) return {};
  const AnyExpr base = simplify(value - AnyExpr(lane) * stride, inside);
  if (uses_var(base, lane)) return {};
  return is_const(stride, 0) ? make_broadcast(base, lanes) : make_ramp(base, stride, lanes);
}

LATHE_DECL std::optional<LaneOffsets> lane_offsets(const AnyExpr& e) {
  if (e.dtype().scalar() != kIndex) return {};
  if (!e.dtype().is_vector()) return LaneOffsets{e, {0}};
  if (const auto* b = e.as<BroadcastNode>()) return detail::repeated(b->value, b->lanes, 0);
  if (const auto* r = e.as<RampNode>()) {
    const std::int64_t* step = as_const_int(r->stride);
    return step ? detail::repeated(r->base, r->lanes, *step) : std::nullopt;
  }
  if (const auto* n = e.as<BinaryNode>()) return detail::combined(*n);
  if (const auto* n = e.as<SelectNode>()) return detail::chosen(*n);
  return {};
}

LATHE_DECL AnyExpr with_offsets(const AnyExpr& base, const Vec<std::int64_t>& offsets) {
  const AnyExpr first = fold_add(base, AnyExpr(offsets[0]));
  const std::size_t lanes = offsets.size();
  if (lanes == 1) return first;
  for (std::size_t period = 1; period < lanes; ++period) {
    std::int64_t step = 0;
    if (lanes % period != 0 || !detail::periodic(offsets, period, step)) continue;
    const AnyExpr inner = with_offsets(
        base, {offsets.begin(), offsets.begin() + static_cast<std::ptrdiff_t>(period)});
    if (!inner) continue;
    const int count = static_cast<int>(lanes / period);
    return step == 0 ? make_broadcast(inner, count) : make_ramp(inner, AnyExpr(step), count);
  }
  return {};
}

LATHE_DECL bool has_nested_lanes(const AnyExpr& e) {
  if (!e.dtype().is_vector()) return false;
  if (const auto* b = e.as<BroadcastNode>()) return b->value.dtype().is_vector();
  if (const auto* r = e.as<RampNode>()) return r->base.dtype().is_vector();
  const auto* n = e.as<BinaryNode>();
  return n && (has_nested_lanes(n->a) || has_nested_lanes(n->b));
}

}  // namespace lathe

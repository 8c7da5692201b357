// In which fewer bits integers can be computed.
#pragma once

#include <lathe/analysis/held.hpp>
#include <lathe/arith/facts.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/vector/limited_float.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// Bounds of integers, by what the program stores to the temporaries that they are loaded from.
class LoadBounds : Mutator {
 public:
  LoadBounds() = default;
  explicit LoadBounds(const Program& program) : program_(program) {
    any_statement(program->body, [&](const Stmt& s) {
      const auto* n = s.as<AllocNode>();
      if (n && n->buffer->dtype.is_int() && n->buffer->dtype.bits <= 16)
        buffers_.push_back(n->buffer);
      return false;
    });
  }
  bool none() const { return buffers_.empty(); }
  /// What loops around say of variables.
  void within(const Facts& loops) { loops_ = loops; }

  ConstInterval of(const AnyExpr& e) {
    if (none() || e->weight > kLargest) return const_bounds(e, loops_);
    facts_ = loops_;
    const AnyExpr named = expr(e);
    return const_bounds(named, facts_);
  }

 private:
  // Each load by itself: two may be of different places.
  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    if (!n || n->mask.get() || e.dtype().lanes != 1) return descend(e);
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      if (buffers_[k] != n->buffer) continue;
      if (ranges_.empty()) ranges_ = held_ranges(program_, buffers_);
      VarRef element = make_var("element", e.dtype());
      facts_.bind(element, ranges_[k]);
      return AnyExpr(element);
    }
    return e;
  }

  static constexpr std::uint32_t kLargest = 1000;  ///< nodes of what loads are looked for in
  Program program_{};
  Vec<Buffer> buffers_;
  Vec<ConstInterval> ranges_;  ///< of what each holds, once that is asked for
  Facts facts_, loops_;
};

/// In which narrower lanes integers can be computed so that what is asked of the result stays.
class NarrowLanes {
 public:
  explicit NarrowLanes(LoadBounds& bounds) : bounds_(&bounds) {}

  /// The narrowest type for the lowest `bits` of e, with as many at least; else e's own.
  DType for_bits(const AnyExpr& e, int bits) {
    for (int k = 0; k < kTypes; ++k)
      if (type(k).bits >= bits && type(k).bits < e.dtype().bits && keeps(e, k, bits))
        return type(k);
    return e.dtype().scalar();
  }
  /// The narrowest type that has the numbers a and b; else their own.
  DType for_numbers(const AnyExpr& a, const AnyExpr& b) {
    for (int k = 0; k < kTypes; ++k)
      if (type(k).bits < a.dtype().bits && is_exact(a, k) && is_exact(b, k)) return type(k);
    return a.dtype().scalar();
  }

  /// Whether an integer type has the number that e is, and computing in it gives that.
  bool is_exact_in(const AnyExpr& e, DType scalar) {
    for (int k = 0; k < kTypes; ++k)
      if (type(k) == scalar) return is_exact(e, k);
    return false;
  }

  /// The same computed in that type.
  AnyExpr in(const AnyExpr& e, DType scalar) {
    if (const AnyExpr* known = e->shared() ? made_.find(e.get()) : nullptr)
      if (known->dtype().scalar() == scalar) return *known;
    AnyExpr out = made_in(e, scalar);
    if (e->shared()) made_[e.get()] = out, kept_.push_back(e);
    return out;
  }

 private:
  static constexpr int kTypes = 6;
  static DType type(int k) {
    return {k % 2 ? TypeCode::sint : TypeCode::uint, static_cast<std::uint8_t>(8 << k / 2), 1,
            false};
  }

  AnyExpr made_in(const AnyExpr& e, DType scalar) {
    const DType t = scalar.with_lanes(e.dtype().lanes);
    if (const LimitedFloat limited = limited_float(e); exact_limits(limited).has_min())
      return limited_in(limited, scalar);
    if (const auto* n = e.as<BinaryNode>())
      return make_binary(n->op, in(n->a, scalar), in(n->b, scalar));
    if (const auto* n = e.as<SelectNode>())
      return make_select(n->condition, in(n->yes, scalar), in(n->no, scalar));
    if (const auto* n = e.as<CastNode>()) return make_cast(t, n->value);
    if (const auto* n = e.as<UnaryNode>()) return make_unary(n->op, in(n->a, scalar));
    if (const auto* n = magnitude(e))
      return make_cast(t, make_call(n->op, {in(n->args[0], as_signed(scalar))}));
    if (const auto* n = e.as<RampNode>())
      return make_ramp(scalar_in(n->base, scalar), scalar_in(n->stride, scalar), n->lanes);
    if (const auto* n = e.as<BroadcastNode>())
      return make_broadcast(scalar_in(n->value, scalar), n->lanes);
    return make_int(t, *as_const_int(e));
  }

  static AnyExpr scalar_in(const AnyExpr& e, DType t) {
    const std::int64_t* c = as_const_int(e);
    return c ? make_int(t, *c) : make_cast(t, e);
  }

  /// Whether the type has the number that e is, and computing in it gives that.
  bool is_exact(const AnyExpr& e, int k) {
    const ConstInterval own = range(e), all = range_of_type(type(k));
    return own.has_min() && own.has_max() && own.min >= all.min && own.max <= all.max &&
           keeps(e, k, type(k).bits);
  }

  /// Whether computing in the type gives the lowest `bits` of e. Of more bits it says no less.
  bool keeps(const AnyExpr& e, int k, int bits) {
    if (!e->shared()) return surely_keeps(e, k, bits);
    const auto at = static_cast<std::size_t>(k);
    if (const Kept* known = known_.find(e.get())) {
      if (bits <= known->yes[at]) return true;
      if (bits >= known->no[at]) return false;
    }
    const bool yes = surely_keeps(e, k, bits);
    (yes ? known_[e.get()].yes : known_[e.get()].no)[at] = static_cast<std::uint8_t>(bits);
    kept_.push_back(e);
    return yes;
  }

  bool surely_keeps(const AnyExpr& e, int k, int bits) {
    if (e.kind() == ExprKind::Const) return true;
    if (const auto* n = e.as<BroadcastNode>()) return n->value.dtype().lanes == 1;
    // Scalars are converted beside the lanes.
    if (const auto* n = e.as<RampNode>()) return n->base.dtype().lanes == 1;
    if (const auto* n = e.as<CastNode>())
      return n->value.dtype().is_int() && n->value.dtype().bits <= type(k).bits;
    if (const auto* n = e.as<SelectNode>()) return keeps(n->yes, k, bits) && keeps(n->no, k, bits);
    if (const auto* n = e.as<UnaryNode>()) return keeps(n->a, k, bits);
    // The least number's magnitude wraps around to the bits that it has without a sign.
    if (const auto* n = magnitude(e)) return is_exact(n->args[0], k | 1);
    const auto* n = e.as<BinaryNode>();
    return n && keeps_binary(*n, k, bits);
  }
  static const CallNode* magnitude(const AnyExpr& e) {
    const auto* n = e.as<CallNode>();
    return n && n->op == CallOp::abs && e.dtype().is_int() ? n : nullptr;
  }
  static DType as_signed(DType t) { return {TypeCode::sint, t.bits, t.lanes, false}; }

  // Bytes have neither products, quotients nor shifts on most machines, and a count that reaches
  // the width means another one.
  bool keeps_binary(const BinaryNode& n, int k, int bits) {
    const int width = type(k).bits;
    const std::int64_t* by = as_const_int(n.b);
    const bool shifts = width > 8 && by && *by >= 0 && *by < width;
    switch (n.op) {
      case BinaryOp::mul:
        if (width == 8) return false;
        [[fallthrough]];
      case BinaryOp::add:
      case BinaryOp::sub:
      case BinaryOp::bit_and:
      case BinaryOp::bit_or:
      case BinaryOp::bit_xor:
        return keeps(n.a, k, bits) && keeps(n.b, k, bits);
      case BinaryOp::shl:
        return shifts && keeps(n.a, k, bits);
      case BinaryOp::shr:
        if (!shifts) return false;
        return bits + *by <= width ? keeps(n.a, k, static_cast<int>(bits + *by)) : is_exact(n.a, k);
      case BinaryOp::div:
      case BinaryOp::mod:
      case BinaryOp::floordiv:
      case BinaryOp::floormod:
        return width > 8 && by && *by > 0 && is_exact(n.a, k) && is_exact(n.b, k);
      case BinaryOp::min:
      case BinaryOp::max:
        return (is_exact(n.a, k) && is_exact(n.b, k)) ||
               has_limits(AnyExpr(Ref<BinaryNode>(&n)), k);
      default:
        return false;
    }
  }

  static bool has_limits(const AnyExpr& e, int k) {
    const ConstInterval limits = exact_limits(limited_float(e)), all = range_of_type(type(k));
    return limits.has_min() && limits.min >= all.min && limits.max <= all.max;
  }

  ConstInterval range(const AnyExpr& e) {
    if (const ConstInterval* known = e->shared() ? ranges_.find(e.get()) : nullptr) return *known;
    const ConstInterval out = bounds_->of(e);
    if (e->shared()) ranges_.insert(e.get(), out), kept_.push_back(e);
    return out;
  }

  struct Kept {
    std::uint8_t yes[kTypes] = {}, no[kTypes] = {255, 255, 255, 255, 255, 255};
  };
  LoadBounds* bounds_;
  NodeMap<ConstInterval> ranges_;
  NodeMap<Kept> known_;  ///< for each type, how many bits it keeps at least, and how many not
  NodeMap<AnyExpr> made_;
  Vec<AnyExpr> kept_;  ///< whose nodes are keys, so that no others take their place
};

}  // namespace lathe::detail

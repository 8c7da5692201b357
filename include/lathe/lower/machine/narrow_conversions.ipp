#pragma once

#include <algorithm>
#include <lathe/ir/stmt.hpp>
#include <lathe/lower/borders/mutator_in_loops.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/vector/narrow_lanes.hpp>

namespace lathe {
namespace detail {

class NarrowConversions : public MutatorInLoops {
 public:
  NarrowConversions(const Program& program, const TargetCaps& caps)
      : MutatorInLoops(program), caps_(caps) {
    // Only here: where all of Facts knows this, the simplifier drops limits of fused rows by bounds
    // that it then can't compare (h * w).
    for (const auto& dim : program->dims)
      facts_.bind(dim->var, ConstInterval{dim->min, std::min(dim->max, kLargestDim)});
  }

  Stmt stmt(const Stmt& s) override {
    lanes_ = NarrowLanes(bounds_);
    return MutatorInLoops::stmt(s);
  }

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    if (e.dtype().lanes == 1) return descend(e);
    if (e.dtype().scalar() == kI64 && !caps_.wide_conversions && caps_.rounds) {
      const LimitedFloat limited = limited_float(e);
      if (limited && limited.integer.bits == 64 && is_near(limited))
        return from_doubles(*e.as<BinaryNode>(), limited);
    }
    const auto* n = e.as<CastNode>();
    if (!n || n->value.dtype().scalar() != kI64 || !is_wide_float(e.dtype())) return descend(e);
    bounds_.within(facts_);
    if (lanes_.is_exact_in(n->value, kI32))
      return make_cast(n->dtype, descend(lanes_.in(n->value, kI32)));
    if (caps_.wide_conversions || !fits(bounds_.of(n->value))) return descend(e);
    return make_cast(n->dtype, in_doubles(expr(n->value)));
  }

  static bool is_wide_float(DType t) { return t.scalar() == kF32 || t.scalar() == kF64; }

  /// Whether limits are so near that numbers beyond `kFar` need not be told apart.
  bool is_near(const LimitedFloat& f) {
    const ConstInterval low = const_bounds(f.low, facts_), high = const_bounds(f.high, facts_);
    constexpr std::int64_t kNear = kFar / 2;
    return low.has_min() && low.has_max() && high.has_min() && high.has_max() && low.min > -kNear &&
           low.max < kNear && high.min > -kNear && high.max < kNear;
  }
  /// The same limits of what is converted as the mantissa of an f64.
  AnyExpr from_doubles(const BinaryNode& outer, const LimitedFloat& f) {
    const DType t = f.x.dtype(), wide = kF64.with_lanes(t.lanes),
                integer = kI64.with_lanes(t.lanes);
    const AnyExpr x =
        expr(between_limits(f, -static_cast<double>(kFar), static_cast<double>(kFar)));
    const AnyExpr number = make_select(make_call(CallOp::is_nan, {x}), make_float(t, 0), x);
    AnyExpr whole = make_call(CallOp::trunc, {make_cast(wide, number)});
    AnyExpr out =
        make_reinterpret(integer, whole + make_float(wide, 3.0 * static_cast<double>(kHalf))) -
        make_int(integer, kBitsOf2To52 + kHalf);
    if (f.plus != 0) out = out + make_int(integer, f.plus);
    const auto* inner = outer.a.as<BinaryNode>();
    return make_binary(outer.op, make_binary(inner->op, out, expr(inner->b)), expr(outer.b));
  }

  /// Whether the mantissa of an f64 has the numbers, and as many above them.
  static bool fits(const ConstInterval& range) {
    return range.has_min() && range.has_max() && range.min >= -kHalf && range.max < kHalf;
  }
  /// The number as the mantissa of an f64 that has no digits behind the point: 2^52 and its half
  /// are added as integers and taken away as floats. Exact (Warren, Hacker's Delight, 17-3).
  static AnyExpr in_doubles(const AnyExpr& value) {
    const DType wide = kF64.with_lanes(value.dtype().lanes);
    const AnyExpr mantissa = value + make_int(value.dtype(), kBitsOf2To52 + kHalf);
    return make_reinterpret(wide, mantissa) - make_float(wide, 3.0 * static_cast<double>(kHalf));
  }
  static constexpr std::int64_t kHalf = std::int64_t{1} << 51, kBitsOf2To52 = 0x433LL << 52;
  static constexpr std::int64_t kFar = std::int64_t{1} << 50;

  const TargetCaps& caps_;
  LoadBounds bounds_;
  NarrowLanes lanes_{bounds_};
};

}  // namespace detail

LATHE_DECL Program narrow_conversions(const Program& program, const TargetCaps& caps) {
  return program.with(detail::NarrowConversions(program, caps).stmt(program->body));
}

}  // namespace lathe

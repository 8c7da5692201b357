// Integers that a float becomes and that the program limits to a few numbers, as the places that
// images are read at: the limits may be those of the float.
#pragma once

#include <cmath>
#include <lathe/arith/facts.hpp>
#include <lathe/ir/expr.hpp>
#include <limits>

namespace lathe::detail {

/// max(min(cast(x) + plus, high), low), its limits in any order.
struct LimitedFloat {
  AnyExpr x;
  DType integer;  ///< what the program converts x to
  std::int64_t plus = 0;
  AnyExpr low, high;

  explicit operator bool() const { return static_cast<bool>(x); }

  static constexpr std::int64_t kMostAdded = 1 << 24;
};

inline LimitedFloat limited_float(const AnyExpr& e) {
  LimitedFloat out;
  AnyExpr inside = e;
  for (int limit = 0; limit < 2; ++limit) {
    const auto* n = inside.as<BinaryNode>();
    if (!n || (n->op != BinaryOp::min && n->op != BinaryOp::max)) return {};
    (n->op == BinaryOp::max ? out.low : out.high) = n->b;
    inside = n->a;
  }
  if (const auto* n = inside.as<BinaryNode>(); n && n->op == BinaryOp::add) {
    const std::int64_t* c = as_const_int(n->b);
    if (!c || *c < -LimitedFloat::kMostAdded || *c > LimitedFloat::kMostAdded) return {};
    out.plus = *c;
    inside = n->a;
  }
  const auto* cast = inside.as<CastNode>();
  if (!cast || !out.low || !out.high || !cast->dtype.is_signed() || cast->dtype.bits < 32)
    return {};
  const DType from = cast->value.dtype().scalar();
  if (from != kF32 && from != kF64) return {};
  out.x = cast->value;
  out.integer = cast->dtype;
  return out;
}

/// The limits as numbers of what x becomes by itself; none unless a conversion within them is the
/// same: x has each integer between them, and what a NaN becomes, 0, is one.
inline ConstInterval exact_limits(const LimitedFloat& f) {
  const std::int64_t *low = f ? as_const_int(f.low) : nullptr,
                     *high = f ? as_const_int(f.high) : nullptr;
  const std::int64_t exact = f && f.x.dtype().scalar() == kF32 ? 1LL << 24 : 1LL << 31;
  if (!low || !high || *low < f.plus - exact || *high > f.plus + exact || *low > f.plus ||
      *high < f.plus)
    return {};
  return {*low - f.plus, *high - f.plus};
}

/// The least number of a float type that is n or more.
template <class F>
double least_from(std::uint64_t n) {
  const F nearest = static_cast<F>(n);
  const bool below = static_cast<std::uint64_t>(nearest) < n;
  return below ? std::nextafter(nearest, std::numeric_limits<F>::infinity()) : nearest;
}
inline double least_from(std::uint64_t n, DType t) {
  return t.scalar() == kF32 ? least_from<float>(n) : least_from<double>(n);
}

/// x, but a limit on the other side where cast(x) + plus wraps around.
inline AnyExpr without_wrap(const LimitedFloat& f, double least, double most) {
  if (f.plus == 0) return f.x;
  const DType t = f.x.dtype();
  const std::uint64_t end = std::uint64_t{1} << (f.integer.bits - 1);
  if (f.plus > 0)
    return make_select(
        make_binary(BinaryOp::ge, f.x,
                    make_float(t, least_from(end - static_cast<std::uint64_t>(f.plus), t))),
        make_float(t, least), f.x);
  const std::uint64_t away = end - static_cast<std::uint64_t>(-f.plus) + 1;
  return make_select(make_binary(BinaryOp::le, f.x, make_float(t, -least_from(away, t))),
                     make_float(t, most), f.x);
}

/// x between two numbers, and a NaN, which passes fast_min and fast_max on their right.
inline AnyExpr between_limits(const LimitedFloat& f, double least, double most) {
  const DType t = f.x.dtype();
  return make_binary(
      BinaryOp::fast_min, make_float(t, most),
      make_binary(BinaryOp::fast_max, make_float(t, least), without_wrap(f, least, most)));
}

/// What has exact limits, computed in an integer type that has all numbers between them.
inline AnyExpr limited_in(const LimitedFloat& f, DType scalar) {
  const ConstInterval limits = exact_limits(f);
  const DType to = scalar.with_lanes(f.x.dtype().lanes);
  AnyExpr out = make_cast(
      to, between_limits(f, static_cast<double>(limits.min), static_cast<double>(limits.max)));
  return f.plus == 0 ? out : make_binary(BinaryOp::add, out, make_int(to, f.plus));
}

}  // namespace lathe::detail

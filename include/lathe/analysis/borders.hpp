// Indices that are clamped, wrap around or turn back at the borders of an array, and what they are
// away from there.
#pragma once

#include <lathe/arith/facts.hpp>
#include <lathe/ir/expr.hpp>
#include <optional>

namespace lathe::detail {

/// What is between the bounds of min and max of min and max.
AnyExpr unclamped(AnyExpr e);

/// x of an index abs(x), which turns back at 0; else empty.
AnyExpr turned_at_zero(const AnyExpr& index);

/// A place that goes on at the other side, (i - 1 + n) % n, is dividend - shift but for a few
/// iterations: where shift <= dividend < end.
struct Wrapped {
  AnyExpr dividend, shift, end;
};
/// None where less than two thirds of the values lie in one period, or, of a period that only a
/// call tells, it is not known that they do.
std::optional<Wrapped> wrapped(const AnyExpr& e, const Facts& facts);

/// An index, or a comparison of two, as it is away from borders: between the ends of min and max,
/// on this side of what wraps around or is turned back, and as conditions usually choose it.
AnyExpr away_from_borders(const AnyExpr& e, const Facts& facts);
/// What a comparison of indices is for most of the values that its sides take; none where that is
/// not known.
std::optional<bool> usual_value(const AnyExpr& comparison, const Facts& facts);

}  // namespace lathe::detail

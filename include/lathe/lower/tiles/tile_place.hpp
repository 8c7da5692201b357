// Where a tile lies in a flat buffer.
#pragma once

#include <lathe/ir/expr.hpp>
#include <optional>

namespace lathe::detail {

/// Row r begins at base + r * pitch; its elements follow each other.
struct TilePlace {
  Buffer buffer;
  AnyExpr base, pitch;  ///< scalars, i64
  int rows = 1, columns = 1;
};

/// Of the access with this index; none if its lanes are no rows of so many that lie evenly apart.
std::optional<TilePlace> tile_place(const Buffer& buffer, const Vec<AnyExpr>& indices, int rows);
/// The index of all lanes, as rows of a ramp, which is the form that stays until code is emitted.
AnyExpr index_of(const TilePlace& place);
/// The index of `lanes` elements of row `row`, from element `first` on, `step` apart.
AnyExpr index_in_row(const TilePlace& place, const AnyExpr& row, const AnyExpr& first, int lanes,
                     int step = 1);

}  // namespace lathe::detail

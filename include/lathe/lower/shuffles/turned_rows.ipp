#pragma once

#include <algorithm>
#include <lathe/arith/simplify.hpp>
#include <lathe/lower/shuffles/turned_rows.hpp>

namespace lathe::detail {

LATHE_DECL TurnedTiles::TurnedTiles(DType type, std::int64_t most, const TargetCaps& caps)
    : type_(type), caps_(caps) {
  const std::int64_t in_register = std::max(caps.register_bytes / type.element_bytes(), 1);
  most = std::min({most, std::int64_t{type.lanes}, in_register});
  // Pieces of rows are joined in pairs.
  const bool in_pairs = (type.lanes & (type.lanes - 1)) == 0;
  while (in_pairs && width_ * 2 <= most) width_ *= 2;
}

LATHE_DECL TurnedRows::TurnedRows(DType type, AnyExpr stride, const Run& run, std::int64_t rows,
                                  const TargetCaps& caps)
    : TurnedTiles(type, run.extent, caps), stride_(std::move(stride)), rows_(rows), run_(run) {}

LATHE_DECL AnyExpr TurnedRows::column(std::int64_t c) {
  const std::int64_t first = std::min(c / width_ * width_, run_.extent - width_);
  for (const Tile& tile : tiles_)
    if (tile.first == first) return tile.columns[static_cast<std::size_t>(c - first)];
  tiles_.push_back({first, turned(first)});
  return tiles_.back().columns[static_cast<std::size_t>(c - first)];
}

LATHE_DECL AnyExpr TurnedRows::row_piece(std::int64_t row, std::int64_t column) {
  const auto lanes = static_cast<int>(width_);
  if (row >= rows_) return make_const(type_.with_lanes(lanes), 0);
  ++loads;
  const AnyExpr first = fold_add(first_of(row), AnyExpr(column));
  return named(make_load(run_.buffer, {make_ramp(first, AnyExpr(1), lanes)}));
}

LATHE_DECL AnyExpr TurnedRows::first_of(std::int64_t row) {
  if (const std::int64_t* constant = as_const_int(stride_))
    return fold_add(run_.base, AnyExpr(row * *constant));
  const auto at = static_cast<std::size_t>(row);
  while (firsts_.size() <= at) firsts_.push_back({});
  if (!firsts_[at])
    firsts_[at] = named(fold_add(run_.base, fold_mul(fresh_lets(stride_), AnyExpr(row))));
  return firsts_[at];
}

// Rows row, row + width, row + 2 * width … side by side.
LATHE_DECL AnyExpr TurnedRows::group(std::int64_t row, std::int64_t column) {
  Vec<AnyExpr> pieces;
  for (std::int64_t r = row; r < type_.lanes; r += width_) pieces.push_back(row_piece(r, column));
  while (pieces.size() > 1) {
    Vec<AnyExpr> joined;
    for (std::size_t k = 0; k + 1 < pieces.size(); k += 2) {
      Vec<int> map;
      const int lanes = 2 * pieces[k].dtype().lanes;
      for (int l = 0; l < lanes; ++l) map.push_back(l);
      joined.push_back(shuffled(pieces[k], pieces[k + 1], std::move(map), lanes / 2));
    }
    pieces = std::move(joined);
  }
  return pieces[0];
}

LATHE_DECL Vec<AnyExpr> TurnedRows::turned(std::int64_t first) {
  Vec<AnyExpr> at;
  for (std::int64_t row = 0; row < width_; ++row) at.push_back(group(row, first));
  turn(at);
  return at;
}

LATHE_DECL void TurnedTiles::turn(Vec<AnyExpr>& at) {
  const int lanes = type_.lanes;
  for (auto block = static_cast<int>(width_) / 2; block > 0; block /= 2)
    for (std::size_t upper = 0; upper < at.size(); ++upper) {
      const std::size_t lower = upper + static_cast<std::size_t>(block);
      if (upper & static_cast<std::size_t>(block)) continue;
      Vec<int> from_left, from_right;
      for (int l = 0; l < lanes; ++l) {
        const bool right = (l & block) != 0;
        from_left.push_back(right ? lanes + l - block : l);
        from_right.push_back(right ? lanes + l : l + block);
      }
      const AnyExpr a = at[upper], b = at[lower];
      at[upper] = shuffled(a, b, std::move(from_left), block);
      at[lower] = shuffled(a, b, std::move(from_right), block);
    }
}

/// `moved`: elements that stay together.
LATHE_DECL AnyExpr TurnedTiles::shuffled(const AnyExpr& a, const AnyExpr& b, Vec<int> map,
                                         std::int64_t moved) {
  const DType type = type_.with_lanes(static_cast<int>(map.size()));
  instructions += merge_cost(type, type_.element_bytes() * static_cast<int>(moved), caps_);
  return named(make_shuffle({a, b}, std::move(map)));
}

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <lathe/arith/simplify.hpp>
#include <lathe/lower/machine/turned_rows.hpp>

namespace lathe::detail {

LATHE_DECL TurnedRows::TurnedRows(DType type, std::int64_t stride, const Run& run,
                                  std::int64_t rows, const TargetCaps& caps)
    : type_(type), stride_(stride), rows_(rows), run_(run), caps_(caps) {
  const std::int64_t in_register = std::max(caps.register_bytes / type.element_bytes(), 1);
  const std::int64_t most = std::min({run.extent, std::int64_t{type.lanes}, in_register});
  // Pieces of rows are joined in pairs.
  const bool in_pairs = (type.lanes & (type.lanes - 1)) == 0;
  while (in_pairs && width_ * 2 <= most) width_ *= 2;
}

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
  const AnyExpr first = fold_add(run_.base, AnyExpr(row * stride_ + column));
  return named(make_load(run_.buffer, {make_ramp(first, AnyExpr(1), lanes)}));
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
  return at;
}

/// `moved`: elements that stay together.
LATHE_DECL AnyExpr TurnedRows::shuffled(const AnyExpr& a, const AnyExpr& b, Vec<int> map,
                                        std::int64_t moved) {
  const DType type = type_.with_lanes(static_cast<int>(map.size()));
  instructions += merge_cost(type, type_.element_bytes() * static_cast<int>(moved), caps_);
  return named(make_shuffle({a, b}, std::move(map)));
}

}  // namespace lathe::detail

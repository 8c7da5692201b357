// Columns of a matrix in memory as vectors: rows are loaded as they lie and turned by shuffles.
#pragma once

#include <lathe/lower/shuffles/deinterleave.hpp>

namespace lathe::detail {

/// Tiles of a power of two of vectors, transposed in registers by exchanging halves of ever smaller
/// blocks (Eklundh 1972): w * log2(w) shuffles of w vectors. Of vectors with more lanes than that
/// each w lanes are a tile.
class TurnedTiles : public NamedShuffles {
 public:
  /// No tile is higher than `most` vectors.
  TurnedTiles(DType type, std::int64_t most, const TargetCaps& caps);

  /// Vectors of a tile; 1 where there are none.
  std::int64_t width() const { return width_; }
  /// Lane b * width + r of vector c becomes lane b * width + c of vector r.
  void turn(Vec<AnyExpr>& at);

 protected:
  AnyExpr shuffled(const AnyExpr& a, const AnyExpr& b, Vec<int> map, std::int64_t moved);

  const DType type_;
  const TargetCaps& caps_;
  std::int64_t width_ = 1;
};

/// Lane l of column c is element base + l * stride + c of a buffer, for columns that follow each
/// other: w vectors of w columns are w loads a group of w rows, and one turned tile.
class TurnedRows : public TurnedTiles {
 public:
  /// `rows`: of the lanes' rows, how many are read, from the first on.
  TurnedRows(DType type, AnyExpr stride, const Run& run, std::int64_t rows, const TargetCaps& caps);

  /// Whether there are tiles of two columns at least.
  bool pays() const { return width_ > 1; }
  /// Column c of run.extent, as a variable that one of `lets` binds.
  AnyExpr column(std::int64_t c);

 private:
  struct Tile {
    std::int64_t first;
    Vec<AnyExpr> columns;
  };
  Vec<AnyExpr> turned(std::int64_t first);
  AnyExpr group(std::int64_t row, std::int64_t column);
  AnyExpr row_piece(std::int64_t row, std::int64_t column);
  AnyExpr first_of(std::int64_t row);

  const AnyExpr stride_;
  const std::int64_t rows_;
  const Run run_;
  Vec<AnyExpr> firsts_;  ///< of each row, where the stride is no constant
  Vec<Tile> tiles_;
};

}  // namespace lathe::detail

// Columns of a matrix in memory as vectors: rows are loaded as they lie and turned by shuffles.
#pragma once

#include <lathe/lower/machine/deinterleave.hpp>

namespace lathe::detail {

/// Lane l of column c is element base + l * stride + c of a buffer, for columns that follow each
/// other. Tiles of a power of two of columns are transposed in registers, by exchanging halves of
/// ever smaller blocks (Eklundh 1972): w vectors of w columns are w loads a group of w rows and
/// w * log2(w) shuffles.
class TurnedRows : public NamedShuffles {
 public:
  /// `rows`: of the lanes' rows, how many are read, from the first on.
  TurnedRows(DType type, std::int64_t stride, const Run& run, std::int64_t rows,
             const TargetCaps& caps);

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
  AnyExpr shuffled(const AnyExpr& a, const AnyExpr& b, Vec<int> map, std::int64_t moved);

  const DType type_;
  const std::int64_t stride_, rows_;
  const Run run_;
  const TargetCaps& caps_;
  std::int64_t width_ = 1;
  Vec<Tile> tiles_;
};

}  // namespace lathe::detail

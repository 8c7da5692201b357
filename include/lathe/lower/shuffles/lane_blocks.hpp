// Narrow lanes in turn, by pieces of 16 bytes: what x86-64 does without permutes of bytes.
#pragma once

#include <lathe/ir/expr.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe::detail {

/// Of s dense vectors, every s-th lane from each offset, and back, where s is odd. Pieces of 16
/// bytes are sorted by their number modulo s; then a lane stands at a place of its own among those
/// of its offset, so they are blended together, and one shuffle within 16 bytes puts them in order.
/// s vectors take at most s * (s - 1) merges of pieces, as many blends, and s shuffles.
/// Intel's optimization reference manual, "RGB to planar" of 16-byte lanes, is s = 3.
class LaneBlocks {
 public:
  LaneBlocks(DType type, int stride)
      : type_(type), stride_(stride), lanes_(kBytes / type.element_bytes()) {}

  /// Whether vectors of this type are made of pieces, and merges of single lanes cost more.
  static bool pays(DType type, std::int64_t stride, const TargetCaps& caps);

  Vec<AnyExpr> apart(const Vec<AnyExpr>& vectors);
  Vec<AnyExpr> in_turn(const Vec<AnyExpr>& offsets);

  Vec<LetBinding> lets;
  int instructions = 0;

 private:
  static constexpr int kBytes = 16;

  int blocks() const { return type_.lanes / lanes_; }
  AnyExpr named(AnyExpr value);
  AnyExpr merged(const Vec<AnyExpr>& vectors, const Vec<int>& vector, const Vec<int>& lane);
  AnyExpr of_pieces(const Vec<AnyExpr>& vectors, const Vec<int>& pieces);
  AnyExpr within(const AnyExpr& vector, const Vec<int>& order);
  AnyExpr blended(const Vec<AnyExpr>& vectors, const Vec<int>& from);

  const DType type_;
  const int stride_;
  const int lanes_;  ///< of a piece
};

}  // namespace lathe::detail

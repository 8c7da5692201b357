#pragma once

#include <algorithm>
#include <lathe/lower/shuffles/deinterleave.hpp>
#include <lathe/lower/shuffles/lane_blocks.hpp>

namespace lathe::detail {

LATHE_DECL bool LaneBlocks::pays(DType type, std::int64_t stride, const TargetCaps& caps) {
  constexpr std::int64_t most = 7;
  const int bytes = type.element_bytes() * type.lanes;
  return caps.shuffles_pieces && stride % 2 == 1 && stride > 1 && stride <= most &&
         type.element_bytes() <= 2 && type.bits >= 8 && bytes % kBytes == 0 &&
         bytes <= caps.register_bytes && merge_cost(type, type.element_bytes(), caps) > 2;
}

LATHE_DECL AnyExpr LaneBlocks::named(AnyExpr value) {
  ++instructions;
  lets.push_back({make_var("v", value.dtype()), std::move(value)});
  return lets.back().var;
}

// Lane l of the result is lane[l] of vector[l]. One source after the other is merged in.
LATHE_DECL AnyExpr LaneBlocks::merged(const Vec<AnyExpr>& vectors, const Vec<int>& vector,
                                      const Vec<int>& lane) {
  const int first = vector[0], count = type_.lanes;
  AnyExpr value = vectors[static_cast<std::size_t>(first)];
  bool placed = false;  // whether lanes of the first are where they belong
  for (int v = 0; v < static_cast<int>(vectors.size()); ++v) {
    if (v == first || std::find(vector.begin(), vector.end(), v) == vector.end()) continue;
    Vec<int> map;
    for (int l = 0; l < count; ++l) {
      const auto at = static_cast<std::size_t>(l);
      const int kept = !placed && vector[at] == first ? lane[at] : l;
      map.push_back(vector[at] == v ? count + lane[at] : kept);
    }
    value = named(make_shuffle({value, vectors[static_cast<std::size_t>(v)]}, std::move(map)));
    placed = true;
  }
  return placed ? value : named(make_shuffle({value}, lane));
}

// Piece b of the result is pieces[b] of all vectors, counted through.
LATHE_DECL AnyExpr LaneBlocks::of_pieces(const Vec<AnyExpr>& vectors, const Vec<int>& pieces) {
  if (blocks() == 1) return vectors[static_cast<std::size_t>(pieces[0])];
  Vec<int> vector, lane;
  for (const int piece : pieces)
    for (int l = 0; l < lanes_; ++l) {
      vector.push_back(piece / blocks());
      lane.push_back(piece % blocks() * lanes_ + l);
    }
  return merged(vectors, vector, lane);
}

// The same order in each piece.
LATHE_DECL AnyExpr LaneBlocks::within(const AnyExpr& vector, const Vec<int>& order) {
  Vec<int> map;
  for (int b = 0; b < blocks(); ++b)
    for (const int l : order) map.push_back(b * lanes_ + l);
  return named(make_shuffle({vector}, std::move(map)));
}

// Each lane stays where it is; lane l of a piece is taken from vector from[l].
LATHE_DECL AnyExpr LaneBlocks::blended(const Vec<AnyExpr>& vectors, const Vec<int>& from) {
  Vec<int> vector, lane;
  for (int l = 0; l < type_.lanes; ++l) {
    vector.push_back(from[static_cast<std::size_t>(l % lanes_)]);
    lane.push_back(l);
  }
  return merged(vectors, vector, lane);
}

LATHE_DECL Vec<AnyExpr> LaneBlocks::apart(const Vec<AnyExpr>& vectors) {
  Vec<AnyExpr> sorted, out;
  for (int t = 0; t < stride_; ++t) {
    Vec<int> pieces;
    for (int b = 0; b < blocks(); ++b) pieces.push_back(b * stride_ + t);
    sorted.push_back(of_pieces(vectors, pieces));
  }
  for (int offset = 0; offset < stride_; ++offset) {
    Vec<int> from(static_cast<std::size_t>(lanes_), 0), order;
    for (int i = 0; i < lanes_; ++i) {
      const int at = i * stride_ + offset;
      from[static_cast<std::size_t>(at % lanes_)] = at / lanes_;
      order.push_back(at % lanes_);
    }
    out.push_back(within(blended(sorted, from), order));
  }
  return out;
}

LATHE_DECL Vec<AnyExpr> LaneBlocks::in_turn(const Vec<AnyExpr>& offsets) {
  Vec<AnyExpr> ordered, sorted, out;
  for (int offset = 0; offset < stride_; ++offset) {
    Vec<int> order(static_cast<std::size_t>(lanes_), 0);
    for (int i = 0; i < lanes_; ++i)
      order[static_cast<std::size_t>((i * stride_ + offset) % lanes_)] = i;
    ordered.push_back(within(offsets[static_cast<std::size_t>(offset)], order));
  }
  for (int t = 0; t < stride_; ++t) {
    Vec<int> from;
    for (int l = 0; l < lanes_; ++l) from.push_back((t * lanes_ + l) % stride_);
    sorted.push_back(blended(ordered, from));
  }
  // Piece q of the result is piece q / stride of those that were sorted q % stride.
  for (int r = 0; r < stride_; ++r) {
    Vec<int> pieces;
    for (int p = 0; p < blocks(); ++p) {
      const int q = r * blocks() + p;
      pieces.push_back(q % stride_ * blocks() + q / stride_);
    }
    out.push_back(of_pieces(sorted, pieces));
  }
  return out;
}

}  // namespace lathe::detail

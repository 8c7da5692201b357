// Two-dimensional tiles as values: which sizes three of them have, and what a store of one is.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe::detail {

/// The most rows of a tile register, bytes of each, and the registers of a core (AMX, palette 1).
inline constexpr int kTileRows = 16, kTileRowBytes = 64, kTileRegisters = 8;

/// Of a product: rows x columns, from depth terms, which stand in groups.
struct TileShape {
  int rows = 0, columns = 0, depth = 0, group = 1;
};

/// rows * columns, rows * depth and depth * columns tell all three; rows are 0 where they don't, or
/// where a tile does not fit into a register.
constexpr TileShape tile_shape(int sum_lanes, int a_lanes, int b_lanes, int group) {
  for (int rows = 1; rows <= kTileRows; ++rows) {
    if (sum_lanes % rows != 0 || a_lanes % rows != 0) continue;
    const int columns = sum_lanes / rows, depth = a_lanes / rows;
    if (depth * columns != b_lanes || depth % group != 0) continue;
    if (columns > kTileRowBytes / 4 || depth / group > kTileRows) continue;
    return {rows, columns, depth, group};
  }
  return {};
}

inline bool is_tile_value(const AnyExpr& value) {
  const auto* call = value.as<CallNode>();
  return call && is_tile(call->op);
}

/// Whether a statement computes with tiles.
inline bool stores_tile(const Stmt& s) {
  const auto* n = s.as<StoreNode>();
  return n && is_tile_value(n->value);
}

/// Of a tile_dot.
inline TileShape shape_of_tiles(const CallNode& dot) {
  return tile_shape(dot.args[0].dtype().lanes, dot.args[1].dtype().lanes, dot.args[2].dtype().lanes,
                    dot.dtype.is_int() ? 4 : 2);
}

/// Whether the target has registers for the call.
inline bool has_tiles(const TargetCaps& caps, const CallNode& call) {
  if (call.op == CallOp::tile) return caps.byte_tiles || caps.bf16_tiles;
  return call.dtype.is_int() ? caps.byte_tiles : caps.bf16_tiles;
}

}  // namespace lathe::detail

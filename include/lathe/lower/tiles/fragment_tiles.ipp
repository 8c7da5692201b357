#pragma once

#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/tiles/tile_config.hpp>
#include <lathe/lower/tiles/tile_place.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline Buffer tile_register(std::string name, DType type, int number) {
  BufferNode node(std::move(name), type, {}, {}, Scope::fragment);
  node.tile = number;
  return make_ref<BufferNode>(std::move(node));
}

[[noreturn]] inline void refuse_fragment(const std::string& what, Location where) {
  throw UserError("L0606", "lower: " + what, where, {},
                  "a fragment is for tiles: tensorize all that writes and reads it, unroll the "
                  "loops over them, and compute it below the loops over its tiles");
}

[[noreturn]] inline void too_many_tiles(Location where) {
  refuse_fragment(cat("more tiles are needed at once than there are registers: ", kTileRegisters,
                      ", of one size each"),
                  where);
}

/// Where the tile lies; L0606 if its rows are not evenly apart.
inline TilePlace known_place(const Buffer& buffer, const Vec<AnyExpr>& indices, int rows,
                             Location where) {
  auto place = tile_place(buffer, indices, rows);
  if (!place)
    refuse_fragment(cat("rows of a tile of '", buffer->name, "' do not lie evenly apart"), where);
  return *place;
}

inline AnyExpr zeros_of(DType t) { return t.is_float() ? make_float(t, 0) : make_int(t, 0); }

/// One tile of a fragment, at a constant place of it.
struct FragmentTile {
  std::int64_t base = 0, pitch = 0;
  int rows = 1, columns = 1;
  Buffer reg;

  bool same_place(const FragmentTile& o) const {
    return base == o.base && pitch == o.pitch && rows == o.rows && columns == o.columns;
  }
  bool overlaps(const FragmentTile& o) const {
    for (int r = 0; r < rows; ++r)
      for (int q = 0; q < o.rows; ++q) {
        const std::int64_t mine = base + r * pitch, theirs = o.base + q * o.pitch;
        if (mine < theirs + o.columns && theirs < mine + columns) return true;
      }
    return false;
  }
};

inline std::optional<FragmentTile> constant_tile(const Buffer& buffer, const Vec<AnyExpr>& indices,
                                                 int rows) {
  const auto place = tile_place(buffer, indices, rows);
  if (!place) return {};
  const std::int64_t *base = as_const_int(place->base), *pitch = as_const_int(place->pitch);
  if (!base || !pitch) return {};
  return FragmentTile{*base, *pitch, place->rows, place->columns, {}};
}

/// How many rows the operand of a tile's call has; the first is what is stored.
inline int rows_of_operand(const CallNode& call, std::size_t operand) {
  if (call.op == CallOp::tile) return static_cast<int>(*as_const_int(call.args[1]));
  const TileShape shape = shape_of_tiles(call);
  return operand == 2 ? shape.depth / shape.group : shape.rows;
}

/// The tiles that a fragment is accessed by.
class FindTiles : public Visitor {
 public:
  FindTiles(const Buffer& buffer, Location where) : buffer_(buffer), where_(where) {}
  Vec<FragmentTile> tiles;

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>(); n && n->buffer == buffer_)
      refuse_fragment(cat("fragment '", buffer_->name, "' is read by parts: ", str(e)), where_);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name))) return;
    const auto* n = s.as<StoreNode>();
    if (n && is_tile_value(n->value)) return tile(*n, *n->value.as<CallNode>());
    if (n && n->buffer == buffer_)
      refuse_fragment(cat("fragment '", buffer_->name, "' is written by parts"), where_);
    descend(s);
  }

 private:
  void tile(const StoreNode& n, const CallNode& call) {
    if (n.buffer == buffer_) note(n.indices, rows_of_operand(call, 0));
    for (std::size_t k = 0; k < call.args.size(); ++k)
      if (const auto* load = call.args[k].as<LoadNode>(); load && load->buffer == buffer_)
        note(load->indices, rows_of_operand(call, k));
  }
  void note(const Vec<AnyExpr>& indices, int rows) {
    const auto tile = constant_tile(buffer_, indices, rows);
    if (!tile)
      refuse_fragment(cat("the place of a tile of fragment '", buffer_->name,
                          "' is no constant: ", str(indices[0])),
                      where_);
    for (const auto& known : tiles) {
      if (known.same_place(*tile)) return;
      if (known.overlaps(*tile))
        refuse_fragment(cat("tiles of fragment '", buffer_->name, "' overlap"), where_);
    }
    tiles.push_back(*tile);
  }

  const Buffer& buffer_;
  Location where_;
};

/// Accesses to a fragment become accesses to its registers.
class UseTiles : public Mutator {
 public:
  UseTiles(const Buffer& buffer, const Vec<FragmentTile>& tiles) : buffer_(buffer), tiles_(tiles) {}

  Stmt stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name))) return s;
    const auto* n = s.as<StoreNode>();
    if (!n || !is_tile_value(n->value)) return descend(s);
    const auto& call = *n->value.as<CallNode>();
    Vec<AnyExpr> args;
    for (std::size_t k = 0; k < call.args.size(); ++k) {
      const auto* load = call.args[k].as<LoadNode>();
      const bool mine = load && load->buffer == buffer_;
      args.push_back(mine ? make_load(reg(load->indices, rows_of_operand(call, k)), {})
                          : call.args[k]);
    }
    AnyExpr value = make_call(call.op, std::move(args));
    if (n->buffer != buffer_) return make_store(n->buffer, n->indices, std::move(value));
    return make_store(reg(n->indices, rows_of_operand(call, 0)), {}, std::move(value));
  }

 private:
  const Buffer& reg(const Vec<AnyExpr>& indices, int rows) const {
    const auto tile = constant_tile(buffer_, indices, rows);
    for (const auto& known : tiles_)
      if (known.same_place(*tile)) return known.reg;
    unreachable("a tile that was not found");
  }

  const Buffer& buffer_;
  const Vec<FragmentTile>& tiles_;
};

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <lathe/analysis/partition.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/guards/border_copies.ipp>
#include <lathe/lower/guards/movable_tiles.ipp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/vector/clone.hpp>

namespace lathe {
namespace detail {

// A tile that begins at `start`, and is whole: the tile 0, of which each lane is so much later. Its
// own buffers count lanes from its first.
class MoveTile : public Mutator {
 public:
  MoveTile(const VarRef& tile, const AnyExpr& start, const MovableTiles& tiles) : tiles_(tiles) {
    later_.emplace_back(tile, AnyExpr(0));
    for (const auto& lane : tiles.lanes) later_.emplace_back(lane, fold_add(lane, start));
  }

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    if (n && contains(tiles_.own, n->buffer)) return e;
    for (const auto& [var, value] : later_)
      if (e.get() == var.get()) return value;
    return descend(e);
  }
  Stmt stmt(const Stmt& s) override {
    for (const auto* g : tiles_.guards)
      if (s.get() == g) return stmt(g->then_body);
    const auto* n = s.as<StoreNode>();
    if (!n || !contains(tiles_.own, n->buffer)) return descend(s);
    return make_ref<StoreNode>(n->buffer, n->indices, expr(n->value),
                               n->mask ? expr(n->mask) : n->mask, n->streaming);
  }

 private:
  const MovableTiles& tiles_;
  Substitution later_;
};

class ShiftTiles : public Mutator {
 public:
  explicit ShiftTiles(const Program& program) : facts_(program) {}

  AnyExpr expr(const AnyExpr& e) override { return e; }
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    if (Stmt shifted = shift(s, *f)) return shifted;
    const Facts around = facts_;
    facts_.bind(*f);
    Stmt out = descend(s);
    facts_ = around;
    return out;
  }

 private:
  // How far windows of a few elements reach beyond a tile. No further than a tile: what is so near
  // the end is the last one's.
  static std::int64_t reach(std::int64_t width) {
    return std::min(width, std::max<std::int64_t>(width / 4, 8));
  }
  // Larger bodies, of which there will be four, are left: LLVM takes most of a second for one.
  static constexpr double kMostNodes = 2500;

  Stmt shift(const Stmt& s, const ForNode& f) const {
    if (f.loop_kind != ForKind::serial || as_const_int(f.extent) || !is_const(f.min, 0) ||
        partition_of(f) == Partition::never || WrittenOut(f.body).nodes > kMostNodes)
      return {};
    const MovableTiles tiles(f, facts_);
    if (!tiles.movable() || !tiles.has_borders) return {};
    const std::int64_t width = tiles.position->width;
    const AnyExpr end = tiles.position->end;
    if (!prove_eq(f.extent, floordiv(end + (width - 1), AnyExpr(width)), facts_)) return {};
    const std::int64_t away = reach(width);  // from both ends, between the first and the last tile
    const AnyExpr enough = simplify(end >= width + 2 * away, facts_);
    if (is_const(enough, 0)) return {};
    Facts inside = facts_;
    inside.assume(enough);
    const auto at = [&](const AnyExpr& start, const Facts& facts) {
      return simplify(CloneFresh().stmt(MoveTile(f.var, start, tiles).stmt(f.body)), facts);
    };
    const VarRef tile = make_var(f.var->name);
    const AnyExpr count = f.extent - 2;
    Facts between = inside;
    between.bind(tile, AnyExpr(1), count);
    Attributes rest = f.attributes;
    rest.erase<PartitionAttr>();
    const AnyExpr next = make_binary(BinaryOp::min, AnyExpr(tile) * width, end - (width + away));
    const Stmt middle = make_for(tile, AnyExpr(1), simplify(count, inside), at(next, between),
                                 ForKind::serial, std::move(rest));
    const Stmt all = make_seq({at(AnyExpr(0), inside), middle, at(end - width, inside)});
    return is_const(enough, 1) ? all : make_if(enough, all, s);
  }

  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program shift_tiles(const Program& program) {
  return program.with(detail::ShiftTiles(program).stmt(program->body));
}

}  // namespace lathe

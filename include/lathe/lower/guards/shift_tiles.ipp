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

// A tile that begins at `start` instead of tile * width, and is whole.
class MoveTile : public Mutator {
 public:
  MoveTile(const VarRef& tile, std::int64_t width, AnyExpr start, const Vec<const IfNode*>& guards)
      : tile_(tile), width_(width), start_(std::move(start)), guards_(guards) {}

  AnyExpr expr(const AnyExpr& e) override {
    if (!uses_var(e, tile_)) return e;
    if (e.dtype() != kIndex) return descend(e);
    const auto sum = affine_of(e, {tile_});
    if (!sum || !sum->coef(0) || *sum->coef(0) % width_ != 0) return descend(e);
    return fold_add(fold_mul(AnyExpr(*sum->coef(0) / width_), start_), sum->rest);
  }
  Stmt stmt(const Stmt& s) override {
    for (const auto* g : guards_)
      if (s.get() == g) return stmt(g->then_body);
    return descend(s);
  }

 private:
  const VarRef tile_;
  const std::int64_t width_;
  const AnyExpr start_;
  const Vec<const IfNode*>& guards_;
};

class ShiftTiles : public Mutator {
 public:
  explicit ShiftTiles(const Program& program) : facts_(program) {}

  AnyExpr expr(const AnyExpr& e) override { return e; }
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    if (Stmt shifted = shift(*f)) return shifted;
    const Facts around = facts_;
    facts_.bind(*f);
    Stmt out = descend(s);
    facts_ = around;
    return out;
  }

 private:
  // How far windows of a few elements reach beyond a tile.
  static std::int64_t reach(std::int64_t width) { return std::max<std::int64_t>(width / 4, 8); }

  Stmt shift(const ForNode& f) const {
    if (f.loop_kind != ForKind::serial || as_const_int(f.extent) || !is_const(f.min, 0) ||
        partition_of(f) == Partition::never)
      return {};
    const MovableTiles tiles(f, facts_);
    if (!tiles.movable() || !tiles.has_borders) return {};
    const std::int64_t width = tiles.position->width;
    const AnyExpr end = tiles.position->end;
    if (!prove_eq(f.extent, floordiv(end + (width - 1), AnyExpr(width)), facts_)) return {};
    const AnyExpr enough = simplify(end >= 2 * width + reach(width), facts_);
    Facts inside = facts_;
    inside.assume(enough);
    const auto at = [&](const AnyExpr& start, const Facts& facts) {
      return simplify(CloneFresh().stmt(MoveTile(f.var, width, start, tiles.guards).stmt(f.body)),
                      facts);
    };
    const AnyExpr count = f.extent - 2;
    Facts between = inside;
    between.bind(f.var, AnyExpr(1), count);
    Attributes rest = f.attributes;
    rest.erase<PartitionAttr>();
    const AnyExpr next = make_binary(BinaryOp::min, f.var * width, end - 2 * width);
    const Stmt middle = make_for(f.var, AnyExpr(1), simplify(count, inside), at(next, between),
                                 ForKind::serial, std::move(rest));
    const Stmt all =
        make_seq({at(AnyExpr(0), inside), CloneFresh().stmt(middle), at(end - width, inside)});
    return is_const(enough, 1) ? all : make_if(enough, all, one_version(f));
  }

  // Hardly a tile of few is away from both borders.
  static Stmt one_version(const ForNode& f) {
    Attributes whole = f.attributes;
    whole.set(PartitionAttr{Partition::never});
    return rolled_border(make_for(f.var, f.min, f.extent, f.body, f.loop_kind, std::move(whole)));
  }

  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program shift_tiles(const Program& program) {
  return program.with(detail::ShiftTiles(program).stmt(program->body));
}

}  // namespace lathe

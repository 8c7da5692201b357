#pragma once

#include <algorithm>
#include <cstdlib>
#include <lathe/analysis/borders.hpp>
#include <lathe/analysis/partition.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/guards/at_least.hpp>
#include <optional>

namespace lathe::detail {

// Where a tile of a loop lies: at positions tile * width + sum of steps[k] * loops[k], all of them
// before `end`. The first of these loops are lanes, one position after the other.
struct TilePosition {
  Vec<VarRef> loops;
  Vec<std::int64_t> steps;
  std::int64_t width = 0;
  AnyExpr end;

  /// What a guard says of it: unit * position + (loops beside it) < b. Lanes make the position, and
  /// loops around them, from the innermost one on, as long as a tile is wider.
  static std::optional<TilePosition> of(const AnyExpr& condition, const VarRef& tile,
                                        const Vec<const ForNode*>& inside, const Facts& facts) {
    const auto holds = AtLeast::of(condition, true);
    if (!holds) return {};
    Vec<VarRef> vars{tile};
    for (const auto* f : inside) vars.push_back(f->var);
    const auto room = affine_of(holds->large - holds->small, vars, facts);
    if (!room || !room->coef(0)) return {};
    const std::int64_t per_tile = -*room->coef(0);
    TilePosition out;
    std::int64_t span = 0, unit = 0;
    AnyExpr beside = room->rest;
    for (std::size_t k = inside.size(); k-- > 0;) {
      const auto coef = room->coef(k + 1);
      const std::int64_t* extent = as_const_int(inside[k]->extent);
      if (!coef) return {};
      if (*coef == 0) continue;
      if (!extent || !lathe::is_const(inside[k]->min, 0) || tail_of(*inside[k]) == Tail::mask)
        return {};
      if (unit == 0 && inside[k]->loop_kind != ForKind::vectorized) return {};
      if (unit == 0) unit = span = -*coef;
      if (unit <= 0) return {};
      if (-*coef == span && span < per_tile) {
        out.loops.push_back(inside[k]->var), out.steps.push_back(span / unit);
        if (__builtin_mul_overflow(span, *extent, &span)) return {};
      } else {
        beside = beside + AnyExpr(*coef) * inside[k]->var;
      }
    }
    if (out.loops.empty() || span != per_tile) return {};
    out.width = per_tile / unit;
    out.end = simplify(floordiv(beside, AnyExpr(unit)) + 1, facts);
    for (const auto& v : vars)
      if (uses_var(out.end, v)) return {};
    return out;
  }

  bool is_like(const TilePosition& other) const {
    return width == other.width && same_expr(end, other.end);
  }
};

// Whether what an iteration of a loop stores at a place depends on the position alone that the
// place is of, wherever in a tile that is. Then a tile may begin anywhere, and run twice.
class MovableTiles : public Visitor {
 public:
  MovableTiles(const ForNode& loop, const Facts& facts) : tile_(loop.var), facts_(facts) {
    facts_.bind(loop);
    stmt(loop.body);
    for (const auto& b : stored_) movable_ = movable_ && !contains(loaded_, b);
  }

  bool movable() const { return movable_ && position.has_value(); }
  std::optional<TilePosition> position;  ///< of all statements, but with the loops of one
  Vec<const IfNode*> guards;             ///< that hold in whole tiles
  Vec<VarRef> lanes;                     ///< of each statement
  Vec<Buffer> own;                       ///< of which each iteration has another one
  bool has_borders = false;              ///< places of lanes are clamped, wrap, or are asked for

  void expr(const AnyExpr& e) override { movable_ = movable_ && by_position(e); }
  void stmt(const Stmt& s) override {
    if (!movable_) return;
    switch (s.kind()) {
      case StmtKind::Seq:
        return descend(s);
      case StmtKind::Alloc:
        return allocated(*s.as<AllocNode>());
      case StmtKind::For:
        return loop(*s.as<ForNode>());
      case StmtKind::If:
        return guard(*s.as<IfNode>());
      case StmtKind::Store:
        return store(*s.as<StoreNode>());
      default:
        movable_ = false;
    }
  }

 private:
  void allocated(const AllocNode& n) {
    own.push_back(n.buffer);
    for (const auto& extent : n.buffer->shape) movable_ = movable_ && !uses_var(extent, tile_);
    stmt(n.body);
  }

  void loop(const ForNode& f) {
    for (const auto& end : {f.min, f.extent}) {
      movable_ = movable_ && is_load_free(end) && !uses_var(end, tile_);
      for (const auto* around : inside_) movable_ = movable_ && !uses_var(end, around->var);
    }
    movable_ = movable_ && f.loop_kind != ForKind::parallel;
    const Facts around = facts_;
    facts_.bind(f);
    inside_.push_back(&f);
    stmt(f.body);
    inside_.pop_back();
    facts_ = around;
  }

  void guard(const IfNode& n) {
    if (n.else_body) return void(movable_ = false);
    const auto around = here_;
    if (!uses_var(n.condition, tile_)) {
      movable_ = movable_ && is_load_free(n.condition);
      conditions_.push_back(n.condition);
      stmt(n.then_body);
      conditions_.pop_back();
      return;
    }
    auto found = TilePosition::of(n.condition, tile_, inside_, facts_);
    if (!found || here_ || (position && !position->is_like(*found))) return void(movable_ = false);
    here_ = position = std::move(found);
    guards.push_back(&n);
    lanes.push_back(here_->loops[0]);
    stmt(n.then_body);
    here_ = around;
  }

  void store(const StoreNode& n) {
    if (!here_) return void(movable_ = false);
    for (const auto& c : conditions_) movable_ = movable_ && by_position(c);
    if (!contains(own, n.buffer)) {
      // Which of two stores a place is left with may depend on where tiles begin.
      movable_ = movable_ && !contains(stored_, n.buffer) &&
                 std::any_of(n.indices.begin(), n.indices.end(),
                             [&](const AnyExpr& i) { return tells_position(i); });
    }
    place(n.buffer, n.indices, stored_);
    movable_ = movable_ && by_position(n.value) && (!n.mask || by_position(n.mask));
  }

  // Whether different positions have different indices, whatever the loops beside them count.
  bool tells_position(const AnyExpr& index) const {
    const std::int64_t unit = std::abs(times_position(index, here_->width));
    Vec<VarRef> beside;
    for (const auto* f : inside_)
      if (!contains(here_->loops, f->var)) beside.push_back(f->var);
    const auto sum = affine_of(index, beside, facts_);
    if (unit == 0 || !sum) return false;
    std::int64_t room = unit - 1;
    for (std::size_t k = 0, f = 0; k < beside.size(); ++k, ++f) {
      while (inside_[f]->var != beside[k]) ++f;
      const auto coef = sum->coef(k);
      const std::int64_t* extent = as_const_int(inside_[f]->extent);
      if (coef == 0) continue;
      if (!coef || std::abs(*coef) > room || !extent || *extent > unit) return false;
      room -= std::abs(*coef) * (*extent - 1);
    }
    return room >= 0;
  }

  void place(const Buffer& b, const Vec<AnyExpr>& indices, Vec<Buffer>& used) {
    if (contains(own, b)) return own_place(b, indices);
    used.push_back(b);
    for (const auto& i : indices) movable_ = movable_ && by_position(i);
  }

  // Of a tile's own buffer, an axis counts positions from the tile's first on, the same way in all
  // accesses: each position has places of its own.
  struct OwnAxis {
    Buffer buffer;
    std::size_t axis;
    std::int64_t unit;
    AnyExpr rest;
  };
  void own_place(const Buffer& b, const Vec<AnyExpr>& indices) {
    std::optional<OwnAxis> here;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const AnyExpr& i = indices[axis];
      movable_ = movable_ && is_load_free(i);
      if (!uses_tile_or_lanes(i)) continue;
      const std::int64_t unit = times_position(i, 0);
      if (unit == 0 || here) return void(movable_ = false);
      here = OwnAxis{b, axis, unit, simplify(affine_of(i, here_->loops, facts_)->rest, facts_)};
    }
    if (!here || !as_const_int(here->rest)) return void(movable_ = false);
    for (const auto& known : axes_)
      if (known.buffer == b)
        movable_ = movable_ && known.axis == here->axis && known.unit == here->unit &&
                   same_expr(known.rest, here->rest);
    axes_.push_back(std::move(*here));
  }

  bool uses_tile_or_lanes(const AnyExpr& e) const {
    return uses_var(e, tile_) || std::any_of(here_->loops.begin(), here_->loops.end(),
                                             [&](const VarRef& v) { return uses_var(e, v); });
  }

  // How often an index counts positions, of which a tile has `per_tile`: 0 in the tile's own
  // buffers. 0 as well if it counts anything else.
  std::int64_t times_position(const AnyExpr& e, std::int64_t per_tile) const {
    Vec<VarRef> vars{tile_};
    vars.append(here_->loops);
    const auto sum = affine_of(e, vars, facts_);
    if (!sum) return 0;
    const std::int64_t unit = sum->coef(1).value_or(0);
    const auto steps_by = [&](std::size_t k, std::int64_t step) {
      std::int64_t product = 0;
      return !__builtin_mul_overflow(unit, step, &product) && sum->coef(k) == product;
    };
    bool counts = steps_by(0, per_tile);
    for (std::size_t k = 0; k < here_->steps.size(); ++k)
      counts = counts && steps_by(k + 1, here_->steps[k]);
    return counts ? unit : 0;
  }

  bool by_position(const AnyExpr& e) {
    if (!uses_tile_or_lanes(e)) {
      note_loads(e);
      return movable_;
    }
    if (e.dtype() == kIndex && times_position(e, here_->width) != 0) return is_load_free(e);
    if (e.kind() == ExprKind::Var || e.kind() == ExprKind::Let) return false;
    if (const auto* n = e.as<LoadNode>()) {
      place(n->buffer, n->indices, loaded_);
      return movable_ && (!n->mask || by_position(n->mask));
    }
    if (const auto* n = e.as<BinaryNode>(); n && n->a.dtype() == kIndex) note_border(*n);
    if (turned_at_zero(e)) has_borders = true;
    descend(e);
    return movable_;
  }
  void note_border(const BinaryNode& n) {
    const bool wraps = wrapped(AnyExpr{Ref<ExprNode>(&n)}, facts_).has_value(),
               ends = n.op == BinaryOp::min || n.op == BinaryOp::max || is_comparison(n.op);
    has_borders = has_borders || wraps ||
                  (ends && (times_position(n.a, here_->width) != 0 ||
                            times_position(n.b, here_->width) != 0));
    // Places of rows that became one loop are simple where tiles begin at multiples of a number.
    const bool divides = n.op == BinaryOp::floordiv || n.op == BinaryOp::floormod;
    if (divides && !wraps && !as_const_int(n.b)) movable_ = false;
  }

  void note_loads(const AnyExpr& e) {
    LoadedBuffers loads;
    loads.expr(e);
    for (const auto& b : own) movable_ = movable_ && !contains(loads.found, b);
    loaded_.append(loads.found);
  }

  const VarRef tile_;
  Facts facts_;
  bool movable_ = true;
  Vec<const ForNode*> inside_;
  Vec<AnyExpr> conditions_;
  std::optional<TilePosition> here_;
  Vec<Buffer> stored_, loaded_;
  Vec<OwnAxis> axes_;
};

}  // namespace lathe::detail

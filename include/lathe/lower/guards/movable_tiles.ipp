#pragma once

#include <algorithm>
#include <lathe/analysis/partition.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/guards/at_least.hpp>
#include <optional>
#include <utility>

namespace lathe::detail {

// Where a tile of a loop lies: at positions tile * width + sum of steps[k] * loops[k], all of them
// before `end`.
struct TilePosition {
  Vec<VarRef> loops;
  Vec<std::int64_t> steps;
  std::int64_t width = 0;
  AnyExpr end;

  /// What a guard says of it: a * position + (loops beside it) < b. Lanes make the position, and
  /// loops around them as long as a tile is wider.
  static std::optional<TilePosition> of(const AnyExpr& condition, const VarRef& tile,
                                        const Vec<const ForNode*>& inside, const Facts& facts) {
    const auto holds = AtLeast::of(condition, true);
    if (!holds) return {};
    Vec<VarRef> vars{tile};
    for (const auto* f : inside) vars.push_back(f->var);
    const auto room = affine_of(holds->large - holds->small, vars, facts);
    if (!room || !room->coef(0)) return {};
    const auto per_tile = -*room->coef(0);
    TilePosition out;
    std::int64_t reach = 0, unit = 0;
    AnyExpr beside = room->rest;
    for (std::size_t k = inside.size(); k-- > 0;) {
      const auto coef = room->coef(k + 1);
      const std::int64_t* extent = as_const_int(inside[k]->extent);
      if (!coef) return {};
      if (*coef == 0) continue;
      if (!extent || !lathe::is_const(inside[k]->min, 0) || tail_of(*inside[k]) == Tail::mask)
        return {};
      if (unit == 0 && inside[k]->loop_kind != ForKind::vectorized) return {};
      if (unit == 0) unit = reach = -*coef;
      if (unit <= 0) return {};
      if (-*coef == reach && reach < per_tile) {
        out.loops.push_back(inside[k]->var), out.steps.push_back(reach / unit);
        if (__builtin_mul_overflow(reach, *extent, &reach)) return {};
      } else {
        beside = beside + AnyExpr(*coef) * inside[k]->var;
      }
    }
    if (out.loops.empty() || reach != per_tile) return {};
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

// Whether what an iteration of a loop stores depends on the positions in its tile alone, so that a
// tile may begin anywhere, and run twice.
class MovableTiles : public Visitor {
 public:
  MovableTiles(const ForNode& loop, const Facts& facts) : tile_(loop.var), facts_(facts) {
    facts_.bind(loop);
    stmt(loop.body);
    for (const auto& b : stored_) movable_ = movable_ && !contains(loaded_, b);
  }

  bool movable() const { return movable_ && position.has_value(); }
  std::optional<TilePosition> position;  ///< of any of its statements
  Vec<const IfNode*> guards;             ///< that hold in whole tiles
  bool has_borders = false;              ///< places of lanes are clamped, wrap, or are asked for

  void expr(const AnyExpr& e) override { movable_ = movable_ && by_position(e); }
  void stmt(const Stmt& s) override {
    if (!movable_) return;
    switch (s.kind()) {
      case StmtKind::Seq:
        return descend(s);
      case StmtKind::Alloc:
        own_.push_back(s.as<AllocNode>()->buffer);
        return descend(s);
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
  void loop(const ForNode& f) {
    for (const auto& end : {f.min, f.extent})
      movable_ = movable_ && is_load_free(end) && !uses_var(end, tile_);
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
    stmt(n.then_body);
    here_ = around;
  }

  void store(const StoreNode& n) {
    if (!here_) return void(movable_ = false);
    for (const auto& c : conditions_) movable_ = movable_ && by_position(c);
    place(n.buffer, n.indices, stored_);
    movable_ = movable_ && by_position(n.value) && (!n.mask || by_position(n.mask));
  }

  void place(const Buffer& b, const Vec<AnyExpr>& indices, Vec<Buffer>& used) {
    if (contains(own_, b)) return own_place(b, indices);
    used.push_back(b);
    for (const auto& i : indices) movable_ = movable_ && by_position(i);
  }
  // What one lane finds at a place of the tile's own is what another one stored there.
  void own_place(const Buffer& b, const Vec<AnyExpr>& indices) {
    std::int64_t unit = 0;
    for (const auto& i : indices) {
      if (!uses_tile_or_lanes(i)) continue;
      const std::int64_t here = times_position(i, 0);
      if (here == 0 || unit != 0) return void(movable_ = false);
      unit = here;
    }
    const auto known = std::find_if(units_.begin(), units_.end(),
                                    [&](const auto& other) { return other.first == b; });
    if (known == units_.end())
      units_.emplace_back(b, unit);
    else
      movable_ = movable_ && known->second == unit;
    movable_ = movable_ && unit != 0;
  }

  bool uses_tile_or_lanes(const AnyExpr& e) const {
    return uses_var(e, tile_) || std::any_of(here_->loops.begin(), here_->loops.end(),
                                             [&](const VarRef& v) { return uses_var(e, v); });
  }

  // How many times the position an index counts, with `width` for that of a tile; 0: it is none.
  std::int64_t times_position(const AnyExpr& e, std::int64_t width) const {
    Vec<VarRef> vars{tile_};
    vars.append(here_->loops);
    const auto sum = affine_of(e, vars, facts_);
    if (!sum) return 0;
    const std::int64_t unit = sum->coef(1).value_or(0);
    const auto steps_by = [&](std::size_t k, std::int64_t step) {
      std::int64_t all = 0;
      return !__builtin_mul_overflow(unit, step, &all) && sum->coef(k) == all;
    };
    bool all = steps_by(0, width);
    for (std::size_t k = 0; k < here_->steps.size(); ++k)
      all = all && steps_by(k + 1, here_->steps[k]);
    return all ? unit : 0;
  }

  bool by_position(const AnyExpr& e) {
    if (!uses_tile_or_lanes(e)) {
      note_loads(e);
      return movable_;
    }
    if (e.dtype() == kIndex && times_position(e, here_->width) != 0) return !find_load(e);
    if (e.kind() == ExprKind::Var || e.kind() == ExprKind::Let) return false;
    if (const auto* n = e.as<LoadNode>()) {
      place(n->buffer, n->indices, loaded_);
      return movable_ && (!n->mask || by_position(n->mask));
    }
    if (const auto* n = e.as<BinaryNode>())
      has_borders = has_borders || (n->a.dtype() == kIndex && is_border(*n));
    descend(e);
    return movable_;
  }
  static bool is_border(const BinaryNode& n) {
    return n.op == BinaryOp::min || n.op == BinaryOp::max || is_comparison(n.op) ||
           (n.op == BinaryOp::floormod && !as_const_int(n.b));
  }

  void note_loads(const AnyExpr& e) {
    struct Loads : Visitor {
      Vec<Buffer>& to;
      explicit Loads(Vec<Buffer>& loaded) : to(loaded) {}
      void expr(const AnyExpr& part) override {
        if (const auto* n = part.as<LoadNode>()) to.push_back(n->buffer);
        descend(part);
      }
    } loads(loaded_);
    loads.expr(e);
    for (const auto& b : own_) movable_ = movable_ && !contains(loaded_, b);
  }

  const VarRef tile_;
  Facts facts_;
  bool movable_ = true;
  Vec<const ForNode*> inside_;
  Vec<AnyExpr> conditions_;
  std::optional<TilePosition> here_;
  Vec<Buffer> own_, stored_, loaded_;
  Vec<std::pair<Buffer, std::int64_t>> units_;  ///< elements from one position to the next
};

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/borders.hpp>
#include <lathe/analysis/partition.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/math_table.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// A guard, and the condition over outer variables under which it holds for all values of the tile
// loops below.
struct TileGuard {
  const IfNode* guard;  ///< null: no statement, but what a clamped index or a select asks
  AnyExpr full;         ///< it holds for all values
  AnyExpr some;         ///< it may hold for one; none: not known
  /// Of a select below a function: all lanes take a constant; none: not known, or nothing is
  /// gained.
  AnyExpr uniform = {};
};

// The guards of a statement that depend on tile loops inside it: unrolled and vectorized ones, or,
// for a guard that none of these occurs in, the loop with the smallest coefficient (the inner loop
// of a split).
class TileGuards : public Visitor {
 public:
  /// Guards that name unpeeled loops are not asked for.
  TileGuards(const Facts& facts, const Vec<Stmt>& splits, const Vec<VarRef>& unpeeled)
      : facts_(facts), splits_(splits), unpeeled_(unpeeled) {}
  Vec<TileGuard> guards;

  void stmt(const Stmt& s) override {
    for (const auto& split : splits_)
      if (split.same_as(s)) return;
    if (const auto* f = s.as<ForNode>()) {
      if (f->loop_kind == ForKind::parallel) return;
      Facts outer = facts_;
      facts_.bind(*f);
      loops_.push_back(f);
      stmt(f->body);
      loops_.pop_back();
      facts_ = outer;
      return;
    }
    if (const auto* g = s.as<IfNode>(); g && !g->else_body) note(*g);
    descend(s);
  }

  // A clamped index is a gather, and a select on the position a mask, for every vector; away from
  // the border it is neither.
  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>())
      for (const auto& i : n->indices) note_clamps(i);
    if (const auto* n = e.as<SelectNode>())
      for (const auto& part : conjuncts(n->condition)) note_usual(part, *n);
    const bool outer = in_math_;
    const auto* call = e.as<CallNode>();
    in_math_ = in_math_ || (call && is_transcendental(call->op));
    descend(e);
    in_math_ = outer;
  }

 private:
  void note_clamps(const AnyExpr& index) {
    if (const AnyExpr x = turned_at_zero(index)) return note_soft(x >= 0), note_clamps(x);
    if (const auto* choice = index.as<SelectNode>())
      return note_clamps(choice->yes), note_clamps(choice->no);
    const auto* n = index.as<BinaryNode>();
    if (!n || n->a.dtype() != kIndex) return;
    if (n->op == BinaryOp::min) note_soft(unclamped(n->a) <= n->b);
    if (n->op == BinaryOp::max) note_soft(unclamped(n->a) >= n->b);
    if (const auto w = wrapped(index, facts_)) {
      note_soft(w->dividend >= w->shift);
      note_soft(w->dividend < w->end);
    }
    note_clamps(n->a);
    note_clamps(n->b);
  }

  static bool is_in_tile(const ForNode& f) {
    return f.loop_kind == ForKind::unrolled || f.loop_kind == ForKind::vectorized;
  }

  // Conditions hold together: what one compares is what the others make of it.
  void note_usual(const AnyExpr& condition, const SelectNode& of) {
    const AnyExpr inside = away_from_borders(condition, facts_);
    const bool value = usual_value(inside, facts_).value_or(true);
    const bool else_constant = in_math_ && (value ? of.no : of.yes).kind() == ExprKind::Const;
    note_soft(value ? inside : simplify(logical_not(inside), facts_), else_constant);
  }

  // `else_constant`: lanes in which it does not hold give a function the same argument.
  void note_soft(const AnyExpr& condition, bool else_constant = false) {
    Vec<VarRef> tile;
    bool in_lanes = false;
    for (const auto* f : loops_) {
      if (!is_in_tile(*f) || !uses_var(condition, f->var)) continue;
      tile.push_back(f->var);
      in_lanes = in_lanes || f->loop_kind == ForKind::vectorized;
    }
    if (!in_lanes || !is_load_free(condition) || is_unpeeled(condition)) return;
    const Interval gap = gap_of(condition, tile);
    AnyExpr full = compare_gap(condition, gap, true);
    if (!full.get() || as_const_int(full)) return;
    guards.push_back({nullptr, full, {}});
    const AnyExpr some = else_constant ? compare_gap(condition, gap, false) : AnyExpr();
    if (some.get() && !as_const_int(some))
      guards.back().uniform = simplify(logical_not(some), facts_);
  }

  bool is_unpeeled(const AnyExpr& condition) const {
    for (const auto& loop : unpeeled_)
      if (uses_var(condition, loop)) return true;
    return false;
  }

  void note(const IfNode& g) {
    if (is_unpeeled(g.condition)) return;
    Vec<VarRef> tile;
    for (const auto* f : loops_)
      if (tail_of(*f) == Tail::mask && uses_var(g.condition, f->var)) return;
    for (const auto* f : loops_)
      if (is_in_tile(*f) && uses_var(g.condition, f->var)) tile.push_back(f->var);
    for (const auto* f : reversed(loops_))
      if (tile.empty() && as_const_int(f->extent) && uses_var(g.condition, f->var))
        tile.push_back(f->var);
    if (tile.empty()) return;
    Interval gap = gap_of(g.condition, tile);
    AnyExpr full = compare_gap(g.condition, gap, true);
    if (full.get()) guards.push_back({&g, full, compare_gap(g.condition, gap, false)});
  }

  // Between which values the difference of a comparison's sides lies while the tile loops run.
  Interval gap_of(const AnyExpr& condition, const Vec<VarRef>& tile) const {
    const auto* n = condition.as<BinaryNode>();
    return n && n->a.dtype() == kIndex ? bounds(n->a - n->b, tile, facts_) : Interval{};
  }

  // The comparison at the end of the gap where it is hardest, or easiest, to fulfil; none if that
  // is not known.
  AnyExpr compare_gap(const AnyExpr& condition, const Interval& gap, bool hardest) const {
    const auto* n = condition.as<BinaryNode>();
    if (!n) return {};
    const bool upward = n->op == BinaryOp::gt || n->op == BinaryOp::ge;
    const AnyExpr& end = hardest == upward ? gap.min : gap.max;
    const bool known = n->op == BinaryOp::lt || n->op == BinaryOp::le || upward;
    if (!known || !end.get()) return {};
    return simplify(make_binary(n->op, end, AnyExpr(0)), facts_);
  }

  Facts facts_;
  const Vec<Stmt>& splits_;
  const Vec<VarRef>& unpeeled_;
  Vec<const ForNode*> loops_;
  bool in_math_ = false;  ///< below a function that takes many operations
};

// Whether a statement with an effect stands under none of some guards. What fetches ahead has none:
// where nothing else runs, nobody reads what it fetches.
class BareStores : public Visitor {
 public:
  explicit BareStores(const Vec<const IfNode*>& guards) : guards_(guards) {}
  bool found = false;
  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    for (const auto* g : guards_)
      if (s.get() == g) return;
    if (prefetched(s)) return;
    bool structure = s.kind() == StmtKind::For || s.kind() == StmtKind::Seq ||
                     s.kind() == StmtKind::If || s.kind() == StmtKind::Alloc ||
                     s.kind() == StmtKind::LetStmt;
    if (structure)
      descend(s);
    else
      found = true;
  }

 private:
  const Vec<const IfNode*>& guards_;
};

}  // namespace detail
}  // namespace lathe

#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/clone.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/schedule/shift.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

using LoopPath = Vec<const ForNode*>;

// A block whose init has to stand before a loop, and the loops from there down to it.
struct PlacedInit {
  const BlockNode* block;
  LoopPath loops;
};

inline bool feeds(const BlockNode& block, const VarRef& loop, IterKind kind) {
  for (const auto& it : block.iters)
    if (it.kind == kind && uses_var(it.binding, loop)) return true;
  return false;
}

// For each loop: the inits that stand right before it. A block that no loop feeds with a reduce
// iterator is not here: its init stands right before it.
class InitPlaces : public Visitor {
 public:
  Vec<std::pair<VarRef, PlacedInit>> before;

  const PlacedInit* next(const VarRef& loop, std::size_t& at) const {
    while (at < before.size())
      if (const auto& entry = before[at++]; entry.first == loop) return &entry.second;
    return nullptr;
  }

  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      path_.push_back(f);
      descend(s);
      path_.pop_back();
      return;
    }
    if (const auto* b = s.as<BlockNode>(); b && b->init) place(*b);
    descend(s);
  }

 private:
  void place(const BlockNode& block) {
    for (std::size_t k = 0; k < path_.size(); ++k) {
      if (!feeds(block, path_[k]->var, IterKind::reduce)) continue;
      before.emplace_back(
          path_[k]->var,
          PlacedInit{&block, LoopPath(path_.begin() + static_cast<long>(k), path_.end())});
      return;
    }
  }

  LoopPath path_;
};

inline Stmt guarded(const Vec<AnyExpr>& conditions, Stmt body) {
  for (const auto& condition : reversed(conditions)) body = make_if(condition, std::move(body));
  return body;
}

class MarkStreaming : public Mutator {
 public:
  explicit MarkStreaming(Streaming how) : how_(how) {}
  Stmt stmt(const Stmt& s) override {
    const auto* n = s.as<StoreNode>();
    if (!n) return descend(s);
    return make_ref<StoreNode>(n->buffer, n->indices, n->value, n->mask, how_);
  }

 private:
  Streaming how_;
};

// The loops whose last tile moves inward.
using Shifts = Vec<std::pair<VarRef, ShiftPlan>>;

inline Shifts legal_shifts(const Program& program) {
  Shifts out;
  for (const auto& loop : shifted_loops(program))
    if (ShiftPlan plan = plan_shift(program, loop); plan.why.empty())
      out.emplace_back(loop, std::move(plan));
  return out;
}

class LowerBlocks : public Mutator {
 public:
  LowerBlocks(const Program& program, const InitPlaces& inits)
      : inits_(inits), shifts_(legal_shifts(program)) {
    for (const auto& d : program->dims) facts_.bind(d);
  }

  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) return lower_nest(s, *f);
    if (const auto* b = s.as<BlockNode>()) return lower_block(*b);
    return descend(s);
  }

 private:
  // What must hold for the last tiles below a nest to move; empty if that is no question here.
  AnyExpr tiles_fit(const ForNode& nest) const {
    AnyExpr fits;
    if (shifts_.empty() || guards_only_) return fits;
    bool asked = false;
    each_statement(nest.body, [&](const Stmt& s) {
      const auto* f = s.as<ForNode>();
      for (const auto& [loop, plan] : shifts_) {
        if (!f || f->var != loop) continue;
        asked |= plan.nest == nest.var;
        if (AnyExpr c = simplify(plan.fits, facts_); !as_const_int(c)) fits = fold_and(fits, c);
      }
    });
    return asked ? fits : AnyExpr();
  }

  // A nest that may hold no whole tile gets a second version, with guards.
  Stmt lower_nest(const Stmt& s, const ForNode& f) {
    AnyExpr fits = tiles_fit(f);
    if (!fits.get()) return lower_loop(s, f);
    Facts outer = facts_;
    facts_.assume(fits);
    Stmt shifted = lower_loop(s, f);
    facts_ = outer.with(logical_not(fits));
    guards_only_ = true;
    Stmt guarded = CloneFresh().stmt(lower_loop(s, f));
    guards_only_ = false;
    facts_ = outer;
    return make_if(fits, shifted, guarded);
  }

  const ShiftPlan* shift_of(const VarRef& loop) const {
    for (const auto& [var, plan] : shifts_)
      if (var == loop && !guards_only_ && prove(plan.fits, facts_)) return &plan;
    return nullptr;
  }

  Stmt lower_body(const Stmt& s, const ForNode& f) {
    const ShiftPlan* plan = shift_of(f.var);
    if (!plan) return descend(s);
    AnyExpr last = fold_sub(plan->end, f.extent);
    AnyExpr inward = fold_sub(make_binary(BinaryOp::min, plan->start, last), plan->start);
    Stmt body = stmt(substitute(f.body, {{f.var, fold_add(AnyExpr(f.var), inward)}}));
    body = make_for(f.var, f.min, f.extent, body, f.loop_kind, f.annotations);
    AnyExpr runs = simplify(plan->start < plan->end, facts_);
    return is_const(runs, 1) ? body : make_if(runs, body);
  }

  Stmt lower_loop(const Stmt& s, const ForNode& f) {
    Vec<Stmt> stmts;
    std::size_t at = 0;
    while (const PlacedInit* init = inits_.next(f.var, at)) stmts.push_back(init_nest(*init));
    Facts outer = facts_;
    facts_.bind(f.var, f.min, f.extent);
    stmts.push_back(lower_body(s, f));
    facts_ = outer;
    return make_seq(std::move(stmts));
  }

  Stmt lower_block(const BlockNode& block) {
    Substitution bindings;
    for (const auto& it : block.iters) bindings.emplace_back(it.var, it.binding);
    Stmt body = block.reducer ? expand_update(block) : block.body;
    body = stmt(substitute(body, bindings));
    if (const AttrValue* how = find_annotation(block.annotations, "stream"))
      body = MarkStreaming(static_cast<Streaming>(how->number)).stmt(body);
    body = guarded(guards(block, bindings, false), body);
    if (!block.init || has_placed_init(block)) return body;
    Stmt init = guarded(guards(block, bindings, true), substitute(expand_init(block), bindings));
    return make_seq({init, body});
  }

  bool has_placed_init(const BlockNode& block) const {
    for (const auto& entry : inits_.before)
      if (entry.second.block->tag == block.tag) return true;
    return false;
  }

  // The conditions under which an instance exists: bindings inside their domains where that is not
  // proved, and the predicate. For an init, only the part that names no reduce iterator.
  Vec<AnyExpr> guards(const BlockNode& block, const Substitution& bindings, bool spatial_only) {
    Vec<AnyExpr> out;
    auto keep = [&](const AnyExpr& condition) {
      AnyExpr c = simplify(substitute(condition, bindings), facts_);
      if (!is_const(c, 1)) out.push_back(c);
    };
    for (const auto& it : block.iters) {
      if (spatial_only && it.kind == IterKind::reduce) continue;
      keep(it.var >= it.min);
      keep(it.var < it.min + it.extent);
    }
    if (!block.predicate.get()) return out;
    Vec<AnyExpr> parts;
    split_conjuncts(block.predicate, parts);
    for (const auto& part : parts)
      if (!spatial_only || !names_reduce_iter(block, part)) keep(part);
    return out;
  }

  static bool names_reduce_iter(const BlockNode& block, const AnyExpr& e) {
    for (const auto& it : block.iters)
      if (it.kind == IterKind::reduce && uses_var(e, it.var)) return true;
    return false;
  }

  // The loops that the spatial iterators need, over fresh variables, around the identity's stores.
  Stmt init_nest(const PlacedInit& init) {
    Vec<bool> needed(init.loops.size());
    for (std::size_t k = init.loops.size(); k-- > 0;) {
      const VarRef& var = init.loops[k]->var;
      needed[k] =
          feeds(*init.block, var, IterKind::spatial) || feeds(*init.block, var, IterKind::opaque);
      for (std::size_t inner = k + 1; inner < init.loops.size(); ++inner)
        if (needed[inner])
          needed[k] = needed[k] || uses_var(init.loops[inner]->min, var) ||
                      uses_var(init.loops[inner]->extent, var);
    }
    Substitution fresh;
    struct Loop {
      VarRef var;
      AnyExpr min, extent;
      const ForNode* from;
    };
    Vec<Loop> loops;
    Facts outer = facts_;
    for (std::size_t k = 0; k < init.loops.size(); ++k) {
      const ForNode& f = *init.loops[k];
      if (!needed[k]) continue;
      Loop loop{make_var(f.var->name), substitute(f.min, fresh), substitute(f.extent, fresh), &f};
      facts_.bind(loop.var, loop.min, loop.extent);
      fresh.emplace_back(f.var, AnyExpr(loop.var));
      loops.push_back(std::move(loop));
    }
    Substitution bindings;
    for (const auto& it : init.block->iters)
      bindings.emplace_back(it.var, substitute(it.binding, fresh));
    Stmt body = guarded(guards(*init.block, bindings, true),
                        substitute(expand_init(*init.block), bindings));
    facts_ = outer;
    for (const auto& loop : reversed(loops))
      body = make_for(loop.var, loop.min, loop.extent, body, loop.from->loop_kind,
                      loop.from->annotations);
    return body;
  }

  const InitPlaces& inits_;
  Shifts shifts_;
  bool guards_only_ = false;
  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program lower_blocks(const Program& program) {
  detail::InitPlaces inits;
  inits.stmt(program->body);
  return program.with(detail::LowerBlocks(program, inits).stmt(program->body), Stage::loops);
}

}  // namespace lathe

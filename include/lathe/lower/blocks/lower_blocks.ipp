#pragma once

#include <lathe/analysis/shift.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/fates.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/blocks/marked_loops.ipp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/vector/clone.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// A statement on the way to a block.
struct AroundInit {
  Stmt stmt;
  bool in_else = false;
};
using InitPath = Vec<AroundInit>;
using VarList = Vec<const VarNode*>;

// A block whose init has to stand before a loop, and what is from that loop on down to it.
struct PlacedInit {
  const BlockNode* block;
  InitPath path;
};

inline bool holds_var(const VarList& list, const VarRef& var) {
  for (const auto* v : list)
    if (v == var.get()) return true;
  return false;
}
inline void add_free_vars(VarList& list, const AnyExpr& e) {
  for (const auto& v : free_vars(e))
    if (!holds_var(list, v)) list.push_back(v.get());
}

// What a block's iterators of one sort come from, through lets and the blocks around; of spatial
// ones with the ranges of their loops.
inline VarList init_sources(const BlockNode& block, const InitPath& path, bool reduce) {
  VarList out;
  for (const auto& it : block.iters)
    if ((it.kind == IterKind::reduce) == reduce) add_free_vars(out, it.binding);
  for (const auto& around : reversed(path)) {
    if (const auto* let = around.stmt.as<LetStmtNode>(); let && holds_var(out, let->var))
      add_free_vars(out, let->value);
    if (const auto* f = around.stmt.as<ForNode>(); f && !reduce && holds_var(out, f->var))
      add_free_vars(out, f->min), add_free_vars(out, f->extent);
    const auto* outer = around.stmt.as<BlockNode>();
    for (std::size_t k = 0; outer && k < outer->iters.size(); ++k) {
      const IterVar& it = outer->iters[k];
      if (holds_var(out, it.var) || (!reduce && it.kind != IterKind::reduce))
        add_free_vars(out, it.binding);
    }
  }
  return out;
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
    const auto* branch = s.as<IfNode>();
    if (const auto* b = s.as<BlockNode>(); b && b->init) place(*b);
    any_child(s, [&](const Stmt& child) {
      if (s.as<SeqNode>()) return stmt(child), false;
      path_.push_back({s, branch && child.same_as(branch->else_body)});
      stmt(child);
      path_.pop_back();
      return false;
    });
  }

 private:
  void place(const BlockNode& block) {
    const VarList sources = init_sources(block, path_, true);
    for (std::size_t k = 0; k < path_.size(); ++k) {
      const auto* loop = path_[k].stmt.as<ForNode>();
      if (!loop || !holds_var(sources, loop->var)) continue;
      InitPath inside;
      for (std::size_t j = k; j < path_.size(); ++j) inside.push_back(path_[j]);
      before.emplace_back(loop->var, PlacedInit{&block, std::move(inside)});
      return;
    }
  }

  InitPath path_;
};

inline Stmt guarded(const Vec<AnyExpr>& conditions, Stmt body) {
  for (const auto& condition : reversed(conditions)) body = make_if(condition, std::move(body));
  return body;
}

// The loops whose last tile moves inward.
using Shifts = Vec<std::pair<VarRef, ShiftPlan>>;

inline Shifts shifts_of(const Program& program) {
  Shifts out;
  for (const auto& loop : shifted_loops(program->body)) {
    ShiftPlan plan = plan_shift(program, loop);
    if (!plan.why.empty())
      refuse_mark(*find_loop(program->body, loop).loop, TailAttr{Tail::shift}, plan.why);
    out.emplace_back(loop, std::move(plan));
  }
  return out;
}

class LowerBlocks : public Mutator {
 public:
  LowerBlocks(const Program& program, const InitPlaces& inits)
      : inits_(inits), shifts_(shifts_of(program)) {
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
    body = make_for(f.var, f.min, f.extent, body, f.loop_kind, f.attributes);
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
    const Substitution around = outer_;
    for (const auto& binding : bindings) outer_.push_back(binding);
    body = stmt(substitute(body, bindings));
    outer_ = around;
    if (const auto* stream = block.attributes.find<StreamAttr>())
      body = with_streaming(body, stream->how);
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
    for (const auto& part : spatial_only ? init_conjuncts(block) : conjuncts(block.predicate))
      keep(part);
    return out;
  }

  // The loops, lets and conditions that the spatial iterators need, over fresh variables, around
  // the identity's stores. Other loops are taken to run, conditions that name them to hold.
  Stmt init_nest(const PlacedInit& init) {
    const VarList needed = init_sources(*init.block, init.path, false);
    const Facts outside = facts_;
    VarList dropped;
    Stmt out = init_inside(init, 0, needed, outer_, dropped);
    facts_ = outside;
    return out;
  }

  Stmt init_inside(const PlacedInit& init, std::size_t k, const VarList& needed, Substitution fresh,
                   VarList& dropped) {
    if (k == init.path.size()) return guarded_init(*init.block, fresh, expand_init(*init.block));
    const Stmt& around = init.path[k].stmt;
    auto inside = [&] { return init_inside(init, k + 1, needed, fresh, dropped); };
    auto drops = [&](const VarRef& var) {
      if (!holds_var(needed, var)) return dropped.push_back(var.get()), true;
      return false;
    };
    if (const auto* f = around.as<ForNode>()) {
      if (drops(f->var)) return inside();
      VarRef var = make_var(f->var->name);
      AnyExpr min = substitute(f->min, fresh), extent = substitute(f->extent, fresh);
      facts_.bind(var, min, extent);
      fresh.emplace_back(f->var, AnyExpr(var));
      return make_for(var, min, extent, inside(), f->loop_kind,
                      after(Change::refill, f->attributes));
    }
    if (const auto* let = around.as<LetStmtNode>()) {
      if (drops(let->var)) return inside();
      VarRef var = make_var(let->var->name, let->var->dtype);
      AnyExpr value = substitute(let->value, fresh);
      fresh.emplace_back(let->var, AnyExpr(var));
      return make_let_stmt(var, value, inside());
    }
    if (const auto* block = around.as<BlockNode>()) {
      for (const auto& it : block->iters)
        if (it.kind == IterKind::reduce) dropped.push_back(it.var.get());
      const Substitution bindings = fresh_bindings(*block, fresh);
      for (const auto& binding : bindings) fresh.push_back(binding);
      return guarded(guards(*block, bindings, true), inside());
    }
    const auto* branch = around.as<IfNode>();
    if (!branch || names_dropped(branch->condition, dropped)) return inside();
    AnyExpr holds = substitute(branch->condition, fresh);
    return make_if(init.path[k].in_else ? logical_not(holds) : holds, inside());
  }

  static bool names_dropped(const AnyExpr& e, const VarList& dropped) {
    for (const auto& v : free_vars(e))
      if (holds_var(dropped, v)) return true;
    return false;
  }
  static Substitution fresh_bindings(const BlockNode& block, const Substitution& fresh) {
    Substitution out;
    for (const auto& it : block.iters) out.emplace_back(it.var, substitute(it.binding, fresh));
    return out;
  }
  Stmt guarded_init(const BlockNode& block, const Substitution& fresh, const Stmt& stores) {
    const Substitution bindings = fresh_bindings(block, fresh);
    return guarded(guards(block, bindings, true), substitute(stores, bindings));
  }

  const InitPlaces& inits_;
  Shifts shifts_;
  bool guards_only_ = false;
  Substitution outer_;  ///< what the iterators of the blocks around are
  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program lower_blocks(const Program& program) {
  detail::InitPlaces inits;
  inits.stmt(program->body);
  const Stmt body = detail::LowerBlocks(program, inits).stmt(program->body);
  // A binding stands at each use of its iterator and in its guards, a predicate around the init
  // too.
  return program.with(fresh_lets(body), Stage::loops);
}

}  // namespace lathe

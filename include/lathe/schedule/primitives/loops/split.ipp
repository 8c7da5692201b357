#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/shift.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/loops/round_up.ipp>
#include <lathe/schedule/primitives/loops/split_plan.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// Proven: at the points past the loop's end every instance of the block lies outside some
// iterator's domain.
inline bool tail_leaves_domain(const SplitPlan& plan, const BlockSite& block) {
  const ForNode& loop = *plan.site.loop;
  Facts facts = plan.facts;
  VarRef past = make_var("past");
  facts.bind(past, fold_add(loop.min, loop.extent), fold_sub(plan.product, loop.extent));
  for (const auto& inner : block.loops) facts.bind(*inner);
  Substitution at{{loop.var, AnyExpr(past)}}, iters;
  // Of an init only spatial iterators keep the points away.
  const bool mixed = block.block->init && feeds(loop, *block.block, IterKind::spatial);
  for (const auto& it : block.block->iters) {
    AnyExpr value = substitute(it.binding, at);
    // A domain may depend on the iterators before it.
    AnyExpr min = substitute(it.min, iters), extent = substitute(it.extent, iters);
    iters.emplace_back(it.var, value);
    if (value.same_as(it.binding) || (mixed && it.kind == IterKind::reduce)) continue;
    if (prove_le(fold_add(min, extent), value, facts) || prove_lt(value, min, facts)) return true;
  }
  return false;
}

// An iterator runs over what the loop runs over, offset or not.
inline bool has_own_iterator(const SplitPlan& plan, const BlockNode& block) {
  const ForNode& loop = *plan.site.loop;
  for (const auto& it : block.iters) {
    auto map = affine_of(it.binding, {loop.var}, plan.facts);
    if (map && map->coef(0) == 1 &&
        prove_eq(fold_add(it.min, it.extent), fold_add(map->rest, fold_add(loop.min, loop.extent)),
                 plan.facts))
      return true;
  }
  return false;
}

// Whether the block needs an iterator that keeps out the points past the loop's end. A tail that
// moves inward needs to know that end.
inline bool needs_iterator(const SplitPlan& plan, const BlockSite& block) {
  return !tail_leaves_domain(plan, block) ||
         (plan.tail == Tail::shift && !has_own_iterator(plan, *block.block));
}

class BoundLoads : public Visitor {
 public:
  explicit BoundLoads(const ForNode& loop) : loop_(loop), moving_{loop.var} { stmt(loop.body); }
  bool found = false;
  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      in_bound(f->min), in_bound(f->extent);
      if (moves(f->min) || moves(f->extent)) moving_.push_back(f->var);
    } else if (const auto* let = s.as<LetStmtNode>(); let && moves(let->value)) {
      moving_.push_back(let->var);
    }
    descend(s);
  }

 private:
  bool moves(const AnyExpr& e) const {
    for (const VarRef& var : moving_)
      if (uses_var(e, var)) return true;
    return false;
  }
  void in_bound(const AnyExpr& bound) {
    if (!is_load_free(bound)) found = found || moves(bound) || loads_written(bound, loop_.body);
  }
  const ForNode& loop_;
  Vec<VarRef> moving_;  ///< whose values follow from the loop's
};

// Whether an expression names what a let around the loop binds.
inline bool names_let(const AnyExpr& e, const LoopSite& site) {
  for (const auto& s : site.path)
    if (const auto* let = s.as<LetStmtNode>(); let && uses_var(e, let->var)) return true;
  return false;
}

// Past its end the loop must not be entered at all where statements stand in no block, where the
// bound of a loop inside would be loaded from a place that does not exist or that no block fills
// there, or where no domain of a block can name the loop's own bounds.
inline bool needs_if(const SplitPlan& plan) {
  const ForNode& loop = *plan.site.loop;
  return BoundLoads(loop).found || has_bare_statement(loop.body) ||
         names_let(loop.min, plan.site) || names_let(loop.extent, plan.site);
}

// Adds the iterators that keep the points past the loop's end out of blocks that would run again
// there.
class SplitGuards : public Mutator {
 public:
  SplitGuards(const SplitPlan& plan) : plan_(plan), blocks_(blocks_below(plan.site.loop->body)) {}

  Stmt stmt(const Stmt& s) override {
    const auto* block = s.as<BlockNode>();
    if (!block) return descend(s);
    for (const auto& site : blocks_)
      if (site.block->tag == block->tag && needs_iterator(plan_, site)) return guarded(*block);
    return s;
  }

 private:
  Stmt guarded(const BlockNode& block) const {
    const ForNode& loop = *plan_.site.loop;
    BlockNode out = block;
    const IterKind kind = inits_past_end(block) ? IterKind::reduce : IterKind::spatial;
    out.iters.push_back({make_var("v" + loop.var->name), loop.min, loop.extent, kind, loop.var});
    set_guard_count(out, guard_count(block) + 1);
    return make_block(std::move(out));
  }

  // The loop's end keeps out points of a reduction alone, not its init.
  bool inits_past_end(const BlockNode& block) const {
    const ForNode& loop = *plan_.site.loop;
    const bool reduces = feeds(loop, block, IterKind::reduce);
    if (!block.init) return reduces;
    bool inside = reduces;  // an init runs before the first of these loops, whatever they hold
    for (const auto& outer : plan_.site.loops)
      inside = inside || feeds(*outer, block, IterKind::reduce);
    return inside && !feeds(loop, block, IterKind::spatial);
  }

  const SplitPlan& plan_;
  Vec<BlockSite> blocks_;
};

LATHE_DECL Vec<std::string> names_around(const LoopSite& site) {
  Vec<std::string> names;
  each_statement(site.loop->body, [&](const Stmt& s) {
    if (const auto* f = s.as<ForNode>()) names.push_back(f->var->name);
  });
  for (const auto& loop : site.loops) names.push_back(loop->var->name);
  return names;
}

inline Vec<LoopHead> split_heads(const SplitPlan& plan, AnyExpr& value) {
  const std::string& base = plan.site.loop->var->name;
  Vec<std::string> used = names_around(plan.site);
  Vec<LoopHead> heads;
  value = plan.site.loop->min;
  for (std::size_t k = 0; k < plan.factors.size(); ++k) {
    std::string suffix = plan.factors.size() == 2 ? (k == 0 ? "o" : "i") : std::to_string(k);
    VarRef var = make_var(loop_name(base + suffix, used));
    AnyExpr stride(1);
    for (std::size_t inner = k + 1; inner < plan.factors.size(); ++inner)
      stride = fold_mul(stride, fresh_lets(plan.factors[inner]));
    value = fold_add(value, fold_mul(AnyExpr(var), stride));
    heads.push_back({var, AnyExpr(0), plan.factors[k]});
  }
  if (plan.guarded) heads.back().attributes.set(TailAttr{plan.tail});
  return heads;
}

inline void apply_split(const Program& program, const SplitPlan& plan, Edit& edit) {
  const ForNode& loop = *plan.site.loop;
  AnyExpr value;
  Vec<LoopHead> heads = split_heads(plan, value);
  Stmt body = loop.body;
  bool bare = needs_if(plan);
  if (plan.guarded && !bare) body = SplitGuards(plan).stmt(body);
  body = substitute(body, {{loop.var, value}});
  if (plan.guarded && bare) body = make_if(value < fold_add(loop.min, loop.extent), body);
  edit.program = program.with(replace_at(plan.site.path, wrap_loops(heads, body)));
  std::string into;
  for (const auto& head : heads) {
    edit.results.push_back(LoopRef(head.var));
    into += (into.empty() ? "" : ", ") + head.var->name;
  }
  edit.consumed.push_back({loop.var, "was split into " + into});
}

// What can be split where a loop's bound depends on one around it.
inline std::string guard_help(const ForNode& loop, const ForNode& outer, const BlockSite& block) {
  const std::string instead = "split loop " + in_quotes(outer.var->name);
  if (feeds(loop, *block.block, IterKind::reduce))
    return instead + ", or let " + in_quotes(loop.var->name) +
           " run over a range without it and put the bound into .where(…) of the reduction";
  return instead + ", or this one before a step makes its bound depend on that";
}

// A guard that becomes an iterator needs a domain over dims alone.
inline Verdict check_guards(const SplitPlan& plan) {
  const ForNode& loop = *plan.site.loop;
  if (!plan.guarded || needs_if(plan)) return {};
  for (const auto* bound : {&loop.min, &loop.extent})
    for (const auto& outer : plan.site.loops)
      if (uses_var(*bound, outer->var))
        for (const auto& block : blocks_below(loop.body))
          if (needs_iterator(plan, block))
            return refusal_at(loop.var, "L0224",
                              "the tail of " + loop_of_block(plan) +
                                  " can't be guarded, as its bound depends on loop " +
                                  in_quotes(outer->var->name),
                              guard_help(loop, *outer, block));
  return {};
}

// The loop runs to the end of its last tile, which needs no mark then.
inline Verdict round_up(const Program& program, SplitPlan& plan, Program& wider) {
  RunPastEnd past(program, plan.site, plan.product);
  if (BoundLoads(*plan.site.loop).found)
    past.why = "past its end there is nothing to read the bound of a loop below from";
  else
    past.run();
  if (!past.why.empty())
    return no_tail(plan, ": " + past.why,
                   "use Tail::guard, mask, peel or shift; for a parameter, cache_write first and "
                   "split the loops of the private result");
  wider = past.after;
  plan.site = find_loop(wider->body, plan.site.loop->var);
  plan.guarded = false;
  return {};
}

inline Verdict run_split(const Program& given, const Args& args, Edit* edit) {
  SplitPlan plan;
  Program program = given;
  if (auto no = plan_split(program, args[0], args[1].list, args[2].text, plan)) return no;
  if (plan.guarded && plan.tail == Tail::round_up)
    if (auto no = round_up(given, plan, program)) return no;
  if (auto no = check_guards(plan)) return no;
  Edit out;
  apply_split(program, plan, out);
  if (plan.guarded && plan.tail == Tail::shift) {
    const std::string why = plan_shift(out.program, out.results.back().loop).why;
    if (!why.empty()) return no_tail(plan, ": " + why);
  }
  if (edit) *edit = std::move(out);
  return {};
}

LATHE_DECL const Primitive& primitive_split() {
  static const Primitive record{"split",
                                1,
                                {{"loop", ArgKind::loop},
                                 {"factors", ArgKind::list, {}, ArgKind::factor},
                                 {"tail", ArgKind::word, "auto"}},
                                "one loop becomes several nested ones",
                                run_split};
  return record;
}

}  // namespace lathe::detail

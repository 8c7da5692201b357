#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/placement/regions.ipp>

namespace lathe::detail {

/// A reduction whose domain becomes a box.
struct BoxPlan {
  BlockSite site;
  BlockNode block;  ///< as it will be
  struct LongerLoop {
    ForRef loop;
    Range range;
  };
  Vec<LongerLoop> loops;
  AnyExpr sides;  ///< what keeps the terms that there were

  Refusal no(const std::string& why, std::string help = {}) const {
    return refusal_at(site.block->tag, "L0265",
                      "block " + in_quotes(site.block->name()) + " " + why, std::move(help));
  }
};

// Whether a bound or a binding reads memory at a place that the loop tells: beyond the loop's end
// there may be none.
inline bool reads_by(const BlockNode& block, const ForNode& loop) {
  const auto reads = [&](const AnyExpr& e) { return !is_load_free(e) && uses_var(e, loop.var); };
  for (const auto& it : block.iters)
    if (reads(it.binding)) return true;
  return any_statement(loop.body, [&](const Stmt& s) {
    const auto* inner = s.as<ForNode>();
    return inner && (reads(inner->min) || reads(inner->extent));
  });
}

// The loop that runs exactly through the iterator's domain, for nothing else.
inline ForRef loop_of(const Program& program, const BlockSite& site, const IterVar& it) {
  Substitution bound;
  for (const auto& other : site.block->iters) bound.emplace_back(other.var, other.binding);
  const Facts facts = program_facts(program);
  for (const auto& loop : site.loops)
    if (it.binding.get() == loop->var.get() && block_tags(loop->body).size() == 1 &&
        !has_bare_statement(loop->body) && !reads_by(*site.block, *loop) &&
        same_expr(simplify(loop->min, facts), simplify(substitute(it.min, bound), facts)) &&
        same_expr(simplify(loop->extent, facts), simplify(substitute(it.extent, bound), facts)))
      return loop;
  return {};
}

inline Verdict box_iterator(const Program& program, BoxPlan& plan, std::size_t k) {
  const IterVar it = plan.site.block->iters[k];
  Facts domain = program_facts(program);
  Vec<VarRef> vars;
  for (const auto& other : plan.site.block->iters) domain.bind(other), vars.push_back(other.var);
  const AnyExpr end = fold_add(it.min, it.extent);
  const AnyExpr first = bounds(it.min, vars, domain).min, last = bounds(end, vars, domain).max;
  if (!first || !last || !over_dims(program, first) || !over_dims(program, last))
    return plan.no("has no bounds over the program's Dims for " + in_quotes(it.var->name));
  const ForRef loop = loop_of(program, plan.site, it);
  if (!loop.get())
    return plan.no("has no loop that runs through the domain of " + in_quotes(it.var->name),
                   "box_domain before its loops are changed");
  if (auto no = check_serial_change(*loop, Change::replace)) return no;
  const Facts facts = program_facts(program);
  const Range box{simplify(first, facts),
                  simplify(fold_max(fold_sub(last, first), AnyExpr(0)), facts)};
  IterVar& boxed = plan.block.iters[k];
  boxed.min = box.min, boxed.extent = box.extent;
  Facts inside = facts;
  for (const auto& other : plan.block.iters) inside.bind(other);
  const AnyExpr begin = simplify(it.min, inside), beyond = simplify(end, inside);
  for (const AnyExpr& side : {begin <= AnyExpr(it.var), AnyExpr(it.var) < beyond})
    if (!prove(side, inside)) plan.sides = plan.sides ? fold_and(plan.sides, side) : side;
  plan.loops.push_back({loop, box});
  return {};
}

inline Verdict run_box_domain(const Program& program, const Args& args, Edit* edit) {
  const BlockSite site = find_block(program->body, args[0].block);
  BoxPlan plan{site, *site.block, {}};
  if (!is_open_path(site.path)) return plan.no("stands under a condition or inside another block");
  if (!info_of(program, site.block->tag).is_reduction() || !site.block->init)
    return plan.no("is no reduction with its init");
  for (std::size_t k = 0; k < site.block->iters.size(); ++k)
    if (site.block->iters[k].kind == IterKind::reduce &&
        depends_on_iterators(*site.block, site.block->iters[k]))
      if (auto no = box_iterator(program, plan, k)) return no;
  if (plan.loops.empty()) return plan.no("has no terms whose number depends on other iterators");
  if (!edit) return {};
  // What the block asked before may read memory by a term that is not there.
  AnyExpr& predicate = plan.block.predicate;
  if (plan.sides) predicate = predicate ? fold_and(plan.sides, predicate) : plan.sides;
  Stmt root = replace_at(site.path, make_block(plan.block));
  for (const auto& [loop, range] : plan.loops) {
    const LoopSite at = find_loop(root, loop->var);
    root = replace_at(at.path, make_for(loop->var, range.min, range.extent, at.loop->body,
                                        loop->loop_kind, loop->attributes));
  }
  edit->program = program.with(root);
  return {};
}

LATHE_DECL const Primitive& primitive_box_domain() {
  static const Primitive record{"box_domain",
                                1,
                                {{"block", ArgKind::block}},
                                "a reduction runs through a box, and leaves terms out of it",
                                run_box_domain};
  return record;
}

}  // namespace lathe::detail

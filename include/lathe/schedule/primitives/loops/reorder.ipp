#pragma once

#include <algorithm>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/instances.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

struct ReorderPlan {
  Vec<ForRef> chain;        ///< from the outermost named loop to the innermost, as they stand
  Vec<std::size_t> order;   ///< the chain in its new order
  Vec<Stmt> path;           ///< to the outermost of the chain
  bool order_free = false;  ///< all blocks below are complete or reductions, and may run anyhow
};

// The loops from the outermost named one to the innermost, each alone in the one before.
inline Verdict find_chain(const Program& program, const Vec<Arg>& loops, ReorderPlan& plan) {
  if (loops.size() < 2) return refusal("L0202", "needs at least two loops");
  LoopSite outermost;
  for (std::size_t k = 0; k < loops.size(); ++k) {
    for (std::size_t other = 0; other < k; ++other)
      if (loops[other].loop == loops[k].loop)
        return refusal_at(loops[k].loop, "L0202",
                          "loop " + in_quotes(loops[k].loop->name) + " is named twice");
    LoopSite site = find_loop(program->body, loops[k].loop);
    if (!outermost.loop || site.loops.size() < outermost.loops.size()) outermost = site;
  }
  std::size_t found = 0;
  plan.path = outermost.path;
  for (const ForNode* loop = outermost.loop.get(); found < loops.size();
       loop = only_loop_in(*loop)) {
    if (!loop) break;
    plan.chain.emplace_back(loop);
    for (const auto& arg : loops) found += arg.loop == loop->var;
  }
  if (found == loops.size()) return {};
  for (const auto& arg : loops) {
    bool in_chain = false;
    for (const auto& loop : plan.chain) in_chain |= loop->var == arg.loop;
    if (in_chain) continue;
    return refusal_at(arg.loop, "L0205",
                      "loop " + describe(*find_loop(program->body, arg.loop).loop) +
                          " is not in one chain of loops below loop " + describe(*outermost.loop),
                      "between the loops of a chain stands nothing else: the chain ends at loop " +
                          describe(*plan.chain.back()));
  }
  return {};
}

inline void permute(const Vec<Arg>& loops, ReorderPlan& plan) {
  std::size_t next = 0;
  for (std::size_t k = 0; k < plan.chain.size(); ++k) {
    bool named = false;
    for (const auto& arg : loops) named |= arg.loop == plan.chain[k]->var;
    std::size_t from = k;
    if (named)
      for (from = 0; plan.chain[from]->var != loops[next].loop;) ++from;
    next += named;
    plan.order.push_back(from);
  }
}

inline Verdict check_bounds(const ReorderPlan& plan) {
  for (std::size_t k = 0; k < plan.order.size(); ++k)
    for (std::size_t inner = k + 1; inner < plan.order.size(); ++inner) {
      const ForNode& loop = *plan.chain[plan.order[k]];
      const ForNode& inside = *plan.chain[plan.order[inner]];
      for (const auto* bound : {&loop.min, &loop.extent})
        if (uses_var(*bound, inside.var))
          return refusal_at(loop.var, "L0206",
                            "the bound " + extent_text(*bound) + " of loop " +
                                in_quotes(loop.var->name) + " depends on loop " +
                                in_quotes(inside.var->name) + ", which would lie inside it",
                            "keep " + in_quotes(inside.var->name) + " outside");
    }
  return {};
}

// Whether the updates of one element run in another order: two loops change places that the point
// does not tell, such as those that feed reduce iterators.
inline bool swaps_updates(const Program& program, const ReorderPlan& plan, const BlockSite& below) {
  if (std::is_sorted(plan.order.begin(), plan.order.end())) return false;
  const BlockSite site = find_block(program->body, below.block->tag);
  const std::size_t outermost = site.loops.size() - below.loops.size() - plan.chain.size();
  const Vec<bool> told = Instances(site, program_facts(program)).told_by_point(outermost);
  std::size_t last = 0;
  for (std::size_t from : plan.order) {
    if (told[from]) continue;
    if (from < last) return true;
    last = from;
  }
  return false;
}

// Every block below may run its instances in any order, and what one block hands to another stays
// inside the innermost loop of the chain.
inline bool order_free_below(const Program& program, const ReorderPlan& plan, const Facts& facts) {
  const ForNode& innermost = *plan.chain.back();
  if (has_bare_statement(innermost.body)) return false;
  Vec<BlockSite> blocks = blocks_below(innermost.body);
  for (const auto& site : blocks) {
    BlockInfo info = info_of(program, site.block->tag);
    if (!info.is_complete() && !info.is_reduction()) return false;
    if (info.is_reduction() && info.reducer.kind != ReducerClass::reorder &&
        swaps_updates(program, plan, site))
      return false;
    for (const auto& written : buffers_written(site.block->body)) {
      if (writers(innermost.body, written).size() > 1) return false;
      for (const auto& reader : readers(innermost.body, written)) {
        if (reader.block->tag == site.block->tag) continue;
        if (!why_not_found(program->body, {site.block->tag}, reader.block->tag, written,
                           innermost.var, facts)
                 .empty())
          return false;
      }
    }
  }
  return true;
}

inline Verdict check_order(const Program& program, ReorderPlan& plan) {
  Facts facts = program_facts(program);
  for (const auto& site : blocks_below(plan.chain.back()->body)) {
    if (!site.block->reducer) continue;
    ReducerInfo info = classify(*site.block->reducer);
    if (info.kind != ReducerClass::reorder && swaps_updates(program, plan, site))
      return refusal_at(site.block->tag, "L0207",
                        "the order of the reduce loops of " + in_quotes(site.block->name()) +
                            " matters: reducer " + in_quotes(site.block->reducer->name) +
                            " is not commutative" +
                            (info.why.empty() ? "" : " (" + std::string(info.why) + ")"),
                        "keep their order");
  }
  plan.order_free = order_free_below(program, plan, facts);
  if (plan.order_free) return {};
  Vec<VarRef> vars;
  for (const auto& loop : plan.chain) vars.push_back(loop->var);
  auto bad = reorder_violation(program->body, vars, plan.order, facts);
  if (!bad) return {};
  return refusal_at(plan.chain[0]->var, "L0207", bad->explanation,
                    "keep the order of these iterations");
}

// Where several points update one element, every loop decides in which order.
inline std::string reordered_reduction(const Program& program, const ReorderPlan& plan) {
  for (const auto& site : blocks_below(plan.chain.back()->body)) {
    if (!site.block->reducer || !classify(*site.block->reducer).reassociates) continue;
    const bool reduces = plan.order_free || info_of(program, site.block->tag).is_reduction();
    if (reduces && !swaps_updates(program, plan, site)) continue;
    return "reorder: the reduce loops of " + in_quotes(site.block->name()) +
           " run in another order";
  }
  return {};
}

inline Verdict run_reorder(const Program& program, const Args& args, Edit* edit) {
  ReorderPlan plan;
  const auto& loops = args[0].list;
  if (auto no = find_chain(program, loops, plan)) return no;
  for (const auto& loop : plan.chain)
    if (auto no = check_change(*loop, Change::move)) return no;
  permute(loops, plan);
  if (auto no = check_bounds(plan)) return no;
  if (auto no = check_order(program, plan)) return no;
  if (!edit) return {};
  Vec<LoopHead> heads;
  for (std::size_t from : plan.order) heads.push_back(head_of(*plan.chain[from]));
  edit->program = program.with(replace_at(plan.path, wrap_loops(heads, plan.chain.back()->body)));
  edit->reassociates = reordered_reduction(program, plan);
  return {};
}

LATHE_DECL const Primitive& primitive_reorder() {
  static const Primitive record{"reorder",
                                1,
                                {{"loops", ArgKind::list, {}, ArgKind::loop}},
                                "permutes loops of one nest",
                                run_reorder};
  return record;
}

}  // namespace lathe::detail

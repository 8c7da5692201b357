// Whether a reduction has partial results, and where they go.
#pragma once

#include <lathe/analysis/instances.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/placement/regions.ipp>

namespace lathe::detail {

/// The iterator that a loop binds, through all of its domain, and no other; else none.
inline std::optional<std::size_t> bound_by(const BlockNode& block, const ForNode& loop,
                                           const Facts& facts) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < block.iters.size(); ++k) {
    const IterVar& it = block.iters[k];
    if (!uses_var(it.binding, loop.var)) continue;
    const auto* var = it.binding.as<VarNode>();
    if (found || var != loop.var.get() || !prove(eq(loop.min, it.min), facts) ||
        !prove(eq(loop.extent, it.extent), facts))
      return {};
    found = k;
  }
  return found;
}

struct RfactorPlan {
  BlockSite site;
  ForRef loop;
  Vec<ForRef> reduce;  ///< the other loops that feed reduce iterators
  std::size_t at = 0;  ///< position in the path of the nest that holds nothing but the block
  std::size_t axis = 0;
  ReducerInfo reducer;
};

inline Verdict find_rfactor_block(const LoopSite& site, RfactorPlan& plan, const Program& program) {
  const ForNode& loop = *site.loop;
  auto blocks = blocks_below(loop.body);
  std::string name = "loop " + describe(loop);
  if (blocks.size() != 1 || has_bare_statement(loop.body))
    return refusal_at(loop.var, "L0219",
                      name + " holds " + std::to_string(blocks.size()) + " blocks, not one",
                      "move the others out");
  plan.site = find_block(program->body, blocks[0].block->tag);
  const BlockNode& block = *plan.site.block;
  if (!block.reducer || !feeds(loop, block, IterKind::reduce))
    return refusal_at(loop.var, "L0219", name + " feeds no reduction",
                      block.reducer ? describe_loops(program, block.tag) : "");
  if (!is_open_path(plan.site.path))
    return refusal_at(
        block.tag, "L0219",
        "block " + in_quotes(block.name()) + " stands under a condition or inside another block");
  if (stores_of(block).empty())
    return refusal_at(block.tag, "L0219",
                      "block " + in_quotes(block.name()) + " holds more than stores");
  return check_serial_change(loop, Change::replace);
}

inline Verdict check_bound(const ForNode& loop, const ForNode& other) {
  if (!uses_var(loop.min, other.var) && !uses_var(loop.extent, other.var)) return {};
  return refusal_at(
      loop.var, "L0219",
      "the bound of loop " + describe(loop) + " depends on loop " + in_quotes(other.var->name));
}

inline Verdict check_rfactor_loops(RfactorPlan& plan) {
  const BlockNode& block = *plan.site.block;
  bool first = true;
  for (const auto& loop : plan.site.loops) {
    if (!feeds(*loop, block, IterKind::reduce)) continue;
    if (feeds(*loop, block, IterKind::spatial))
      return refusal_at(loop->var, "L0219",
                        "loop " + describe(*loop) + " feeds both spatial and reduce iterators of " +
                            in_quotes(block.name()),
                        "rfactor before fusing");
    if (first && block_tags(loop->body).size() != 1)
      return refusal_at(loop->var, "L0219",
                        "the reduction of " + in_quotes(block.name()) + " shares loop " +
                            describe(*loop) + " with other blocks");
    if (loop->var != plan.loop->var) plan.reduce.push_back(loop);
    if (first && plan.reducer.kind == ReducerClass::sequence && loop->var != plan.loop->var)
      return refusal_at(plan.loop->var, "L0219",
                        "reducer " + in_quotes(block.reducer->name) + " is not commutative",
                        "rfactor its outermost reduce loop " + in_quotes(loop->var->name));
    first = false;
  }
  // The fold of the partial results keeps none of these loops.
  for (const auto& loop : plan.site.loops) {
    if (auto no = check_bound(*loop, *plan.loop)) return no;
    for (const auto& reduce : plan.reduce)
      if (auto no = check_bound(*loop, *reduce)) return no;
  }
  // Each is an iterator of the partial results, whose domain names no loops.
  for (const auto& loop : plan.reduce)
    for (const auto& outer : plan.site.loops)
      if (auto no = check_bound(*loop, *outer)) return no;
  return {};
}

// Partial results regroup the terms and give each its place by the spatial point alone: a term must
// not see the sum, and a point must come once in what is not a loop of the reduction.
inline Verdict check_terms(const Program& program, const RfactorPlan& plan) {
  const BlockNode& block = *plan.site.block;
  const BlockInfo info =
      classify(without_guards(block), facts_on(plan.site.path, program_facts(program)));
  if (!info.is_reduction())
    return refusal_at(block.tag, "L0219",
                      "block " + in_quotes(block.name()) +
                          " has no partial results that could be folded: " + info.why,
                      info.in_place ? "read what was there before from a copy" : "");
  const Instances instances(plan.site, program_facts(program));
  const std::size_t begin = instances.begin_of_fold();
  const Vec<bool> told = instances.told_by_point(begin);
  for (std::size_t k = begin; k < plan.site.loops.size(); ++k) {
    const ForNode& loop = *plan.site.loops[k];
    if (told[k - begin] || feeds(loop, block, IterKind::reduce)) continue;
    return refusal_at(
        loop.var, "L0219",
        "iterations of loop " + describe(loop) + " may update one element of " +
            in_quotes(block.name()) + " again, with the same terms",
        "reorder loop " + in_quotes(loop.var->name) + " outside of the reduction, or take it out");
  }
  return {};
}

/// Whether each point has a term, whose condition on data nothing of the fold precedes.
inline bool surely_folds(const BlockSite& site, const Facts& facts) {
  const BlockNode& block = *site.block;
  for (const auto& loop : site.loops)
    if (feeds(*loop, block, IterKind::reduce) && !prove(loop->extent > 0, facts)) return false;
  for (const auto& it : block.iters)
    if (it.kind == IterKind::reduce && !(prove(it.binding >= it.min, facts) &&
                                         prove(it.binding < fold_add(it.min, it.extent), facts)))
      return false;
  for (const auto& part : conjuncts(block.predicate)) {
    if (names_reduce(block.iters, part)) return false;
    if (!is_load_free(part)) return true;
  }
  return true;
}

/// Whether something other than a block may have stored what the block folds into.
inline bool stored_elsewhere(const Program& program, const Buffer& buffer, const BlockNode& block) {
  for (const auto& p : program->params)
    if (p.buffer == buffer) return p.access == Access::inout;
  return any_use(program->body, [&](const BufferUse& use) {
    return use.is_write && use.buffer == buffer && !(use.block && use.block->tag == block.tag);
  });
}

// The fold of the partial results asks the conditions that name none of its iterators. A block
// without an init has asked them for its terms alone, and where there are none, what they load need
// not be there, nor what the fold updates.
inline Verdict check_conditions(const Program& program, const RfactorPlan& plan) {
  const BlockNode& block = *plan.site.block;
  if (block.init) return {};
  const AnyExpr asked = init_predicate(block);
  const bool loads = asked.get() && !is_load_free(asked);
  Buffer unset;
  for (const auto& written : buffers_written(block.body))
    if (!stored_elsewhere(program, written, block)) unset = written;
  if (!loads && !unset) return {};
  if (surely_folds(plan.site, facts_on(plan.site.path, program_facts(program)))) return {};
  if (!loads)
    return refusal_at(block.tag, "L0219",
                      "block " + in_quotes(block.name()) +
                          " may have no terms, and nothing else "
                          "stores " +
                          in_quotes(unset->name) +
                          ", which the fold of partial results would read in any case",
                      "give the block an init");
  return refusal_at(block.tag, "L0219",
                    "block " + in_quotes(block.name()) + " asks " + str(asked) +
                        " for its terms alone, and there may be none: the fold of partial results "
                        "would ask it in any case",
                    "give the block an init, or a condition that loads nothing");
}

inline Verdict plan_rfactor(const Program& program, const Args& args, RfactorPlan& plan) {
  LoopSite site = find_loop(program->body, args[0].loop);
  plan.loop = site.loop;
  if (auto no = find_rfactor_block(site, plan, program)) return no;
  const BlockNode& block = *plan.site.block;
  plan.reducer = classify(*block.reducer);
  if (plan.reducer.kind == ReducerClass::fold)
    return refusal_at(
        block.tag, "L0219",
        "the order of " + in_quotes(block.name()) + " matters: " + std::string(plan.reducer.why));
  if (auto no = check_terms(program, plan)) return no;
  if (auto no = check_conditions(program, plan)) return no;
  if (ragged(block))
    return refusal_at(block.tag, "L0219",
                      "block " + in_quotes(block.name()) +
                          " has a domain that depends on another of its iterators");
  for (const auto& outer : site.loops)
    if (auto no = check_bound(*plan.loop, *outer)) return no;
  if (!over_dims(program, plan.loop->extent) || !is_load_free(plan.loop->extent))
    return refusal_at(plan.loop->var, "L0219",
                      "the number of partial results would be the extent " +
                          extent_text(plan.loop->extent) + " of loop " +
                          in_quotes(plan.loop->var->name) + ", which is not over Dims",
                      "split the loop and rfactor one of constant extent");
  if (auto no = check_rfactor_loops(plan)) return no;
  if (auto no = check_bare_touches(program, block, "L0219")) return no;
  // A layout may have given one output of several another rank.
  std::size_t smallest = stores_of(block)[0]->indices.size();
  for (const auto* store : stores_of(block)) smallest = std::min(smallest, store->indices.size());
  const auto rank = static_cast<std::int64_t>(smallest);
  std::int64_t axis = args[1].number < 0 ? args[1].number + rank + 1 : args[1].number;
  if (axis < 0 || axis > rank)
    return refusal_at(plan.loop->var, "L0219",
                      "axis " + std::to_string(args[1].number) + " is not between " +
                          std::to_string(-rank - 1) + " and " + std::to_string(rank));
  plan.axis = static_cast<std::size_t>(axis);
  plan.at = climb(plan.site.path, plan.site.path.size() - 1,
                  [](const Stmt& s) { return block_tags(s).size() != 1 || has_bare_statement(s); });
  return {};
}

}  // namespace lathe::detail

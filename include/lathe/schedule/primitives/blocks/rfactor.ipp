#pragma once

#include <algorithm>
#include <lathe/analysis/instances.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/placement/regions.ipp>

namespace lathe::detail {

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

// The fold of the partial results asks the conditions that name none of its iterators. A block
// without an init has asked them for its terms alone, and where there are none, what they load need
// not be there.
inline Verdict check_conditions(const Program& program, const RfactorPlan& plan) {
  const BlockNode& block = *plan.site.block;
  const AnyExpr asked = init_predicate(block);
  if (block.init || !asked || is_load_free(asked)) return {};
  if (surely_folds(plan.site, facts_on(plan.site.path, program_facts(program)))) return {};
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

template <class T>
Vec<T> with_inserted(Vec<T> list, std::size_t at, T item) {
  list.insert_at(at, std::move(item));
  return list;
}

// Builds the two blocks that a reduction becomes.
class RfactorBlocks {
 public:
  RfactorBlocks(const RfactorPlan& plan, const Facts& facts, const Vec<Buffer>& buffers)
      : plan_(plan),
        block_(*plan.site.block),
        facts_(facts),
        buffers_(buffers),
        plain_(block_.iters.size() - guard_count(block_)) {}

  /// The partial results: the factored loop is spatial, each other reduce loop an iterator of its
  /// own. What bound the old reduce iterators becomes part of the predicate.
  BlockNode partial(const BlockTag& tag) {
    BlockNode out(tag, {}, Stmt());
    for (std::size_t k = 0; k < plain_; ++k)
      if (const IterVar& it = block_.iters[k]; it.kind != IterKind::reduce)
        map_.emplace_back(it.var, add(out, it.var, it.min, it.extent, it.kind, it.binding));
    AnyExpr factored = add(out, plan_.loop->var, plan_.loop->min, plan_.loop->extent,
                           IterKind::spatial, plan_.loop->var);
    over_iters_.emplace_back(plan_.loop->var, factored);
    for (const auto& loop : plan_.reduce)
      over_iters_.emplace_back(
          loop->var, add(out, loop->var, loop->min, loop->extent, IterKind::reduce, loop->var));
    bind_reduce(out);
    keep_guards(out);
    if (block_.predicate)
      // What the domains leave out must not be read by.
      out.predicate = fold_and(out.predicate, substitute(block_.predicate, map_));
    out.body = partial_stores(fold_sub(factored, plan_.loop->min));
    out.reducer = block_.reducer;
    out.init = true;
    return out;
  }

  /// The old block folds the partial results, and keeps its init.
  BlockNode final_fold() const {
    BlockNode out = block_;
    out.iters.resize(plain_);
    out.iters.erase_if([](const IterVar& it) { return it.kind == IterKind::reduce; });
    VarRef var = make_var("v" + plan_.loop->var->name, plan_.loop->var->dtype);
    out.iters.push_back(
        {var, plan_.loop->min, plan_.loop->extent, IterKind::reduce, plan_.loop->var});
    keep_guards(out);
    out.predicate = init_predicate(block_);
    AnyExpr position = fold_sub(AnyExpr(var), plan_.loop->min);
    Vec<Stmt> stores;
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      const StoreNode& store = *stores_of(block_)[k];
      stores.push_back(
          make_store(store.buffer, store.indices,
                     make_load(buffers_[k], with_inserted(store.indices, plan_.axis, position))));
    }
    out.body = make_seq(std::move(stores));
    return out;
  }

 private:
  static AnyExpr add(BlockNode& out, const VarRef& from, AnyExpr min, AnyExpr extent, IterKind kind,
                     AnyExpr binding) {
    VarRef var = make_var(from->name[0] == 'v' ? from->name : "v" + from->name, from->dtype);
    out.iters.push_back({var, std::move(min), std::move(extent), kind, std::move(binding)});
    return AnyExpr(var);
  }

  // Old reduce iterators over the new ones, with their domains as conditions. A slice of them that
  // is empty has to hold the identity: a condition must not reach the init, so it names a reduce
  // iterator, if need be one that is zero.
  void bind_reduce(BlockNode& out) {
    Facts inside = facts_;
    for (const auto& it : out.iters) inside.bind(it);
    for (const auto& it : block_.iters) {
      if (it.kind != IterKind::reduce) continue;
      AnyExpr value = substitute(it.binding, over_iters_);
      bool inside_domain =
          prove(value >= it.min, inside) && prove(value < fold_add(it.min, it.extent), inside);
      bool in_predicate = block_.predicate.get() && uses_var(block_.predicate, it.var);
      if ((!inside_domain || in_predicate) && !names_reduce(out.iters, value))
        value = fold_add(value, zero_of_reduce(out));
      map_.emplace_back(it.var, value);
      if (inside_domain) continue;
      out.predicate =
          fold_and(out.predicate, fold_and(value >= it.min, value < fold_add(it.min, it.extent)));
    }
  }

  AnyExpr zero_of_reduce(BlockNode& out) const {
    for (const auto& it : out.iters)
      if (it.kind == IterKind::reduce && is_const(it.extent, 1))
        return fold_sub(AnyExpr(it.var), it.min);
    return add(out, plan_.loop->var, AnyExpr(0), AnyExpr(1), IterKind::reduce, AnyExpr(0));
  }

  // The spatial iterators that stand for guards go with both blocks; those of reduce loops became
  // conditions.
  void keep_guards(BlockNode& out) const {
    std::size_t kept = 0;
    for (std::size_t k = plain_; k < block_.iters.size(); ++k) {
      const IterVar& it = block_.iters[k];
      if (it.kind == IterKind::reduce) continue;
      add(out, it.var, it.min, it.extent, it.kind, it.binding);
      ++kept;
    }
    set_guard_count(out, kept);
  }

  Stmt partial_stores(const AnyExpr& position) const {
    Vec<Stmt> stores;
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      const StoreNode& store = *stores_of(block_)[k];
      Vec<AnyExpr> at;
      for (const auto& index : store.indices) at.push_back(substitute(index, map_));
      stores.push_back(make_store(buffers_[k], with_inserted(std::move(at), plan_.axis, position),
                                  fresh_lets(substitute(store.value, map_))));
    }
    return make_seq(std::move(stores));
  }

  const RfactorPlan& plan_;
  const BlockNode& block_;
  const Facts& facts_;
  const Vec<Buffer>& buffers_;
  std::size_t plain_;  ///< iterators that are no guards
  Substitution map_,
      over_iters_;  ///< old iterators, and loops, as expressions over the new iterators
};

// A buffer of the partial results for each output: `count` of them in a dimension of its own.
inline Vec<Buffer> partial_buffers(NamePool& names, const RfactorPlan& plan, const AnyExpr& count,
                                   Scope scope = Scope::global) {
  Vec<Buffer> buffers;
  for (const auto* store : stores_of(*plan.site.block))
    buffers.push_back(make_buffer(names.fresh(store->buffer->name + "_part"), store->buffer->dtype,
                                  with_inserted(store->buffer->shape, plan.axis, count), scope));
  return buffers;
}

// The loops that become two nests.
inline Vec<ForRef> factored_nest(const RfactorPlan& plan) {
  Vec<ForRef> nest(plan.site.loops);
  Vec<Stmt> outside(plan.site.path.begin(),
                    plan.site.path.begin() + static_cast<std::ptrdiff_t>(plan.at));
  nest.erase_at(0, loops_in(outside).size());
  return nest;
}

inline bool is_reduce_loop(const RfactorPlan& plan, const ForRef& loop) {
  for (const auto& r : plan.reduce)
    if (r->var == loop->var) return true;
  return false;
}

inline std::string partial_sums(const RfactorPlan& plan, const std::string& step,
                                const std::string& loop) {
  return step + ": " + in_quotes(plan.site.block->name()) + " sums partial results over " +
         in_quotes(loop);
}

inline void apply_rfactor(const Program& program, const RfactorPlan& plan, Edit& edit) {
  NamePool names(program);
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(plan.site.block->name() + "_rf"));
  const Vec<Buffer> buffers = partial_buffers(names, plan, plan.loop->extent);
  const Vec<ForRef> nest = factored_nest(plan);
  Facts facts = facts_on(path_to(plan.site.path, plan.at), program_facts(program));
  RfactorBlocks blocks(plan, facts, buffers);
  BlockNode partial = blocks.partial(tag);
  Substitution loops;
  Vec<LoopHead> partial_heads = fresh_loops(nest, Change::clone, loops), final_heads;
  for (auto& it : partial.iters) it.binding = substitute(it.binding, loops);
  for (const auto& loop : nest) {
    if (is_reduce_loop(plan, loop))
      edit.consumed.push_back({loop->var, "went into block " + tag->name + " by rfactor"});
    else
      final_heads.push_back(head_of(*loop));
  }
  Stmt both = make_seq({wrap_loops(partial_heads, make_block(std::move(partial))),
                        wrap_loops(final_heads, make_block(blocks.final_fold()))});
  Stmt root = replace_at(path_to(plan.site.path, plan.at), both);
  for (const auto& buffer : buffers) root = add_alloc(root, buffer);
  edit.program = program.with(root);
  edit.results.push_back(BlockRef(tag));
  if (plan.reducer.reassociates)
    edit.reassociates = partial_sums(plan, "rfactor", plan.loop->var->name);
}

inline Verdict run_rfactor(const Program& program, const Args& args, Edit* edit) {
  RfactorPlan plan;
  if (auto no = plan_rfactor(program, args, plan)) return no;
  if (edit) apply_rfactor(program, plan, *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_rfactor() {
  static const Primitive record{"rfactor",
                                1,
                                {{"loop", ArgKind::loop}, {"axis", ArgKind::number, "0"}},
                                "a reduce loop gets partial results of its own",
                                run_rfactor,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail

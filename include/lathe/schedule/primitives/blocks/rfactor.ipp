#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/blocks/rfactor_plan.ipp>

namespace lathe::detail {

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

/// Two nests that a reduction becomes: of partial results, and of their fold.
struct PartsAndFold {
  Vec<Buffer> buffers;
  Vec<LoopHead> heads;  ///< around the partial results
  BlockNode parts, fold;
};

/// The fold keeps the loops that are not those of the partial results alone.
inline void put_before_fold(const Program& program, const RfactorPlan& plan,
                            const std::string& step, PartsAndFold both, Edit& edit) {
  const BlockTag tag = both.parts.tag;
  Vec<LoopHead> kept;
  for (const auto& loop : factored_nest(plan)) {
    if (is_reduce_loop(plan, loop))
      edit.consumed.push_back({loop->var, "went into block " + tag->name + " by " + step});
    else
      kept.push_back(head_of(*loop));
  }
  Stmt nests = make_seq({wrap_loops(both.heads, make_block(std::move(both.parts))),
                         wrap_loops(kept, make_block(std::move(both.fold)))});
  Stmt root = replace_at(path_to(plan.site.path, plan.at), nests);
  for (const auto& buffer : both.buffers) root = add_alloc(root, buffer);
  edit.program = program.with(root);
  edit.results.push_back(BlockRef(tag));
  if (plan.reducer.reassociates) edit.reassociates = partial_sums(plan, step, plan.loop->var->name);
}

inline void apply_rfactor(const Program& program, const RfactorPlan& plan, Edit& edit) {
  NamePool names(program);
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(plan.site.block->name() + "_rf"));
  const Vec<Buffer> buffers = partial_buffers(names, plan, plan.loop->extent);
  Facts facts = facts_on(path_to(plan.site.path, plan.at), program_facts(program));
  RfactorBlocks blocks(plan, facts, buffers);
  BlockNode partial = blocks.partial(tag);
  Substitution loops;
  Vec<LoopHead> heads = fresh_loops(factored_nest(plan), Change::clone, loops);
  for (auto& it : partial.iters) it.binding = substitute(it.binding, loops);
  put_before_fold(program, plan, "rfactor",
                  {buffers, std::move(heads), std::move(partial), blocks.final_fold()}, edit);
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

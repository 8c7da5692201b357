#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/schedule/edit.hpp>

namespace lathe::detail {

inline Verdict check_decompose(const Program& program, const BlockSite& site,
                               const LoopSite& loop) {
  const BlockNode& block = *site.block;
  std::string name = "block " + quoted(block.name());
  if (!block.reducer) return refusal_at(block.tag, "L0218", name + " is no reduction");
  if (!block.init)
    return refusal_at(block.tag, "L0218", name + " has no init: it was decomposed before");
  if (!below(site.loops, loop.loop->var))
    return refusal_at(loop.loop->var, "L0218",
                      "loop " + describe(*loop.loop) + " is not above " + name,
                      describe_loops(program, block.tag));
  for (const auto& outer : loop.loops)
    if (feeds(*outer, block, IterKind::reduce))
      return refusal_at(loop.loop->var, "L0218",
                        "loop " + describe(*outer) + " around loop " +
                            quoted(loop.loop->var->name) + " feeds the reduction of " + name,
                        "the init stands before all loops that feed it: take loop " +
                            quoted(outer->var->name) + " or one outside");
  for (const auto& store : stores_of(block))
    for (const auto& access : accesses(loop.path.back()))
      if (access.buffer == store->buffer && (!access.block || access.block->tag != block.tag))
        return refusal_at(loop.loop->var, "L0218",
                          "inside loop " + describe(*loop.loop) + " also " +
                              (access.block ? "block " + quoted(access.block->name())
                                            : std::string("a statement")) +
                              " touches " + quoted(store->buffer->name),
                          "take a loop inside which only " + name + " does");
  return {};
}

inline Verdict run_decompose_reduction(const Program& program, const Args& args, Edit* edit) {
  BlockSite site = find_block(program->body, args[0].block);
  LoopSite loop = find_loop(program->body, args[1].loop);
  if (auto no = check_decompose(program, site, loop)) return no;
  if (!edit) return {};
  const BlockNode& block = *site.block;
  NamePool names(program);
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(block.name() + "_init"));
  Substitution map;
  BlockNode init = spatial_block(block, tag, map);
  std::size_t guards = 0;
  for (std::size_t k = block.iters.size() - guard_count(block); k < block.iters.size(); ++k)
    guards += block.iters[k].kind != IterKind::reduce;
  if (guards > 0) init.annotations.push_back({"guards", static_cast<std::int64_t>(guards)});
  init.body = substitute(expand_init(block), map);
  // The loops inside that the spatial points need, over fresh variables.
  std::vector<ForRef> inside, needed;
  for (std::size_t k = loop.loops.size(); k < site.loops.size(); ++k)
    inside.push_back(site.loops[k]);
  for (std::size_t k = inside.size(); k-- > 0;) {
    bool used =
        feeds(*inside[k], init, IterKind::spatial) || feeds(*inside[k], init, IterKind::opaque);
    for (const auto& n : needed)
      used = used || uses_var(n->min, inside[k]->var) || uses_var(n->extent, inside[k]->var);
    if (used) needed.insert(needed.begin(), inside[k]);
  }
  Substitution loops;
  std::vector<LoopHead> heads = fresh_loops(needed, loops);
  for (auto& it : init.iters) it.binding = substitute(it.binding, loops);
  BlockNode update = block;
  update.init = false;
  Stmt root = replace_at(site.path, make_block(std::move(update)));
  root = insert_before(find_loop(root, loop.loop->var).path,
                       wrap_loops(heads, make_block(std::move(init))));
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

LATHE_DECL const Primitive& primitive_decompose_reduction() {
  static const Primitive record{"decompose_reduction",
                                1,
                                {{"block", ArgKind::block}, {"loop", ArgKind::loop}},
                                "the init of a reduction becomes a block",
                                run_decompose_reduction,
                                ArgKind::block};
  return record;
}

struct RfactorPlan {
  BlockSite site;
  ForRef loop;
  std::vector<ForRef> reduce;  ///< the other loops that feed reduce iterators
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
        "block " + quoted(block.name()) + " stands under a condition or inside another block");
  if (stores_of(block).empty())
    return refusal_at(block.tag, "L0219",
                      "block " + quoted(block.name()) + " holds more than stores");
  return check_plain_loop(loop);
}

inline Verdict check_rfactor_loops(RfactorPlan& plan) {
  const BlockNode& block = *plan.site.block;
  bool first = true;
  for (const auto& loop : plan.site.loops) {
    if (!feeds(*loop, block, IterKind::reduce)) continue;
    if (feeds(*loop, block, IterKind::spatial))
      return refusal_at(loop->var, "L0219",
                        "loop " + describe(*loop) + " feeds both spatial and reduce iterators of " +
                            quoted(block.name()),
                        "rfactor before fusing");
    if (first && blocks_below(loop->body).size() != 1)
      return refusal_at(loop->var, "L0219",
                        "the reduction of " + quoted(block.name()) + " shares loop " +
                            describe(*loop) + " with other blocks");
    if (loop->var != plan.loop->var) plan.reduce.push_back(loop);
    if (first && plan.reducer.kind == ReducerClass::sequence && loop->var != plan.loop->var)
      return refusal_at(plan.loop->var, "L0219",
                        "reducer " + quoted(block.reducer->name) + " is not commutative",
                        "rfactor its outermost reduce loop " + quoted(loop->var->name));
    first = false;
  }
  for (const auto& loop : plan.site.loops)
    for (const auto* bound : {&loop->min, &loop->extent})
      if (uses_var(*bound, plan.loop->var))
        return refusal_at(loop->var, "L0219",
                          "the bound of loop " + describe(*loop) + " depends on loop " +
                              quoted(plan.loop->var->name));
  return {};
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
        "the order of " + quoted(block.name()) + " matters: " + std::string(plan.reducer.why));
  if (ragged(block))
    return refusal_at(
        block.tag, "L0219",
        "block " + quoted(block.name()) + " has a domain that depends on another of its iterators");
  for (const auto& outer : site.loops)
    for (const auto* bound : {&plan.loop->min, &plan.loop->extent})
      if (uses_var(*bound, outer->var))
        return refusal_at(plan.loop->var, "L0219",
                          "the bound of loop " + describe(*plan.loop) + " depends on loop " +
                              quoted(outer->var->name));
  if (auto no = check_rfactor_loops(plan)) return no;
  auto rank = static_cast<std::int64_t>(stores_of(block)[0]->indices.size());
  std::int64_t axis = args[1].number < 0 ? args[1].number + rank + 1 : args[1].number;
  if (axis < 0 || axis > rank)
    return refusal_at(plan.loop->var, "L0219",
                      "axis " + std::to_string(args[1].number) + " is not between " +
                          std::to_string(-rank - 1) + " and " + std::to_string(rank));
  plan.axis = static_cast<std::size_t>(axis);
  plan.at = climb(plan.site.path, plan.site.path.size() - 1, [](const Stmt& s) {
    return blocks_below(s).size() != 1 || has_bare_statement(s);
  });
  return {};
}

template <class T>
std::vector<T> with_inserted(std::vector<T> list, std::size_t at, T item) {
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::move(item));
  return list;
}

inline bool uses_reduce_iter(const BlockNode& block, const AnyExpr& e) {
  for (const auto& it : block.iters)
    if (it.kind == IterKind::reduce && uses_var(e, it.var)) return true;
  return false;
}

// The block of the partial results: the factored loop is spatial, each other reduce loop an
// iterator of its own. What bound the old reduce iterators becomes part of the predicate.
inline BlockNode partial_block(const RfactorPlan& plan, const Facts& facts,
                               const std::vector<Buffer>& buffers, const BlockTag& tag) {
  const BlockNode& block = *plan.site.block;
  Substitution map, over_iters;
  BlockNode out(tag, {}, Stmt());
  std::size_t guards = guard_count(block), plain = block.iters.size() - guards;
  auto add = [&](const VarRef& from, AnyExpr min, AnyExpr extent, IterKind kind, AnyExpr binding) {
    VarRef var = make_var(from->name[0] == 'v' ? from->name : "v" + from->name, from->dtype);
    out.iters.push_back({var, std::move(min), std::move(extent), kind, std::move(binding)});
    return AnyExpr(var);
  };
  for (std::size_t k = 0; k < plain; ++k)
    if (const IterVar& it = block.iters[k]; it.kind != IterKind::reduce)
      map.emplace_back(it.var, add(it.var, it.min, it.extent, it.kind, it.binding));
  AnyExpr factored =
      add(plan.loop->var, plan.loop->min, plan.loop->extent, IterKind::spatial, plan.loop->var);
  over_iters.emplace_back(plan.loop->var, factored);
  for (const auto& loop : plan.reduce)
    over_iters.emplace_back(loop->var,
                            add(loop->var, loop->min, loop->extent, IterKind::reduce, loop->var));
  Facts inside = facts;
  for (const auto& it : out.iters) inside.bind(it);
  for (const auto& it : block.iters) {
    if (it.kind != IterKind::reduce) continue;
    AnyExpr value = substitute(it.binding, over_iters);
    map.emplace_back(it.var, value);
    if (prove(value >= it.min, inside) && prove(value < fold_add(it.min, it.extent), inside))
      continue;
    // A slice that is empty has to hold the identity: the guard must not reach the init, so it
    // names a reduce iterator.
    if (!uses_reduce_iter(out, value)) {
      if (plan.reduce.empty() && out.iters.back().kind != IterKind::reduce)
        over_iters.emplace_back(plan.loop->var, add(plan.loop->var, AnyExpr(0), AnyExpr(1),
                                                    IterKind::reduce, AnyExpr(0)));
      value = fold_add(value, fold_sub(over_iters.back().second, out.iters.back().min));
    }
    out.predicate =
        fold_and(out.predicate, fold_and(value >= it.min, value < fold_add(it.min, it.extent)));
  }
  for (std::size_t k = plain; k < block.iters.size(); ++k)
    if (const IterVar& it = block.iters[k]; it.kind != IterKind::reduce)
      add(it.var, it.min, it.extent, it.kind, it.binding);
  std::int64_t kept = 0;
  for (std::size_t k = plain; k < block.iters.size(); ++k)
    kept += block.iters[k].kind != IterKind::reduce;
  if (kept > 0) out.annotations.push_back({"guards", kept});
  if (block.predicate) out.predicate = fold_and(substitute(block.predicate, map), out.predicate);
  std::vector<Stmt> stores;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    const StoreNode& store = *stores_of(block)[k];
    std::vector<AnyExpr> at;
    for (const auto& index : store.indices) at.push_back(substitute(index, map));
    AnyExpr position = fold_sub(factored, plan.loop->min);
    stores.push_back(make_store(buffers[k], with_inserted(std::move(at), plan.axis, position),
                                fresh_lets(substitute(store.value, map))));
  }
  out.body = make_seq(std::move(stores));
  out.reducer = block.reducer;
  out.init = true;
  return out;
}

// The old block folds the partial results, and keeps its init.
inline BlockNode final_block(const RfactorPlan& plan, const std::vector<Buffer>& buffers) {
  const BlockNode& block = *plan.site.block;
  BlockNode out = block;
  out.iters.clear();
  std::size_t plain = block.iters.size() - guard_count(block);
  std::int64_t guards = 0;
  VarRef var = make_var("v" + plan.loop->var->name, plan.loop->var->dtype);
  for (std::size_t k = 0; k < block.iters.size(); ++k) {
    if (k == plain)
      out.iters.push_back(
          {var, plan.loop->min, plan.loop->extent, IterKind::reduce, plan.loop->var});
    if (block.iters[k].kind == IterKind::reduce) continue;
    out.iters.push_back(block.iters[k]);
    guards += k >= plain;
  }
  if (plain == block.iters.size())
    out.iters.push_back({var, plan.loop->min, plan.loop->extent, IterKind::reduce, plan.loop->var});
  std::erase_if(out.annotations, [](const Annotation& a) { return a.key == "guards"; });
  if (guards > 0) out.annotations.push_back({"guards", guards});
  out.predicate = spatial_part(block, block.predicate);
  std::vector<Stmt> stores;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    const StoreNode& store = *stores_of(block)[k];
    AnyExpr position = fold_sub(AnyExpr(var), plan.loop->min);
    stores.push_back(
        make_store(store.buffer, store.indices,
                   make_load(buffers[k], with_inserted(store.indices, plan.axis, position))));
  }
  out.body = make_seq(std::move(stores));
  return out;
}

inline void apply_rfactor(const Program& program, const RfactorPlan& plan, Edit& edit) {
  const BlockNode& block = *plan.site.block;
  NamePool names(program);
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(block.name() + "_rf"));
  std::vector<Buffer> buffers;
  for (const auto* store : stores_of(block))
    buffers.push_back(
        make_buffer(names.fresh(store->buffer->name + "_part"), store->buffer->dtype,
                    with_inserted(store->buffer->shape, plan.axis, plan.loop->extent)));
  std::vector<ForRef> nest(plan.site.loops);
  std::vector<Stmt> outside(plan.site.path.begin(),
                            plan.site.path.begin() + static_cast<std::ptrdiff_t>(plan.at));
  nest.erase(nest.begin(), nest.begin() + static_cast<std::ptrdiff_t>(loops_in(outside).size()));
  Facts facts = facts_on(outside, program_facts(program));
  BlockNode partial = partial_block(plan, facts, buffers, tag);
  Substitution loops;
  std::vector<LoopHead> partial_heads = fresh_loops(nest, loops), final_heads;
  for (auto& it : partial.iters) it.binding = substitute(it.binding, loops);
  for (const auto& loop : nest) {
    bool reduced = false;
    for (const auto& r : plan.reduce) reduced |= r->var == loop->var;
    if (reduced)
      edit.consumed.push_back({loop->var, "went into block " + tag->name + " by rfactor"});
    else
      final_heads.push_back(head_of(*loop));
  }
  Stmt both = make_seq({wrap_loops(partial_heads, make_block(std::move(partial))),
                        wrap_loops(final_heads, make_block(final_block(plan, buffers)))});
  Stmt root = replace_at(path_to(plan.site.path, plan.at), both);
  for (const auto& buffer : buffers) root = add_alloc(root, buffer);
  edit.program = program.with(root);
  edit.results.push_back(BlockRef(tag));
  if (plan.reducer.reassociates)
    edit.reassociates = "rfactor: " + quoted(block.name()) + " sums partial results over " +
                        quoted(plan.loop->var->name);
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
                                ArgKind::block};
  return record;
}

}  // namespace lathe::detail

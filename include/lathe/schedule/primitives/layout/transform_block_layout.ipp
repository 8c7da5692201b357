#pragma once

#include <lathe/arith/iter_map.hpp>
#include <lathe/schedule/primitives/copies/copies.ipp>

namespace lathe::detail {

/// A block over new iterators, and the loops that make room for theirs.
struct BlockLayout {
  BlockSite site;
  LayoutMap map;
  std::size_t at = 0;   ///< position in the path of the outermost loop of the nest
  Vec<ForRef> nest;     ///< the loops of the block, which hold nothing else
  Vec<IterVar> iters;   ///< the new ones, without bindings
  Substitution values;  ///< the old iterators over the new ones
  AnyExpr predicate;    ///< over the new ones
  std::string reassociates;

  const BlockNode& block() const { return *site.block; }
};

inline Refusal block_layout_refusal(const BlockLayout& plan, const std::string& why,
                                    std::string help = {}) {
  return refusal_at(plan.block().tag, "L0238",
                    "block " + in_quotes(plan.block().name()) + " " + why, std::move(help));
}

inline Verdict check_block_map(const Program& program, const BlockLayout& plan) {
  const BlockNode& block = plan.block();
  const LayoutMap& map = plan.map;
  bool defined = static_cast<bool>(map);
  for (std::size_t k = 0; defined && k < map->to.size(); ++k)
    defined = map->to[k].get() && map->to[k].dtype() == kIndex;
  if (!defined)
    return refusal("L0238", "the map is empty, or gives something else than i64 indices");
  if (map->from.size() != block.iters.size())
    return block_layout_refusal(plan, "has " + std::to_string(block.iters.size()) +
                                          " iterators, but the map takes " +
                                          std::to_string(map->from.size()));
  for (const auto& to : map->to)
    for (const auto& var : free_vars(to)) {
      bool known = is_dim(program, var);
      for (const auto& from : map->from) known |= from == var;
      if (!known)
        return refusal("L0238", "the map names " + in_quotes(var->name) +
                                    ", which is neither an iterator nor a Dim");
    }
  return {};
}

inline Verdict check_block_domain(const Program& program, const BlockLayout& plan) {
  const BlockNode& block = plan.block();
  if (!block.reads.empty() || !block.writes.empty()) return block_layout_refusal(plan, "is opaque");
  if (guard_count(block) > 0)
    return block_layout_refusal(plan, "stands under a guard that its split needs",
                                "remap the block before its loops are split");
  Facts facts = program_facts(program);
  std::int64_t points = 1;
  for (const auto& it : block.iters) {
    if (it.kind == IterKind::opaque)
      return block_layout_refusal(plan, "has the opaque iterator " + in_quotes(it.var->name));
    if (!over_dims(program, it.min) || !over_dims(program, it.extent))
      return block_layout_refusal(
          plan, "has a domain that depends on more than Dims: that of " + in_quotes(it.var->name));
    if (!prove_le(AnyExpr(0), it.extent, facts))
      return block_layout_refusal(
          plan, "has the iterator " + in_quotes(it.var->name) + ", whose extent may be negative");
    const std::int64_t* extent = as_const_int(it.extent);
    if (extent && (__builtin_mul_overflow(points, std::max<std::int64_t>(1, *extent), &points) ||
                   points > INT64_MAX / 4))
      return block_layout_refusal(plan, "has a domain of more than 2^61 points");
  }
  return {};
}

// The loops that feed the block, which are alone in each other down to it.
inline Verdict find_nest(BlockLayout& plan) {
  const auto& path = plan.site.path;
  auto feeds_block = [&](const ForNode& loop) {
    for (const auto& it : plan.block().iters)
      if (uses_var(it.binding, loop.var)) return true;
    return false;
  };
  std::size_t top = path.size() - 1;
  while (top > 0 && path[top - 1].as<ForNode>()) --top;
  plan.at = path.size() - 1;
  for (std::size_t k = path.size() - 1; k-- > top;)
    if (feeds_block(*path[k].as<ForNode>())) plan.at = k;
  for (std::size_t k = 0; k < top; ++k)
    if (const auto* loop = path[k].as<ForNode>(); loop && feeds_block(*loop))
      return block_layout_refusal(
          plan, "is not alone inside loop " + describe(*loop),
          "its loops are made anew, so nothing else may run in them: remap it before blocks move");
  for (std::size_t k = plan.at; k + 1 < path.size(); ++k) {
    const ForNode& loop = *path[k].as<ForNode>();
    if (auto no = check_serial_change(loop, Change::replace)) return no;
    plan.nest.emplace_back(&loop);
  }
  return {};
}

inline Vec<IterDomain> domains_of(const Vec<ForRef>& loops) {
  Vec<IterDomain> out;
  for (const auto& loop : loops) out.push_back({loop->var, loop->min, loop->extent});
  return out;
}

// What holds where something runs: no extent is 0.
inline Facts not_empty(const Vec<IterDomain>& domains, Facts facts) {
  for (const auto& d : domains) facts.assume(AnyExpr(1) <= d.extent);
  return facts;
}

// The nest runs each instance once.
inline Verdict check_runs_once(const BlockLayout& plan, const Facts& facts) {
  const BlockNode& block = plan.block();
  bool trivial = plan.nest.size() == block.iters.size();
  Vec<AnyExpr> bindings;
  Vec<VarRef> taken;  // each iterator has a loop of its own
  for (const auto& it : block.iters) {
    bindings.push_back(it.binding);
    bool own = false;
    for (const auto& loop : plan.nest) {
      if (own || contains(taken, loop->var) || !same_expr(loop->extent, it.extent)) continue;
      own = prove_eq(it.binding, fold_add(it.min, fold_sub(AnyExpr(loop->var), loop->min)), facts);
      if (own) taken.push_back(loop->var);
    }
    trivial = trivial && own;
  }
  if (trivial) return {};
  Vec<IterDomain> loops = domains_of(plan.nest);
  IterMap map = iter_map(bindings, loops, {}, not_empty(loops, facts));
  bool whole = map.bijective();
  for (std::size_t k = 0; whole && k < block.iters.size(); ++k) {
    const IterVar& it = block.iters[k];
    const IterSum& sum = map.sums[k];
    whole = prove_le(sum.min, it.min, facts) &&
            prove_le(fold_add(it.min, it.extent), fold_add(sum.min, sum.extent), facts);
  }
  if (whole) return {};
  return block_layout_refusal(plan,
                              "is not proved to run each of its instances once in loops of its own",
                              "remap the block while its loops are those that it was made with");
}

// The kind of the iterators that an index of the map names.
inline Verdict kind_of_index(const BlockLayout& plan, const AnyExpr& to, IterKind& kind,
                             std::string& name) {
  const IterVar* first = nullptr;
  for (std::size_t k = 0; k < plan.map->from.size(); ++k) {
    if (!uses_var(to, plan.map->from[k])) continue;
    const IterVar& it = plan.block().iters[k];
    if (first && first->kind != it.kind)
      return block_layout_refusal(
          plan, "would get an iterator that mixes " + in_quotes(first->var->name) + ", which is " +
                    std::string(to_text(first->kind)) + ", and " + in_quotes(it.var->name) +
                    ", which is " + std::string(to_text(it.kind)));
    if (!first) first = &it;
    name += (name.empty() ? "" : "_") + it.var->name;
  }
  kind = first ? first->kind : IterKind::spatial;
  if (!first) name = "vu";
  return {};
}

// The new iterators of one kind, and the old ones over them. A domain that may be empty is judged
// as if it were not; that both are empty together follows from their sizes.
inline Verdict plan_kind(const Program& program, BlockLayout& plan, IterKind kind) {
  Facts facts = program_facts(program);
  facts.keep_unit_vars();
  Vec<IterDomain> old;
  Vec<std::size_t> which;
  Substitution empty;
  for (std::size_t k = 0; k < plan.block().iters.size(); ++k) {
    const IterVar& it = plan.block().iters[k];
    if (it.kind != kind) continue;
    AnyExpr extent = it.extent;
    if (is_const(extent, 0)) {
      VarRef length = make_var("n");
      empty.emplace_back(length, AnyExpr(0));
      extent = length;
    }
    old.push_back({plan.map->from[k], it.min, extent});
    which.push_back(k);
  }
  Vec<AnyExpr> indices, targets;
  for (std::size_t k = 0; k < plan.iters.size(); ++k)
    if (plan.iters[k].kind == kind) {
      indices.push_back(plan.map->to[k]);
      targets.emplace_back(plan.iters[k].var);
    }
  if (kind == IterKind::reduce && indices.empty() && !old.empty())
    return block_layout_refusal(plan, "would have no reduce iterator any more");
  Facts running = not_empty(old, facts);
  IterMap map = iter_map(indices, old, {}, running);
  Vec<AnyExpr> values = inverse(map, targets, running);
  AnyExpr before(1), after(1);
  for (const auto& d : old) before = fold_mul(before, substitute(d.extent, empty));
  for (const auto& sum : map.sums) after = fold_mul(after, substitute(sum.extent, empty));
  if (!map.bijective() || values.size() != old.size() || !prove_eq(before, after, facts))
    return block_layout_refusal(
        plan,
        "is not proved to have as many instances as the map gives it" +
            (map.why.empty() ? "" : ": " + std::string(map.why)),
        "each index is a sum of parts such as a / 4, a % 4 and b: every part once, and no gaps");
  for (std::size_t k = 0, next = 0; k < plan.iters.size(); ++k) {
    IterVar& it = plan.iters[k];
    if (it.kind != kind) continue;
    it.min = simplify(substitute(map.sums[next].min, empty), facts);
    it.extent = simplify(substitute(map.sums[next].extent, empty), facts);
    ++next;
  }
  for (std::size_t k = 0; k < values.size(); ++k)
    plan.values.emplace_back(plan.block().iters[which[k]].var, substitute(values[k], empty));
  return {};
}

inline Verdict plan_iters(const Program& program, BlockLayout& plan) {
  Vec<std::string> used;
  for (const auto& to : plan.map->to) {
    IterVar it;
    std::string name;
    if (auto no = kind_of_index(plan, to, it.kind, name)) return no;
    it.var = make_var(loop_name(name, used));
    plan.iters.push_back(std::move(it));
  }
  if (auto no = plan_kind(program, plan, IterKind::spatial)) return no;
  return plan_kind(program, plan, IterKind::reduce);
}

// Whether the new iterators of these kinds count as the loops do that feed them.
inline bool keeps_order(const BlockLayout& plan, bool reduce_only, Facts facts) {
  const BlockNode& block = plan.block();
  Substitution at;
  for (std::size_t k = 0; k < block.iters.size(); ++k)
    at.emplace_back(plan.map->from[k], block.iters[k].binding);
  AnyExpr before(0), after(0);
  for (const auto& loop : plan.nest) {
    const bool reduces = feeds(*loop, block, IterKind::reduce);
    if (reduce_only && reduces && feeds(*loop, block, IterKind::spatial)) return false;
    facts.bind(*loop);
    if (reduce_only && !reduces) continue;
    before = fold_add(fold_mul(before, loop->extent), fold_sub(AnyExpr(loop->var), loop->min));
  }
  for (std::size_t k = 0; k < plan.iters.size(); ++k) {
    const IterVar& it = plan.iters[k];
    if (reduce_only && it.kind != IterKind::reduce) continue;
    AnyExpr value = fold_sub(substitute(plan.map->to[k], at), it.min);
    after = fold_add(fold_mul(after, it.extent), value);
  }
  return prove_eq(before, after, facts);
}

inline Verdict check_instance_order(const Program& program, BlockLayout& plan, const Facts& facts) {
  const bool keeps = keeps_order(plan, false, facts);
  if (keeps && !plan.block().init) return {};
  BlockInfo info = classify(plan.block(), program_facts(program));
  // The init may come to stand elsewhere, which terms that read other elements would see.
  if (info.is_complete() || (keeps && info.is_reduction())) return {};
  if (!info.is_reduction())
    return block_layout_refusal(plan,
                                "would run its instances in another order, which matters: " +
                                    (info.why.empty() ? std::string(to_text(info.kind)) : info.why),
                                "a map that only counts on, such as a * n + b, keeps the order");
  if (keeps_order(plan, true, facts)) return {};
  if (info.reducer.kind != ReducerClass::reorder)
    return block_layout_refusal(plan,
                                "would reduce in another order, which matters: " + info.reducer.why,
                                "keep the order of its reduce iterators");
  if (info.reducer.reassociates)
    plan.reassociates = "transform_block_layout: the reduce iterators of " +
                        in_quotes(plan.block().name()) + " run in another order";
  return {};
}

// A condition that names a reduce iterator does not hold for the init, so it goes on naming one
// where the iterator had one value and became a number.
inline Verdict plan_predicate(BlockLayout& plan) {
  const AnyExpr& predicate = plan.block().predicate;
  if (!predicate) return {};
  AnyExpr zero;
  for (const auto& it : plan.iters)
    if (it.kind == IterKind::reduce && is_const(it.extent, 1))
      zero = fold_sub(AnyExpr(it.var), it.min);
  Substitution values = plan.values;
  for (const auto& it : plan.block().iters) {
    if (it.kind != IterKind::reduce || !uses_var(predicate, it.var)) continue;
    for (auto& [var, value] : values) {
      if (var != it.var || names_reduce(plan.iters, value)) continue;
      if (!zero)
        return block_layout_refusal(
            plan, "would lose iterator " + in_quotes(var->name) + ", which its predicate names",
            "keep it as an iterator of its own");
      value = fold_add(value, zero);
    }
  }
  plan.predicate = substitute(predicate, values);
  return {};
}

// What the spatial iterators are known to be decides parts such as floordiv(a * 4 + b, 4).
inline Stmt simplified_body(const Program& program, const BlockLayout& plan) {
  Facts inside = program_facts(program);
  inside.keep_unit_vars();
  for (const auto& it : plan.iters) {
    const auto* extent = as_const_int(it.extent);
    if (it.kind == IterKind::spatial && extent && *extent > 0) inside.bind(it);
  }
  return simplify(substitute(plan.block().body, plan.values), inside);
}

inline void apply_block_layout(const Program& program, const BlockLayout& plan, Edit& edit) {
  BlockNode block = plan.block();
  block.iters = plan.iters;
  block.body = simplified_body(program, plan);
  block.predicate = plan.predicate;
  Vec<Range> domains = whole_domains(block);
  Vec<ForRef> outside = loops_in(path_to(plan.site.path, plan.at));
  if (!plan.nest.empty()) outside.pop_back();
  Stmt nest = nest_of(std::move(block), domains, loop_names(outside));
  edit.program = program.with(replace_at(path_to(plan.site.path, plan.at), nest));
  edit.reassociates = plan.reassociates;
  for (const auto& loop : plan.nest)
    edit.consumed.push_back(
        {loop->var, "was replaced with the loops of block " + in_quotes(plan.block().name())});
}

inline Verdict run_transform_block_layout(const Program& program, const Args& args, Edit* edit) {
  BlockLayout plan;
  plan.site = find_block(program->body, args[0].block);
  plan.map = args[1].map;
  if (auto no = check_block_map(program, plan)) return no;
  if (auto no = check_block_domain(program, plan)) return no;
  if (auto no = find_nest(plan)) return no;
  Facts facts = facts_on(path_to(plan.site.path, plan.at), program_facts(program));
  if (auto no = check_runs_once(plan, facts)) return no;
  if (auto no = plan_iters(program, plan)) return no;
  if (auto no = plan_predicate(plan)) return no;
  if (auto no = check_instance_order(program, plan, facts)) return no;
  if (edit) apply_block_layout(program, plan, *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_transform_block_layout() {
  static const Primitive record{"transform_block_layout",
                                1,
                                {{"block", ArgKind::block}, {"map", ArgKind::map}},
                                "a block runs over other iterators, in loops of their own",
                                run_transform_block_layout};
  return record;
}

}  // namespace lathe::detail

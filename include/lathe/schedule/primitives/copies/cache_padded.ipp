#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/primitives/copies/cache.ipp>
#include <lathe/schedule/primitives/copies/copies.ipp>
#include <lathe/schedule/primitives/copies/padded_value.ipp>

namespace lathe::detail {

inline constexpr CopyStep kCachePadded{"cache_padded", "L0261"};

/// A block that reads a buffer in padded values alone, and their copy.
struct CachePaddedPlan {
  BlockSite site;
  Buffer from;
  Vec<VarRef> axes;
  Vec<PaddedValue> values;
  Vec<Range> domain;  ///< of the axes

  Refusal no(const std::string& why, std::string help = {}) const {
    return refusal_at(site.block->tag, kCachePadded.id,
                      "block " + in_quotes(site.block->name()) + " " + why, std::move(help));
  }
};

// One function of the axes.
inline Verdict check_padded_values(const Program& program, const CachePaddedPlan& plan) {
  const AnyExpr& value = plan.values[0].over_axes;
  for (const auto& other : plan.values)
    if (!structurally_equal(value, other.over_axes))
      return plan.no("pads " + in_quotes(plan.from->name) + " in two ways: " + str(value) +
                     " and " + str(other.over_axes));
  for (const auto& var : free_vars(value))
    if (!contains(plan.axes, var) && !is_dim(program, var))
      return plan.no("reads " + in_quotes(plan.from->name) + " in " + str(value) +
                     ", which names " + in_quotes(var->name));
  return {};
}

// The places that all instances of the block read, from the first to the last.
inline Verdict plan_padded_domain(const Program& program, CachePaddedPlan& plan) {
  const BlockNode& block = *plan.site.block;
  Facts facts = program_facts(program);
  Vec<VarRef> iters;
  bool empty = false;
  for (const auto& it : block.iters) {
    iters.push_back(it.var);
    empty = empty || is_const(it.extent, 0);
    facts.bind(it);
  }
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < plan.axes.size(); ++d) {
    if (empty) {
      plan.domain.push_back({AnyExpr(0), AnyExpr(0)});
      continue;
    }
    Interval all;
    for (const auto& value : plan.values) {
      const Interval one = bounds(value.index[d], iters, facts);
      if (!one.bounded() || !over_dims(program, one.min) || !over_dims(program, one.max))
        return plan.no("reads " + in_quotes(plan.from->name) + " at " + str(value.index[d]) +
                       ", which has no bounds over the program's Dims");
      all = all.bounded() ? interval_hull(all, one, facts) : one;
    }
    const AnyExpr length = fold_max(fold_add(fold_sub(all.max, all.min), AnyExpr(1)), AnyExpr(0));
    plan.domain.push_back(
        {simplify(all.min, program_facts(program)), simplify(length, program_facts(program))});
    const std::int64_t* extent = as_const_int(plan.domain[d].extent);
    if (extent && __builtin_mul_overflow(elements, std::max<std::int64_t>(1, *extent), &elements))
      return plan.no("would have a copy of more than 2^63 elements");
  }
  return {};
}

inline Verdict plan_cache_padded(const Program& program, CachePaddedPlan& plan) {
  const BlockNode& block = *plan.site.block;
  for (std::size_t d = 0; d < plan.from->shape.size(); ++d)
    plan.axes.push_back(make_var(cache_axis(d)));
  FindPaddedValues find(program, block, plan.from, plan.axes);
  if (block.predicate) find.expr(block.predicate);
  find.stmt(block.body);
  plan.values = find.found;
  if (find.other.get() || plan.values.empty())
    return plan.no("reads " + in_quotes(plan.from->name) + " in " +
                       (find.other.get() ? str(find.other) : std::string("a region")) +
                       ", which its place alone does not determine",
                   "cache_read copies the buffer as it is");
  if (auto no = plan_padded_domain(program, plan)) return no;
  return check_padded_values(program, plan);
}

// copy[axis - min, …] = value
inline BlockNode padded_copy(const CachePaddedPlan& plan, const AnyExpr& value, const Buffer& to,
                             const BlockTag& tag) {
  Substitution bound;
  for (const auto& it : plan.site.block->iters) bound.emplace_back(it.var, it.binding);
  Vec<IterVar> iters;
  Vec<AnyExpr> at;
  for (std::size_t d = 0; d < plan.axes.size(); ++d) {
    iters.push_back({plan.axes[d], plan.domain[d].min, plan.domain[d].extent, IterKind::spatial,
                     substitute(plan.values[0].index[d], bound)});
    at.push_back(simplify(fold_sub(AnyExpr(plan.axes[d]), plan.domain[d].min)));
  }
  return BlockNode(tag, std::move(iters), make_store(to, at, fresh_lets(value)));
}

inline Verdict run_cache_padded(const Program& program, const Args& args, Edit* edit) {
  CachePaddedPlan plan;
  plan.site = find_block(program->body, args[0].block);
  plan.from = find_buffer(program, args[1].text);
  if (auto no = check_cache_read(program, plan.site, plan.from, kCachePadded)) return no;
  if (auto no = plan_cache_padded(program, plan)) return no;
  CopyIn copy(plan.site, {plan.from});
  const std::string name = NamePool(program).fresh(plan.from->name + "_padded");
  Vec<AnyExpr> shape;
  for (const auto& range : plan.domain) shape.push_back(range.extent);
  copy.to = make_buffer(name, plan.values[0].value.dtype(), shape, Scope::global);
  const BlockTag tag = make_ref<BlockTagNode>(name);
  const AnyExpr& value = plan.values[0].over_axes;
  InsideBlock padded(program, *plan.site.block, {value}, [&](const Vec<AnyExpr>& values) {
    return padded_copy(plan, values[0], copy.to, tag);
  });
  if (padded.beyond)
    return plan.no(
        "is not proved to read " + in_quotes(plan.from->name) + " inside of it in " + str(value),
        "pad and clamp keep reads inside by the index alone");
  copy.copy.emplace(std::move(*padded.block));
  // Values at several places have no binding in common.
  Facts facts = facts_on(plan.site.path, program_facts(program));
  if (plan.values.size() > 1 ||
      !ranges_inside(*copy.copy, loops_within(plan.site.loops, copy.outside()),
                     plan.site.path[copy.at], facts, copy.ranges))
    copy.ranges = whole_domains(*copy.copy);
  copy.reader = ReadPaddedCopy(plan.values, copy.to, plan.domain, facts).reader(*plan.site.block);
  return run_copy_in(program, copy, kCachePadded, edit);
}

LATHE_DECL const Primitive& primitive_cache_padded() {
  static const Primitive record{"cache_padded",
                                1,
                                {{"block", ArgKind::block}, {"buffer", ArgKind::buffer}},
                                "a block reads a copy of a buffer with what lies around it",
                                run_cache_padded,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail

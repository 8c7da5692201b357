#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

LATHE_DECL Vec<Range> whole_domains(const BlockNode& block) {
  Vec<Range> out;
  for (const auto& it : block.iters) out.push_back({it.min, it.extent});
  return out;
}

// A constant bound from here on is that of an element type, not of a region.
LATHE_DECL Range shorter(const Range& a, const Range& b, const Facts& facts) {
  const std::int64_t* bound = as_const_int(b.extent);
  if (prove_le(a.extent, b.extent, facts) || (bound && *bound >= kNoBound)) return a;
  // From one place on, the smaller of both is enough. Elsewhere b is a tile, whose constant extent
  // is worth more than being exact where the domain ends.
  if (!same_expr(a.min, b.min) || prove_le(b.extent, a.extent, facts)) return b;
  return {b.min, simplify(make_binary(BinaryOp::min, a.extent, b.extent), facts)};
}

// The extent as a constant if it has a constant upper bound that is not above what it is limited
// by.
LATHE_DECL AnyExpr constant_extent(const AnyExpr& extent, const Facts& facts) {
  AnyExpr simple = simplify(extent, facts);
  if (as_const_int(simple)) return simple;
  ConstInterval bound = const_bounds(simple, facts);
  return bound.has_max() && bound.max >= 0 && bound.max < kNoBound ? AnyExpr(bound.max) : simple;
}

// v with coef*v + rest in [range.min, range.min + range.extent).
inline Range solve_linear(std::int64_t coef, const AnyExpr& rest, const Range& range,
                          const Facts& facts) {
  AnyExpr lo = fold_sub(range.min, rest);
  AnyExpr hi = fold_sub(fold_add(lo, range.extent), AnyExpr(1));
  if (coef < 0) {
    std::swap(lo, hi);
    lo = fold_sub(AnyExpr(0), lo);
    hi = fold_sub(AnyExpr(0), hi);
    coef = -coef;
  }
  AnyExpr c(coef);
  AnyExpr first = fold_floordiv(fold_add(lo, AnyExpr(coef - 1)), c);
  // At most floor((extent - 1) / coef) + 1 multiples lie in extent consecutive numbers.
  AnyExpr count = fold_add(fold_floordiv(fold_sub(range.extent, AnyExpr(1)), c), AnyExpr(1));
  return {simplify(first, facts), simplify(count, facts)};
}

// Iterators that occur together in several indices (v / 32, v % 32): through the inverse of the
// whole map.
inline void solve_by_inverse(const BlockNode& block, const Vec<AnyExpr>& indices,
                             const Region& region, const Facts& facts, Vec<Range>& out) {
  Vec<IterDomain> inputs;
  Vec<std::size_t> which;
  for (std::size_t k = 0; k < block.iters.size(); ++k) {
    const auto& it = block.iters[k];
    bool used = false;
    for (const auto& index : indices) used |= uses_var(index, it.var);
    if (!used) continue;
    inputs.push_back({it.var, it.min, it.extent});
    which.push_back(k);
  }
  IterMap map = iter_map(indices, inputs, {}, facts);
  Facts inside = facts;
  Vec<VarRef> targets;
  Vec<AnyExpr> target_exprs;
  for (const auto& range : region.ranges) {
    targets.push_back(make_var("t"));
    target_exprs.emplace_back(targets.back());
    inside.bind(targets.back(), range.min, range.extent);
  }
  AnyExpr valid;
  Vec<AnyExpr> values = left_inverse(map, target_exprs, valid, facts);
  for (std::size_t k = 0; k < values.size() && k < which.size(); ++k) {
    if (out[which[k]].min) continue;
    Interval interval = bounds(values[k], targets, inside);
    if (!interval.bounded()) continue;
    AnyExpr extent =
        constant_extent(fold_add(fold_sub(interval.max, interval.min), AnyExpr(1)), facts);
    out[which[k]] = {simplify(interval.min, facts), extent};
  }
}

LATHE_DECL Vec<Range> solve_ranges(const BlockNode& block, const Vec<AnyExpr>& indices,
                                   const Region& region, const Facts& facts) {
  Vec<Range> out(block.iters.size());
  Vec<VarRef> vars;
  for (const auto& it : block.iters) vars.push_back(it.var);
  bool all = true;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    std::optional<Affine> affine = affine_of(indices[d], vars, facts);
    std::size_t used = 0, which = 0;
    for (std::size_t k = 0; affine && k < vars.size(); ++k)
      if (!is_const(affine->coefs[k], 0)) ++used, which = k;
    if (affine && used == 0) continue;
    if (used != 1 || !affine->coef(which)) {
      all = false;
      continue;
    }
    Range range = region.ranges[d];
    range.extent = constant_extent(range.extent, facts);
    Range found = solve_linear(*affine->coef(which), affine->rest, range, facts);
    out[which] = out[which].min ? shorter(out[which], found, facts) : found;
  }
  if (!all) solve_by_inverse(block, indices, region, facts, out);
  return out;
}

// Iterators are called v and what their axis is called.
inline std::string loop_base(const std::string& iter) {
  return iter.size() > 1 && iter[0] == 'v' ? iter.substr(1) : iter;
}

LATHE_DECL Stmt nest_of(BlockNode block, const Vec<Range>& ranges, Vec<std::string> used_names) {
  Vec<LoopHead> heads;
  Substitution bound;
  for (std::size_t k = 0; k < block.iters.size(); ++k) {
    IterVar& it = block.iters[k];
    VarRef var = make_var(loop_name(loop_base(it.var->name), used_names));
    heads.push_back({var, AnyExpr(0), substitute(ranges[k].extent, bound)});
    it.binding = fold_add(substitute(ranges[k].min, bound), AnyExpr(var));
    bound.emplace_back(it.var, it.binding);
  }
  return wrap_loops(heads, make_block(std::move(block)));
}

LATHE_DECL void consume_lost_loops(const Stmt& after, const Vec<ForRef>& loops, Edit& edit,
                                   const std::string& what) {
  for (const auto& loop : loops)
    if (!find_loop(after, loop->var).loop) edit.consumed.push_back({loop->var, what});
}

}  // namespace lathe::detail

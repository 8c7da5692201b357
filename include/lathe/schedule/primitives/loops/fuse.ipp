#pragma once

#include <lathe/analysis/instances.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

// Each loop is the only thing inside the one before.
inline Verdict plan_fuse(const Program& program, const Vec<Arg>& loops, Vec<LoopSite>& sites) {
  if (loops.size() < 2) return refusal("L0202", "needs at least two loops");
  for (const auto& arg : loops) {
    sites.push_back(find_loop(program->body, arg.loop));
    const ForNode& loop = *sites.back().loop;
    if (auto no = check_serial_change(loop, Change::replace)) return no;
    if (auto no = check_fixed_bounds(loop)) return no;
    if (sites.size() == 1) continue;
    const ForNode& outer = *sites[sites.size() - 2].loop;
    const ForNode* inside = only_loop_in(outer);
    if (!inside || inside->var != loop.var)
      return refusal_at(
          loop.var, "L0205",
          "loop " + describe(loop) + " is not directly and alone inside loop " + describe(outer),
          inside ? "loop " + describe(*inside) + " is: name it too, or reorder first"
                 : "a loop that holds several statements can't be fused with one of them");
    for (std::size_t k = 0; k + 1 < sites.size(); ++k)
      for (const auto* bound : {&loop.min, &loop.extent})
        if (uses_var(*bound, sites[k].loop->var))
          return refusal_at(loop.var, "L0206",
                            "the bound " + extent_text(*bound) + " of loop " +
                                in_quotes(loop.var->name) + " depends on loop " +
                                in_quotes(sites[k].loop->var->name));
  }
  std::int64_t product = 1;
  for (const auto& site : sites)
    if (const std::int64_t* extent = as_const_int(site.loop->extent))
      if (__builtin_mul_overflow(product, *extent, &product) || product > INT64_MAX / 4)
        return refusal_at(site.loop->var, "L0202", "the fused extent is beyond 2^61");
  return {};
}

// Whether conditions, lets or blocks stand around a block, from a position of its path on.
inline bool stands_under_terms(const BlockSite& site, std::size_t from) {
  for (std::size_t k = from; k + 1 < site.path.size(); ++k)
    if (site.path[k].kind() != StmtKind::For && site.path[k].kind() != StmtKind::Seq &&
        site.path[k].kind() != StmtKind::Alloc)
      return true;
  return false;
}

// A fold without updates still stores its identity at every spatial point that its loops reach, so
// a loop in it that may be empty must not swallow the loops of these points.
inline Verdict check_fused_reduction(const Program& program, const Vec<LoopSite>& sites) {
  Facts facts = facts_on(sites[0].path, program_facts(program));
  const std::size_t outermost = sites[0].loops.size();
  for (const auto& below : blocks_below(sites.back().loop->body)) {
    const BlockNode& block = *below.block;
    if (!block.init) continue;
    const std::size_t first =
        Instances(find_block(program->body, block.tag), program_facts(program)).first();
    const ForNode *spatial = nullptr, *empty = nullptr;
    for (std::size_t k = 0; k < sites.size(); ++k) {
      const ForNode& loop = *sites[k].loop;
      if (feeds(loop, block, IterKind::spatial))
        spatial = &loop;
      else if (outermost + k >= first && !prove_lt(AnyExpr(0), loop.extent, facts))
        empty = &loop;
    }
    const BlockSite site = find_block(program->body, block.tag);
    const ForNode* other = nullptr;
    for (const auto& s : sites)
      if (!feeds(*s.loop, block, IterKind::spatial)) other = s.loop.get();
    if (spatial && other && stands_under_terms(site, sites.back().path.size()))
      return refusal_at(block.tag, "L0229",
                        "block " + in_quotes(block.name()) +
                            " stands under a condition or a let, which its init obeys only where "
                            "it names no loop but those of its points, and loop " +
                            describe(*other) + " is none of them",
                        "decompose the reduction first, or put the condition into the block");
    if (spatial && empty)
      return refusal_at(empty->var, "L0229",
                        "loop " + describe(*empty) + " of the reduction of " +
                            in_quotes(block.name()) + " may be empty, and loop " +
                            describe(*spatial) + " is spatial",
                        "decompose the reduction first, or fuse spatial loops only");
  }
  return {};
}

// The loops that an init moves past. One that stood among the loops will stand before the fused
// loop, and so before the loops that were outside of the reduction; but if those of them that feed
// the reduction make one iteration each, the fused loop does not feed it, and the init will stand
// further in.
inline Vec<VarRef> loops_past_init(const Vec<LoopSite>& sites, const BlockSite& site,
                                   std::size_t first) {
  const std::size_t outermost = sites[0].loops.size(), end = outermost + sites.size();
  const auto feeds_reduction = [&](std::size_t k) {
    return feeds(*site.loops[k], *site.block, IterKind::reduce);
  };
  bool fed = false;
  for (std::size_t k = outermost; k < end; ++k)
    fed = fed || (feeds_reduction(k) && (k == outermost || !is_const(site.loops[k]->extent, 1)));
  std::size_t from = outermost, to = first;
  if (!fed) {
    from = first, to = end;
    while (to < site.loops.size() && !feeds_reduction(to)) ++to;
  }
  Vec<VarRef> passed;
  for (std::size_t k = from; k < to; ++k) passed.push_back(site.loops[k]->var);
  return passed;
}

inline Verdict check_fused_inits(const Program& program, const Vec<LoopSite>& sites) {
  const std::size_t outermost = sites[0].loops.size();
  for (const auto& below : blocks_below(sites.back().loop->body)) {
    if (!below.block->init) continue;
    const BlockSite site = find_block(program->body, below.block->tag);
    const std::size_t first = Instances(site, program_facts(program)).first();
    if (first < outermost || first >= outermost + sites.size()) continue;
    const Vec<VarRef> passed = loops_past_init(sites, site, first);
    if (auto no = check_moved_init(program, site, outermost, passed, "L0229")) return no;
  }
  return {};
}

// The product of the extents, where two loops that end before they begin make no iterations.
inline AnyExpr fused_extent(const Vec<LoopSite>& sites, const Facts& around) {
  AnyExpr out(1);
  bool negative = false;
  for (const auto& site : sites) {
    const AnyExpr& extent = site.loop->extent;
    const bool may = !prove_le(AnyExpr(0), extent, around);
    out = fold_mul(out, may && negative ? fold_max(extent, AnyExpr(0)) : extent);
    negative = negative || may;
  }
  return simplify(out, around);
}

inline void apply_fuse(const Program& program, const Vec<LoopSite>& sites, Edit& edit) {
  std::string name;
  for (const auto& site : sites) name += (name.empty() ? "" : "_") + site.loop->var->name;
  Vec<std::string> used;
  for (const auto& loop : sites[0].loops) used.push_back(loop->var->name);
  VarRef fused = make_var(loop_name(name, used));
  Substitution map;
  AnyExpr rest = fused;
  for (std::size_t k = sites.size(); k-- > 0;) {
    const ForNode& loop = *sites[k].loop;
    AnyExpr value = k == 0 ? rest : fold_floormod(rest, loop.extent);
    map.emplace_back(loop.var, fold_add(loop.min, value));
    rest = fold_floordiv(rest, loop.extent);
    edit.consumed.push_back({loop.var, "was fused into " + fused->name});
  }
  const Facts around = facts_on(sites[0].path, program_facts(program));
  Stmt nest = make_for(fused, AnyExpr(0), fused_extent(sites, around),
                       substitute(sites.back().loop->body, map));
  edit.program = program.with(replace_at(sites[0].path, nest));
  edit.results.push_back(LoopRef(fused));
}

inline Verdict run_fuse(const Program& program, const Args& args, Edit* edit) {
  Vec<LoopSite> sites;
  if (auto no = plan_fuse(program, args[0].list, sites)) return no;
  if (auto no = check_fused_reduction(program, sites)) return no;
  if (auto no = check_fused_inits(program, sites)) return no;
  if (edit) apply_fuse(program, sites, *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_fuse() {
  static const Primitive record{"fuse",
                                1,
                                {{"loops", ArgKind::list, {}, ArgKind::loop}},
                                "loops nested directly in each other become one",
                                run_fuse,
                                ArgKind::loop,
                                Results::one};
  return record;
}

}  // namespace lathe::detail

// Which iterators of a block are padded, and whether they may be.
#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/schedule/primitives/copies/reindex.ipp>

namespace lathe::detail {

inline constexpr CopyStep kPad{"pad", "L0252"};
inline constexpr std::int64_t kMaxMultiple = 1 << 20;

/// An iterator whose extent is rounded up.
struct PaddedIter {
  std::size_t at = 0;  ///< its position
  VarRef var, loop;
  AnyExpr end, extent;  ///< the old end, the new extent
  IterKind kind = IterKind::spatial;
};

struct PadPlan {
  BlockTag tag;
  Vec<PaddedIter> padded;
  Program program;  ///< as far as it is rewritten
  Args copies;

  const PaddedIter* find(std::size_t iter) const {
    for (const auto& p : padded)
      if (p.at == iter) return &p;
    return nullptr;
  }
  bool any(IterKind kind) const {
    for (const auto& p : padded)
      if (p.kind == kind) return true;
    return false;
  }
  Refusal no(const std::string& why, std::string help = {}) const {
    return refusal_at(tag, kPad.id, "block " + in_quotes(tag->name) + " " + why, std::move(help));
  }
};

inline Verdict check_padded_block(const Program& program, const BlockSite& site,
                                  const PadPlan& plan) {
  const BlockNode& block = *site.block;
  if (!is_open_path(site.path)) return plan.no("stands under a condition or inside another block");
  BlockInfo info = info_of(program, block.tag);
  if (!info.is_complete() && !info.is_reduction())
    return plan.no("can't be padded: " +
                   (info.why.empty() ? std::string(to_text(info.kind)) : info.why));
  if (!only_store(block)) return plan.no("is not one store");
  if (block.reducer && !block.init)
    return plan.no("was separated from its init", "decompose the reduction after it is padded");
  if (block.predicate) return plan.no("has a predicate");
  if (guard_count(block) > 0 || ragged(block))
    return plan.no("has a domain that depends on another of its iterators, or on loops");
  return {};
}

// The loop that an iterator is, but for a constant; it runs over the whole domain, holds this block
// alone and feeds nothing else.
inline const ForNode* loop_of_iter(const Program& program, const BlockSite& site, std::size_t at) {
  const IterVar& it = site.block->iters[at];
  const Facts facts = program_facts(program);
  for (std::size_t k = own_nest(site.path); k + 1 < site.path.size(); ++k) {
    const ForNode& loop = *site.path[k].as<ForNode>();
    if (!uses_var(it.binding, loop.var)) continue;
    AnyExpr shift = simplify(fold_sub(it.binding, AnyExpr(loop.var)), facts);
    bool alone = over_dims(program, shift) && prove_eq(loop.extent, it.extent, facts) &&
                 prove_eq(fold_add(loop.min, shift), it.min, facts);
    for (std::size_t other = 0; other < site.block->iters.size(); ++other)
      alone = alone && (other == at || !uses_var(site.block->iters[other].binding, loop.var));
    for (const auto& other : site.loops)
      alone = alone && !uses_var(other->min, loop.var) && !uses_var(other->extent, loop.var);
    return alone ? &loop : nullptr;
  }
  return nullptr;
}

inline Verdict plan_padded_iter(const Program& program, const BlockSite& site, std::size_t at,
                                std::int64_t multiple, PadPlan& plan) {
  const IterVar& it = site.block->iters[at];
  const std::string name = "iterator " + in_quotes(it.var->name);
  const Facts facts = program_facts(program);
  if (multiple < 1 || multiple > kMaxMultiple)
    return plan.no("can't have the extent of its " + name + " rounded up to a multiple of " +
                       std::to_string(multiple),
                   "multiples are 1 to " + std::to_string(kMaxMultiple));
  if (prove_divides(AnyExpr(multiple), it.extent, facts)) return {};
  const std::int64_t* extent = as_const_int(it.extent);
  if (!over_dims(program, it.min) || !over_dims(program, it.extent) ||
      (extent && *extent >= kNoBound))
    return plan.no("has an " + name + " whose domain is not over Dims, or too large");
  const ForNode* loop = loop_of_iter(program, site, at);
  if (!loop)
    return plan.no("has an " + name + " that is no loop of its own over all of its domain",
                   "pad a block before its loops are split, fused or moved");
  if (auto no = check_serial_change(*loop, Change::replace)) return no;
  AnyExpr m(multiple), count = fold_floordiv(fold_add(it.extent, AnyExpr(multiple - 1)), m);
  plan.padded.push_back({at, it.var, loop->var, simplify(fold_add(it.min, it.extent), facts),
                         simplify(fold_mul(count, m), facts), it.kind});
  return {};
}

inline Verdict plan_pad(const Program& program, const BlockSite& site, const Vec<Arg>& multiples,
                        PadPlan& plan) {
  if (auto no = check_padded_block(program, site, plan)) return no;
  const auto& iters = site.block->iters;
  if (multiples.size() != iters.size())
    return plan.no("takes " + std::to_string(iters.size()) + " multiples, not " +
                       std::to_string(multiples.size()),
                   "one for each of its iterators: " +
                       join(iters, ", ", [](const IterVar& it) { return it.var->name; }));
  for (std::size_t k = 0; k < iters.size(); ++k)
    if (auto no = plan_padded_iter(program, site, k, multiples[k].number, plan)) return no;
  return {};
}

}  // namespace lathe::detail

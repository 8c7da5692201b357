#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

// Each reduce iterator is a loop, and they come in one order: nearly all folds.
inline bool folds_as_written(const BlockSite& site) {
  std::size_t next = 0;
  for (const auto& it : site.block->iters) {
    if (it.kind != IterKind::reduce) continue;
    while (next < site.loops.size() && site.loops[next]->var.get() != it.binding.get()) ++next;
    if (next++ == site.loops.size()) return false;
  }
  return true;
}

// Whether the loops of a reduction run its points in the order in which loops over its reduce
// iterators would, one for each: proven. In that order the position of a point among all is a sum
// that grows with each loop by more than the loops inside of it make up.
inline bool folds_in_order(const BlockSite& site, const Facts& around) {
  AnyExpr position(0);
  Vec<VarRef> loops;
  Vec<AnyExpr> extents;
  Facts facts = around;
  for (const auto& f : site.loops) {
    facts.bind(*f);
    if (!feeds(*f, *site.block, IterKind::reduce)) continue;
    loops.push_back(f->var);
    extents.push_back(f->extent);
  }
  const std::size_t own = site.block->iters.size() - guard_count(*site.block);
  for (std::size_t k = 0; k < own; ++k) {
    const IterVar& it = site.block->iters[k];
    if (it.kind != IterKind::reduce) continue;
    position = fold_add(fold_mul(position, it.extent), fold_sub(it.binding, it.min));
  }
  facts.keep_unit_vars();
  const auto sum = affine_of(simplify(position, facts), loops, facts);
  AnyExpr inside(1);  // how far the loops inside go
  for (std::size_t k = loops.size(); sum && k-- > 0;) {
    if (is_const(extents[k], 1)) continue;
    if (!prove_le(inside, sum->coefs[k], facts)) return false;
    inside = simplify(fold_mul(sum->coefs[k], extents[k]), facts);
  }
  return sum.has_value();
}

/// Loops made anew run the points of a reduction in the order of its iterators. `id` where that is
/// another order and the reducer keeps it; `changed` says that floats may round otherwise.
inline Verdict check_fold_order(const Program& program, const BlockSite& site, std::string_view id,
                                std::string& changed) {
  const BlockNode& block = *site.block;
  if (!block.reducer) return {};
  const ReducerInfo laws = classify(*block.reducer);
  const bool any_order = laws.kind == ReducerClass::reorder;
  if ((any_order && !laws.reassociates) || folds_as_written(site) ||
      folds_in_order(site, program_facts(program)))
    return {};
  const std::string text =
      "the reduce loops of " + in_quotes(block.name()) + " run in another order";
  if (any_order) return changed = text, std::nullopt;
  return refusal_at(block.tag, id, text + ", which its reducer does not allow");
}

}  // namespace lathe::detail

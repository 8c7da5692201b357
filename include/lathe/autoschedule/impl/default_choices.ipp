#pragma once

#include <algorithm>
#include <lathe/analysis/find.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/schedule/core/records.hpp>

namespace lathe {
namespace detail {

// Choices that all instances decide alike are resolved, so that what is computed is seen as it is.
// Reductions that choose between a term and what changes nothing leave these terms out, unless
// lanes of one vector would choose apart; those over triangles run through a box, and leave out the
// other half.
class ResolveChoices : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run(const BlockRef& ref) {
    if (!site(ref).block || !site(ref).block->reducer) return;
    if (fills_box(*site(ref).block) && !s_.check(primitive_box_domain(), {ref})) s_.box_domain(ref);
    if (!s_.check(primitive_resolve_selects(), {ref})) s_.resolve_selects(ref);
    const BlockSite at = site(ref);
    const StoreNode* store = only_store(*at.block);
    const auto* choice = store ? store->value.as<SelectNode>() : nullptr;
    if (!choice || lanes_choose(*at.block, *store, choice->condition)) return;
    if (!s_.check(primitive_select_to_predicate(), {ref})) s_.select_to_predicate(ref);
  }

 private:
  // Whether the terms of one place at least are all of the box: not so of bands and segments, whose
  // box is much larger than they are.
  bool fills_box(const BlockNode& block) const {
    Facts domain = program_facts(s_.program());
    Vec<VarRef> vars;
    for (const auto& it : block.iters) domain.bind(it), vars.push_back(it.var);
    for (const auto& it : block.iters) {
      if (it.kind != IterKind::reduce) continue;
      if (!is_load_free(it.min) || !is_load_free(it.extent)) return false;
      const AnyExpr most = bounds(it.extent, vars, domain).max,
                    first = bounds(it.min, vars, domain).min,
                    last = bounds(it.min + it.extent, vars, domain).max;
      if (!most || !first || !last || !prove_le(last - first, most, domain)) return false;
    }
    return true;
  }

  // Whether a condition names what lanes lie along: the last index, if something is read along it.
  static bool lanes_choose(const BlockNode& block, const StoreNode& store,
                           const AnyExpr& condition) {
    if (store.indices.empty()) return false;
    const Vec<AccessSite> reads = reads_of(block);
    for (const auto& var : free_vars(store.indices.back()))
      if (uses_var(condition, var) &&
          std::any_of(reads.begin(), reads.end(), [&](const AccessSite& read) {
            return read.buffer != store.buffer && step_of(read.indices, var) == Step::unit;
          }))
        return true;
    return false;
  }
};

}  // namespace detail
}  // namespace lathe

// The tile of a nest that an intrinsic takes the place of: its loops, its block, what they touch.
#pragma once

#include <lathe/analysis/region.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/schedule/primitives/tensor/tensor_match.ipp>

namespace lathe::detail {

/// What an operand of a block does while the loops of a tile run.
struct TileAccess {
  Buffer buffer;
  Vec<AnyExpr> indices;          ///< over the block's iterators; of the tile's first point
  Vec<Vec<std::int64_t>> steps;  ///< by dimension and loop of the tile
  std::size_t operand = 0;
};

struct TensorPlan {
  LoopSite site;      ///< of the outermost loop of the tile
  Vec<ForRef> chain;  ///< the tile's loops, outermost first
  Vec<ForRef> loops;  ///< those of more than one iteration
  BlockSite block;
  Intrinsic intrinsic;
  Facts facts;
  Substitution bindings;     ///< of the iterators, loops of one iteration at their start
  Vec<TileAccess> accesses;  ///< in the order of the match
  Vec<std::int64_t> spans;   ///< by iterator: from a tile's first value to its last
  Vec<std::size_t> loop_of;  ///< by loop of the description; none for those of one iteration
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

inline constexpr std::int64_t kMostTile = 4096;  // iterations of a loop, points of an output

inline Refusal tensor_refusal(const TensorPlan& plan, std::string why, std::string help = {}) {
  return refusal_at(plan.block.block->tag, "L0235",
                    in_quotes(plan.intrinsic.name) + " does not do what block " +
                        in_quotes(plan.block.block->name()) + " does: " + std::move(why),
                    std::move(help));
}

// The loops from the named one inward, each alone in the one around it, and the block in them.
inline Verdict find_tile(const Program& program, const VarRef& loop, TensorPlan& plan) {
  plan.site = find_loop(program->body, loop);
  Stmt s = plan.site.path.back();
  for (const auto* f = s.as<ForNode>(); f; f = s.as<ForNode>()) {
    if (auto no = check_serial_change(*f, Change::replace)) return no;
    const std::int64_t* extent = as_const_int(f->extent);
    if (!extent || *extent < 1 || *extent > kMostTile)
      return refusal_at(
          f->var, "L0235",
          "loop " + describe(*f) + " has no constant extent from 1 to " + std::to_string(kMostTile),
          "split it by what the intrinsic takes");
    plan.chain.emplace_back(f);
    if (!is_const(f->extent, 1)) plan.loops.emplace_back(f);
    s = f->body;
  }
  const auto* block = s.as<BlockNode>();
  if (!block)
    return refusal_at(loop, "L0235",
                      "loop " + describe(*plan.site.loop) + " does not hold one block alone",
                      "an intrinsic takes the place of one block's innermost loops");
  plan.block = find_block(program->body, block->tag);
  plan.facts = facts_on(plan.block.path, program_facts(program));
  return {};
}

inline Verdict check_tile_block(const TensorPlan& plan) {
  const BlockNode& block = *plan.block.block;
  if (block.init)
    return tensor_refusal(plan, "it sets its identity itself", "decompose_reduction it first");
  if (block.predicate.get() || guard_count(block) > 0)
    return tensor_refusal(plan, "it does not run for all points of the loops",
                          "split so that nothing has to be guarded");
  if (!only_store(block) || only_store(block)->mask.get() || !block.reads.empty() ||
      !block.writes.empty())
    return tensor_refusal(plan, "it is not one plain store");
  for (const auto& f : plan.chain)
    for (const auto& inside : plan.chain)
      if (uses_var(inside->min, f->var))
        return tensor_refusal(plan, "loop " + in_quotes(inside->var->name) + " starts where loop " +
                                        in_quotes(f->var->name) + " says");
  return {};
}

// coefficients of the tile's loops; none unless they are numbers from 0 on
inline std::optional<Vec<std::int64_t>> tile_steps(const TensorPlan& plan, const AnyExpr& e) {
  Vec<VarRef> vars;
  for (const auto& f : plan.loops) vars.push_back(f->var);
  std::optional<Affine> affine = affine_of(e, vars, plan.facts);
  Vec<std::int64_t> out;
  for (std::size_t k = 0; affine && k < vars.size(); ++k) {
    std::optional<std::int64_t> step = affine->coef(k);
    if (!step || *step < 0 || *step > kMostOffset) return {};
    out.push_back(*step);
  }
  return affine ? std::optional(std::move(out)) : std::nullopt;
}

// A tile lies in the domain as a whole, at whatever place its first point has there.
inline Verdict plan_iterators(TensorPlan& plan) {
  Substitution units;
  for (const auto& f : plan.chain)
    if (is_const(f->extent, 1)) units.emplace_back(f->var, f->min);
  for (const auto& it : plan.block.block->iters)
    plan.bindings.emplace_back(it.var, substitute(it.binding, units));
  for (std::size_t k = 0; k < plan.bindings.size(); ++k) {
    const IterVar& it = plan.block.block->iters[k];
    const AnyExpr& at = plan.bindings[k].second;
    auto steps = tile_steps(plan, at);
    if (!steps)
      return tensor_refusal(plan, "iterator " + in_quotes(it.var->name) + " = " + str(it.binding) +
                                      " is not linear in the loops");
    std::int64_t span = 0;
    for (std::size_t l = 0; l < steps->size(); ++l)
      span += (*steps)[l] * (*as_const_int(plan.loops[l]->extent) - 1);
    plan.spans.push_back(span);
    if (span == 0) continue;
    if (!prove_le(it.min, at, plan.facts) || !prove_lt(at, fold_add(it.min, it.extent), plan.facts))
      return tensor_refusal(plan,
                            "iterator " + in_quotes(it.var->name) + " = " + str(it.binding) +
                                " may leave its domain inside of a tile",
                            "split by a divisor, or take the full tiles apart with "
                            "loop_partition");
  }
  return {};
}

inline Verdict plan_accesses(TensorPlan& plan, bool turned) {
  TensorMatch match(plan.intrinsic, *plan.block.block, turned);
  match.run(*only_store(*plan.block.block));
  if (!match.difference.empty()) return tensor_refusal(plan, match.difference);
  for (const auto& b : match.bound) {
    TileAccess access{b.buffer, b.indices, {}, b.operand};
    for (const auto& index : b.indices) {
      auto steps = tile_steps(plan, substitute(index, plan.bindings));
      if (!steps || !is_load_free(index))
        return tensor_refusal(plan, "index " + str(index) + " of " + in_quotes(b.buffer->name) +
                                        " is not linear in the loops");
      access.steps.push_back(std::move(*steps));
    }
    plan.accesses.push_back(std::move(access));
  }
  return {};
}

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/blocks/pad.ipp>

namespace lathe::detail {

/// A block that combines select(condition, term, identity).
struct SelectedTerms {
  BlockSite site;
  AnyExpr term;
  Vec<AnyExpr> leaves_out;  ///< what becomes the block's predicate
  Vec<AnyExpr> selects;     ///< what stays a choice: conditions that load, or that an init shares

  Refusal no(const std::string& why, std::string help = {}) const {
    return refusal_at(site.block->tag, "L0262",
                      "block " + in_quotes(site.block->name()) + " " + why, std::move(help));
  }
};

// Adding the other arm changes no sum: not those of floats that begin at +0, which are never -0.
inline bool is_neutral(const BlockNode& block, const BlockInfo& info, const AnyExpr& arm) {
  const AnyExpr& identity = block.reducer->identity[0];
  if (block.init && is_plain_sum(block, info)) {
    const auto* c = arm.as<ConstNode>();
    return c && c->f == 0;
  }
  return info.reducer.identity_exact && structurally_equal(arm, identity);
}

// |x| < c as x < c and -x < c: a band, each side of which is linear.
inline Vec<AnyExpr> sides_of_band(const AnyExpr& condition) {
  const auto* n = condition.as<BinaryNode>();
  const auto* size = n ? n->a.as<CallNode>() : nullptr;
  if (!size || size->op != CallOp::abs || n->a.dtype() != kIndex ||
      (n->op != BinaryOp::lt && n->op != BinaryOp::le))
    return {condition};
  const AnyExpr& x = size->args[0];
  return {simplify(make_binary(n->op, x, n->b)),
          simplify(make_binary(n->op, AnyExpr(0) - x, n->b))};
}

inline void sort_conditions(const Program& program, const AnyExpr& condition, SelectedTerms& plan) {
  const BlockNode& block = *plan.site.block;
  Facts facts = program_facts(program);
  for (const auto& it : block.iters) facts.bind(it);
  for (const auto& whole : conjuncts(condition))
    for (const auto& part : sides_of_band(whole)) {
      if (prove(part, facts)) continue;
      const bool moves = is_load_free(part) && names_reduce(block.iters, part);
      (moves ? plan.leaves_out : plan.selects).push_back(part);
    }
}

inline Verdict plan_selected_terms(const Program& program, SelectedTerms& plan) {
  const BlockNode& block = *plan.site.block;
  const StoreNode* store = only_store(block);
  if (!block.reducer || block.reducer->identity.size() != 1 || !store || store->mask.get())
    return plan.no("is not a reduction of one value");
  const BlockInfo info = info_of(program, block.tag);
  const auto* choice = store->value.as<SelectNode>();
  if (!choice) return plan.no("combines no choice, but " + str(store->value));
  const bool yes = is_neutral(block, info, choice->no);
  if (!yes && !is_neutral(block, info, choice->yes))
    return plan.no(
        "chooses between two values, none of which is neutral to " + in_quotes(block.reducer->name),
        "the identity of " + in_quotes(block.reducer->name) + " is " +
            str(block.reducer->identity[0]));
  plan.term = yes ? choice->yes : choice->no;
  sort_conditions(program, yes ? choice->condition : simplify(logical_not(choice->condition)),
                  plan);
  if (plan.leaves_out.empty())
    return plan.no("has no condition that names a reduce iterator and reads no memory: " +
                   str(choice->condition));
  return {};
}

inline Verdict run_select_to_predicate(const Program& program, const Args& args, Edit* edit) {
  SelectedTerms plan;
  plan.site = find_block(program->body, args[0].block);
  if (auto no = plan_selected_terms(program, plan)) return no;
  if (!edit) return {};
  BlockNode block = *plan.site.block;
  const StoreNode& store = *only_store(block);
  AnyExpr value = plan.term;
  if (!plan.selects.empty()) {
    AnyExpr condition;
    for (const auto& part : plan.selects)
      condition = condition.get() ? fold_and(condition, part) : part;
    value = make_select(condition, value, block.reducer->identity[0]);
  }
  block.body = make_store(store.buffer, store.indices, value);
  for (const auto& part : plan.leaves_out)
    block.predicate = block.predicate ? fold_and(block.predicate, part) : part;
  edit->program = program.with(replace_at(plan.site.path, make_block(std::move(block))));
  return {};
}

LATHE_DECL const Primitive& primitive_select_to_predicate() {
  static const Primitive record{"select_to_predicate",
                                1,
                                {{"block", ArgKind::block}},
                                "a reduction leaves out the terms that a choice makes neutral",
                                run_select_to_predicate};
  return record;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/schedule/primitives/copies/clone.ipp>
#include <lathe/schedule/primitives/placement/regions.ipp>

namespace lathe::detail {

/// A block that stores a constant outside of a box, and what it stores inside.
struct PaddingPlan {
  BlockSite site;
  LoopSite loop;
  AnyExpr inside, outside;
  Vec<Range> box;   ///< of its iterators, guards apart
  std::string why;  ///< a condition that is no box

  const BlockNode& block() const { return *site.block; }
  Refusal no(const std::string& what, std::string help = {}) const {
    return refusal_at(block().tag, "L0251", "block " + in_quotes(block().name()) + " " + what,
                      std::move(help));
  }
};

/// Which box of a block's domain a condition leaves: comparisons of one iterator each, all to hold.
class BoxOfCondition {
 public:
  BoxOfCondition(const Program& program, const BlockNode& core, Vec<Range> within)
      : program_(program), facts_(program_facts(program)), box_(std::move(within)) {
    for (const auto& it : core.iters) vars_.push_back(it.var);
  }
  const Vec<Range>& box() const { return box_; }

  /// False where the condition, or its opposite, is none; then the box is of no use.
  bool narrow(const AnyExpr& condition, bool opposite) {
    if (const auto* n = condition.as<UnaryNode>())
      return n->op == UnaryOp::not_ && narrow(n->a, !opposite);
    const auto* n = condition.as<BinaryNode>();
    if (!n) return false;
    if (is_logic(n->op))
      return (n->op == BinaryOp::and_) != opposite && narrow(n->a, opposite) &&
             narrow(n->b, opposite);
    if (!is_comparison(n->op) || n->a.dtype() != kI64) return false;
    return compared(n->op, n->a, n->b, opposite);
  }

 private:
  bool compared(BinaryOp op, const AnyExpr& a, const AnyExpr& b, bool opposite) {
    switch (op) {
      case BinaryOp::lt:
        return opposite ? at_least(a, b, 0) : at_least(b, a, 1);
      case BinaryOp::le:
        return opposite ? at_least(a, b, 1) : at_least(b, a, 0);
      case BinaryOp::gt:
        return opposite ? at_least(b, a, 0) : at_least(a, b, 1);
      case BinaryOp::ge:
        return opposite ? at_least(b, a, 1) : at_least(a, b, 0);
      case BinaryOp::eq:
        return !opposite && at_least(a, b, 0) && at_least(b, a, 0);
      case BinaryOp::ne:
        return opposite && at_least(a, b, 0) && at_least(b, a, 0);
      default:
        return false;
    }
  }

  /// more >= less + by
  bool at_least(const AnyExpr& more, const AnyExpr& less, std::int64_t by) {
    AnyExpr difference = fold_sub(fold_sub(more, less), AnyExpr(by));
    if (!Simplifier(facts_).safe(difference)) return false;  // a side may wrap, its order change
    auto affine = affine_of(difference, vars_, facts_);
    if (!affine || !over_dims(program_, affine->rest)) return false;
    std::size_t at = vars_.size();
    for (std::size_t k = 0; k < vars_.size(); ++k) {
      if (lathe::is_const(affine->coefs[k], 0)) continue;
      if (at != vars_.size() || !affine->coef(k)) return false;
      at = k;
    }
    if (at == vars_.size()) return prove_le(AnyExpr(0), affine->rest, facts_);
    const std::int64_t coef = *affine->coef(at);
    if (coef == INT64_MIN) return false;
    Range& range = box_[at];
    AnyExpr end = fold_add(range.min, range.extent);
    if (coef > 0)
      range.min = fold_max(range.min,
                           fold_floordiv(fold_sub(AnyExpr(coef - 1), affine->rest), AnyExpr(coef)));
    else
      end = fold_min(end, fold_add(fold_floordiv(affine->rest, AnyExpr(-coef)), AnyExpr(1)));
    range.min = simplify(range.min, facts_);
    range.extent = simplify(fold_max(fold_sub(end, range.min), AnyExpr(0)), facts_);
    return true;
  }

  const Program& program_;
  Facts facts_;
  Vec<VarRef> vars_;
  Vec<Range> box_;
};

// The same for all instances of the block.
inline bool is_fill_value(const BlockNode& block, const AnyExpr& e) {
  if (!is_load_free(e)) return false;
  for (const auto& var : free_vars(e))
    for (const auto& it : block.iters)
      if (it.var == var) return false;
  return true;
}

// Takes one select off what is stored inside, if its condition is a box.
inline bool take_select(const Program& program, const BlockNode& core, PaddingPlan& plan) {
  const auto* select = plan.inside.as<SelectNode>();
  if (!select) return false;
  for (bool opposite : {false, true}) {
    const AnyExpr &in = opposite ? select->no : select->yes,
                  &out = opposite ? select->yes : select->no;
    if (!is_fill_value(core, out)) continue;
    if (plan.outside.get() && !structurally_equal(plan.outside, out)) continue;
    BoxOfCondition box(program, core, plan.box);
    if (!box.narrow(select->condition, opposite)) {
      plan.why = str(select->condition);
      continue;
    }
    plan.box = box.box(), plan.outside = out, plan.inside = in;
    return true;
  }
  return false;
}

inline Verdict check_padding(const Program& program, PaddingPlan& plan) {
  const BlockNode& block = plan.block();
  const std::string name = "block " + in_quotes(block.name());
  const StoreNode* store = only_store(block);
  if (!is_open_path(plan.site.path))
    return plan.no("stands under a condition or inside another block");
  BlockInfo info = info_of(program, block.tag);
  if (!info.is_complete() || !store || store->mask.get())
    return plan.no("is not a complete block of one store" +
                   (info.why.empty() ? std::string() : ": " + info.why));
  if (block.predicate) return plan.no("has a predicate, outside which it stores nothing");
  if (ragged(block)) return plan.no("has a domain that depends on another of its iterators");
  const BlockNode core = without_guards(block);
  plan.box = whole_domains(core);
  plan.inside = store->value;
  while (take_select(program, core, plan)) {
  }
  if (plan.outside) return {};
  if (plan.why.empty())
    return plan.no("does not store select(condition, value, constant)",
                   "it stores " + str(store->value));
  return plan.no("stores a constant where " + plan.why +
                     " decides, which is not proven to be a box of its iterators",
                 "a box compares one iterator at a time with numbers and Dims");
}

// The fill runs all the loops from this one inward before any instance does.
inline Verdict check_fill_place(const Program& program, const PaddingPlan& plan) {
  const BlockNode& block = plan.block();
  const ForNode& loop = *plan.loop.loop;
  if (!below(plan.site.loops, loop.var))
    return refusal_at(loop.var, "L0251",
                      "loop " + describe(loop) + " is not above block " + in_quotes(block.name()),
                      describe_loops(program, block.tag));
  const Buffer& out = only_store(block)->buffer;
  Verdict no;
  any_use(plan.loop.path.back(), [&](const BufferUse& use) {
    if (use.buffer != out || (use.block && use.block->tag == block.tag && use.is_write))
      return false;
    no = refusal_at(
        loop.var, "L0251",
        "inside loop " + describe(loop) + " also " +
            (use.block ? "block " + in_quotes(use.block->name()) : std::string("a statement")) +
            " touches " + in_quotes(out->name),
        "take a loop inside which only block " + in_quotes(block.name()) + " does");
    return true;
  });
  if (no) return no;
  LoadedBuffers loads;
  for (const auto& it : block.iters)
    loads.expr(it.binding), loads.expr(it.min), loads.expr(it.extent);
  for (std::size_t k = plan.loop.loops.size(); k < plan.site.loops.size(); ++k)
    loads.expr(plan.site.loops[k]->min), loads.expr(plan.site.loops[k]->extent);
  for (const auto& written : buffers_written(plan.loop.path.back()))
    if (contains(loads.found, written))
      return refusal_at(loop.var, "L0251",
                        "a bound inside loop " + describe(loop) + " is read from " +
                            in_quotes(written->name) + ", which is written there");
  return {};
}

// The block's instances from the loop inward, storing the constant.
inline Stmt fill_nest(const PaddingPlan& plan, const BlockTag& tag) {
  Substitution map;
  Vec<LoopHead> heads =
      fresh_loops(loops_within(plan.site.loops, plan.loop.loops), Change::refill, map);
  BlockNode fill = plan.block();
  fill.tag = tag;
  fill.attributes = after(Change::refill, fill.attributes);
  for (auto& it : fill.iters) {
    VarRef var = make_var(it.var->name, it.var->dtype);
    it.binding = substitute(it.binding, map);
    map.emplace_back(it.var, AnyExpr(var));
    it.var = var;
  }
  const StoreNode& store = *only_store(plan.block());
  Vec<AnyExpr> at;
  for (const auto& index : store.indices) at.push_back(fresh_lets(substitute(index, map)));
  fill.body = make_store(store.buffer, at, fresh_lets(plan.outside));
  return wrap_loops(heads, make_block(std::move(fill)));
}

// The loop over no more than the box, where it is an iterator but for a constant, and all of the
// iterator's domain lies in it.
inline LoopHead tight_head(const Program& program, const PaddingPlan& plan, const ForNode& loop) {
  LoopHead head = head_of(loop);
  if (loop.loop_kind != ForKind::serial || !loop.attributes.empty()) return head;
  Facts facts = program_facts(program);
  for (std::size_t k = 0; k < plan.box.size(); ++k) {
    const IterVar& it = plan.block().iters[k];
    if (!uses_var(it.binding, loop.var)) continue;
    AnyExpr shift = simplify(fold_sub(it.binding, AnyExpr(loop.var)), facts);
    AnyExpr min = fold_add(loop.min, shift), end = fold_add(min, loop.extent);
    if (!over_dims(program, shift) || !over_dims(program, end) || !prove_le(min, it.min, facts) ||
        !prove_le(fold_add(it.min, it.extent), end, facts))
      continue;
    head.min = simplify(fold_sub(plan.box[k].min, shift), facts);
    head.extent = plan.box[k].extent;
    break;
  }
  return head;
}

// The block for the box alone, in as few iterations of the loops that hold nothing else.
inline Stmt boxed_nest(const Program& program, const PaddingPlan& plan, std::size_t top) {
  BlockNode copy = plan.block();
  for (std::size_t k = 0; k < plan.box.size(); ++k)
    copy.iters[k].min = plan.box[k].min, copy.iters[k].extent = plan.box[k].extent;
  const StoreNode& store = *only_store(copy);
  copy.body = make_store(store.buffer, store.indices, plan.inside);
  Vec<LoopHead> heads;
  for (std::size_t k = top; k + 1 < plan.site.path.size(); ++k)
    heads.push_back(tight_head(program, plan, *plan.site.path[k].as<ForNode>()));
  return wrap_loops(heads, make_block(std::move(copy)));
}

inline Verdict run_decompose_padding(const Program& program, const Args& args, Edit* edit) {
  PaddingPlan plan;
  plan.site = find_block(program->body, args[0].block);
  plan.loop = find_loop(program->body, args[1].loop);
  if (auto no = check_padding(program, plan)) return no;
  if (auto no = check_fill_place(program, plan)) return no;
  if (!edit) return {};
  BlockTag tag = make_ref<BlockTagNode>(NamePool(program).fresh(plan.block().name() + "_fill"));
  // Loops above the one that was named hold the fill, too.
  const std::size_t top = std::max(own_nest(plan.site.path), plan.loop.path.size() - 1);
  Stmt root = replace_at(path_to(plan.site.path, top), boxed_nest(program, plan, top));
  root = insert_before(find_loop(root, plan.loop.loop->var).path, fill_nest(plan, tag));
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

LATHE_DECL const Primitive& primitive_decompose_padding() {
  static const Primitive record{"decompose_padding",
                                1,
                                {{"block", ArgKind::block}, {"loop", ArgKind::loop}},
                                "what a block stores outside of a box becomes a block",
                                run_decompose_padding,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail

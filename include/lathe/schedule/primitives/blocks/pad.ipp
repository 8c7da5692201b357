#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/analysis/uses.hpp>
#include <lathe/schedule/primitives/blocks/pad_plan.ipp>
#include <lathe/schedule/primitives/copies/clone.ipp>
#include <lathe/schedule/primitives/copies/reindex.ipp>
#include <lathe/schedule/primitives/placement/regions.ipp>

namespace lathe::detail {

// Buffers that a body loads at places which name a padded iterator.
class PaddedOperands : public Visitor {
 public:
  explicit PaddedOperands(const PadPlan& plan) : plan_(plan) {}
  Vec<Buffer> found;
  void expr(const AnyExpr& e) override {
    if (const auto* load = e.as<LoadNode>())
      for (const auto& index : load->indices)
        for (const auto& p : plan_.padded)
          if (uses_var(index, p.var)) add_once(found, load->buffer);
    descend(e);
  }

 private:
  const PadPlan& plan_;
};

// What is read, by no copy, under a condition that may come true in the padding alone.
class ReadsOnCondition : public Visitor {
 public:
  ReadsOnCondition(const PadPlan& plan, const Vec<Buffer>& copied) : copied_(copied) {
    for (const auto& p : plan.padded) vars_.push_back(p.var);
  }
  Buffer found;

  void expr(const AnyExpr& e) override {
    if (const auto* let = e.as<LetNode>()) {
      for (const auto& b : let->bindings) {
        expr(b.value);
        if (depends(b.value)) vars_.push_back(b.var);
      }
      return expr(let->body);
    }
    descend(e);
    if (const auto* n = e.as<SelectNode>(); n && depends(n->condition)) look(n->yes), look(n->no);
    if (const auto* n = e.as<BinaryNode>(); n && is_logic(n->op) && depends(n->a)) look(n->b);
  }

 private:
  bool depends(const AnyExpr& e) const { return names_one_of(e, vars_); }
  void look(const AnyExpr& e) {
    LoadedBuffers loads;
    loads.expr(e);
    for (const auto& b : loads.found)
      if (!contains(copied_, b)) found = b;
  }
  const Vec<Buffer>& copied_;
  Vec<VarRef> vars_;
};

// In which dimension of the buffer an axis of its copy comes first.
inline std::size_t dimension_of(const ReindexPlan& copy, std::size_t axis) {
  const VarRef& var = copy.site.block->iters[axis].var;
  std::size_t d = 0;
  while (d < copy.index.size() && !uses_var(copy.index[d], var)) ++d;
  return d;
}

// The copy's axes as those of the buffer, in the larger size.
inline Verdict pad_axes(const PadPlan& plan, ReindexPlan& copy) {
  std::stable_sort(copy.axes.begin(), copy.axes.end(), [&](std::size_t a, std::size_t b) {
    return dimension_of(copy, a) < dimension_of(copy, b);
  });
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < copy.axes.size(); ++d) {
    const IterVar& it = copy.site.block->iters[copy.axes[d]];
    const PaddedIter* p = plan.find(copy.axes[d]);
    copy.shape[d] = p ? p->extent : it.extent;
    copy.at[d] = fold_sub(AnyExpr(it.var), it.min);
    const std::int64_t* extent = as_const_int(copy.shape[d]);
    if (extent && __builtin_mul_overflow(elements, std::max<std::int64_t>(1, *extent), &elements))
      return plan.no("would have a copy of " + in_quotes(copy.from->name) +
                     " of more than 2^63 elements");
  }
  return {};
}

// copy[axes] = what lies there inside of the old domain, 0 in the padding.
inline void pad_copy(const PadPlan& plan, const ReindexPlan& axes, BlockNode& copy) {
  AnyExpr inside;
  for (std::size_t d = 0; d < axes.axes.size(); ++d)
    if (const PaddedIter* p = plan.find(axes.axes[d])) {
      AnyExpr before = AnyExpr(copy.iters[d].var) < p->end;
      inside = inside ? fold_and(inside, before) : before;
      copy.iters[d].extent = p->extent;
    }
  const StoreNode& store = *only_store(copy);
  copy.body = make_store(store.buffer, store.indices,
                         make_select(inside, store.value, make_const(store.buffer->dtype, 0)));
}

inline Verdict pad_operand(PadPlan& plan, const Buffer& buffer) {
  ReindexPlan axes;
  axes.site = find_block(plan.program->body, plan.tag);
  axes.from = buffer;
  axes.id = kPad.id;
  if (auto no = check_cache_read(plan.program, axes.site, buffer, kPad)) return no;
  if (auto no = plan_reindex(plan.program, axes, false)) return no;
  if (auto no = pad_axes(plan, axes)) return no;
  CopyIn copy(axes.site, {buffer});
  const std::string name = NamePool(plan.program).fresh(buffer->name + "_pad");
  copy.to = make_buffer(name, buffer->dtype, axes.shape);
  copy.copy.emplace(
      block_over_axes(axes, copy.to, make_ref<BlockTagNode>(name), make_load(buffer, axes.index)));
  Facts facts = facts_on(axes.site.path, program_facts(plan.program));
  if (!ranges_inside(*copy.copy, loops_within(axes.site.loops, copy.outside()),
                     axes.site.path[copy.at], facts, copy.ranges))
    return plan.no("has iterators without a bound in one iteration");
  for (std::size_t d = 0; d < axes.axes.size(); ++d)
    if (const PaddedIter* p = plan.find(axes.axes[d]))
      copy.ranges[d] = {copy.copy->iters[d].min, p->extent};
  pad_copy(plan, axes, *copy.copy);
  BlockNode reader = *axes.site.block;
  reader.body = MoveToPlace(buffer, copy.to, axes.at).stmt(reader.body);
  copy.reader = make_block(std::move(reader));
  Edit edit;
  if (auto no = run_copy_in(plan.program, copy, kPad, &edit)) return no;
  plan.program = edit.program;
  plan.copies.append(edit.results);
  return {};
}

// The block writes a padded copy of its output; what is not padding is copied out.
inline Verdict pad_output(PadPlan& plan) {
  ReindexPlan axes;
  axes.site = find_block(plan.program->body, plan.tag);
  axes.from = only_store(*axes.site.block)->buffer;
  axes.id = kPad.id;
  if (auto no = check_cache_write(plan.program, axes.site, kPad)) return no;
  if (auto no = plan_axes(plan.program, axes, true)) return no;
  axes.index = only_store(*axes.site.block)->indices;
  if (auto no = pad_axes(plan, axes)) return no;
  CopyOut copy;
  copy.site = axes.site;
  NamePool names(plan.program);
  const Buffer to =
      make_buffer(names.fresh(axes.from->name + "_pad"), axes.from->dtype, axes.shape);
  copy.to = {to};
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(axes.from->name + "_copy"));
  copy.copy.emplace(copy_out_block(*axes.site.block, tag, copy.to, {axes.at}));
  BlockNode writer = *axes.site.block;
  writer.body = MoveToPlace(axes.from, to, axes.at).stmt(writer.body);
  writer.attributes = after(Change::divert, writer.attributes);
  copy.writer = make_block(std::move(writer));
  Edit edit;
  if (auto no = run_copy_out(plan.program, copy, kPad, &edit)) return no;
  plan.program = edit.program;
  plan.copies.append(edit.results);
  return {};
}

// Whether a value is 0, of floats +0, where the loads of some buffers are.
inline bool vanishes(const AnyExpr& e, const Vec<Buffer>& zero) {
  if (const auto* load = e.as<LoadNode>()) return contains(zero, load->buffer);
  if (const auto* cast = e.as<CastNode>()) return vanishes(cast->value, zero);
  if (const auto* select = e.as<SelectNode>())
    return vanishes(select->yes, zero) && vanishes(select->no, zero);
  const auto* n = e.as<BinaryNode>();
  if (!n) return false;
  const bool a = vanishes(n->a, zero), b = vanishes(n->b, zero);
  if (n->op == BinaryOp::add || n->op == BinaryOp::sub) return a && b;
  // 0 times an infinity or a NaN is no 0, and times a negative number -0.
  return n->op == BinaryOp::mul && (e.dtype().is_float() ? a && b : a || b);
}

// Buffers of the plan's copies that hold 0 wherever this iterator is in its padding.
inline Vec<Buffer> zero_beyond(const PadPlan& plan, const PaddedIter& iter) {
  Vec<Buffer> out;
  class Loads : public Visitor {
   public:
    Loads(const PaddedIter& iter, const Vec<Buffer>& copies, Vec<Buffer>& out)
        : iter_(iter), copies_(copies), out_(out) {}
    void expr(const AnyExpr& e) override {
      if (const auto* load = e.as<LoadNode>(); load && contains(copies_, load->buffer))
        for (const auto& index : load->indices)
          if (uses_var(index, iter_.var)) add_once(out_, load->buffer);
      descend(e);
    }

   private:
    const PaddedIter& iter_;
    const Vec<Buffer>& copies_;
    Vec<Buffer>& out_;
  };
  Vec<Buffer> copies;
  for (const auto& copy : plan.copies)
    for (const auto& b : buffers_written(find_block(plan.program->body, copy.block).block->body))
      copies.push_back(b);
  Loads(iter, copies, out).stmt(find_block(plan.program->body, plan.tag).block->body);
  return out;
}

// A sum of floats that starts from +0 is never -0, so that adding +0 changes none of its bits.
inline bool is_plain_sum(const BlockNode& block, const BlockInfo& info) {
  const auto* c = block.reducer->identity[0].as<ConstNode>();
  return info.reducer.op == BinaryOp::add && c && c->dtype.is_float() && c->f == 0 &&
         !std::signbit(c->f);
}

// What the block adds up in the padding: what its copies give, where that is 0 and 0 is neutral;
// else the identity, by a condition.
inline Verdict pad_reduction(PadPlan& plan, BlockNode& block) {
  BlockInfo info = info_of(plan.program, block.tag);
  const AnyExpr& identity = block.reducer->identity[0];
  const bool sum = is_plain_sum(block, info);
  if (!sum && (info.reducer.kind != ReducerClass::reorder || !info.reducer.identity_exact))
    return plan.no("combines with '" + block.reducer->name +
                       "', whose identity is not proven to leave every value as it is",
                   "pad its spatial iterators alone: multiples of 1 leave an iterator as it is");
  const StoreNode& store = *only_store(block);
  AnyExpr inside;
  for (const auto& p : plan.padded) {
    if (p.kind != IterKind::reduce) continue;
    if ((sum || is_const(identity, 0)) && vanishes(store.value, zero_beyond(plan, p))) continue;
    AnyExpr before = AnyExpr(p.var) < p.end;
    inside = inside ? fold_and(inside, before) : before;
  }
  if (inside)
    block.body =
        make_store(store.buffer, store.indices, make_select(inside, store.value, identity));
  return {};
}

// The loops and the block over the larger domain.
inline Verdict widen(PadPlan& plan) {
  BlockSite site = find_block(plan.program->body, plan.tag);
  BlockNode block = *site.block;
  if (plan.any(IterKind::reduce))
    if (auto no = pad_reduction(plan, block)) return no;
  for (const auto& p : plan.padded) block.iters[p.at].extent = p.extent;
  const std::size_t top = own_nest(site.path);
  Vec<LoopHead> heads;
  for (std::size_t k = top; k + 1 < site.path.size(); ++k) {
    heads.push_back(head_of(*site.path[k].as<ForNode>()));
    for (const auto& p : plan.padded)
      if (p.loop == heads.back().var) heads.back().extent = p.extent;
  }
  plan.program = plan.program.with(
      replace_at(path_to(site.path, top), wrap_loops(heads, make_block(std::move(block)))));
  return {};
}

inline Verdict run_pad(const Program& program, const Args& args, Edit* edit) {
  PadPlan plan;
  plan.tag = args[0].block;
  plan.program = program;
  BlockSite site = find_block(program->body, plan.tag);
  if (auto no = plan_pad(program, site, args[1].list, plan)) return no;
  if (!plan.padded.empty()) {
    PaddedOperands operands(plan);
    operands.stmt(site.block->body);
    ReadsOnCondition reads(plan, operands.found);
    reads.stmt(site.block->body);
    if (reads.found)
      return plan.no(
          "reads " + in_quotes(reads.found->name) +
          " where a condition on a padded iterator says so, which may hold in the padding");
    for (const auto& buffer : operands.found)
      if (auto no = pad_operand(plan, buffer)) return no;
    if (plan.any(IterKind::spatial))
      if (auto no = pad_output(plan)) return no;
    if (auto no = widen(plan)) return no;
  }
  if (!edit) return {};
  edit->program = plan.program;
  edit->results = plan.copies;
  return {};
}

LATHE_DECL const Primitive& primitive_pad() {
  static const Primitive record{
      "pad",
      1,
      {{"block", ArgKind::block}, {"multiples", ArgKind::list, {}, ArgKind::number}},
      "the extents of a block's iterators become multiples",
      run_pad,
      ArgKind::block,
      Results::counted};
  return record;
}

}  // namespace lathe::detail

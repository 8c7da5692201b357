#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/primitives/copies/copies.ipp>
#include <lathe/schedule/primitives/copies/may_fail.ipp>
#include <lathe/schedule/primitives/copies/reindex.ipp>

namespace lathe::detail {

inline constexpr CopyStep kHoistInvariant{"hoist_invariant", "L0264"};

// Proofs need conditions and places as they are.
inline bool is_condition_or_place(const AnyExpr& e) {
  return e.dtype().is_bool() || e.dtype() == kIndex;
}

// The largest part of what a block stores that is computed from these iterators and Dims alone.
class FindInvariant : public Visitor {
 public:
  FindInvariant(const Program& program, const BlockNode& block, Vec<VarRef> steady)
      : program_(program), written_(buffers_written(block.body)), steady_(std::move(steady)) {}
  AnyExpr found;

  void expr(const AnyExpr& e) override {
    if (is_condition_or_place(e) || (found.get() && e->weight <= found->weight)) return;
    if (is_invariant(e))
      found = e;
    else if (e.kind() != ExprKind::Load)
      descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>()) return expr(n->value);
    descend(s);
  }

 private:
  // Each part of a larger value asks anew for its variables.
  static constexpr std::uint32_t kMostNodes = 4096;

  bool is_invariant(const AnyExpr& e) const {
    if (e->weight > kMostNodes || e.dtype().lanes != 1 || !computes(e)) return false;
    if (!names_one_of(e, steady_)) return false;
    for (const auto& var : free_vars(e))
      if (!contains(steady_, var) && !is_dim(program_, var)) return false;
    for (const auto& buffer : buffers_read(make_ref<EvaluateNode>(e)))
      if (contains(written_, buffer)) return false;
    return !may_fail(e);
  }
  // A load does where it divides, or reads where to load.
  bool computes(const AnyExpr& e) const {
    if (const auto* n = e.as<LoadNode>()) {
      for (const auto& index : n->indices)
        if (!affine_of(index, steady_)) return true;
      return false;
    }
    return e.kind() != ExprKind::Var && e.kind() != ExprKind::Const;
  }

  const Program& program_;
  const Vec<Buffer> written_;
  const Vec<VarRef> steady_;
};

// Every value that is equal becomes a load.
class ReadHoisted : public Mutator {
 public:
  ReadHoisted(const AnyExpr& value, const AnyExpr& load) : value_(value), load_(load) {}
  AnyExpr expr(const AnyExpr& e) override {
    if (e->weight < value_->weight || is_condition_or_place(e)) return e;
    if (structurally_equal(e, value_)) return load_;
    return e.kind() == ExprKind::Load ? e : descend(e);
  }

 private:
  const AnyExpr &value_, &load_;
};

// The block's iterators that no iteration of the loop changes.
inline Vec<VarRef> steady_iterators(const BlockNode& block, const VarRef& loop) {
  Vec<VarRef> out;
  for (std::size_t k = 0; k + guard_count(block) < block.iters.size(); ++k)
    if (!uses_var(block.iters[k].binding, loop)) out.push_back(block.iters[k].var);
  return out;
}

inline Verdict plan_invariant(const Program& program, const VarRef& loop, ReindexPlan& plan) {
  const BlockNode& block = *plan.site.block;
  if (!below(plan.site.loops, loop))
    return reindex_refusal(plan, "is not in loop " + in_quotes(loop->name));
  FindInvariant find(program, block, steady_iterators(block, loop));
  find.stmt(block.body);
  if (!find.found.get())
    return reindex_refusal(plan, "computes nothing that stays the same along " +
                                     in_quotes(loop->name) + " and changes elsewhere");
  plan.index = {find.found};
  return plan_axes(program, plan, false);
}

inline Verdict run_hoist_invariant(const Program& program, const Args& args, Edit* edit) {
  ReindexPlan plan;
  plan.id = kHoistInvariant.id;
  plan.site = find_block(program->body, args[0].block);
  if (auto no = check_reader_block(plan.site, kHoistInvariant)) return no;
  if (auto no = plan_invariant(program, args[1].loop, plan)) return no;
  const BlockNode& block = *plan.site.block;
  const AnyExpr value = plan.index[0];
  const Vec<Buffer> read = buffers_read(make_ref<EvaluateNode>(value));
  for (const auto& buffer : read)
    if (auto no = check_cache_read(program, plan.site, buffer, kHoistInvariant)) return no;
  CopyIn copy(plan.site, read);
  const std::string name = NamePool(program).fresh(block.name() + "_hoisted");
  copy.to = make_buffer(name, value.dtype(), plan.shape, Scope::global);
  copy.copy.emplace(block_over_axes(plan, copy.to, make_ref<BlockTagNode>(name), value));
  if (const Buffer beyond = touched_beyond(program, *copy.copy))
    return reindex_refusal(plan, "is not proved to read " + in_quotes(beyond->name) +
                                     " inside of it in " + str(value) + " for all iterators");
  Facts facts = facts_on(plan.site.path, program_facts(program));
  if (!ranges_inside(*copy.copy, loops_within(plan.site.loops, copy.outside()),
                     plan.site.path[copy.at], facts, copy.ranges))
    return reindex_refusal(plan, "has iterators without a bound in one iteration");
  BlockNode reader = block;
  const AnyExpr load = make_load(copy.to, plan.at);
  reader.body = ReadHoisted(value, load).stmt(reader.body);
  copy.reader = make_block(std::move(reader));
  return run_copy_in(program, copy, kHoistInvariant, edit);
}

LATHE_DECL const Primitive& primitive_hoist_invariant() {
  static const Primitive record{"hoist_invariant",
                                1,
                                {{"block", ArgKind::block}, {"loop", ArgKind::loop}},
                                "what a block computes again in each iteration is computed ahead",
                                run_hoist_invariant,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail

// Partial results that neighbouring windows of a reduction share.
#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/schedule/primitives/blocks/rfactor.ipp>
#include <lathe/schedule/primitives/copies/over_places.ipp>

namespace lathe::detail {

/// Writes what depends on two iterators over one place, p = spatial + step * term.
class OverWindow : public OverPlaces {
 public:
  OverWindow(const Vec<VarRef>& spatial_and_term, VarRef place, const Facts& facts)
      : OverPlaces(spatial_and_term, facts), place_(std::move(place)) {}

  /// Of all that was written; 0: nothing names the iterators.
  std::int64_t step = 0;

 private:
  AnyExpr over_place(const AnyExpr& e) override {
    const auto moves = affine_of(e, iters_, facts_);
    if (!moves) return {};
    const std::int64_t p = moves->coef(0).value_or(0), q = moves->coef(1).value_or(0);
    // Of INT64_MIN there is no quotient by -1, and no number of places.
    if (p == 0 || q == 0 || q == INT64_MIN || q % p != 0 || (step != 0 && q / p != step)) return {};
    step = q / p;
    return simplify(fold_add(fold_mul(AnyExpr(place_), AnyExpr(p)), moves->rest));
  }

  VarRef place_;
};

struct ShareWindowPlan {
  RfactorPlan reduction;
  ForRef along;                       ///< the loop over results, as reduction.loop is over terms
  std::size_t spatial = 0, term = 0;  ///< their iterators
  std::int64_t step = 0;
  VarRef place;
  Range places;         ///< that the windows of all results have
  Vec<AnyExpr> values;  ///< of the block's stores, over the place

  const BlockNode& block() const { return *reduction.site.block; }
  Refusal no(const std::string& why, std::string help = {}) const {
    return refusal_at(block().tag, "L0268", "block " + in_quotes(block().name()) + " " + why,
                      std::move(help));
  }
};

/// Whether the values are those of places of a window along the loop; they are kept then.
inline bool slides_along(ShareWindowPlan& plan, const ForRef& loop, const Facts& facts) {
  const BlockNode& block = plan.block();
  const auto spatial = bound_by(block, *loop, facts);
  if (!spatial || block.iters[*spatial].kind != IterKind::spatial) return false;
  const IterVar& it = block.iters[*spatial];
  const VarRef place = make_var(it.var->name);
  Facts inside = facts;
  for (const auto& each : block.iters) inside.bind(each);
  const Vec<VarRef> both{it.var, block.iters[plan.term].var};
  OverWindow over(both, place, inside);
  Vec<AnyExpr> values;
  for (const auto* store : stores_of(block)) {
    values.push_back(over.expr(store->value));
    if (names_one_of(values.back(), both)) return false;
  }
  if (over.step == 0) return false;
  plan.along = loop, plan.spatial = *spatial, plan.step = over.step;
  plan.place = place, plan.values = std::move(values);
  return true;
}

inline void set_places(ShareWindowPlan& plan, const Facts& facts) {
  const IterVar &result = plan.block().iters[plan.spatial], &term = plan.block().iters[plan.term];
  const AnyExpr step(plan.step), one(1);
  const AnyExpr last = fold_sub(term.extent, one);
  const AnyExpr from = plan.step > 0 ? term.min : fold_add(term.min, last);
  const AnyExpr more = fold_mul(AnyExpr(std::abs(plan.step)), last);
  plan.places.min = simplify(fold_add(result.min, fold_mul(step, from)), facts);
  plan.places.extent = simplify(fold_max(fold_add(result.extent, more), AnyExpr(0)), facts);
}

/// What `rfactor` says, under the id of this step: its help is about loops that stay here.
inline Verdict as_share_window(Verdict no) {
  if (no && no->id == "L0219") no->id = "L0268", no->help.clear();
  return no;
}

inline Verdict find_window(const Program& program, ShareWindowPlan& plan) {
  const RfactorPlan& of = plan.reduction;
  const Facts facts = program_facts(program);
  const std::string early = "share windows before loops are split or fused";
  const auto term = bound_by(plan.block(), *of.loop, facts);
  if (!term)
    return plan.no("has no iterator that loop " + describe(*of.loop) + " runs through", early);
  plan.term = *term;
  for (const auto& loop : factored_nest(of))
    if (slides_along(plan, loop, facts)) break;
  if (!plan.along)
    return plan.no("computes no term from the sum of one loop's iterator and multiples of " +
                       in_quotes(plan.block().iters[plan.term].var->name) + " alone",
                   "windows slide along one loop, X[i + r]; " + early);
  const AnyExpr& results = plan.block().iters[plan.spatial].extent;
  const std::int64_t step = std::abs(plan.step);
  if (step > 1 && !prove(results >= AnyExpr(step), facts))
    return plan.no("has places between its windows that none reads: they are " +
                       std::to_string(step) + " apart along " + describe(*plan.along),
                   "a Dim can be declared that large");
  return {};
}

inline Verdict plan_share_window(const Program& program, const Args& args, ShareWindowPlan& plan) {
  RfactorPlan& of = plan.reduction;
  if (auto no = as_share_window(plan_rfactor(program, {args[0], Arg::of_number(0)}, of))) return no;
  if (plan.block().predicate.get() || guard_count(plan.block()) > 0)
    return plan.no("has a condition, which partial results of a place would not ask",
                   "share windows before loops are split and choices become predicates");
  if (auto no = find_window(program, plan)) return no;
  if (of.reduce.empty())
    return plan.no(
        "sums over loop " + describe(*of.loop) + " alone: places have no partial results",
        "a window of several loops has some");
  if (plan.along->loop_kind != ForKind::serial)
    return refusal_at(plan.along->var, "L0268", "loop " + describe(*plan.along) + " is not serial");
  for (const auto& loop : factored_nest(of))
    if (auto no = as_share_window(check_bound(*loop, *plan.along))) return no;
  set_places(plan, program_facts(program));
  return {};
}

/// Builds the two blocks: the partial results of all places, and the windows over them.
class ShareWindowBlocks {
 public:
  ShareWindowBlocks(const ShareWindowPlan& plan, const Vec<Buffer>& parts)
      : plan_(plan), block_(plan.block()), parts_(parts) {}

  /// `wanted`: the values, or what stands for them.
  BlockNode places(const BlockTag& tag, const VarRef& loop, const Vec<AnyExpr>& wanted) const {
    BlockNode out(tag, {}, Stmt());
    Substitution map;
    Vec<AnyExpr> at;
    for (std::size_t k = 0; k < block_.iters.size(); ++k) {
      if (k == plan_.term) continue;
      IterVar it = block_.iters[k];
      it.var = make_var(it.var->name);
      if (k == plan_.spatial) {
        map.emplace_back(plan_.place, AnyExpr(it.var));
        it.min = plan_.places.min, it.extent = plan_.places.extent;
        it.binding = fold_add(it.min, AnyExpr(loop));
      } else {
        map.emplace_back(block_.iters[k].var, AnyExpr(it.var));
      }
      if (it.kind == IterKind::spatial) at.push_back(simplify(fold_sub(AnyExpr(it.var), it.min)));
      out.iters.push_back(std::move(it));
    }
    Vec<Stmt> stores;
    for (std::size_t k = 0; k < parts_.size(); ++k)
      stores.push_back(make_store(parts_[k], at, fresh_lets(substitute(wanted[k], map))));
    out.body = make_seq(std::move(stores));
    out.reducer = block_.reducer, out.init = true;
    return out;
  }

  BlockNode windows() const {
    BlockNode out = block_;
    out.iters.clear();
    Vec<AnyExpr> at;
    for (std::size_t k = 0; k < block_.iters.size(); ++k) {
      const IterVar& it = block_.iters[k];
      if (it.kind == IterKind::spatial || k == plan_.term) out.iters.push_back(it);
      if (it.kind == IterKind::spatial)
        at.push_back(simplify(k == plan_.spatial ? fold_sub(place(), plan_.places.min)
                                                 : fold_sub(AnyExpr(it.var), it.min)));
    }
    Vec<Stmt> stores;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const StoreNode& store = *stores_of(block_)[k];
      stores.push_back(make_store(store.buffer, store.indices, make_load(parts_[k], at)));
    }
    out.body = make_seq(std::move(stores));
    return out;
  }

 private:
  AnyExpr place() const {
    return fold_add(AnyExpr(block_.iters[plan_.spatial].var),
                    fold_mul(AnyExpr(block_.iters[plan_.term].var), AnyExpr(plan_.step)));
  }

  const ShareWindowPlan& plan_;
  const BlockNode& block_;
  const Vec<Buffer>& parts_;
};

inline Vec<Buffer> buffers_of_places(NamePool& names, const ShareWindowPlan& plan) {
  Vec<AnyExpr> shape;
  for (std::size_t k = 0; k < plan.block().iters.size(); ++k)
    if (const IterVar& it = plan.block().iters[k]; it.kind == IterKind::spatial)
      shape.push_back(k == plan.spatial ? plan.places.extent : it.extent);
  Vec<Buffer> parts;
  for (const auto* store : stores_of(plan.block()))
    parts.push_back(make_buffer(names.fresh(store->buffer->name + "_window"), store->buffer->dtype,
                                shape, Scope::global));
  return parts;
}

/// The loops around the partial results: those of the block without that over terms, and one over
/// places in the stead of that over results.
inline Vec<LoopHead> loops_of_places(const ShareWindowPlan& plan, Vec<ForRef> nest,
                                     Substitution& map) {
  nest.erase_if([&](const ForRef& loop) { return loop == plan.reduction.loop; });
  Vec<LoopHead> heads = fresh_loops(nest, Change::clone, map);
  for (std::size_t k = 0; k < nest.size(); ++k)
    if (nest[k] == plan.along) heads[k].min = AnyExpr(0), heads[k].extent = plan.places.extent;
  return heads;
}

inline void apply_share_window(const Program& program, const ShareWindowPlan& plan,
                               const Vec<Buffer>& parts, BlockNode places, Edit& edit) {
  Substitution loops;
  const Vec<LoopHead> heads = loops_of_places(plan, factored_nest(plan.reduction), loops);
  for (auto& it : places.iters) it.binding = substitute(it.binding, loops);
  put_before_fold(program, plan.reduction, "share_window",
                  {parts, heads, std::move(places), ShareWindowBlocks(plan, parts).windows()},
                  edit);
}

inline Verdict run_share_window(const Program& program, const Args& args, Edit* edit) {
  ShareWindowPlan plan;
  if (auto no = plan_share_window(program, args, plan)) return no;
  NamePool names(program);
  const Vec<Buffer> parts = buffers_of_places(names, plan);
  const BlockTag tag = make_ref<BlockTagNode>(parts[0]->name);
  const ShareWindowBlocks blocks(plan, parts);
  InsideBlock places(program, plan.block(), plan.values, [&](const Vec<AnyExpr>& values) {
    return blocks.places(tag, plan.along->var, values);
  });
  if (places.beyond)
    return plan.no("is not proved to read " + in_quotes(places.beyond->name) +
                       " inside of it at each place between its windows",
                   "pad and clamp keep reads inside by the index alone");
  if (edit) apply_share_window(program, plan, parts, std::move(*places.block), *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_share_window() {
  static const Primitive record{"share_window",
                                1,
                                {{"loop", ArgKind::loop}},
                                "neighbouring windows share partial results",
                                run_share_window,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail

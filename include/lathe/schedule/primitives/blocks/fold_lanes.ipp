#pragma once

#include <bit>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/blocks/rfactor.ipp>

namespace lathe::detail {

// One of a power of two, so that each half of the partial results joins the other one.
inline Verdict check_fold_lanes(const Program& program, const Args& args) {
  RfactorPlan plan;
  const LoopSite site = find_loop(program->body, args[0].loop);
  if (auto no = find_rfactor_block(site, plan, program)) return no;
  const std::int64_t lanes = args[1].number;
  if (lanes < 2 || !std::has_single_bit(static_cast<std::uint64_t>(lanes)))
    return refusal_at(
        args[0].loop, "L0260",
        "the number of lanes is " + std::to_string(lanes) + ", which is no power of 2 from 2 on",
        "take a multiple of a register's lanes, such as 16 or 64");
  const BlockNode& block = *plan.site.block;
  const ReducerInfo reducer = classify(*block.reducer);
  if (reducer.kind != ReducerClass::sequence) return {};
  return refusal_at(args[0].loop, "L0260",
                    "lanes take every " + std::to_string(lanes) + "th term, but reducer " +
                        in_quotes(block.reducer->name) + " of " + in_quotes(block.name()) +
                        " is not commutative",
                    "split the loop by {" + std::to_string(lanes) +
                        ", lt::infer} and rfactor the outer one: its partial results are of terms "
                        "that follow each other");
}

// Where the partial results begin: outside of all loops of the reduction.
inline Verdict place_folds(RfactorPlan& plan) {
  const BlockNode& block = *plan.site.block;
  for (std::size_t k = 0; k < plan.site.path.size(); ++k) {
    const auto* loop = plan.site.path[k].as<ForNode>();
    if (!loop || !feeds(*loop, block, IterKind::reduce)) continue;
    if (k < plan.at)
      return refusal_at(loop->var, "L0219",
                        "the reduction of " + in_quotes(block.name()) + " shares loop " +
                            describe(*loop) + " with statements in no block");
    plan.at = k;
    return {};
  }
  unreachable("a factored loop feeds the reduction");
}

// Builds the nest of the partial results, those of the halves, and what is left of the old one.
class LaneFolds {
 public:
  LaneFolds(const Program& program, const RfactorPlan& plan, Edit& edit)
      : program_(program),
        plan_(plan),
        edit_(edit),
        names_(program),
        nest_(factored_nest(plan)),
        facts_(facts_on(path_to(plan.site.path, plan.at), program_facts(program))) {}

  void run() {
    std::int64_t count = *as_const_int(plan_.loop->extent);
    Vec<Buffer> results = buffers_of(count);
    Vec<Stmt> nests{partial_nest(results)};
    for (; count > 2; count /= 2) {
      Vec<Buffer> halves = buffers_of(count / 2);
      nests.push_back(half_nest(results, halves, count / 2));
      results = std::move(halves);
    }
    nests.push_back(final_nest(results));
    Stmt root = replace_at(path_to(plan_.site.path, plan_.at), make_seq(std::move(nests)));
    for (const auto& buffer : allocated_) root = add_alloc(root, buffer);
    edit_.program = program_.with(root);
  }

 private:
  Vec<Buffer> buffers_of(std::int64_t count) {
    Vec<Buffer> buffers = partial_buffers(names_, plan_, AnyExpr(count), Scope::reg);
    allocated_.append(buffers);
    return buffers;
  }

  // Loops of the reduction stay, and the lanes are innermost, so that a lane's terms come in turn.
  Stmt partial_nest(const Vec<Buffer>& results) {
    const BlockTag tag = make_ref<BlockTagNode>(names_.fresh(plan_.site.block->name() + "_lanes"));
    BlockNode partial = RfactorBlocks(plan_, facts_, results).partial(tag);
    Substitution map;
    Vec<LoopHead> heads;
    for (const auto& loop : nest_) {
      if (loop->var == plan_.loop->var) continue;
      heads.append(is_reduce_loop(plan_, loop) ? Vec<LoopHead>{head_of(*loop)}
                                               : fresh_loops({loop}, Change::clone, map));
    }
    LoopHead lanes = head_of(*plan_.loop);
    lanes.kind = ForKind::vectorized;
    heads.push_back(std::move(lanes));
    for (auto& it : partial.iters) it.binding = substitute(it.binding, map);
    edit_.results.push_back(BlockRef(tag));
    return wrap_loops(heads, make_block(std::move(partial)));
  }

  // Lane l of the first half joins lane l of the other one: a block of its own, without an
  // identity.
  Stmt half_nest(const Vec<Buffer>& from, const Vec<Buffer>& to, std::int64_t count) {
    LoopHead lanes = lane_loop(count);
    BlockNode half = fold_over(lanes, to);
    half.tag = make_ref<BlockTagNode>(
        names_.fresh(plan_.site.block->name() + "_fold" + std::to_string(count)));
    Substitution map, iters;
    Vec<LoopHead> heads = spatial_loops(map);
    for (auto& it : half.iters) {
      const VarRef var = make_var(it.var->name, it.var->dtype);
      iters.emplace_back(it.var, AnyExpr(var));
      it.var = var;
      it.binding = substitute(it.binding, map);
      if (it.kind == IterKind::reduce) it.kind = IterKind::spatial;
    }
    half.body = substitute(joined(half, from, count), iters);
    if (half.predicate) half.predicate = fresh_lets(substitute(half.predicate, iters));
    half.reducer = {};
    half.init = false;
    half.attributes = {};
    lanes.kind = ForKind::vectorized;
    heads.push_back(std::move(lanes));
    return wrap_loops(heads, make_block(std::move(half)));
  }

  Stmt final_nest(const Vec<Buffer>& results) {
    const LoopHead lanes = lane_loop(2);
    Vec<LoopHead> heads;
    for (const auto& loop : nest_)
      if (is_spatial(loop)) heads.push_back(head_of(*loop));
    heads.push_back(lanes);
    return wrap_loops(heads, make_block(fold_over(lanes, results)));
  }

  LoopHead lane_loop(std::int64_t count) const {
    return {make_var(plan_.loop->var->name, plan_.loop->var->dtype), AnyExpr(0), AnyExpr(count)};
  }

  bool is_spatial(const ForRef& loop) const {
    return loop->var != plan_.loop->var && !is_reduce_loop(plan_, loop);
  }

  Vec<LoopHead> spatial_loops(Substitution& map) const {
    Vec<ForRef> loops = nest_;
    loops.erase_if([&](const ForRef& loop) { return !is_spatial(loop); });
    return fresh_loops(loops, Change::clone, map);
  }

  // The block that folds such partial results.
  BlockNode fold_over(const LoopHead& lanes, const Vec<Buffer>& results) const {
    RfactorPlan plan = plan_;
    plan.loop =
        ForRef(make_for(lanes.var, lanes.min, lanes.extent, plan_.loop->body).as<ForNode>());
    return RfactorBlocks(plan, facts_, results).final_fold();
  }

  // The stores of a block that folds `count` partial results of buffers, as stores to these of what
  // twice as many give.
  Stmt joined(const BlockNode& half, const Vec<Buffer>& from, std::int64_t count) const {
    const ReducerNode& reducer = *half.reducer;
    Substitution operands;
    Vec<Stmt> stores;
    for (std::size_t k = 0; k < from.size(); ++k) {
      Vec<AnyExpr> at = stores_of(half)[k]->value.as<LoadNode>()->indices;
      operands.emplace_back(reducer.lhs[k], make_load(from[k], at));
      at[plan_.axis] = fold_add(at[plan_.axis], AnyExpr(count));
      operands.emplace_back(reducer.rhs[k], make_load(from[k], at));
    }
    for (std::size_t k = 0; k < from.size(); ++k) {
      const auto* load = stores_of(half)[k]->value.as<LoadNode>();
      stores.push_back(make_store(load->buffer, load->indices,
                                  fresh_lets(substitute(reducer.combine[k], operands))));
    }
    return make_seq(std::move(stores));
  }

  const Program& program_;
  const RfactorPlan& plan_;
  Edit& edit_;
  NamePool names_;
  Vec<ForRef> nest_;
  Facts facts_;
  Vec<Buffer> allocated_;
};

inline Verdict plan_fold_lanes(const Program& program, const Args& args, Edit& split,
                               Edit& folded) {
  if (auto no = check_fold_lanes(program, args)) return no;
  // A mask in the loop that all terms run through costs more than a copy of it for the last ones.
  const Arg tail = args[2].text == "auto" ? Arg::of_word(to_text(Tail::peel)) : args[2];
  if (auto no = primitive_split().run(
          program, {args[0], Arg::of_list({Arg::of(Factor(infer)), args[1]}), tail}, &split))
    return no;
  RfactorPlan plan;
  if (auto no = plan_rfactor(split.program, {split.results[1], Arg::of_number(-1)}, plan))
    return no;
  if (auto no = place_folds(plan)) return no;
  LaneFolds(split.program, plan, folded).run();
  if (plan.reducer.reassociates)
    folded.reassociates = partial_sums(plan, "fold_lanes", args[0].loop->name);
  return check_vectorized(folded.program, plan.loop->var);
}

inline Verdict run_fold_lanes(const Program& program, const Args& args, Edit* edit) {
  Edit split, folded;
  if (auto no = plan_fold_lanes(program, args, split, folded)) {
    // Of a loop that the step has made the caller knows nothing.
    if (no->loop && !find_loop(program->body, no->loop).loop) no->loop = args[0].loop;
    return no;
  }
  if (!edit) return {};
  *edit = std::move(folded);
  edit->consumed = std::move(split.consumed);
  return {};
}

LATHE_DECL const Primitive& primitive_fold_lanes() {
  static const Primitive record{
      "fold_lanes",
      1,
      {{"loop", ArgKind::loop}, {"lanes", ArgKind::number}, {"tail", ArgKind::word, "auto"}},
      "a reduction in lanes, which a tree folds",
      run_fold_lanes,
      ArgKind::block,
      Results::one};
  return record;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/cover.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/placement/inputs_first.ipp>

namespace lathe::detail {

// Ranges of the consumer's iterators from what one iteration of the loop writes. Only reads that
// always happen say which instances there are; false if there is none.
inline bool ranges_from_producers(const Program& program, MovePlan& plan,
                                  const Vec<BlockSite>& inside) {
  Facts facts = facts_inside(plan.loop, program_facts(program));
  plan.ranges = whole_domains(*plan.core);
  bool solved = false;
  BlockNode always = *plan.core;
  always.predicate = {};
  bool any = false;
  for (const auto& access : reads_of(*BlockRefNode(new BlockNode(always)))) {
    bool made_here = false;
    for (const auto& p : inside)
      for (const auto& b : buffers_written(p.block->body)) made_here |= b == access.buffer;
    if (!made_here || access.condition.get()) continue;
    any = true;
    if (access.indices.empty()) continue;
    Region region = region_written(plan.loop.loop->body, access.buffer, facts);
    Vec<Range> ranges = solve_ranges(*plan.core, access.indices, region, facts);
    // One access says which instances belong to an iteration: the iterations partition what it
    // reads. Two that narrow different iterators would leave out instances.
    if (solved) continue;
    for (std::size_t k = 0; k < ranges.size(); ++k)
      if (plan.core->iters[k].kind == IterKind::spatial && ranges[k].min.get())
        plan.ranges[k] = ranges[k], solved = true;
  }
  return any;
}

// A reduction over nothing reads nothing, and yet stores its identity: it must not hang on loops of
// its producers, which then may run nothing as well.
inline bool surely_reads(const Program& program, const BlockNode& block) {
  Facts facts = program_facts(program);
  for (const auto& it : block.iters) {
    if (it.kind != IterKind::reduce) continue;
    if (!prove_lt(AnyExpr(0), it.extent, facts)) return false;
    if (block.predicate.get() && uses_var(block.predicate, it.var)) return false;
  }
  return true;
}

// Nothing between the new place and the old one may touch what the block writes.
inline Verdict check_outputs_untouched(const Program& program, const MovePlan& plan, int first,
                                       const char* id) {
  const BlockNode& block = *plan.block.block;
  int own = block_position(program->body, block.tag);
  for (const auto& written : buffers_written(block.body))
    for (const auto& list : {writers(program->body, written), readers(program->body, written)})
      for (const auto& site : list) {
        int at = block_position(program->body, site.block->tag);
        if (site.block->tag == block.tag || at < first || at > own) continue;
        return refusal_at(site.block->tag, id,
                          "block " + in_quotes(site.block->name()) +
                              ", which lies between, touches " + in_quotes(written->name) +
                              ", which " + in_quotes(block.name()) + " writes");
      }
  return {};
}

// Of an update without init, and of what the caller gives, the loop's producers may leave out
// elements that the consumer reads all the same: its instances there would be lost. That a
// reduction has terms is no matter: the consumer hangs on loops over points.
inline Verdict check_all_reached(const Program& program, const MovePlan& plan,
                                 const Vec<BlockSite>& inside) {
  const BlockTag& tag = plan.block.block->tag;
  for (const auto& input : buffers_read(*plan.block.block)) {
    Facts facts = program_facts(program);
    Vec<BlockTag> makers;
    bool had_values = false;
    for (const auto& p : inside) {
      if (!contains(buffers_written(p.block->body), input)) continue;
      makers.push_back(p.block->tag);
      had_values = had_values || (p.block->reducer && !p.block->init);
      for (const auto& it : p.block->iters)
        if (it.kind == IterKind::reduce) facts.assume(AnyExpr(1) <= it.extent);
      for (const auto& loop : p.loops)
        if (feeds(*loop, *p.block, IterKind::reduce)) facts.assume(AnyExpr(1) <= loop->extent);
    }
    for (const auto& param : program->params)
      had_values = had_values || (param.buffer == input && param.access == Access::inout);
    if (makers.empty() || !had_values) continue;
    const std::string why = why_not_found(program->body, makers, tag, input, {}, facts);
    if (!why.empty())
      return refusal_at(tag, "L0213",
                        "block " + in_quotes(tag->name) + " may read elements of " +
                            in_quotes(input->name) + " that loop " + describe(*plan.loop.loop) +
                            " does not reach: " + why,
                        "move its producers with compute_at");
  }
  return {};
}

// What the loop's producers leave to others of a buffer would be missed: iterations of the loop
// hand over what they wrote, and nothing else. An update writes all that its init does.
inline Verdict check_whole_producers(const Program& program, const MovePlan& plan,
                                     const Vec<BlockSite>& inside) {
  const VarRef& loop = plan.loop.loop->var;
  for (const auto& p : inside)
    for (const auto& written : buffers_written(p.block->body)) {
      if (!reads_buffer(*plan.block.block, written)) continue;
      const bool update = p.block->reducer && !p.block->init;
      for (const auto& w : writers(program->body, written)) {
        if (below(w.loops, loop) || (update && !w.block->reducer)) continue;
        return refusal_at(
            w.block->tag, "L0213",
            "block " + in_quotes(w.block->name()) + ", which loop " + describe(*plan.loop.loop) +
                " does not hold, writes a part of " + in_quotes(written->name) + " too",
            "move block " + in_quotes(plan.block.block->name()) + " before loops are partitioned");
      }
    }
  return {};
}

inline Verdict plan_reverse_compute_at(const Program& program, const Args& args, MovePlan& plan,
                                       Vec<BlockSite>& inside) {
  if (auto no = check_movable(program, args, "L0213", plan)) return no;
  const BlockNode& block = *plan.block.block;
  const ForNode& loop = *plan.loop.loop;
  std::string name = "block " + in_quotes(block.name());
  Vec<BlockSite> makers = producers(program->body, block.tag);
  int last = -1;
  for (const auto& p : makers)
    if (below(p.loops, loop.var))
      inside.push_back(p), last = std::max(last, block_position(program->body, p.block->tag));
  if (inside.empty())
    return refusal_at(loop.var, "L0213",
                      "loop " + describe(loop) + " holds no producer of what " + name + " reads",
                      makers.empty() ? "it reads only parameters"
                                     : "loops that do: " + common_loops({makers.back()}));
  if (block_position(program->body, block.tag) < last)
    return refusal_at(loop.var, "L0213",
                      name + " stands before loop " + describe(loop) +
                          ", and reads what the iteration before produced there");
  if (auto no = check_inputs_ready(program, block, last + 1, "L0213")) return no;
  for (const auto& p : inside) {
    if (final_at(program->body, p.block->tag, loop.var)) continue;
    return refusal_at(loop.var, "L0213",
                      "one iteration of loop " + describe(loop) + " does not finish what " +
                          in_quotes(p.block->name()) + " reduces",
                      "take a loop outside its reduction");
  }
  if (auto no = check_whole_producers(program, plan, inside)) return no;
  if (auto no = check_all_reached(program, plan, inside)) return no;
  int first = block_position(program->body,
                             first_block_below(plan.loop.loops.empty() ? plan.loop.path.back()
                                                                       : Stmt(plan.loop.loops[0])));
  if (auto no = check_outputs_untouched(program, plan, first, "L0213")) return no;
  auto children = children_of(loop);
  for (std::size_t k = 0; k < children.size(); ++k)
    if (holds_block(children[k], inside)) plan.others.push_back(k);
  if (!ranges_from_producers(program, plan, inside) || !surely_reads(program, block))
    return refusal_at(block.tag, "L0213",
                      "not every instance of " + name + " surely reads what loop " +
                          describe(loop) +
                          " produces: it may read nothing there and still has to store",
                      "move its producers with compute_at");
  return {};
}

inline Verdict check_reads_finished(const Program& program, const Stmt& root, const MovePlan& plan,
                                    const Vec<BlockSite>& inside) {
  Facts facts = program_facts(program);
  const BlockTag& tag = plan.block.block->tag;
  for (const auto& input : buffers_read(*plan.block.block)) {
    Vec<BlockTag> tags;
    for (const auto& p : inside)
      for (const auto& b : buffers_written(p.block->body))
        if (b == input) tags.push_back(p.block->tag);
    if (tags.empty()) continue;
    std::string why = why_not_found(root, tags, tag, input, plan.loop.loop->var, facts);
    if (why.empty()) continue;
    return refusal_at(plan.loop.loop->var, "L0213",
                      "one iteration of loop " + describe(*plan.loop.loop) +
                          " does not finish all that " + in_quotes(tag->name) + " needs of " +
                          in_quotes(input->name) + ": " + why,
                      "take an outer loop, or move the producer with compute_at");
  }
  return {};
}

inline Verdict run_reverse_compute_at(const Program& given, const Args& args, Edit* edit) {
  const Program program = with_inputs_first(given, args[0].block, args[1].loop);
  MovePlan plan;
  Vec<BlockSite> inside;
  if (auto no = plan_reverse_compute_at(program, args, plan, inside)) return no;
  Stmt root = move_block(plan, plan.others.back() + 1);
  if (auto no = check_reads_finished(program, root, plan, inside)) return no;
  if (auto no = check_inputs_kept(program, root, args[0].block, "L0213", plan.grows)) return no;
  if (!edit) return {};
  edit->program = program.with(root);
  if (!plan.reassociates.empty()) edit->reassociates = "reverse_compute_at: " + plan.reassociates;
  consume_lost_loops(root, plan.block.loops, *edit,
                     "was replaced when " + in_quotes(args[0].block->name) + " moved under " +
                         in_quotes(args[1].loop->name));
  return {};
}

LATHE_DECL const Primitive& primitive_reverse_compute_at() {
  static const Primitive record{"reverse_compute_at",
                                1,
                                {{"block", ArgKind::block}, {"loop", ArgKind::loop}},
                                "moves a block under a loop of its producers",
                                run_reverse_compute_at};
  return record;
}

}  // namespace lathe::detail

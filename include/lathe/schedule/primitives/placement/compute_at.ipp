#pragma once

#include <algorithm>
#include <lathe/analysis/instances.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/blocks/fold_order.ipp>
#include <lathe/schedule/primitives/placement/regions.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

/// A block that moves under a loop.
struct MovePlan {
  BlockSite block;
  LoopSite loop;
  Vec<std::size_t> others;   ///< children of the loop that hold the blocks it works with
  Vec<Range> ranges;         ///< of its iterators, guards apart
  BlockRefNode core;         ///< the block without its guards
  bool grows = false;        ///< it may get instances that its own loops do not reach
  std::string reassociates;  ///< how the order of its updates changes; empty: not at all
};

// The loops that lie above all these blocks.
inline std::string common_loops(const Vec<BlockSite>& sites) {
  std::string out;
  for (const auto& loop : sites[0].loops) {
    bool in_all = true;
    for (const auto& s : sites) in_all &= below(s.loops, loop->var);
    if (in_all) out += (out.empty() ? "" : " ") + loop->var->name;
  }
  return out.empty() ? "none" : out;
}

// In its new place each instance runs once.
inline Verdict check_updates_once(const Program& program, const BlockSite& site) {
  ForRef again = Instances(site, program_facts(program)).repeats_update();
  if (!again) return {};
  return refusal_at(site.block->tag, "L0212",
                    "iterations of loop " + describe(*again) + " may update one element of block " +
                        in_quotes(site.block->name()) +
                        " again with the same terms, which loops made anew would do once",
                    "take loop " + in_quotes(again->var->name) + " out of the reduction");
}

// Instances that no loop has reached so far must read and store inside of their buffers.
inline Verdict check_all_inside(const Program& program, const BlockNode& block, const char* id) {
  const Buffer beyond = touched_beyond(program, block);
  if (!beyond) return {};
  return refusal_at(block.tag, id,
                    "block " + in_quotes(block.name()) +
                        " is not proved to run over all of its domain in the loops it has, and "
                        "beyond them may touch what " +
                        in_quotes(beyond->name) + " does not have");
}

// Its own loops are replaced: what they leave out of its domain may run in the new place. An
// intermediate may hold more than before; a sum or an argument may not.
inline Verdict check_reach(const Program& program, MovePlan& plan, const char* id = "L0212") {
  Facts facts = program_facts(program);
  Vec<AnyExpr> bindings;
  Vec<IterDomain> loops;
  for (const auto& it : plan.core->iters)
    if (prove_le(it.extent, AnyExpr(0), facts)) return {};
  for (const auto& loop : plan.block.loops) loops.push_back({loop->var, loop->min, loop->extent});
  const bool known = bindings_over_guards(*plan.block.block, loops, facts, bindings);
  const IterMap map = known ? iter_map(bindings, loops, {}, facts) : IterMap();
  if (!map.injective)
    if (auto no = check_updates_once(program, plan.block)) return no;
  bool sums_whole = true;
  for (std::size_t k = 0; k < plan.core->iters.size(); ++k) {
    const IterVar& it = plan.core->iters[k];
    if (map.covering && prove_le(map.sums[k].min, it.min, facts) &&
        prove_le(fold_add(it.min, it.extent), fold_add(map.sums[k].min, map.sums[k].extent), facts))
      continue;
    plan.grows = true;
    sums_whole = sums_whole && it.kind != IterKind::reduce;
  }
  const BlockNode& block = *plan.core;
  if (!sums_whole)
    return refusal_at(block.tag, id,
                      "block " + in_quotes(block.name()) +
                          " is not proved to reduce over all of its domain in the loops it has");
  for (const auto& store : stores_of(block))
    if (plan.grows && !is_private(program->body, store->buffer))
      return refusal_at(block.tag, id,
                        "block " + in_quotes(block.name()) +
                            " is not proved to run over all of its domain in the loops it has, and "
                            "writes the parameter " +
                            in_quotes(store->buffer->name));
  return plan.grows ? check_all_inside(program, block, id) : Verdict();
}

inline Verdict check_movable(const Program& program, const Args& args, const char* place_id,
                             MovePlan& plan) {
  plan.block = find_block(program->body, args[0].block);
  plan.loop = find_loop(program->body, args[1].loop);
  const BlockNode& block = *plan.block.block;
  std::string name = "block " + in_quotes(block.name());
  if (!is_open_path(plan.block.path))
    return refusal_at(block.tag, "L0212",
                      name + " stands under a condition or inside another block",
                      "move the statement around it");
  if (!is_open_path(plan.loop.path))
    return refusal_at(
        plan.loop.loop->var, place_id,
        "loop " + describe(*plan.loop.loop) + " stands under a condition or inside a block");
  if (below(plan.block.loops, plan.loop.loop->var))
    return refusal_at(plan.loop.loop->var, place_id,
                      name + " is inside loop " + describe(*plan.loop.loop) + " already");
  BlockInfo info = info_of(program, block.tag);
  if (!info.is_complete() && !info.is_reduction())
    return refusal_at(block.tag, "L0212",
                      name + " can't be moved: " +
                          (info.why.empty() ? std::string(to_text(info.kind)) : info.why));
  if (block.reducer && !block.init)
    return refusal_at(block.tag, "L0212", name + " was separated from its init",
                      "decompose the reduction after the block is placed");
  if (!info.sole_writer)
    return refusal_at(block.tag, "L0212", name + " is not the only writer of its output");
  if (ragged(block))
    return refusal_at(block.tag, "L0212",
                      name + " has a domain that depends on another of its iterators");
  if (stores_of(block).empty())
    return refusal_at(block.tag, "L0212", name + " holds more than stores");
  if (auto no = check_bare_touches(program, block, "L0212")) return no;
  if (auto no = check_settled_inputs(program, block, "L0212")) return no;
  for (const auto& loop : plan.block.loops)
    if (loop->loop_kind != ForKind::serial && block_tags(loop->body).size() == 1)
      return refusal_at(loop->var, "L0204",
                        "loop " + describe(*loop) + " of " + name + " would be lost",
                        "move blocks before their loops are marked");
  plan.core = BlockRefNode(new BlockNode(without_guards(block)));
  if (auto no = check_reach(program, plan)) return no;
  return check_fold_order(program, plan.block, "L0212", plan.reassociates);
}

// What holds in the body of a loop.
inline Facts facts_inside(const LoopSite& site, const Facts& around) {
  Facts facts = facts_on(site.path, around);
  facts.bind(*site.loop);
  return facts;
}

// Children of the loop's body, and which of them hold one of the blocks.
inline Vec<Stmt> children_of(const ForNode& loop) { return seq_of(loop.body); }

inline bool holds_block(const Stmt& s, const Vec<BlockSite>& sites) {
  for (const auto& inside : blocks_below(s))
    for (const auto& site : sites)
      if (site.block->tag == inside.block->tag) return true;
  return false;
}

// Blocks that write what the block reads must come before `place` in program order.
inline Verdict check_inputs_ready(const Program& program, const BlockNode& block, int place,
                                  const char* id) {
  for (const auto& w : producers(program->body, block.tag)) {
    if (block_position(program->body, w.block->tag) < place) continue;
    return refusal_at(w.block->tag, id,
                      "block " + in_quotes(w.block->name()) + " writes what " +
                          in_quotes(block.name()) + " reads, but not before that place");
  }
  return {};
}

// What the block reads is still what its producers wrote, wherever they share a loop with its old
// or its new place, and everywhere if it grows.
inline Verdict check_inputs_kept(const Program& before, const Stmt& after, const BlockTag& tag,
                                 const char* id, bool grows = false) {
  Facts facts = program_facts(before);
  BlockSite old_site = find_block(before->body, tag), new_site = find_block(after, tag);
  for (const auto& input : buffers_read(*new_site.block)) {
    Vec<BlockTag> tags;
    bool shares = grows;
    for (const auto& w : writers(after, input)) {
      if (w.block->tag == tag) continue;
      tags.push_back(w.block->tag);
      shares |= common_loop(w.loops, new_site.loops) ||
                common_loop(find_block(before->body, w.block->tag).loops, old_site.loops);
    }
    if (!shares || tags.empty()) continue;
    ForRef loop = common_loop(find_block(after, tags[0]).loops, new_site.loops);
    for (const auto& t : tags) loop = loop ? common_loop({loop}, find_block(after, t).loops) : loop;
    std::string why = why_not_found(after, tags, tag, input, loop ? loop->var : VarRef(), facts);
    if (!why.empty())
      return refusal_at(tag, id,
                        "there " + in_quotes(tag->name) + " would not find what it reads of " +
                            in_quotes(input->name) + ": " + why);
  }
  return {};
}

// Every reader of the block's output, which is private, lies inside the loop.
inline Verdict check_readers(const Program& program, const MovePlan& plan, Vec<BlockSite>& users) {
  const BlockNode& block = *plan.block.block;
  const VarRef& loop = plan.loop.loop->var;
  std::string name = "block " + in_quotes(block.name());
  for (const auto& store : stores_of(block))
    if (!is_private(program->body, store->buffer))
      return refusal_at(block.tag, "L0212",
                        name + " writes the parameter " + in_quotes(store->buffer->name),
                        "move its consumers with reverse_compute_at, or cache_write it");
  users = consumers(program->body, block.tag);
  if (users.empty()) return refusal_at(block.tag, "L0211", name + " has no consumer");
  for (const auto& user : users)
    if (block_position(program->body, user.block->tag) < block_position(program->body, block.tag))
      return refusal_at(user.block->tag, "L0211",
                        "block " + in_quotes(user.block->name()) + " reads what " + name +
                            " wrote in the iteration before, and would find what it writes in "
                            "this one");
  Vec<BlockSite> outside;
  for (const auto& user : users)
    if (!below(user.loops, loop)) outside.push_back(user);
  if (outside.empty()) return {};
  return refusal_at(loop, "L0211",
                    "loop " + describe(*plan.loop.loop) + " does not hold all readers of " + name +
                        ": " + names_of(outside) + (outside.size() == 1 ? " is" : " are") +
                        " outside",
                    "loops that do: " + common_loops(users));
}

inline std::ptrdiff_t readers_among(const Vec<BlockSite>& users, const Buffer& buffer) {
  return std::count_if(users.begin(), users.end(), [&](const BlockSite& user) {
    return contains(buffers_read(Stmt(user.block)), buffer);
  });
}

// Both, if that takes no more instances than a few copies of either: all of them.
inline Range joined(const Range& a, const Range& b, const Range& domain, const Facts& facts) {
  if (same_expr(a.min, b.min) && same_expr(a.extent, b.extent)) return a;
  const AnyExpr first = simplify(fold_min(a.min, b.min), facts);
  const AnyExpr end =
      simplify(fold_max(fold_add(a.min, a.extent), fold_add(b.min, b.extent)), facts);
  const AnyExpr extent = simplify(fold_sub(end, first), facts);
  const bool one =
      as_const_int(extent) || same_expr(extent, a.extent) || same_expr(extent, b.extent);
  return one && prove_le(extent, domain.extent, facts) ? Range{first, extent} : domain;
}

inline Verdict plan_compute_at(const Program& program, const Args& args, MovePlan& plan) {
  Vec<BlockSite> users;
  if (auto no = check_movable(program, args, "L0211", plan)) return no;
  if (auto no = check_readers(program, plan, users)) return no;
  const BlockNode& block = *plan.block.block;
  if (auto no =
          check_inputs_ready(program, block, block_position(program->body, block.tag), "L0211"))
    return no;
  auto children = children_of(*plan.loop.loop);
  for (std::size_t k = 0; k < children.size(); ++k)
    if (holds_block(children[k], users)) plan.others.push_back(k);
  Facts facts = facts_inside(plan.loop, program_facts(program));
  Vec<Range> domains = whole_domains(*plan.core);
  for (const auto& store : stores_of(block)) {
    // A result that nobody reads comes with the others, wherever they are needed.
    if (readers_among(users, store->buffer) == 0) continue;
    Region region = region_read(plan.loop.loop->body, store->buffer, facts);
    Vec<Range> ranges = solve_ranges(*plan.core, store->indices, region, facts);
    // The whole domain is always right, and the better choice if it is the smaller one.
    for (std::size_t k = 0; k < ranges.size(); ++k)
      ranges[k] = ranges[k].min ? shorter(domains[k], ranges[k], facts) : domains[k];
    if (plan.ranges.empty()) plan.ranges = ranges;
    // Outputs of one block share their instances.
    for (std::size_t k = 0; k < ranges.size(); ++k)
      plan.ranges[k] = joined(plan.ranges[k], ranges[k], domains[k], facts);
  }
  return {};
}

// The program with the block's nest put before, or after, a child of the loop.
inline Stmt move_block(const MovePlan& plan, std::size_t at) {
  Stmt root = replace_at(plan.block.path, {});
  LoopSite now = find_loop(root, plan.loop.loop->var);
  Vec<Stmt> children = children_of(*now.loop);
  Stmt nest = nest_of(*plan.core, plan.ranges, names_around(now));
  children.insert_at(at, nest);
  const ForNode& f = *now.loop;
  return replace_at(now.path, make_for(f.var, f.min, f.extent, make_seq(std::move(children)),
                                       f.loop_kind, f.attributes));
}

inline Verdict run_compute_at(const Program& program, const Args& args, Edit* edit) {
  MovePlan plan;
  if (auto no = plan_compute_at(program, args, plan)) return no;
  Stmt root = move_block(plan, plan.others.front());
  if (auto no = check_inputs_kept(program, root, args[0].block, "L0211", plan.grows)) return no;
  if (!edit) return {};
  edit->program = program.with(root);
  if (!plan.reassociates.empty()) edit->reassociates = "compute_at: " + plan.reassociates;
  consume_lost_loops(root, plan.block.loops, *edit,
                     "was replaced when " + in_quotes(args[0].block->name) + " moved under " +
                         in_quotes(args[1].loop->name));
  return {};
}

LATHE_DECL const Primitive& primitive_compute_at() {
  static const Primitive record{"compute_at",
                                1,
                                {{"block", ArgKind::block}, {"loop", ArgKind::loop}},
                                "moves a block under a loop of its consumers",
                                run_compute_at};
  return record;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/instances.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline std::string who_uses(const BufferUse& use) {
  return use.block ? "block " + in_quotes(use.block->name())
                   : std::string("a statement in no block");
}

// Why the init may not run for all iterations of the loop at once; empty if it may.
inline std::string why_init_stays(const BlockSite& site, const Stmt& loop) {
  const BlockNode& block = *site.block;
  std::size_t from = 0;
  while (from + 1 < site.path.size() && !site.path[from].same_as(loop)) ++from;
  const Vec<Buffer> inputs = init_inputs(site, from), outputs = buffers_written(block.body);
  std::string why;
  any_use(loop, [&](const BufferUse& use) {
    const bool own = use.block && use.block->tag == block.tag;
    if (use.is_write && contains(inputs, use.buffer))
      why =
          who_uses(use) + " writes " + in_quotes(use.buffer->name) + ", on which its init depends";
    else if (contains(outputs, use.buffer) && (!own || use.kind == AccessKind::read))
      why = who_uses(use) + (own ? ", besides updating it, reads " : " touches ") +
            in_quotes(use.buffer->name);
    return !why.empty();
  });
  return why;
}

LATHE_DECL Verdict check_moved_init(const Program& program, const BlockSite& site, std::size_t from,
                                    const Vec<VarRef>& passed, std::string_view id) {
  if (passed.empty()) return {};
  const BlockInfo info =
      classify(without_guards(*site.block), facts_on(site.path, program_facts(program)));
  if (!info.injective)
    return refusal_at(passed[0], id,
                      "points of " + in_quotes(site.block->name()) +
                          " may share an element, each with an init of its own, which would move "
                          "past loop " +
                          in_quotes(passed[0]->name) + ": " + info.why,
                      "keep the loops of the reduction as they are");
  const Vec<bool> told = Instances(site, program_facts(program)).told_by_point(from);
  for (std::size_t k = from; k < site.loops.size(); ++k) {
    const ForNode& loop = *site.loops[k];
    if (!contains(passed, loop.var)) continue;
    if (!told[k - from])
      return refusal_at(
          loop.var, id,
          "iterations of loop " + describe(loop) + " may reduce one element of " +
              in_quotes(site.block->name()) +
              " again, each from the identity on, and the init would move past the "
              "loop",
          "decompose the reduction inside loop " + in_quotes(loop.var->name) + " first");
    if (const std::string why = why_init_stays(site, Stmt(site.loops[k])); !why.empty())
      return refusal_at(loop.var, id,
                        "the init of " + in_quotes(site.block->name()) + " would move past loop " +
                            describe(loop) + ", inside which " + why,
                        "take loops inside which nothing else does");
  }
  return {};
}

// What an init depends on is written inside its reduction, in a nest that a step made.
inline Verdict check_init_inputs(const Program& before, const Vec<BlockSite>& inits) {
  const Vec<StaleInit> stale = stale_inits(inits);
  if (stale.empty()) return {};
  const Vec<StaleInit> old = stale_inits(before->body);
  for (const auto& found : stale) {
    bool was = false;
    for (const auto& o : old)
      was = was || (o.block == found.block && o.input == found.input && o.loops == found.loops);
    if (was) continue;
    const bool known = static_cast<bool>(find_block(before->body, found.block).block);
    return refusal_at(known ? found.block : BlockTag(), "L0259",
                      "the init of block " + in_quotes(found.block->name) + " depends on " +
                          in_quotes(found.input->name) + ", which " +
                          (found.writer ? "block " + in_quotes(found.writer->name)
                                        : std::string("a statement in no block")) +
                          " would write only inside the loops of the reduction",
                      "decompose the reduction first, or take a loop outside of it");
  }
  return {};
}

inline Vec<VarRef> loops_around_init(const BlockSite& site) {
  Vec<VarRef> out;
  for (const auto& loop : site.loops) {
    if (feeds(*loop, *site.block, IterKind::reduce)) break;
    out.push_back(loop->var);
  }
  return out;
}

// The block itself is the same too, and so are the loops that feed its reduction.
inline bool has_same_loops(const BlockSite& a, const BlockSite& b) {
  bool same = a.block == b.block && a.loops.size() == b.loops.size();
  for (std::size_t k = 0; same && k < a.loops.size(); ++k)
    same = a.loops[k]->var == b.loops[k]->var;
  return same;
}

// Of the loops that a block keeps, those that its init left or came into.
inline Verdict check_kept_loops(const Program& before, const BlockSite& after) {
  const BlockSite old = find_block(before->body, after.block->tag);
  if (!old.block || !old.block->init || has_same_loops(old, after)) return {};
  const Vec<VarRef> was = loops_around_init(old), is = loops_around_init(after);
  Vec<VarRef> passed;
  std::size_t from = old.loops.size();
  for (std::size_t k = 0; k < old.loops.size(); ++k) {
    const VarRef& loop = old.loops[k]->var;
    if (!below(after.loops, loop) || contains(was, loop) == contains(is, loop)) continue;
    passed.push_back(loop);
    from = std::min(from, k);
  }
  return passed.empty() ? Verdict() : check_moved_init(before, old, from, passed, "L0259");
}

LATHE_DECL Verdict check_inits(const Program& before, const Vec<Stmt>& changed) {
  for (const auto& nest : changed) {
    const Vec<BlockSite> inits = find_inits(nest);
    if (auto no = check_init_inputs(before, inits)) return no;
    for (const auto& site : inits)
      if (auto no = check_kept_loops(before, site)) return no;
  }
  return {};
}

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/describe.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// The loops from one on inward that hold all uses of a buffer.
inline Vec<const ForNode*> loops_around_uses(const ForNode& top, const Buffer& buffer) {
  std::optional<Vec<const ForNode*>> common;
  any_use(top.body, [&](const BufferUse& use) {
    if (use.buffer != buffer) return false;
    if (!common) common = use.loops;
    std::size_t same = 0;
    while (same < common->size() && same < use.loops.size() &&
           (*common)[same]->var == use.loops[same]->var)
      ++same;
    common->resize(same);
    return false;
  });
  return common ? *common : Vec<const ForNode*>();
}

LATHE_DECL const ForNode* shared_by_iterations(const ForNode& top, const Buffer& buffer) {
  for (const auto* inner : loops_around_uses(top, buffer))
    if (inner->loop_kind != ForKind::serial && inner->loop_kind != ForKind::unrolled) return inner;
  return nullptr;
}

/// Where a buffer is used, relative to a loop.
struct UsePlaces {
  bool inside = false, outside = false, opaque = false;

  UsePlaces(const Program& program, const Buffer& buffer, const VarRef& loop) {
    any_use(program->body, [&](const BufferUse& use) {
      if (use.buffer != buffer) return false;
      (use.is_below(loop) ? inside : outside) = true;
      opaque = opaque || use.kind == AccessKind::opaque;
      return false;
    });
  }
};

// One block, or the init of a reduction and its update.
inline bool one_writer(const Vec<BlockSite>& all) {
  if (all.size() == 1) return true;
  return all.size() == 2 && !all[0].block->reducer && all[1].block->reducer && !all[1].block->init;
}

// The loop at or above a place along which a writer of the buffer keeps rows.
inline const ForNode* rolls_around(const Program& program, const Buffer& buffer,
                                   const LoopSite& site) {
  Vec<ForRef> loops = site.loops;
  loops.push_back(site.loop);
  for (const auto& loop : loops)
    for (const auto& w : writers(program->body, buffer))
      if (loop->attributes.has(RollingAttr{w.block->name()})) return loop.get();
  return nullptr;
}

LATHE_DECL std::string why_not_doubled(const Program& program, const Buffer& buffer,
                                       const LoopSite& site) {
  const ForNode& loop = *site.loop;
  if (!is_private(program->body, buffer)) return "is a parameter: the caller allocates it";
  if (std::string why = why_not_sized_above(program, site, buffer); !why.empty()) return why;
  const UsePlaces uses(program, buffer, loop.var);
  if (!uses.inside) return "is not used in loop " + describe(loop);
  if (uses.outside) return "is used outside of loop " + describe(loop) + " too";
  if (uses.opaque) return "is used by an opaque block";
  if (bound_written_inside(loop))
    return "is used in loop " + describe(loop) + ", whose bound is read from what it writes";
  if (const ForNode* inner = shared_by_iterations(loop, buffer))
    return "belongs to one iteration of the " + std::string(to_text(inner->loop_kind)) + " loop " +
           in_quotes(inner->var->name) + ", which lies inside loop " + describe(loop);
  const Vec<BlockSite> all = writers(loop.body, buffer);
  if (!one_writer(all))
    return "is written by " + std::string(all.empty() ? "no block" : "several blocks: ") +
           names_of(all);
  if (const ForNode* rolls = rolls_around(program, buffer, site))
    return "keeps rows from one iteration of loop " + in_quotes(rolls->var->name) + " to the next";
  if (!filled_each_iteration(program, buffer, loop, program_facts(program)))
    return "is not proved to be filled anew by each iteration of loop " + describe(loop);
  return {};
}

}  // namespace lathe::detail

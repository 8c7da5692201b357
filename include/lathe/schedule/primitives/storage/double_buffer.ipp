#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/schedule/core/buffering.hpp>
#include <lathe/schedule/core/loop_marks.hpp>
#include <lathe/schedule/primitives/storage/hoist_storage.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

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
      if (is_marked(*loop, kRollingBuffer, w.block->name())) return loop.get();
  return nullptr;
}

LATHE_DECL std::string why_not_doubled(const Program& program, const Buffer& buffer,
                                       const LoopSite& site) {
  const ForNode& loop = *site.loop;
  if (!is_private(program->body, buffer)) return "is a parameter: the caller allocates it";
  const UsePlaces uses(program, buffer, loop.var);
  if (!uses.inside) return "is not used in loop " + describe(loop);
  if (uses.outside) return "is used outside of loop " + describe(loop) + " too";
  if (uses.opaque) return "is used by an opaque block";
  if (check_fixed_bounds(loop))
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

inline Verdict run_double_buffer(const Program& program, const Args& args, Edit* edit) {
  Buffer buffer = find_buffer(program, args[0].text);
  LoopSite site = find_loop(program->body, args[1].loop);
  const ForNode& loop = *site.loop;
  if (auto no = check_storage_loop(loop)) return no;
  std::string why = why_not_doubled(program, buffer, site);
  if (buffer->name.find(',') != std::string::npos) why = "has a comma in its name";
  if (is_marked(loop, kDoubleBuffer, buffer->name))
    why = "has two versions in loop " + describe(loop) + " already";
  if (!why.empty())
    return refusal_at(loop.var, "L0245", "buffer " + in_quotes(buffer->name) + " " + why,
                      "take a buffer that one block writes before all that read it, inside of the "
                      "loop");
  if (edit) edit->program = program.with(add_mark(program, loop, kDoubleBuffer, buffer->name));
  return {};
}

LATHE_DECL const Primitive& primitive_double_buffer() {
  static const Primitive record{"double_buffer",
                                1,
                                {{"buffer", ArgKind::buffer}, {"loop", ArgKind::loop}},
                                "iterations of a loop take turns with two versions of a buffer",
                                run_double_buffer};
  return record;
}

}  // namespace lathe::detail

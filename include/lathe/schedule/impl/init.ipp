#pragma once

#include <lathe/analysis/instances.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/schedule/edit.hpp>

namespace lathe::detail {

inline std::string who_uses(const BufferUse& use) {
  return use.block ? "block " + in_quotes(use.block->name())
                   : std::string("a statement in no block");
}

// Why the init may not run for all iterations of the loop at once; empty if it may.
inline std::string why_init_stays(const BlockSite& site, const Stmt& loop) {
  const BlockNode& block = *site.block;
  const Vec<Buffer> inputs = init_inputs(block), outputs = buffers_written(block.body);
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
  const Instances instances(site, program_facts(program));
  for (std::size_t k = from; k < site.loops.size(); ++k) {
    const ForNode& loop = *site.loops[k];
    if (!contains(passed, loop.var)) continue;
    if (instances.repeats_point(from, k + 1, k))
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

}  // namespace lathe::detail

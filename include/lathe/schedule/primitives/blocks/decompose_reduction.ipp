#pragma once

#include <lathe/analysis/instances.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline Verdict check_decompose(const Program& program, const BlockSite& site,
                               const LoopSite& loop) {
  const BlockNode& block = *site.block;
  std::string name = "block " + in_quotes(block.name());
  if (!block.reducer) return refusal_at(block.tag, "L0218", name + " is no reduction");
  if (!block.init)
    return refusal_at(block.tag, "L0218", name + " has no init: it was decomposed before");
  if (!below(site.loops, loop.loop->var))
    return refusal_at(loop.loop->var, "L0218",
                      "loop " + describe(*loop.loop) + " is not above " + name,
                      describe_loops(program, block.tag));
  for (std::size_t k = loop.path.size(); k + 1 < site.path.size(); ++k)
    if (site.path[k].kind() == StmtKind::If || site.path[k].kind() == StmtKind::LetStmt ||
        site.path[k].kind() == StmtKind::While || site.path[k].kind() == StmtKind::Block)
      return refusal_at(loop.loop->var, "L0218",
                        "between loop " + describe(*loop.loop) + " and " + name +
                            " stands a condition, a let or a block, on which the init depends",
                        "take a loop inside of it, or put the condition into the block");
  for (const auto& outer : loop.loops)
    if (feeds(*outer, block, IterKind::reduce))
      return refusal_at(loop.loop->var, "L0218",
                        "loop " + describe(*outer) + " around loop " +
                            in_quotes(loop.loop->var->name) + " feeds the reduction of " + name,
                        "the init stands before all loops that feed it: take loop " +
                            in_quotes(outer->var->name) + " or one outside");
  for (const auto& store : stores_of(block))
    for (const auto& access : accesses(loop.path.back()))
      if (access.buffer == store->buffer && (!access.block || access.block->tag != block.tag))
        return refusal_at(loop.loop->var, "L0218",
                          "inside loop " + describe(*loop.loop) + " also " +
                              (access.block ? "block " + in_quotes(access.block->name())
                                            : std::string("a statement")) +
                              " touches " + in_quotes(store->buffer->name),
                          "take a loop inside which only " + name + " does");
  return {};
}

// The loops that the init moves out of: from the given one to the first that feeds the reduction.
inline Vec<VarRef> loops_passed_by_init(const Program& program, const BlockSite& site,
                                        const LoopSite& loop) {
  const std::size_t first = Instances(site, program_facts(program)).first();
  Vec<VarRef> out;
  for (std::size_t k = loop.loops.size(); k < first; ++k) out.push_back(site.loops[k]->var);
  return out;
}

inline Verdict run_decompose_reduction(const Program& program, const Args& args, Edit* edit) {
  BlockSite site = find_block(program->body, args[0].block);
  LoopSite loop = find_loop(program->body, args[1].loop);
  if (auto no = check_decompose(program, site, loop)) return no;
  if (auto no = check_moved_init(program, site, loop.loops.size(),
                                 loops_passed_by_init(program, site, loop), "L0218"))
    return no;
  if (!edit) return {};
  const BlockNode& block = *site.block;
  NamePool names(program);
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(block.name() + "_init"));
  Substitution map;
  BlockNode init = spatial_block(block, tag, map);
  std::size_t guards = 0;
  for (std::size_t k = block.iters.size() - guard_count(block); k < block.iters.size(); ++k)
    guards += block.iters[k].kind != IterKind::reduce;
  init.attributes = after(Change::refill, block.attributes);
  set_guard_count(init, guards);
  init.body = substitute(expand_init(block), map);
  // The loops inside that the spatial points need, over fresh variables.
  Vec<ForRef> inside, needed;
  for (std::size_t k = loop.loops.size(); k < site.loops.size(); ++k)
    inside.push_back(site.loops[k]);
  for (std::size_t k = inside.size(); k-- > 0;) {
    bool used =
        feeds(*inside[k], init, IterKind::spatial) || feeds(*inside[k], init, IterKind::opaque);
    for (const auto& n : needed)
      used = used || uses_var(n->min, inside[k]->var) || uses_var(n->extent, inside[k]->var);
    if (used) needed.insert_at(0, inside[k]);
  }
  Substitution loops;
  Vec<LoopHead> heads = fresh_loops(needed, Change::refill, loops);
  for (auto& it : init.iters) it.binding = substitute(it.binding, loops);
  BlockNode update = block;
  update.init = false;
  Stmt root = replace_at(site.path, make_block(std::move(update)));
  root = insert_before(find_loop(root, loop.loop->var).path,
                       wrap_loops(heads, make_block(std::move(init))));
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

LATHE_DECL const Primitive& primitive_decompose_reduction() {
  static const Primitive record{"decompose_reduction",
                                1,
                                {{"block", ArgKind::block}, {"loop", ArgKind::loop}},
                                "the init of a reduction becomes a block",
                                run_decompose_reduction,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/kept.hpp>
#include <lathe/analysis/uses.hpp>
#include <optional>

namespace lathe::detail {

// The loops that hold all uses of a buffer, outermost first.
inline Vec<const ForNode*> loops_of_all_uses(const Stmt& root, const Buffer& buffer) {
  std::optional<Vec<const ForNode*>> common;
  any_use_of({buffer}, root, [&](const BufferUse& use) {
    if (!common) common = use.loops;
    std::size_t same = 0;
    while (same < common->size() && same < use.loops.size() && (*common)[same] == use.loops[same])
      ++same;
    while (common->size() > same) common->pop_back();
    return false;
  });
  return common ? *common : Vec<const ForNode*>();
}

// Nothing of the buffer is carried from one iteration to another.
inline bool fills_alone(const Program& program, const Buffer& buffer, const ForNode& loop,
                        const Facts& facts) {
  for (const auto& w : writers(loop.body, buffer))
    if (w.block->reducer && !final_at(program->body, w.block->tag, loop.var)) return false;
  return runs_at_most_once(loop) || filled_each_iteration(program, buffer, loop, facts);
}

LATHE_DECL KeptBuffer kept_of(const Program& program, const Buffer& buffer) {
  KeptBuffer out;
  out.extents = buffer->shape;
  out.bytes = AnyExpr(static_cast<std::int64_t>(buffer->dtype.element_bytes()));
  const Facts facts = program_facts(program);
  for (const ForNode* loop : loops_of_all_uses(program->body, buffer)) {
    if (!fills_alone(program, buffer, *loop, facts)) break;
    out.loop = loop;
    if (loop->attributes.has(DoubleBufferAttr{buffer->name})) out.versions = 2;
  }
  for (const Footprint& f : work_of(program, out.loop ? out.loop->var : VarRef()).buffers)
    if (f.buffer == buffer && f.extents.size() == out.extents.size()) out.extents = f.extents;
  for (const AnyExpr& extent : out.extents) out.bytes = size_product(out.bytes, extent);
  out.bytes = size_product(out.bytes, AnyExpr(static_cast<std::int64_t>(out.versions)));
  return out;
}

}  // namespace lathe::detail

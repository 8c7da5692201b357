#pragma once

#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/rebuild.hpp>

namespace lathe::detail {

// An access in no block, of which no analysis of blocks knows.
inline bool touched_bare(const Stmt& body, const Buffer& buffer) {
  return any_use_of({buffer}, body, [&](const BufferUse& use) { return !use.block; });
}

// A block that declares what it touches and updates what it reads, as one that only reads: what was
// there before is there before its updates too.
inline Program without_updates(const Program& program, const BlockTag& tag, const Buffer& buffer) {
  BlockSite site = find_block(program->body, tag);
  BlockNode reader = *site.block;
  reader.writes.erase_if([&](const Region& r) { return r.buffer == buffer; });
  if (reader.reads.empty() || reader.writes.size() == site.block->writes.size()) return program;
  return program.with(replace_at(site.path, make_block(std::move(reader))));
}

// A term that reads the output: the element itself, or one of another iteration.
inline bool reads_besides_update(const BlockNode& block, const Buffer& buffer) {
  return any_use_of({buffer}, block, [&](const BufferUse& use) {
    return use.reads() && use.kind != AccessKind::update;
  });
}

// Every read of the buffer below the loop finds what the same iteration wrote. A reduction with its
// init finds that, if no loop at or above this one feeds it.
LATHE_DECL bool filled_each_iteration(const Program& program, const Buffer& buffer,
                                      const ForNode& loop, const Facts& facts, KnownCovers* known) {
  if (touched_bare(loop.body, buffer)) return false;
  Vec<BlockSite> all = writers(loop.body, buffer);
  for (const auto& w : all)
    if (w.block->reducer && !final_at(program->body, w.block->tag, loop.var)) return false;
  KnownCovers own;
  for (const auto& reader : readers(loop.body, buffer)) {
    const BlockNode& block = *reader.block;
    if (block.init && writes_buffer(block, buffer)) {
      if (all.size() == 1 && !reads_besides_update(block, buffer)) continue;
      return false;
    }
    Vec<BlockTag> others;
    for (const auto& w : all)
      if (w.block->tag != block.tag) others.push_back(w.block->tag);
    if (others.empty() || !why_not_found(without_updates(program, block.tag, buffer)->body, others,
                                         block.tag, buffer, loop.var, facts, known ? known : &own)
                               .empty())
      return false;
  }
  return true;
}

}  // namespace lathe::detail

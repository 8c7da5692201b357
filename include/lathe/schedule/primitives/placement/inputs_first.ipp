#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

// Whether two statements that follow each other may change places.
inline bool may_swap(const Stmt& first, const Stmt& second) {
  const Vec<Buffer> written = buffers_written(second), read = buffers_read(second),
                    before = buffers_written(first), used = buffers_read(first);
  for (const auto& b : written)
    if (contains(before, b) || contains(used, b)) return false;
  for (const auto& b : read)
    if (contains(before, b)) return false;
  return true;
}

inline std::size_t nest_with(const Vec<Stmt>& nests, const BlockTag& tag) {
  std::size_t at = 0;
  while (at < nests.size() && block_position(nests[at], tag) < 0) ++at;
  return at;
}

/// The program with the nests that a block needs, and that stand after a loop, before the nest of
/// that loop, where nothing between minds: in which order the operands of an expression were
/// written must not decide what a schedule may do with it.
inline Program with_inputs_first(const Program& program, const BlockTag& tag, const VarRef& loop) {
  Vec<Buffer> allocs;
  Stmt body = program->body;
  while (const auto* a = body.as<AllocNode>()) allocs.push_back(a->buffer), body = Stmt(a->body);
  Vec<Stmt> nests = seq_of(body);
  std::size_t place = 0;
  while (place < nests.size() && !find_loop(nests[place], loop).loop) ++place;
  Vec<BlockTag> needed{tag};
  for (std::size_t k = 0; k < needed.size(); ++k)
    for (const auto& p : producers(program->body, needed[k]))
      if (!contains(needed, p.block->tag)) needed.push_back(p.block->tag);
  bool moved = false;
  const std::size_t end = nest_with(nests, tag);
  for (std::size_t from = place + 1; from < end; ++from) {
    bool wanted = false;
    for (const auto& t : needed) wanted = wanted || block_position(nests[from], t) >= 0;
    for (std::size_t k = place; k < from && wanted; ++k) wanted = may_swap(nests[k], nests[from]);
    if (!wanted) continue;
    const Stmt nest = nests[from];
    nests.erase_at(from);
    nests.insert_at(place++, nest);
    moved = true;
  }
  if (!moved) return program;
  Stmt out = make_seq(std::move(nests));
  for (std::size_t k = allocs.size(); k-- > 0;) out = make_alloc(allocs[k], out);
  return program.with(out);
}

}  // namespace lathe::detail

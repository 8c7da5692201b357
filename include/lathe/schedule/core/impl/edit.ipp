#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe::detail {

LATHE_DECL Verdict check_bare_touches(const Program& program, const BlockNode& block,
                                      std::string_view id, const Buffer& only) {
  const Vec<Buffer> read = buffers_read(block), written = buffers_written(block.body);
  Buffer found;
  bool writes = false;
  Vec<Buffer> asked = read;
  asked.append(written);
  if (only) asked = {only};
  any_use_of(asked, program->body, [&](const BufferUse& use) {
    if (use.block) return false;
    if (!contains(written, use.buffer) && !(use.is_write && contains(read, use.buffer)))
      return false;
    found = use.buffer, writes = use.is_write;
    return true;
  });
  if (!found) return {};
  return refusal_at(block.tag, id,
                    "a statement in no block " + std::string(writes ? "writes " : "reads ") +
                        in_quotes(found->name) + ", which block " + in_quotes(block.name()) +
                        (contains(written, found) ? " writes" : " reads"),
                    "give that statement a block of its own");
}

LATHE_DECL Verdict check_fixed_bounds(const ForNode& loop) {
  const Buffer written = bound_written_inside(loop);
  if (!written) return {};
  return refusal_at(loop.var, "L0206",
                    "the bound of loop " + describe(loop) + " is read from " +
                        in_quotes(written->name) + ", which is written inside the loop",
                    "keep the loop as it is: it reads its bound once, when it begins");
}

}  // namespace lathe::detail

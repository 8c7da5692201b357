// Proofs that what a block reads was written before, in the same iteration of a loop.
#pragma once

#include <lathe/analysis/cover.hpp>
#include <lathe/arith/facts.hpp>
#include <string>

namespace lathe::detail {

/// Empty if all that the consumer reads of the buffer was surely written before, by the producers
/// and in the same iteration of `loop`; else why that is not proven.
std::string why_not_found(const Stmt& root, const Vec<BlockTag>& producers,
                          const BlockTag& consumer, const Buffer& buffer, const VarRef& loop,
                          const Facts& facts, KnownCovers* known = nullptr);

/// Whether each iteration of the loop writes all that it reads of the buffer.
bool filled_each_iteration(const Program& program, const Buffer& buffer, const ForNode& loop,
                           const Facts& facts, KnownCovers* known = nullptr);

/// Why a block can't be computed elsewhere, or again, with the same inputs: it reads a buffer whose
/// elements change while the program goes on, as under a loop that carries state. Empty if it can.
std::string why_unsettled(const Program& program, const BlockNode& block);

}  // namespace lathe::detail

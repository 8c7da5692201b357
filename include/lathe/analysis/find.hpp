// Searches of a program for loops, blocks, stores and buffers, and for what surrounds them.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/block.hpp>
#include <lathe/arith/facts.hpp>
#include <lathe/ir/rebuild.hpp>

namespace lathe::detail {

Facts program_facts(const Program& program);
bool is_dim(const Program& program, const VarRef& var);
/// Names nothing but Dims of the program.
bool over_dims(const Program& program, const AnyExpr& e);
/// All statements of a subtree that are neither blocks, nor inside one, nor loops and sequences
/// around them.
bool has_bare_statement(const Stmt& s);
/// A While, If, Let or Atomic, or a statement in no block: what only simple loop nests do without.
bool is_plain_nest(const Stmt& s);
/// The only child of a loop if that is a loop.
const ForNode* only_loop_in(const ForNode& loop);
/// Position of each block in program order; -1 if it is not there.
int block_position(const Stmt& root, const BlockTag& tag);
/// The blocks of a statement in program order; blocks_below also gives their places, and costs
/// that.
Vec<BlockTag> block_tags(const Stmt& s);
/// The first block with a name; empty if there is none.
BlockTag block_named(const Stmt& s, const std::string& name);
/// The block without iterators that only restrict (see guard_count).
BlockNode without_guards(const BlockNode& block);
/// Class of a block, guards apart.
BlockInfo info_of(const Program& program, const BlockTag& tag);
Buffer find_buffer(const Program& program, const std::string& name);
bool is_param(const Program& program, const Buffer& buffer);
/// What a size of the buffer names that has no value right above the last statement of a path: a
/// loop or a let from there on inward. Empty if the buffer may be allocated there.
VarRef size_unknown_above(const Program& program, const Vec<Stmt>& path, const Buffer& buffer);
/// Why the buffer can't be allocated above a loop, said of the buffer; empty if it can.
std::string why_not_sized_above(const Program& program, const LoopSite& site, const Buffer& buffer);
const StoreNode* only_store(const BlockNode& block);
/// The stores of a block whose body is nothing else; empty otherwise.
Vec<const StoreNode*> stores_of(const BlockNode& block);
/// True if the path passes through nothing but loops, sequences and allocations.
bool is_open_path(const Vec<Stmt>& path);
bool below(const Vec<ForRef>& loops, const VarRef& loop);
/// The first block below a statement, for messages; empty if there is none.
BlockTag first_block_below(const Stmt& s);
/// By an access of its body, or as it declares.
bool reads_buffer(const BlockNode& block, const Buffer& buffer);
bool writes_buffer(const BlockNode& block, const Buffer& buffer);
/// One iteration, or none.
bool runs_at_most_once(const ForNode& loop);
/// What a bound of the loop is read from and the loop writes: steps that state the bound anew would
/// read another number. Empty if there is no such buffer.
Buffer bound_written_inside(const ForNode& loop);
/// "'A', 'B'"
std::string names_of(const Vec<BlockSite>& sites);

/// f for the nests of a program, in order: its outermost loops, blocks and other statements.
template <class F>
void each_nest(const Stmt& s, const F& f) {
  if (const auto* a = s.as<AllocNode>()) return each_nest(a->body, f);
  const auto* seq = s.as<SeqNode>();
  if (!seq) return f(s);
  for (const auto& child : seq->stmts) each_nest(child, f);
}

/// The blocks that set an identity first.
Vec<BlockSite> find_inits(const Stmt& root);

}  // namespace lathe::detail

// Accesses of statements to buffers: where, under which loops and conditions.
#pragma once

#include <lathe/arith/facts.hpp>

namespace lathe {

/// A loop or a block and its place: everything above it, outermost first.
struct LoopSite {
  ForRef loop;
  Vec<ForRef> loops;  ///< above, without the loop itself
  Vec<Stmt> path;     ///< from the root down to the loop, both included
};
struct BlockSite {
  BlockRefNode block;
  Vec<ForRef> loops;  ///< all loops above within the root, outermost first
  Vec<Stmt> path;     ///< from the root down to the block, both included
};

/// All blocks below root in program order, nested ones after their parent.
Vec<BlockSite> blocks_below(const Stmt& root);
/// The block with this tag; its `block` is empty if there is none.
BlockSite find_block(const Stmt& root, const BlockTag& tag);
/// The loop with this variable; its `loop` is empty if there is none.
LoopSite find_loop(const Stmt& root, const VarRef& var);
/// The loops above a block, outermost first; empty also if the block isn't there.
Vec<ForRef> loops_above(const Stmt& root, const BlockTag& tag);
/// Facts that hold at the end of a path: loop ranges, if conditions, iterator domains of the blocks
/// passed (not of a block that ends the path).
Facts facts_on(const Vec<Stmt>& path, Facts facts = {});

enum class AccessKind : std::uint8_t {
  read,
  write,   ///< a store that overwrites
  update,  ///< a reducer block's store or an atomic: reads and writes the element
  opaque,  ///< declared by an opaque block or used whole; indices are empty
};

/// One access. Indices and condition are written over loop variables (bindings are substituted) or,
/// with AccessTerms::iters, over the iterators of the block that holds them.
struct AccessSite {
  Buffer buffer;
  AccessKind kind = AccessKind::read;
  bool unsure = false;  ///< may not happen: a condition is not told (of lanes, a long one, a while)
  bool is_write = false;           ///< write, update, or a declared write
  std::optional<BinaryOp> atomic;  ///< of an atomic update: what it combines with
  Vec<AnyExpr> indices;            ///< empty for opaque
  Region declared;     ///< for opaque: the declared region (no ranges: the whole buffer)
  AnyExpr condition;   ///< what holds when the access happens, besides loop ranges; none means true
  Vec<ForRef> loops;   ///< the loops above, below the root, outermost first
  BlockRefNode block;  ///< the innermost block that holds it; empty if none
  // The same seen from inside the block, for tests that treat the domain guard apart; without a
  // block, as above.
  Vec<AnyExpr> inner_indices;  ///< over the block's iterators and the loops inside it
  AnyExpr inner_condition;     ///< predicate and conditions inside the block
  AnyExpr outer_condition;     ///< conditions outside the block
  Vec<AnyExpr> bindings;       ///< of the block's iterators, written as `indices` are
  Vec<VarRef> unknown;         ///< stand for indices and bounds that may be others each time
  std::size_t order = 0;       ///< position in program order among the accesses collected

  bool reads() const {
    return kind == AccessKind::read || kind == AccessKind::update ||
           (kind == AccessKind::opaque && !is_write);
  }
};

/// Over which variables accesses are written: loop variables throughout, or a block's iterators
/// inside it.
enum class AccessTerms : std::uint8_t { loops, iters };

/// All accesses of s in evaluation order. Conditions gather: if conditions, lazy select paths,
/// masks of scalar loads and stores, block predicates, and (with AccessTerms::loops) guards
/// "binding in domain" that aren't proven by the loops. The init of a reducer block counts as a
/// write at the same indices: such an update's loops of the reduction have a point at least, and
/// its conditions leave out what reduce iterators decide.
/// Where s writes what an index or the bound of a loop loads, a variable stands for it (unknown).
Vec<AccessSite> accesses(const Stmt& s, AccessTerms terms = AccessTerms::loops,
                         const Facts& facts = {});
/// Those of one buffer; `order` counts these. Much cheaper: what leads to others is not looked at.
Vec<AccessSite> accesses_to(const Buffer& buffer, const Stmt& s, const Facts& facts = {});
/// The accesses of one block's body (nested blocks included) and declared regions, over its
/// iterators and the loops inside it.
Vec<AccessSite> accesses(const BlockNode& block);
/// The accesses below a loop, as accesses(the root of its path) finds them; `order` counts these.
Vec<AccessSite> accesses_below(const LoopSite& site);
/// Those of one statement of the loop's body, the bounds of its loops included.
Vec<AccessSite> accesses_below(const LoopSite& site, const Stmt& statement);
/// How many iterators at the end of a block's list stand for the guard of a split whose tail would
/// otherwise reach into the neighbouring tile. GuardsAttr holds the number. They occur in no
/// body.
std::size_t guard_count(const BlockNode& block);
void set_guard_count(BlockNode& block, std::size_t count);

/// Reads, or writes, of one block over its iterators.
Vec<AccessSite> reads_of(const BlockNode& block);
Vec<AccessSite> writes_of(const BlockNode& block);

/// Buffers that s touches, each once, in order of first use.
Vec<Buffer> buffers_read(const Stmt& s);
Vec<Buffer> buffers_written(const Stmt& s);
/// What a block reads when it runs, its predicate included; not what its init sets before.
Vec<Buffer> buffers_read(const BlockNode& block);

/// Blocks that write, or read, a buffer, in program order. Innermost blocks only.
Vec<BlockSite> writers(const Stmt& root, const Buffer& buffer);
Vec<BlockSite> readers(const Stmt& root, const Buffer& buffer);
/// Blocks that write a buffer which the block reads, and blocks that read what it writes; itself
/// excluded.
Vec<BlockSite> producers(const Stmt& root, const BlockTag& tag);
Vec<BlockSite> consumers(const Stmt& root, const BlockTag& tag);

/// True if the buffer is allocated within root (not a parameter).
bool is_private(const Stmt& root, const Buffer& buffer);

/// The innermost loop above both, or an empty ref.
ForRef common_loop(const Vec<ForRef>& a, const Vec<ForRef>& b);

namespace detail {

inline void add_once(Vec<Buffer>& all, const Buffer& b) {
  for (const auto& x : all)
    if (x == b) return;
  all.push_back(b);
}

}  // namespace detail

}  // namespace lathe

// How the steps of a schedule find their place in a program, rebuild it, and word what they refuse.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/region.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/records.hpp>

namespace lathe::detail {

// --- rebuilding
// ---------------------------------------------------------------------------------------------------

/// The root of a path after its last statement was replaced; an empty statement removes it, and the
/// loops that held nothing else with it.
Stmt replace_at(const Vec<Stmt>& path, Stmt with);
/// The root after a statement was put right before, or right after, the last one of a path.
Stmt insert_before(const Vec<Stmt>& path, Stmt what);
Stmt insert_after(const Vec<Stmt>& path, Stmt what);
/// Allocates a buffer around the whole program.
Stmt add_alloc(const Stmt& root, const Buffer& buffer);
Stmt remove_alloc(const Stmt& root, const Buffer& buffer);

/// A loop without its body.
struct LoopHead {
  VarRef var;
  AnyExpr min, extent;
  ForKind kind = ForKind::serial;
  Annotations annotations = {};
};
LoopHead head_of(const ForNode& loop);
Stmt wrap_loops(const Vec<LoopHead>& heads, Stmt body);
/// The same loops over fresh variables; `map` then also takes each old variable to its new one.
Vec<LoopHead> fresh_loops(const Vec<ForRef>& loops, Substitution& map);

/// Names that a program uses, for choosing new ones.
class NamePool {
 public:
  explicit NamePool(const Program& program) : program_(program) {}
  /// `base` if it is free, else base_1, base_2 …; taken from then on.
  std::string fresh(const std::string& base);
  bool taken(const std::string& name) const;

 private:
  Program program_;
  Vec<std::string> given_;
};
/// Names for loops: those of the loops around a place, not of the whole program.
std::string loop_name(const std::string& base, Vec<std::string>& used);

// --- looking
// ------------------------------------------------------------------------------------------------------

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
const StoreNode* only_store(const BlockNode& block);
/// The stores of a block whose body is nothing else; empty otherwise.
Vec<const StoreNode*> stores_of(const BlockNode& block);
/// True if the path passes through nothing but loops, sequences and allocations.
bool is_open_path(const Vec<Stmt>& path);
bool below(const Vec<ForRef>& loops, const VarRef& loop);

// --- wording
// ------------------------------------------------------------------------------------------------------

std::string in_quotes(std::string_view name);
/// "'i'(100)" and, for other kinds than serial, "'i'(100, parallel)".
std::string describe(const ForNode& loop);
/// "loops of 'C': i(100) j(64) r:reduce(64)"
std::string describe_loops(const Program& program, const BlockTag& block);
/// The first block below a loop, for messages; empty if there is none.
BlockTag first_block_below(const Stmt& s);
std::string extent_text(const AnyExpr& extent);

Refusal refusal(std::string_view id, std::string message, std::string help = {});
Refusal refusal_at(const VarRef& loop, std::string_view id, std::string message,
                   std::string help = {});
Refusal refusal_at(const BlockTag& block, std::string_view id, std::string message,
                   std::string help = {});

/// L0206 if a bound of the loop is read from memory that is written below it: steps that state the
/// bound anew would read another number.
Verdict check_fixed_bounds(const ForNode& loop);
/// `id` if a statement in no block touches a buffer that the block touches, and one of them writes:
/// what moves blocks looks at blocks alone. Of one buffer, if it is given.
Verdict check_bare_touches(const Program& program, const BlockNode& block, std::string_view id,
                           const Buffer& only = {});
/// `id` if the block reads a buffer whose elements change while a program goes on, as under a loop
/// that carries state: elsewhere, or computed again, it would read other values.
Verdict check_settled_inputs(const Program& program, const BlockNode& block, std::string_view id);
/// L0204 unless the loop is serial and carries no annotation but a tail, and `except`.
Verdict check_plain_loop(const ForNode& loop, std::string_view except = {});
/// The same, but it may carry marks for what it holds (loop_marks.hpp).
Verdict check_storage_loop(const ForNode& loop);
/// L0204 if the loop carries a mark that ties it to its place.
Verdict check_no_promise(const ForNode& loop);

// --- nests for blocks that move or are new
// ----------------------------------------------------------------------------

/// The values that each iterator of a block has to take so that `indices` reach every element of
/// the region, over the variables of the region; an empty range where that can't be solved. One per
/// iterator.
Vec<Range> solve_ranges(const BlockNode& block, const Vec<AnyExpr>& indices, const Region& region,
                        const Facts& facts);
/// The whole domain of each iterator.
Vec<Range> whole_domains(const BlockNode& block);
/// A range that holds what both hold: the first if it is proven not to be longer; where they start
/// together and neither is proven the longer one, the minimum of the extents; else the second.
/// Give the one that is always right first.
Range shorter(const Range& a, const Range& b, const Facts& facts);
/// The block under one serial loop per iterator: binding = range.min + loop. Loops are named after
/// the iterators.
Stmt nest_of(BlockNode block, const Vec<Range>& ranges, Vec<std::string> used_names);
/// Names of the loops around and below a loop.
Vec<std::string> names_around(const LoopSite& site);
/// Loops that are in one program and no longer in the other, as consumed by a step.
void consume_lost_loops(const Stmt& before, const Vec<ForRef>& loops, Edit& edit,
                        const std::string& what);

/// Empty if all that the consumer reads of the buffer was surely written before, by the producers
/// and in the same iteration of `loop`; else why that is not proven.
std::string why_not_found(const Stmt& root, const Vec<BlockTag>& producers,
                          const BlockTag& consumer, const Buffer& buffer, const VarRef& loop,
                          const Facts& facts);

/// `id` if the init of a block may not move past those loops around it, from position `from` on,
/// that are named: out of them or into them. No two iterations may reach one point, nothing in them
/// may write what decides where the init stores, and nothing else touch what it stores to.
Verdict check_moved_init(const Program& program, const BlockSite& site, std::size_t from,
                         const Vec<VarRef>& passed, std::string_view id);

/// f for the nests of a program, in order: its outermost loops, blocks and other statements.
template <class F>
void each_nest(const Stmt& s, const F& f) {
  if (const auto* a = s.as<AllocNode>()) return each_nest(a->body, f);
  const auto* seq = s.as<SeqNode>();
  if (!seq) return f(s);
  for (const auto& child : seq->stmts) each_nest(child, f);
}
/// The nests of a program that a step made; the others stood in it before.
Vec<Stmt> changed_nests(const Program& before, const Program& after);
/// L0259 if a step moved an init past loops that its block keeps, where it may not, or brought a
/// writer of what the init depends on inside its reduction: in the nests that it made.
Verdict check_inits(const Program& before, const Vec<Stmt>& changed);

/// What every step has to keep: that inits stay, what loops and their marks promise, where buffers
/// live. L0220 L0225 L0259
Verdict check_kept(const Program& before, const Program& after);

// --- steps used by other steps
// ------------------------------------------------------------------------------------

/// The promises of a loop's kind, tested anew.
Verdict check_parallel(const Program& program, const VarRef& loop);
Verdict check_vectorized(const Program& program, const VarRef& loop);
Verdict check_unrolled(const Program& program, const VarRef& loop);
Verdict check_kind(const Program& program, const ForNode& loop);
/// L0255 if loops that are bound to axes do not make kernels.
Verdict check_bound_loops(const Program& program);
/// What a program says of itself that a schedule of it would have proved: kinds of loops, regions
/// that blocks declare, stores past the caches, scopes and strides of temporaries. Programs that
/// come as text or as a script are held to it; those of tensors say none of it.
Verdict check_claims(const Program& program);
/// Whether each iteration of the loop writes all that it reads of the buffer.
bool filled_each_iteration(const Program& program, const Buffer& buffer, const ForNode& loop,
                           const Facts& facts);
/// One iteration, or none.
bool runs_at_most_once(const ForNode& loop);
/// What marks of loops promise (loop_marks.hpp), tested anew after a step: L0225.
Verdict check_marks(const Program& before, const Program& after);
/// L0220 if a buffer outside global memory is touched both inside and outside a loop
/// whose iterations can't share it: a parallel one, one over blocks, one over threads.
Verdict check_lifetime(const Program& program, const Buffer& buffer);

}  // namespace lathe::detail

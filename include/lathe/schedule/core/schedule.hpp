// Schedules: one method per primitive, each of which leaves a valid program. Those on loops, blocks
// and buffers are in headers of their own.
#pragma once

#include <array>
#include <lathe/analysis/footprint.hpp>
#include <lathe/cost/explanation.hpp>
#include <lathe/dsl/program.hpp>
#include <lathe/schedule/core/storage_steps.hpp>
#include <lathe/schedule/core/trace.hpp>
#include <lathe/support/target.hpp>

namespace lathe {

/// A program and the steps that were taken on it. Every step throws UserError and changes nothing
/// if it is not legal: a schedule never changes what the program computes, apart from the rounding
/// that numerics() lists. Cheap to copy; copies go their own ways, and references made before the
/// copy hold for both.
///
/// Errors of all methods: L0201 a reference that is unknown or was consumed · L0202 an argument of
/// no use · L0204 a loop that is not serial or carries an annotation · L0225 the step would break
/// what a parallel, vectorized, unrolled or bound loop promises · L0226 not under
/// ScheduleOptions::strict.
class Schedule : public StorageSteps {
 public:
  Schedule(Program program, ScheduleOptions options = {}, Location where = Location::here());
  /// The program that computes these tensors; its parameters are the inputs, then the outputs.
  /// What takes over an input's memory is declared here: lt::Schedule s(lt::inout(X, Z)).
  Schedule(const AnyTensor& output, ScheduleOptions options = {},
           Location where = Location::here());
  Schedule(const OutputList& outputs, ScheduleOptions options = {},
           Location where = Location::here());

  /// The program as text.
  std::string str() const;
  Trace trace() const;
  /// The steps that may change the rounding of floating-point results, in words; empty if no bit
  /// can differ.
  std::vector<std::string> numerics() const;
  /// The schedule as a page for a browser, in one file that needs no other: what explain() says of
  /// its stages, with a roofline, the tree of loops with
  /// the bytes that an iteration touches of each buffer, the cache of the machine that holds them,
  /// its operations and operations per byte (work_of gives these numbers), the blocks, the buffers
  /// at the size that lowering keeps of them, and the steps.
  std::string html(const Target& machine = host()) const;
  /// What each stage costs under these steps, what limits it, and what would help:
  ///     std::puts(s.explain().str().c_str());
  Explanation explain(const ExplainOptions& options = {}) const;

  /// The block of a tensor, or with a name.
  BlockRef block(const BlockName& name, Location where = Location::here()) const;
  /// All blocks in program order.
  std::vector<BlockRef> blocks() const;
  /// The loops above a block, outermost first.
  std::vector<LoopRef> loops(const BlockName& block, Location where = Location::here()) const;
  /// The same for structured bindings: auto [i, j, r] = s.loops<3>(C);
  template <std::size_t N>
  std::array<LoopRef, N> loops(const BlockName& block, Location where = Location::here()) const {
    return detail::take<N>(loops_n(block, N, where));
  }
  /// The loop with a name, which no other loop of the program has.
  LoopRef loop(std::string_view name, Location where = Location::here()) const;
  /// A loop by its position among all loops of the program, from 0: for loops that hold no block.
  LoopRef loop_at(std::int64_t position, Location where = Location::here()) const;

  /// From here on each Dim is known to be as the condition says, and a call that gives another one
  /// is refused (L0304): s.assume(n % 8 == 0 && n >= 64). versions() calls such a schedule where
  /// its assumptions hold. L0243 a condition that is no least value, largest value or factor of
  /// Dims.
  void assume(const Expr<bool>& condition, Location where = Location::here());

  /// A mark that changes no meaning. Keys: unroll_explicit (loop), max_threads (parallel loop),
  /// stream (block: 1 stores past the caches, 2 only where whole cache lines are filled), and free
  /// ones that start with "user.". L0223.
  void annotate(const LoopRef& loop, std::string_view key, const AttrValue& value,
                Location where = Location::here());
  void annotate(const BlockName& block, std::string_view key, const AttrValue& value,
                Location where = Location::here());
  /// Takes a mark back, also "prefetch" or "hoist_storage" with all buffers that they name. L0223
  /// where there is none of that key.
  void unannotate(const LoopRef& loop, std::string_view key, Location where = Location::here());
  void unannotate(const BlockName& block, std::string_view key, Location where = Location::here());

  /// Factors that multiply to the loop's extent, drawn at random: the innermost among those from
  /// min_inner to max_inner. They are symbols, for split. The decision, one factor each, can be
  /// given; a trace records it. L0233: no such factors, or an extent that is no number above 0.
  template <std::size_t N>
  std::array<Sample, N> sample_perfect_tile(const LoopRef& loop, std::int64_t max_inner = 64,
                                            std::int64_t min_inner = 1,
                                            const std::vector<std::int64_t>& decision = {},
                                            Location where = Location::here()) {
    return detail::take<N>(sample_perfect_tile_any(loop, N, max_inner, min_inner, decision, where));
  }
  /// The same for a number of factors that is known at run time.
  Vec<Sample> sample_perfect_tile_any(const LoopRef& loop, std::size_t n,
                                      std::int64_t max_inner = 64, std::int64_t min_inner = 1,
                                      const std::vector<std::int64_t>& decision = {},
                                      Location where = Location::here());
  /// One of the values, drawn by weight (all alike if none are given). The decision is its
  /// position. L0233: no values, or weights that do not fit them.
  Sample sample_categorical(const std::vector<std::int64_t>& values,
                            const std::vector<std::int64_t>& weights = {},
                            std::int64_t decision = -1, Location where = Location::here());
  /// Computes a block at one of its places, drawn among those that are legal: where it is ("root"),
  /// in the expressions that read it ("inline", as compute_inline), or under a loop of a consumer
  /// ("C:1", as compute_at with the second loop above block C). References as for these. L0233 a
  /// decision that is no place; else the errors of the step that it stands for.
  void sample_compute_location(const BlockName& block, std::string_view decision = "auto",
                               Location where = Location::here());

  /// What was sampled. A step that is told this number does not follow another decision. L0201 for
  /// a sample of another schedule.
  std::int64_t value(const Sample& sample, Location where = Location::here()) const;

 private:
  Vec<LoopRef> loops_n(const BlockName& block, std::size_t n, Location where) const;
};

/// The same steps on a program. Only on the one that the trace was recorded on, unless any_program
/// (then a step that does not fit is refused by its own id). L0227 another program, or a step that
/// gives another number of results.
Schedule replay(const Trace& trace, Schedule start, bool any_program = false,
                Location where = Location::here());

}  // namespace lathe

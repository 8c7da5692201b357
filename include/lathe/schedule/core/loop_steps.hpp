// The steps that make other loops of loops, or say how their iterations run.
#pragma once

#include <array>
#include <initializer_list>
#include <lathe/schedule/core/schedule_state.hpp>
#include <optional>
#include <vector>

namespace lathe {

/// Methods of Schedule, whose comment says what holds for all steps.
class LoopSteps : public detail::ScheduleState {
 public:
  /// One loop becomes several nested ones. With infer for one factor they cover the loop, and the
  /// tail is guarded unless named; without, they must multiply to its extent.
  ///     for i < 100   → split(i, {infer, 8}) →   for io < 13: for ii < 8:
  ///                                              with i = io*8 + ii, where it is below 100
  /// Tail::guard leaves the tests' places to lowering, mask keeps one version of all tiles, peel
  /// runs whole tiles apart from what is left, shift computes a part of the last one twice. With
  /// round_up the last tile computes past the end: domains and temporaries below the loop become
  /// longer, all that the blocks store is temporary, and all that they read there exists.
  /// The loop is consumed. L0203 factors · L0224 tail.
  template <std::size_t N>
  std::array<LoopRef, N> split(LoopRef loop, const Factor (&factors)[N],
                               std::optional<Tail> tail = {}, Location where = Location::here()) {
    return detail::take<N>(
        split_any(std::move(loop), Vec<Factor>(factors, factors + N), tail, where));
  }
  /// The same for a number of factors that is known at run time.
  Vec<LoopRef> split_any(LoopRef loop, const Vec<Factor>& factors, std::optional<Tail> tail = {},
                         Location where = Location::here());

  /// Loops nested directly in each other become one.
  ///     for i < m: for j < n:   → fuse(i, j) →   for i_j < m*n:   with i = i_j / n, j = i_j % n
  /// They are consumed. L0205 not nested directly · L0206 a bound depends on a fused loop · L0229 a
  /// reduce loop that may be empty with a spatial one.
  LoopRef fuse(LoopRef outer, LoopRef inner, Location where = Location::here());
  LoopRef fuse(LoopRef a, LoopRef b, LoopRef c, Location where = Location::here());
  LoopRef fuse(const std::vector<LoopRef>& loops, Location where = Location::here());

  /// Loops of one sequence become one, in the place of the first, which runs all their bodies in
  /// each iteration. Between them may stand what touches nothing of the later ones. Nests merge
  /// from outside in: the loops inside are of one sequence then.
  ///     for i < n: P[i] = f(i)                 →  for i < n:  P[i] = f(i)
  ///     for x < n: C[x] = g(P[x])  merge(i, x)                C[i] = g(P[i])
  /// They are consumed. L0207 a body would need what a later iteration does · L0230 the loops are
  /// of several sequences, or not in order, a later one can't move past what stands between, they
  /// run over other bounds, or hold what can't run in turn: an assert, or the init of a reduction
  /// over the loop that others need to come first.
  LoopRef merge(LoopRef first, LoopRef second, Location where = Location::here());
  LoopRef merge(const std::vector<LoopRef>& loops, Location where = Location::here());

  /// One loop becomes several, one after the other, with a copy of the body each: a border apart
  /// from what lies inside it, or full tiles apart from the rest.
  ///     for i < n: B   → loop_partition(i, {1, n - 1}) →
  ///     for i0 < 1: B_0       with i = i0
  ///     for i1 < n - 2: B_1   with i = 1 + i1
  ///     for i2 < 1: B_2       with i = n - 1 + i2
  /// Points are values of the loop, as numbers or over Dims; they rise, and a part is empty only
  /// where Dims make it so. Each new loop starts at 0. The loop is consumed, and so is all below:
  /// blocks and loops of the parts are found with blocks() and loops(block). Blocks that together
  /// write a buffer don't move any more: place them before. L0231 points that are not proven to
  /// rise inside the loop · a reduce loop of a block that has its init yet · a body that can't be
  /// copied.
  template <std::size_t N>
  std::array<LoopRef, N + 1> loop_partition(LoopRef loop, const Factor (&points)[N],
                                            Location where = Location::here()) {
    return detail::take<N + 1>(
        loop_partition_any(std::move(loop), Vec<Factor>(points, points + N), where));
  }
  /// The same for a number of points that is known at run time.
  Vec<LoopRef> loop_partition_any(LoopRef loop, const Vec<Factor>& points,
                                  Location where = Location::here());

  /// Permutes loops of one nest; loops between them that are not named keep their place.
  /// Reassociates floats if two loops that feed one reduction swap.
  /// L0205 not one chain · L0206 a bound depends on a loop that would lie inside · L0207 a
  /// dependence forbids it.
  void reorder(std::initializer_list<LoopRef> loops, Location where = Location::here());
  void reorder(const std::vector<LoopRef>& loops, Location where = Location::here());

  /// Two splits and a reorder, in one step: gives outer i, outer j, inner i, inner j. Errors of
  /// both.
  std::array<LoopRef, 4> tile(LoopRef i, LoopRef j, Factor i_tile, Factor j_tile,
                              std::optional<Tail> tail = {}, Location where = Location::here());

  /// A loop of one iteration right above a loop or a block; returns it.
  LoopRef add_unit_loop(const LoopRef& loop, Location where = Location::here());
  LoopRef add_unit_loop(const BlockName& block, Location where = Location::here());

  /// Iterations run on many threads, in any order; at most max_threads if that is not 0. A buffer
  /// that is written and read only inside belongs to the iteration. L0207 a carried dependence ·
  /// L0208 the loop feeds a reduction.
  void parallel(LoopRef loop, std::int64_t max_threads = 0, Location where = Location::here());
  /// Iterations run as lanes, in lockstep. L0207 a dependence that lockstep would reverse · L0208
  /// the loop feeds a reduction · L0209 the extent is no constant, too large, or the body has no
  /// vector form.
  void vectorize(LoopRef loop, Location where = Location::here());
  /// Iterations become copies of the body; with a factor, only that many, in a loop. L0210 no
  /// constant extent, or more copies than the budget.
  void unroll(LoopRef loop, std::int64_t factor = 0, Location where = Location::here());
  /// Iterations become the blocks of a GPU's grid, or the threads of a block: the axis is
  /// "blockIdx" or "threadIdx", with ".x", ".y" or ".z". Threads of a block wait for each other
  /// where a loop over them ends, so that loops after each other hand values on. Processors run the
  /// outermost loop over blocks as a parallel one, the others as serial ones.
  ///     for i < 4096: C[i] = f(i)   →   blockIdx.x for io < 32: threadIdx.x for ii < 128: …
  /// L0255 loops that make no kernel: two of one axis in each other or of different extents in one
  /// outermost loop, blocks in threads, more than 1024 threads or no number of them, a condition
  /// around · L0207 L0208 as for parallel · L0220 memory that not all of them see.
  void bind(LoopRef loop, std::string_view axis, Location where = Location::here());

  /// Whether the iterations of a loop run apart for which a condition below holds that does not
  /// hold for others: a test for an end, a clamped index, a select on the position.
  ///     for i < n: if (i > 0) S; T   → partition(i, always) →   for i < 1: T
  ///                                                             for i in 1..n: S; T
  /// With never such a condition stays where it is, in one copy of the body; automatic, which takes
  /// either back, peels border tiles where that is cheap. Lowering does it; a mark that has nothing
  /// to peel when later steps are done is without effect. L0258: always, but no condition below is
  /// affine in the loop and differs between its iterations · always, for lanes, copies or threads.
  void partition(LoopRef loop, Partition policy, Location where = Location::here());

 protected:
  using ScheduleState::ScheduleState;
};

}  // namespace lathe

// Schedules: one method per primitive, each of which leaves a valid program.
#pragma once

#include <array>
#include <initializer_list>
#include <lathe/analysis/footprint.hpp>
#include <lathe/dsl/program.hpp>
#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/schedule/core/trace.hpp>
#include <lathe/support/target.hpp>

namespace lathe {

namespace detail {

class DefaultSteps;

/// A set of nodes by identity that is never changed: with one more it shares most of itself. A
/// search tree by hashes of addresses, so that it is flat enough as it grows.
struct RefTree : RefCounted {
  RefTree(const RefCounted* its_node, Ref<RefTree> its_less, Ref<RefTree> its_more)
      : node(its_node), less(std::move(its_less)), more(std::move(its_more)) {}
  const RefCounted* node;
  Ref<RefTree> less, more;

  static bool holds(const Ref<RefTree>& tree, const RefCounted* node);
  static Ref<RefTree> with(const Ref<RefTree>& tree, const RefCounted* node);
};

}  // namespace detail

struct ScheduleOptions {
  bool strict = false;     ///< refuse steps that may change floating-point rounding (L0226)
  std::uint64_t seed = 0;  ///< of what sampling steps draw
};

/// Which block a method is about: a reference, a tensor (the block that computes it), or a name.
class BlockName {
 public:
  BlockName(BlockRef ref) : tag_(std::move(ref.tag)) {}
  BlockName(const AnyTensor& tensor) : tensor_(tensor) {}
  BlockName(std::string name) : name_(std::move(name)) {}
  BlockName(const char* name) : name_(name) {}

  const BlockTag& tag() const { return tag_; }
  const AnyTensor& tensor() const { return tensor_; }
  const std::string& name() const { return name_; }

 private:
  BlockTag tag_;
  AnyTensor tensor_;
  std::string name_;
};

/// Which buffer a method is about: a tensor, a block (what it writes), or a name.
using BufferName = BlockName;

/// A program and the steps that were taken on it. Every step throws UserError and changes nothing
/// if it is not legal: a schedule never changes what the program computes, apart from the rounding
/// that numerics() lists. Cheap to copy; copies go their own ways, and references made before the
/// copy hold for both.
///
/// Errors of all methods: L0201 a reference that is unknown or was consumed · L0202 an argument of
/// no use · L0204 a loop that is not serial or carries an annotation · L0225 the step would break
/// what a parallel, vectorized, unrolled or bound loop promises · L0226 not under
/// ScheduleOptions::strict.
class Schedule {
 public:
  Schedule(Program program, ScheduleOptions options = {}, Location where = Location::here());
  /// The program that computes these tensors; its parameters are the inputs, then the outputs.
  /// What takes over an input's memory is declared here: lt::Schedule s(lt::inout(X, Z)).
  Schedule(const AnyTensor& output, ScheduleOptions options = {},
           Location where = Location::here());
  Schedule(const OutputList& outputs, ScheduleOptions options = {},
           Location where = Location::here());

  // Moving one copies it, so that a schedule always has its program.
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;

  const Program& program() const { return program_; }
  /// The program as text.
  std::string str() const;
  Trace trace() const;
  /// The steps that may change the rounding of floating-point results, in words; empty if no bit
  /// can differ.
  std::vector<std::string> numerics() const;
  /// The schedule as a page for a browser, in one file that needs no other: the tree of loops with
  /// the bytes that an iteration touches of each buffer, the cache of the machine that holds them,
  /// its operations and operations per byte (work_of gives these numbers), the blocks, the buffers
  /// at the size that lowering keeps of them, and the steps.
  std::string html(const Target& machine = host()) const;
  const ScheduleOptions& options() const { return options_; }

  /// The block of a tensor, or with a name.
  BlockRef block(const BlockName& name, Location where = Location::here()) const;
  /// All blocks in program order.
  std::vector<BlockRef> blocks() const;
  /// The loops above a block, outermost first.
  std::vector<LoopRef> loops(const BlockName& block, Location where = Location::here()) const;
  /// The same for structured bindings: auto [i, j, r] = s.loops<3>(C);
  template <std::size_t N>
  std::array<LoopRef, N> loops(const BlockName& block, Location where = Location::here()) const {
    return take<N>(loops_n(block, N, where));
  }
  /// The loop with a name, which no other loop of the program has.
  LoopRef loop(std::string_view name, Location where = Location::here()) const;
  /// A loop by its position among all loops of the program, from 0: for loops that hold no block.
  LoopRef loop_at(std::int64_t position, Location where = Location::here()) const;

  /// One loop becomes several nested ones. With infer for one factor they cover the loop, and the
  /// tail is guarded unless named; without, they must multiply to its extent.
  ///     for i < 100   → split(i, {infer, 8}) →   for io < 13: for ii < 8:   with i = io*8 + ii,
  ///     where it is below 100
  /// Tail::guard leaves the tests' places to lowering, mask keeps one version of all tiles, peel
  /// runs whole tiles apart from what is left, shift computes a part of the last one twice. With
  /// round_up the last tile computes past the end: domains and temporaries below the loop become
  /// longer, all that the blocks store is temporary, and all that they read there exists.
  /// The loop is consumed. L0203 factors · L0224 tail.
  template <std::size_t N>
  std::array<LoopRef, N> split(LoopRef loop, const Factor (&factors)[N],
                               std::optional<Tail> tail = {}, Location where = Location::here()) {
    return take<N>(split_any(std::move(loop), Vec<Factor>(factors, factors + N), tail, where));
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

  /// Loops that follow each other become one, which runs all their bodies in each iteration. Nests
  /// merge from outside in: the loops inside then follow each other.
  ///     for i < n: P[i] = f(i)                 →  for i < n:  P[i] = f(i)
  ///     for x < n: C[x] = g(P[x])  merge(i, x)                C[i] = g(P[i])
  /// They are consumed. L0207 a body would need what a later iteration does · L0230 the loops don't
  /// follow each other, run over other bounds, or hold what can't run in turn: an assert, or the
  /// init of a reduction over the loop that others need to come first.
  LoopRef merge(LoopRef first, LoopRef second, Location where = Location::here());
  LoopRef merge(const std::vector<LoopRef>& loops, Location where = Location::here());

  /// One loop becomes several, one after the other, with a copy of the body each: a border apart
  /// from what lies inside it, or full tiles apart from the rest.
  ///     for i < n: B   → loop_partition(i, {1, n - 1}) →   for i0 < 1: B_0       with i = i0
  ///                                                        for i1 < n - 2: B_1   with i = 1 + i1
  ///                                                        for i2 < 1: B_2       with i = n - 1 +
  ///                                                        i2
  /// Points are values of the loop, as numbers or over Dims; they rise, and a part is empty only
  /// where Dims make it so. Each new loop starts at 0. The loop is consumed, and so is all below:
  /// blocks and loops of the parts are found with blocks() and loops(block). Blocks that together
  /// write a buffer don't move any more: place them before. L0231 points that are not proven to
  /// rise inside the loop · a reduce loop of a block that has its init yet · a body that can't be
  /// copied.
  template <std::size_t N>
  std::array<LoopRef, N + 1> loop_partition(LoopRef loop, const Factor (&points)[N],
                                            Location where = Location::here()) {
    return take<N + 1>(loop_partition_any(std::move(loop), Vec<Factor>(points, points + N), where));
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

  /// The block's stores become atomic updates, so that its loops may be parallel (or bound) where
  /// two iterations update one element.
  ///     block H: H[I[v]] = H[I[v]] + 1   →   block H: atomic H[I[v]] += 1
  /// Sums and products of floats then depend on which thread comes first: they may change from run
  /// to run. L0256 a store that is no update, x = x op y with an operator of which the order is
  /// free; a block that reads what it updates elsewhere too, or has its init yet.
  void atomic(const BlockName& block, Location where = Location::here());

  /// Whether the iterations of a loop run apart for which a condition below holds that does not
  /// hold for others: a test for an end, a clamped index, a select on the position.
  ///     for i < n: if (i > 0) S; T   → partition(i, always) →   for i < 1: T
  ///                                                             for i in 1..n: S; T
  /// With never such a condition stays where it is, in one copy of the body; automatic, which takes
  /// either back, peels border tiles where that is cheap. Lowering does it; a mark that has nothing
  /// to peel when later steps are done is without effect. L0258: always, but no condition below is
  /// affine in the loop and differs between its iterations · always, for lanes, copies or threads.
  void partition(LoopRef loop, Partition policy, Location where = Location::here());

  /// The block moves under a loop of its consumers, and computes there just what they need in one
  /// iteration.
  ///     for x < n: P[x] = f(x)                        for xo:
  ///     for xo: for xi < 8: C = P[xo*8 + xi - 1]   →    for x < 8: P[xo*8 - 1 + x] = f(…), where
  ///     that is in P's domain
  ///                                                     for xi < 8: C = P[xo*8 + xi - 1]
  /// Its loops are consumed. L0211 the place is not legal · L0212 the block can't be moved.
  void compute_at(const BlockName& block, LoopRef loop, Location where = Location::here());
  /// The block moves under a loop of its producers, and handles there what one iteration has
  /// finished. Its loops are consumed. L0213 the place is not legal · L0212 the block can't be
  /// moved.
  void reverse_compute_at(const BlockName& block, LoopRef loop, Location where = Location::here());
  /// Every load of what the block stores becomes the stored expression; the block and its loops are
  /// consumed. L0214.
  void compute_inline(const BlockName& block, Location where = Location::here());
  /// The block's expression moves into its only producer, which then stores the block's output; the
  /// block and its loops are consumed. L0215.
  void reverse_compute_inline(const BlockName& block, Location where = Location::here());

  /// The block reads a copy, in a scope of choice, of the buffer; returns the block that copies,
  /// which stands before the consumer's nest. L0216.
  BlockRef cache_read(const BlockName& consumer, const BufferName& buffer, Scope scope,
                      Location where = Location::here());
  /// The block writes a private buffer; returns the block that copies it out, which stands after
  /// the nest. L0217.
  BlockRef cache_write(const BlockName& block, Scope scope, Location where = Location::here());

  /// The block touches a copy of the buffer that has an axis for each of its own iterators: those
  /// that the index names where it reads, the spatial ones where it writes. The copy may be larger.
  ///     Y[i] += X[i * 2 + r] * W[r]   → reindex("Y", "X") →   X_reindex[i, r] = X[i * 2 + r]
  ///                                                           Y[i] += X_reindex[i, r] * W[r]
  /// Returns the block that copies. L0232: the block touches the buffer at several places, or maybe
  /// outside of it.
  BlockRef reindex(const BlockName& block, const BufferName& buffer,
                   Location where = Location::here());

  /// The consumers read a private copy of what the block computes: a second block, right after the
  /// nest that holds this one alone, which stores to a buffer of its own. So each of both can be
  /// placed by itself.
  ///     P[i] = f(i)                                     P[i] = f(i)
  ///     C[j] = P[j] + 1   → clone("P", {"D"})   →       P_clone[i] = f(i)
  ///     D[k] = P[k] * 2                                 C[j] = P[j] + 1
  ///                                                     D[k] = P_clone[k] * 2
  /// Returns the copy's block. L0250: a block that is not complete and no whole reduction, or not
  /// the only writer of its output · a consumer that does not read it, or not by loads · no other
  /// reader is left.
  BlockRef clone(const BlockName& block, const std::vector<BlockName>& consumers,
                 Location where = Location::here());

  /// The init of a reduction becomes a block of its own right before `loop`; the block stays as the
  /// update. L0218: no init, or a loop above `loop` feeds the reduction, or something between
  /// touches the output.
  BlockRef decompose_reduction(const BlockName& block, LoopRef loop,
                               Location where = Location::here());
  /// The extent of each iterator of a block is rounded up to a multiple, so that tiles and
  /// intrinsics fit without a rest; 1 leaves it as it is. The block reads copies with zeros in the
  /// padding, and writes one whose padding is left behind.
  ///     for i < 30: for r < 9: C[i] += A[i, r] * B[r]   → pad("C", {16, 4}) →
  ///     for i < 32: for r < 12: A_pad[i, r] = select(i < 30 && r < 9, A[i, r], 0)
  ///     for r < 12: B_pad[r] = select(r < 9, B[r], 0)
  ///     for i < 32: for r < 12: C_pad[i] += A_pad[i, r] * B_pad[r]
  ///     for i < 30: C[i] = C_pad[i]
  /// Where the zeros of the copies don't leave a reduction as it is, it takes its identity in the
  /// padding, by a condition. Returns the blocks that copy: those of the operands in the order of
  /// their first use, then that of the output. L0252: an iterator that is no loop of its own · an
  /// operand at several places, or maybe outside of it · a reduction whose identity is not neutral.
  template <std::size_t N>
  std::array<BlockRef, N> pad(const BlockName& block, const std::vector<Factor>& multiples,
                              Location where = Location::here()) {
    return take<N>(pad_n(block, multiples, N, where));
  }
  /// The same for a number of copies that is known at run time.
  Vec<BlockRef> pad(const BlockName& block, const std::vector<Factor>& multiples,
                    Location where = Location::here()) {
    return pad_n(block, multiples, {}, where);
  }
  /// A block that stores a constant outside of a box becomes two: one stores the constant
  /// everywhere, right before `loop`, and the block stays for what lies inside. Neither needs a
  /// test.
  ///     for i < n + 2: P[i] = select(i > 0 && i < n + 1, X[i - 1], 0)   →
  ///     for i < n + 2: P_fill: P[i] = 0
  ///     for i in 1..n + 1: P[i] = X[i - 1]
  /// Returns the block of the constant. Blocks that together write a buffer don't move any more:
  /// place them before. L0251: not one store of select(condition, value, constant) · a condition
  /// that is no box of iterators · something else inside the loop touches the output.
  BlockRef decompose_padding(const BlockName& block, LoopRef loop,
                             Location where = Location::here());
  /// Each iteration of a reduce loop gets a partial result of its own, in a new dimension at `axis`
  /// of a new buffer; the block combines these. Returns the block of the partial results.
  /// Reassociates floats. L0219.
  BlockRef rfactor(LoopRef loop, int axis = 0, Location where = Location::here());

  /// The nest from this loop inward becomes one block, with the loops inside as they are: steps on
  /// blocks and their loops then take it as a unit, and no block enters it. Iterators count what
  /// the loops around count.
  ///     for io < 4: for ii < 8:             →   for io < 4:
  ///       block C(vi in 0..32 = io*8 + ii):       block C(vio in 0..4 = io):
  ///         C[vi] = A[vi] * 2                       for ii < 8: C[vio*8 + ii] = A[vio*8 + ii] * 2
  /// The block keeps its reference. Several blocks in the nest run in turn inside of the last of
  /// them; the others are consumed. Vectorized and unrolled loops stay so; parallel ones
  /// and marked ones don't go inside (L0204). A reduction comes without its init. L0257: an
  /// iterator mixes loops inside and outside · a guard cuts through tiles · the bound of a loop
  /// inside needs a loop that no iterator tells.
  void blockize(LoopRef loop, Location where = Location::here());

  /// The loops from this one inward, which hold one block alone, become an intrinsic: what the
  /// description of a row says that it computes, up to names and the order of loops and of
  /// commutative operands, must be what they do. A reduction needs its init apart first.
  ///     for j < 16: for k < 4:                    →   block C: C[jo*16 .. +16] = dot4(…)
  ///       block C: C[jo*16 + j] += A[…] * B[…]
  /// The loops are consumed; the block stays, and steps that look into blocks no longer take it: do
  /// them before. Changes the rounding of floats where the row says so. Rows are named
  /// (tensor_intrins()) or given: rows of a program's own need no registration, traces hold their
  /// texts. L0235 the first difference · L0236 a row of no use.
  void tensorize(LoopRef loop, std::string_view name, Location where = Location::here());
  void tensorize(LoopRef loop, const TensorIntrin& row, Location where = Location::here());
  /// A row by its texts, as trace().cpp() writes it.
  void tensorize(LoopRef loop, std::string_view name, std::string_view description,
                 std::string_view implementation, std::string_view rounding = {},
                 Location where = Location::here());

  /// Where a private buffer lives. L0220.
  void set_scope(const BufferName& buffer, Scope scope, Location where = Location::here());
  /// Elements of a private buffer move: s.transform_layout(B, [](Index a, Index b) { return
  /// layout(b / 32, a, b % 32); }) L0221 unless the map is proved injective on the shape. New
  /// places that no element moves to stay unread.
  template <class F>
  requires(!std::is_convertible_v<const F&, LayoutMap>) void transform_layout(
      const BufferName& buffer, const F& map, Location where = Location::here()) {
    transform_layout(buffer, layout_map(map), where);
  }
  void transform_layout(const BufferName& buffer, LayoutMap map, Location where = Location::here());
  /// The stride of a private buffer's dimension, in elements, is offset modulo factor: rows that
  /// begin at a multiple of 16 elements, or rows whose columns don't share a cache set. It holds on
  /// the strides that the buffer has in the end, when moves have made it smaller. A factor of 1
  /// takes it back. Transform the layout before. L0239: a parameter, the last dimension, or numbers
  /// that don't fit.
  void storage_align(const BufferName& buffer, std::int64_t dim, std::int64_t factor,
                     std::int64_t offset = 0, Location where = Location::here());
  /// A private buffer holds integers of another type, in which sums are then added up too: narrower
  /// ones for more lanes and less memory.
  ///     alloc C: i32[n]; C[i] sum= i32(A[i, r]) * i32(B[r])   → change_type(C, i16) →
  ///     alloc C: i16[n]; C[i] sum= i16(A[i, r]) * i16(B[r]), and readers load i32(C[i])
  /// L0253: a parameter · no integers · values that are not proven to fit: those of inputs are as
  /// their type, a sum is its terms times how many there are.
  void change_type(const BufferName& buffer, DType dtype, Location where = Location::here());
  /// A private buffer is allocated above the loop, once for all of its iterations, where it would
  /// be inside: it keeps the size that one iteration needs. The loop is not split or marked after
  /// that. L0240: it is allocated above anyway, or belongs to one iteration of a parallel or
  /// vectorized loop inside.
  void hoist_storage(const BufferName& buffer, LoopRef loop, Location where = Location::here());
  /// Iterations of the loop take turns with two versions of a private buffer that each fills anew,
  /// of the size that one iteration needs: a write need not wait for reads of the one before.
  ///     for xo: for a < 10: P[a] = …   →   alloc P[2, 10]; for xo: for a < 10: P[xo % 2, a] = …
  ///             for xi < 8: C = P[xi]                              for xi < 8: C = P[xo % 2, xi]
  /// Lowering does that: until then the loop carries a mark, stays as it is, and steps that would
  /// break the mark are refused (L0225). L0245: used outside, written by several blocks, not proved
  /// to be filled, or used by an opaque block.
  void double_buffer(const BufferName& buffer, LoopRef loop, Location where = Location::here());
  /// A block below the loop computes in each iteration a window of rows, which moves on by less
  /// than it holds: the rows that the iteration before has computed are kept, in a buffer of one
  /// window.
  ///     for y: for r < 3: for x: P[y + r, x] = …     for y: for r from (y == 0 ? 0 : 2) to 3:
  ///            for x: C[y, x] = P[y, x] + …       →             for x: P[(y + r) % 3, x] = …
  ///                                                         for x: C[y, x] = P[y % 3, x] + …
  /// compute_at makes such a block. The loop is marked as by double_buffer. L0246: no such window,
  /// a buffer that is used outside of the loop, or a read not proved to lie in the window.
  void rolling_buffer(const BlockName& block, LoopRef loop, Location where = Location::here());
  /// Statements of a loop's body run for different iterations at a time: in step t, statement k
  /// does its part of iteration t - stages[k], in the order that `orders` gives.
  ///     for i < n: P = …; C[i] = P   → stages {0, 1}, orders {0, 1} →
  ///     P[0] = …; for i from 1 to n: { P[i % 2] = …; C[i - 1] = P[(i - 1) % 2] }; C[n - 1] = …
  /// Buffers that each fills get versions; the loop is marked as by double_buffer. L0247: not one
  /// stage and order for each statement, or one would run before another whose values it needs.
  void software_pipeline(LoopRef loop, const std::vector<std::int64_t>& stages,
                         const std::vector<std::int64_t>& orders,
                         Location where = Location::here());
  /// The block runs over other iterators, which a map gives from its own; its loops are made anew,
  /// one for each.
  ///     for i < n: for j < m: B[i, j]   → s.transform_block_layout(B, [](Index i, Index j) {
  ///                                          return layout(j / 4, i, j % 4); })   →
  ///     for j < m/4: for i < n: for j_1 < 4: B[i, j*4 + j_1]
  /// Its loops are consumed. Reassociates floats if reduce iterators come in another order. L0238
  /// unless the map is proved to take the domain to a box without gaps, no index mixes spatial and
  /// reduce iterators, and nothing else runs in the block's loops.
  template <class F>
  requires(!std::is_convertible_v<const F&, LayoutMap>) void transform_block_layout(
      const BlockName& block, const F& map, Location where = Location::here()) {
    transform_block_layout(block, layout_map(map), where);
  }
  void transform_block_layout(const BlockName& block, LayoutMap map,
                              Location where = Location::here());
  /// A hint: fetch what the loop reads of the buffer `distance` iterations ahead. Each iteration of
  /// the loops inside fetches its own part, once a cache line; what several of them read they fetch
  /// in turn. Locality 0 (once), 2 (second cache) to 3 (keep). L0222.
  void prefetch(const BufferName& buffer, LoopRef loop, std::int64_t distance, int locality = 3,
                Location where = Location::here());

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
    return take<N>(sample_perfect_tile_any(loop, N, max_inner, min_inner, decision, where));
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

  /// Runs one primitive by name: what replay, the parser and a search use. Results as the primitive
  /// gives them.
  Args apply(const Primitive& primitive, Args given, Location where = Location::here());
  /// Whether it would be legal, without doing it. Never throws for what the arguments are.
  Verdict check(const Primitive& primitive, const Args& args) const;

 private:
  // One step back in history; copies of a schedule share their past.
  struct Step : RefCounted {
    Ref<Step> previous;
    TraceEntry entry;
    Vec<Consumed> consumed;
    Vec<std::int64_t> samples;  ///< values of the entry's results
    std::string reassociates;

    Step() = default;
    Step(Step&&) = default;
    LATHE_DECL ~Step() override;
  };

  template <std::size_t N, class Ref>
  static std::array<Ref, N> take(const Vec<Ref>& all) {
    std::array<Ref, N> out;
    for (std::size_t k = 0; k < N; ++k) out[k] = all[k];
    return out;
  }
  Vec<LoopRef> loops_n(const BlockName& block, std::size_t n, Location where) const;
  Vec<BlockRef> pad_n(const BlockName& block, const std::vector<Factor>& multiples,
                      std::optional<std::size_t> n, Location where);
  Verdict check_reference(const Arg& arg) const;
  const std::int64_t* sampled(const VarRef& var) const;
  Arg with_samples(const Arg& arg) const;
  Verdict prepare(const Primitive& primitive, const Args& given, Args& args) const;
  Verdict try_step(const Primitive& primitive, const Args& args, Edit& edit) const;
  void record(const Primitive& primitive, Args args, Edit edit, Location where);
  void define_inputs(const Args& args, Location where);
  bool defined(const RefCounted* ref) const;
  BlockTag resolve_block(const BlockName& name, std::string_view step, Location where) const;
  std::string resolve_buffer(const BufferName& name, std::string_view step, Location where) const;
  [[noreturn]] void refuse(std::string_view step, const Refusal& why, Location where) const;
  Vec<LoopRef> step_to_loops(const Primitive& primitive, Args args, Location where);

  friend class detail::DefaultSteps;

  Program program_;
  std::uint64_t origin_hash_ = 0;
  ScheduleOptions options_;
  Ref<Step> last_;
  Ref<detail::RefTree> defined_;  ///< what steps gave
  bool shows_places_ = true;      ///< refusals tell where, which takes all of the program's text
};

/// The same steps on a program. Only on the one that the trace was recorded on, unless any_program
/// (then a step that does not fit is refused by its own id). L0227 another program, or a step that
/// gives another number of results.
Schedule replay(const Trace& trace, Schedule start, bool any_program = false,
                Location where = Location::here());

}  // namespace lathe

// The steps that place, copy, divide and replace blocks.
#pragma once

#include <array>
#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/schedule/core/loop_steps.hpp>
#include <optional>
#include <vector>

namespace lathe {

/// Methods of Schedule, whose comment says what holds for all steps.
class BlockSteps : public LoopSteps {
 public:
  /// The block's stores become atomic updates, so that its loops may be parallel (or bound) where
  /// two iterations update one element.
  ///     block H: H[I[v]] = H[I[v]] + 1   →   block H: atomic H[I[v]] += 1
  /// Sums and products of floats then depend on which thread comes first: they may change from run
  /// to run. L0256 a store that is no update, x = x op y with an operator of which the order is
  /// free; a block that reads what it updates elsewhere too, or has its init yet.
  void atomic(const BlockName& block, Location where = Location::here());

  /// The block moves under a loop of its consumers, and computes there just what they need in one
  /// iteration.
  ///     for x < n: P[x] = f(x)                        for xo:
  ///     for xo: for xi < 8: C = P[xo*8 + xi - 1]   →    for x < 8: P[xo*8 - 1 + x] = f(…)
  ///                                                     for xi < 8: C = P[xo*8 + xi - 1]
  /// What lies outside of P's domain is left out.
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

  /// The block reads a copy of the buffer in which what it pads, clamps or converts has happened:
  /// values that depend on the iterators through the place of the load alone.
  ///     Y[i] += select(0 <= i + r - 1 && i + r - 1 < n, X[i + r - 1], 0) * W[r]
  ///     → cache_padded("Y", "X") →   X_padded[v + 1] = select(0 <= v && v < n, X[v], 0)
  ///                                  Y[i] += X_padded[i + r] * W[r]
  /// Returns the block that copies. L0261: a value depends on more, several differ, or a place has
  /// no bounds over Dims.
  BlockRef cache_padded(const BlockName& block, const BufferName& buffer,
                        Location where = Location::here());

  /// The block touches a copy of the buffer that has an axis for each of its own iterators: those
  /// that the index names where it reads, the spatial ones where it writes. The copy may be larger.
  ///     Y[i] += X[i * 2 + r] * W[r]   → reindex("Y", "X") →   X_reindex[i, r] = X[i * 2 + r]
  ///                                                           Y[i] += X_reindex[i, r] * W[r]
  /// Returns the block that copies. L0232: the block touches the buffer at several places, or maybe
  /// outside of it.
  BlockRef reindex(const BlockName& block, const BufferName& buffer,
                   Location where = Location::here());

  /// What the block computes again in each iteration of a loop around it, and reads from a buffer
  /// now: the largest such value, by its nodes, over those iterators of the block that it names.
  /// Conditions and places are none.
  ///     Y[n, p, c] = X[n, p, c] / sqrt(v[c] + e)   → hoist_invariant("Y", p) →
  ///     Y_hoisted[c] = sqrt(v[c] + e)
  ///     Y[n, p, c] = X[n, p, c] / Y_hoisted[c]
  /// Returns the block that computes it, which stands as far out as nothing writes what it reads.
  /// Called again, it takes the next largest. L0264: there is none, it reads what the block writes,
  /// or it may read outside of a buffer where the block doesn't.
  BlockRef hoist_invariant(const BlockName& block, LoopRef loop, Location where = Location::here());

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
    return detail::take<N>(pad_n(block, multiples, N, where));
  }
  /// The same for a number of copies that is known at run time.
  Vec<BlockRef> pad(const BlockName& block, const std::vector<Factor>& multiples,
                    Location where = Location::here()) {
    return pad_n(block, multiples, kAnyNumber, where);
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
  /// A sum of integers whose terms are sums of products becomes a sum for each product, over the
  /// iterators that it names: what the others repeat is computed once.
  ///     C[i, j] += (A[i, r] - z) * (B[r, j] - 128)   for r < n   →   split_terms("C")   →
  ///     C_sum[i] += A[i, r]                          C_sum_1[j] += B[r, j]
  ///     C_terms[i, j] += A[i, r] * B[r, j]
  ///     C_added[i, j] = C_terms[i, j] - C_sum[i] * 128 - z * C_sum_1[j] + z * (128 * n)
  /// The block keeps the products that name all of these iterators. Sums wrap, so that no bit
  /// differs. Returns the blocks of the other sums, then that of the result. L0269: no sum of
  /// integers · a condition · loops that are split or fused · terms that are one product.
  template <std::size_t N>
  std::array<BlockRef, N> split_terms(const BlockName& block, Location where = Location::here()) {
    return detail::take<N>(split_terms_n(block, N, where));
  }
  /// The same for a number of blocks that is known at run time.
  Vec<BlockRef> split_terms(const BlockName& block, Location where = Location::here()) {
    return split_terms_n(block, kAnyNumber, where);
  }
  /// Each iteration of a reduce loop gets a partial result of its own, in a new dimension at `axis`
  /// of a new buffer; the block combines these. Returns the block of the partial results.
  /// Reassociates floats. L0219.
  BlockRef rfactor(LoopRef loop, int axis = 0, Location where = Location::here());
  /// Windows of neighbouring results share what they have in common: where terms depend on a
  /// spatial iterator and that of the reduce loop through one place alone, each place has a partial
  /// result over the other reduce loops, and the block combines those of its window.
  ///     Y[i, j] += X[i + a, j + b]   → share_window(b) →   Y_window[i, p] += X[i + a, p]
  ///                                                        Y[i, j] += Y_window[i, j + b]
  /// Returns the block of the partial results. Reassociates floats. L0268.
  BlockRef share_window(LoopRef loop, Location where = Location::here());
  /// A reduction in lanes: each of so many has a partial result of its own in registers, of every
  /// lanes-th term, and a tree folds them: half of them joins the other half in vectors, until the
  /// block joins the last two.
  ///     for i: for r < n: S[i] += X[i, r]   → fold_lanes(r, 8) →
  ///     for i: for ro < n/8: vectorized ri < 8: S_part[i, ri] += X[i, ro*8 + ri]
  ///            vectorized ri < 4: S_part_1[i, ri] = S_part[i, ri] + S_part[i, ri + 4]
  ///            vectorized ri < 2: S_part_2[i, ri] = S_part_1[i, ri] + S_part_1[i, ri + 2]
  ///            for ri < 2: S[i] += S_part_2[i, ri]
  /// The number of lanes is a power of 2, better several registers than one: their terms don't wait
  /// for each other. What is left of the terms is as the tail of a split says, apart (Tail::peel)
  /// if it says nothing; lanes without a term hold the identity. Loops of other spatial axes inside
  /// of the reduction stay inside: rows in turn. Any reducer that is associative and commutative,
  /// also of several results. Halide folds so where an atomic reduction is vectorized, which says
  /// neither how many partial results there are nor where they live. Returns the block of the
  /// partial results, whose loops are those around, those of the reduction, those inside, the
  /// lanes. Reassociates floats. L0260: another number of lanes · a reducer that is not commutative
  /// · L0219, and what split and vectorize refuse.
  BlockRef fold_lanes(LoopRef loop, int lanes, std::optional<Tail> tail = {},
                      Location where = Location::here());

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

  /// Choices that all instances of the block decide alike become what they choose: those of padding
  /// that no read reaches.
  ///     Y[i] += select(0 <= i && i < n, X[i], 0) * W[r]   for i < n   →   Y[i] += X[i] * W[r]
  /// L0263: there are none.
  void resolve_selects(const BlockName& block, Location where = Location::here());

  /// A reduction of as many terms as other iterators say runs through the box around them, and
  /// leaves out what is not of them: copies, tiles and lanes of a box are more than those of a
  /// triangle.
  ///     Y[i] += X[r]  for r <= i   →   Y[i] += X[r]  for r < n  where r <= i
  /// L0265: no reduce iterator depends on others, or its loop or bounds are not known.
  void box_domain(const BlockName& block, Location where = Location::here());

  /// A reduction of select(c, x, e), where e leaves the result as it is, leaves out the terms for
  /// which c does not hold. Parts of c that read memory, or name no reduce iterator, stay; a band
  /// |i - r| < c has two sides.
  ///     Y[i] += select((i - r) % 2 == 0 && r <= i, X[i, r], 0)   →
  ///     Y[i] += X[i, r]  where (i - r) % 2 == 0 && r <= i
  /// L0262: no choice, none of its values is neutral, or nothing moves.
  void select_to_predicate(const BlockName& block, Location where = Location::here());

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

 protected:
  using LoopSteps::LoopSteps;

 private:
  static constexpr std::size_t kAnyNumber = ~std::size_t{0};
  Vec<BlockRef> pad_n(const BlockName& block, const std::vector<Factor>& multiples,
                      std::size_t number, Location where);
  Vec<BlockRef> split_terms_n(const BlockName& block, std::size_t number, Location where);
  /// What a primitive gives, which has to be as many as are asked for.
  Vec<BlockRef> blocks_of(const Primitive& primitive, Args args, std::size_t number,
                          Location where);
};

}  // namespace lathe

// The steps that say where buffers live, how they lie there, and when they are filled.
#pragma once

#include <lathe/schedule/core/block_steps.hpp>
#include <vector>

namespace lathe {

/// Methods of Schedule, whose comment says what holds for all steps.
class StorageSteps : public BlockSteps {
 public:
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
  /// A private buffer holds its numbers in another type. Integers: sums are then added up in it
  /// too, in narrower ones for more lanes and less memory. Floats that no reduction adds up: a
  /// wider type, so that a copy is converted once for all that read it.
  ///     alloc C: i32[n]; C[i] sum= i32(A[i, r]) * i32(B[r])   → change_type(C, i16) →
  ///     alloc C: i16[n]; C[i] sum= i16(A[i, r]) * i16(B[r]), and readers load i32(C[i])
  /// The least, the largest and positions of either are compared in the new type, in which another
  /// number stands for the identity.
  /// An offset is added to each number, and taken off where it is read: bytes of either sign for an
  /// instruction that takes those of the other.
  ///     P[i] = B[i] of i8; C = i32(P[i])   → change_type(P, u8, 128) →
  ///     P[i] = u8(B[i]) + 128u8; C = i32(P[i]) - 128
  /// L0253: a parameter · bool, i4, u64 · values that are not proven to fit: those of inputs are as
  /// their type, a sum is its terms times how many there are · floats to integers or to a type that
  /// is not wider, integers to floats · a sum of floats · an offset of a reduction, or of floats.
  void change_type(const BufferName& buffer, DType dtype, Location where = Location::here());
  void change_type(const BufferName& buffer, DType dtype, std::int64_t offset,
                   Location where = Location::here());
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
  /// A hint: fetch what the loop reads of the buffer `distance` iterations ahead. Each iteration of
  /// the loops inside fetches its own part, once a cache line; what several of them read they fetch
  /// in turn. Locality 0 (once), 2 (second cache) to 3 (keep). L0222.
  void prefetch(const BufferName& buffer, LoopRef loop, std::int64_t distance, int locality = 3,
                Location where = Location::here());

 protected:
  using BlockSteps::BlockSteps;
};

}  // namespace lathe

// Lanes that lie a constant number of elements apart, from dense vectors by shuffles.
#pragma once

#include <lathe/ir/expr.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe::detail {

/// Below AVX-512 elements move within so many bytes, or these as a whole.
inline constexpr int kPieceBytes = 16;

/// Smallest first; none of 1.
Vec<std::int64_t> prime_factors(std::int64_t n);

/// Whether TargetCaps::turns_bytes is about vectors of this type.
bool turns_bytes(DType type, const TargetCaps& caps);
/// Instructions of a shuffle of two vectors that moves so many bytes at a time.
int merge_cost(DType type, int bytes, const TargetCaps& caps);

/// Memory that follows each other: elements base to base + extent - 1 of a buffer may be read, or
/// those before base + limit where there is one.
struct Run {
  Buffer buffer;
  AnyExpr base;
  std::int64_t extent = 0;
  AnyExpr limit;
};

/// Elements of a run from the `first` one on, as one vector; 0 where it has ended.
AnyExpr loaded_part(const Run& run, std::int64_t first, DType type, const TargetCaps& caps);

/// Dense loads and shuffles, each a variable, and what they cost.
class NamedShuffles {
 public:
  Vec<LetBinding> lets;
  int loads = 0, instructions = 0;  ///< of memory; of shuffles

 protected:
  AnyExpr named(AnyExpr value);
};

/// Elements `stride` apart of a run of memory that is read as dense vectors: the prime factors of
/// the stride are taken in turn, each a merge of as many vectors as it says, whose results all
/// offsets share. s strided vectors are s dense ones and, for a power of two, s * log2(s) shuffles.
/// Narrow lanes at odd strides go by LaneBlocks. Where wider elements merge in fewer instructions,
/// those of each 16 bytes are sorted before by their offset, and then move together.
class Deinterleave : public NamedShuffles {
 public:
  /// The run is at least as long as a vector of this type.
  Deinterleave(DType type, std::int64_t stride, Run run, const TargetCaps& caps);

  /// Elements offset + l * stride of the run, as a variable that one of `lets` binds.
  AnyExpr lanes_from(std::int64_t offset);

 private:
  /// Of every `step`-th element from `residue` on, vector `index`.
  struct Part {
    std::size_t level;
    std::int64_t step, residue, index;
  };
  /// Where an element of a part is.
  struct Source {
    std::int64_t vector = -1;  ///< none holds it: the run has ended
    int lane = 0;
  };
  bool is_by_blocks() const;
  int group_size() const;
  AnyExpr part(const Part& p);
  AnyExpr by_blocks(std::int64_t offset);
  AnyExpr sorted(AnyExpr vector);
  AnyExpr shuffled(Vec<AnyExpr> vectors, const Vec<int>& groups);
  AnyExpr merged(const Part& p);
  Source source(const Part& p, std::int64_t lane) const;
  std::int64_t first_of(std::int64_t dense_vector) const;

  const DType type_;
  const Run run_;
  const std::int64_t stride_;
  const TargetCaps& caps_;
  Vec<AnyExpr> offsets_;       ///< all of them, where LaneBlocks gives them
  const int group_;            ///< lanes that move together
  const std::int64_t lanes_;   ///< of a vector, in groups
  const std::int64_t extent_;  ///< of the run, in groups
  Vec<std::int64_t> factors_;
  struct Known {
    Part part;
    AnyExpr value;
  };
  Vec<Known> known_;
};

}  // namespace lathe::detail

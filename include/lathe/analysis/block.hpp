// Classes of blocks, by the orders in which their instances may run, and of reducers.
#pragma once

#include <lathe/analysis/access.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// complete: any order, any number of times. reduction: spatial points in any order, reduce points
/// as the reducer allows. ordered: known accesses, moves only where a dependence test proves it.
/// opaque: nothing is known beyond the declared regions.
enum class BlockClass : std::uint8_t { complete, reduction, ordered, opaque };
std::string_view to_text(BlockClass c);

/// reorder: associative and commutative. sequence: associative only, keep the order of reduce
/// loops. fold: ordered.
enum class ReducerClass : std::uint8_t { reorder, sequence, fold };

struct ReducerInfo {
  ReducerClass kind = ReducerClass::fold;
  bool reassociates = false;  ///< reordering may change floating-point rounding
  bool identity_exact =
      false;                   ///< combining with the identity gives the other operand, bit for bit
  std::optional<BinaryOp> op;  ///< a single built-in operator: add, mul, min, max, and, or, bit_*
  std::string why;             ///< the reason for anything less than reorder
};
/// Matches the combine expressions against the table of PRIMITIVES 2.6; a user's claim
/// (associative, commutative) is believed for reducers that are not in the table.
ReducerInfo classify(const ReducerNode& reducer);

struct BlockInfo {
  BlockClass kind = BlockClass::opaque;
  ReducerInfo reducer;     ///< for blocks with a reducer
  bool injective = false;  ///< different spatial points write different elements: proven
  bool sole_writer =
      true;  ///< no other block writes its outputs (init and update of one tag count as one)
  bool in_place = false;  ///< reads a buffer that it writes (the accumulator of a reduction apart)
  std::string why;        ///< the first reason for anything less than complete or reduction

  bool is_complete() const { return kind == BlockClass::complete; }
  bool is_reduction() const { return kind == BlockClass::reduction; }
  bool order_free() const {
    return kind == BlockClass::complete ||
           (kind == BlockClass::reduction && reducer.kind == ReducerClass::reorder);
  }
};

/// The class of a block; with a root also whether it is the only writer of its outputs there.
BlockInfo classify(const BlockNode& block, const Facts& facts = {});
BlockInfo classify(const Stmt& root, const BlockTag& tag, const Facts& facts = {});

/// Whether a loop feeds iterators of this kind: some binding of that kind uses its variable.
bool feeds(const ForNode& loop, const BlockNode& block, IterKind kind);

}  // namespace lathe

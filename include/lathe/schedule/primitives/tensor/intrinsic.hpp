// A tensor intrinsic, read from its texts.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/schedule/core/records.hpp>
#include <string>

namespace lathe::detail {

/// A row of tensor intrinsics, read: loops around a block, and stores that do the same.
struct Intrinsic {
  std::string name, rounding;
  Program description, implementation;
  Vec<ForRef> loops;  ///< of the description, outermost first
  BlockRefNode block;
  const StoreNode* store = nullptr;
  struct Operand {
    Buffer described, implemented;
    Vec<std::size_t> axes;               ///< for each index the loop that it is
    Vec<bool> across;                    ///< whether lanes differ along the axis
    bool touched = false;                ///< by the description
    bool is_tile = false;                ///< whose rows, along the first axis, lie anywhere
    bool read = false, written = false;  ///< by the implementation
  };
  Vec<Operand> operands;

  Operand* operand(const Buffer& buffer) {
    for (auto& o : operands)
      if (o.described == buffer || o.implemented == buffer) return &o;
    return nullptr;
  }
};

/// L0236 if the row can't be used.
Verdict read_intrinsic(const TensorIntrin& row, Intrinsic& out);

}  // namespace lathe::detail

// Kernels as text, with the layout of their call: what the compiler hands to the runtime, plain
// data.
#pragma once

#include <cstdint>
#include <lathe/support/slot_layout.hpp>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {

/// Elements that one view or buffer may span: more than any machine has, and far from where 64 bits
/// end.
inline constexpr std::int64_t kMostSpan = std::int64_t{1} << 56;

/// A module of LLVM IR text: `define i32 @symbol(ptr slots, ptr rt)`.
struct LlvmKernel {
  std::string symbol;
  std::string text;
  SlotLayout slots;
  Vec<std::string> externals;  ///< functions that the text calls and does not define
  Vec<std::string> messages;   ///< of assertions; status 16 + i means that message i failed
};

/// Stands for what decides an object's bytes: two hashes of it.
struct ObjectId {
  std::uint64_t name = 0, check = 0;
  bool operator==(const ObjectId&) const = default;
};

}  // namespace lathe

// Kernels as text, with the layout of their call: what the compiler hands to the runtime, plain
// data.
#pragma once

#include <cstdint>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {

/// Elements that one view or buffer may span: more than any machine has, and far from where 64 bits
/// end.
inline constexpr std::int64_t kMostSpan = std::int64_t{1} << 56;

/// One of the 8-byte slots that a kernel is called with.
struct KernelSlot {
  enum class Kind : std::uint8_t { buffer, dim, stride, scalar };
  Kind kind = Kind::buffer;
  int param = -1;    ///< index into the program's params; -1 for a dim
  int index = 0;     ///< dim: index into the program's dims; stride: axis of the param's buffer
  int bytes = 8;     ///< scalar: size of its value, in the slot's low bytes
  std::string name;  ///< of the buffer, the variable or the scalar
};

/// A module of LLVM IR text: `define i32 @symbol(ptr slots, ptr rt)`.
struct LlvmKernel {
  std::string symbol;
  std::string text;
  Vec<KernelSlot> slots;
  Vec<std::string> externals;  ///< functions that the text calls and does not define
  Vec<std::string> messages;   ///< of assertions; status 16 + i means that message i failed
};

}  // namespace lathe

// The slots of a call: which 8-byte value of a kernel's first argument holds what. Plain data, for
// whoever emits a kernel, interprets it, or calls it.
//
// A kernel is `int32_t kernel(const uint64_t* slots, RuntimeTable* rt)` (runtime/abi.hpp). Its
// slots are, in this order:
//
//     buffer   the address of element [0, …, 0], for each parameter that is a buffer
//     dim      an i64 for each Dim of the program: the extents that calls choose
//     stride   an i64, counted in elements, for each stride that calls choose, by parameter, axis
//
//     scalar   for each parameter that is a number: its bytes, lowest first; the rest is not read
//     buffer   the address of the elements, for each constant that the program owns: no argument
//
// Calls choose the outer strides of a buffer that declares none (its innermost one is 1), and what
// a declaration names by a variable, which has one slot however often it is named. A stride that is
// a number or made of Dims needs none. All of that follows from parameters and Dims, so a program
// has the same slots at every stage. `Y = X * s` over X[n, m] and Y[n, m], with Dims n and m and a
// scalar s of f32, is called from C with
//
//     struct { const float* X; float* Y; int64_t n, m, X_s0, Y_s0; float s; uint32_t unused; }
//
// Where a target passes parameters by value, slot k is the kernel's k-th parameter: each slot has
// 8 bytes at a multiple of 8, so its address is that of the parameter's value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {

/// What one slot holds.
struct CallSlot {
  enum class Kind : std::uint8_t { buffer, dim, stride, scalar };
  Kind kind = Kind::buffer;
  int param = -1;    ///< index into the program's params; -1 for a dim
  int index = 0;     ///< dim: index into the program's dims; stride: axis of the param's buffer
  int bytes = 8;     ///< of the value, in the slot's low bytes
  std::string name;  ///< of the buffer, the variable or the scalar
  bool operator==(const CallSlot&) const = default;
};

/// A call numbers slots in 16 bits, and the axes of an argument in 8: what `verify` holds programs
/// to.
inline constexpr std::size_t kMostSlots = 65535, kMostAxes = 255;

/// Calls each(kind, param, index) for every slot of a call, in order; usable in constant
/// expressions. A signature has params(), rank(p) (-1: a number), owns(p), dims(), and
/// passes_stride(p, axis), which is asked once for each axis, in order.
template <class Signature, class Each>
constexpr void for_each_slot(Signature&& call, Each&& each) {
  using Kind = CallSlot::Kind;
  for (int p = 0; p < call.params(); ++p)
    if (call.rank(p) >= 0 && !call.owns(p)) each(Kind::buffer, p, 0);
  for (int d = 0; d < call.dims(); ++d) each(Kind::dim, -1, d);
  for (int p = 0; p < call.params(); ++p)
    for (int axis = 0; axis < call.rank(p); ++axis)
      if (call.passes_stride(p, axis)) each(Kind::stride, p, axis);
  for (int p = 0; p < call.params(); ++p)
    if (call.rank(p) < 0) each(Kind::scalar, p, 0);
  for (int p = 0; p < call.params(); ++p)
    if (call.owns(p)) each(Kind::buffer, p, 0);
}

/// All slots of a call, in order.
using SlotLayout = Vec<CallSlot>;

}  // namespace lathe

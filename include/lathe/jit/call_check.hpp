// What is checked of one argument of a call, and what of two. Every path of a call asks here: the
// rules of a program (binding.hpp), and the views that are known to keep them (dense_call.hpp).
#pragma once

#include <cstdint>
#include <lathe/support/kernel.hpp>

namespace lathe {

/// One argument: a view's pointer, extents and strides (in elements), or a scalar's bits.
struct CallArg {
  void* data = nullptr;
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;
  std::uint64_t scalar = 0;
};

namespace detail {

/// What can be wrong with a call.
enum class CallError : std::uint8_t {
  none,
  extent,        ///< L0302 to L0304, by the rule of the axis
  stride,        ///< L0305
  null,          ///< L0306
  alignment,     ///< L0307
  too_large,     ///< L0314: the bytes of a view
  self_overlap,  ///< L0309
  overlap,       ///< L0308
  temporary      ///< L0314: a buffer of the program
};

/// What one extent or stride of a call has to be.
struct NumberRule {
  enum Mode : std::uint8_t {
    number,    ///< `least`
    sets,      ///< anything: it becomes the slot's value
    sets_dim,  ///< the same, from `least` to `most`, a multiple of `multiple`
    same,      ///< what the slot has received before
    later      ///< an expression over slots, evaluated when all are filled
  };
  Mode mode = later;
  std::uint16_t slot = 0;
  std::int64_t least = 0, most = 0, multiple = 1;

  bool holds(std::int64_t given, std::uint64_t* slots) const {
    if (mode == number) return given == least;
    if (mode >= same) return mode == later || slots[slot] == static_cast<std::uint64_t>(given);
    slots[slot] = static_cast<std::uint64_t>(given);
    return mode == sets ||
           (given >= least && given <= most && (multiple == 1 || given % multiple == 0));
  }
};

struct AxisRule {
  NumberRule extent, stride;
};

/// Where a view's elements lie, in elements from its first, after add() for each axis.
struct ViewSpan {
  std::int64_t low = 0, high = 1;  ///< one past the last
  std::int64_t count = 1;
  bool empty = false, overflow = false;

  void add(std::int64_t extent, std::int64_t stride) {
    std::int64_t step = 0;
    empty |= extent <= 0;
    overflow |= __builtin_mul_overflow(count, extent, &count);
    overflow |= __builtin_mul_overflow(extent > 0 ? extent - 1 : 0, stride, &step);
    overflow |= step < 0 ? __builtin_add_overflow(low, step, &low)
                         : __builtin_add_overflow(high, step, &high);
  }
  bool too_large() const { return overflow || low < -kMostSpan || high > kMostSpan; }
  /// Two indices name one element: there are fewer places than indices.
  bool overlaps_itself() const { return high - low < count; }
};

/// The bytes that a call may touch through one argument; none for a scalar or an empty view.
struct ArgBytes {
  std::uintptr_t begin, end;
};

/// Of a view with elements. `mask` are the bits that an aligned address has not.
inline CallError check_address(std::uintptr_t base, std::uintptr_t mask, const ArgBytes& bytes) {
  if (base == 0) return CallError::null;
  if ((base & mask) != 0) return CallError::alignment;
  return bytes.begin < bytes.end ? CallError::none : CallError::too_large;
}

inline bool apart(const ArgBytes& a, const ArgBytes& b) {
  return a.begin >= b.end || b.begin >= a.end;
}

}  // namespace detail
}  // namespace lathe

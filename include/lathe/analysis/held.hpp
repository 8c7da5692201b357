// What a buffer of integers holds while a program runs: which types could hold it.
#pragma once

#include <cstdint>
#include <lathe/analysis/access.hpp>
#include <lathe/arith/interval.hpp>
#include <span>

namespace lathe {

/// The number of its type that stands for no element in what a reduction holds: its identity, which
/// is another number in another type.
enum class NoElement : std::uint8_t { none, least, largest };

/// The integers that a buffer holds, parts of sums included, and NoElement left out.
struct HeldIntegers {
  ConstInterval range;
  NoElement no_element = NoElement::none;
};

/// Whether integers of this type can be held by other types: i64 has all its numbers.
bool is_exchangeable(DType t);
/// The types that hold what is_exchangeable, narrow ones first.
std::span<const DType> exchangeable_types();

/// That number of a type.
std::int64_t no_element_of(DType t, NoElement which);

/// From what the program stores to the buffer, of a parameter too: its reducers are sums, or all
/// take the least, the largest, or the position of either. No range where one stores values, or
/// sums of them, that are not proven to fit i64.
HeldIntegers held_integers(const Program& program, const Buffer& buffer);
/// Of each temporary of integers all that a load may give, under a mask apart: of what wraps, or is
/// stored in other ways than by blocks that are looked into, the numbers of its type.
Vec<ConstInterval> held_ranges(const Program& program, const Vec<Buffer>& buffers);
bool can_hold(DType t, const HeldIntegers& held);

/// Whether a use of the buffer knows the type of its elements.
bool has_typed_uses(const Program& program, const Buffer& buffer);

}  // namespace lathe

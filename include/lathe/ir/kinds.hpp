// Kinds of loops and of iterators, the stages of lowering, and what attributes and options choose
// from.
#pragma once

#include <cstdint>
#include <string_view>

namespace lathe {

/// The last six are bound: iterations are the blocks of a GPU's grid, or the threads of a block.
enum class ForKind : std::uint8_t {
  serial,
  parallel,
  vectorized,
  unrolled,
  block_x,
  block_y,
  block_z,
  thread_x,
  thread_y,
  thread_z
};
constexpr bool is_block_axis(ForKind k) { return k >= ForKind::block_x && k <= ForKind::block_z; }
constexpr bool is_thread_axis(ForKind k) { return k >= ForKind::thread_x; }
constexpr bool is_bound(ForKind k) { return k >= ForKind::block_x; }
enum class IterKind : std::uint8_t { spatial, reduce, opaque };
/// How far a program has been lowered; verify has a spec for each.
///   blocks   as written and scheduled
///
///   loops    no blocks, guards explicit
///
///   vector   no vectorized or unrolled loop
///
///   flat     every access has one index, the element's offset (registers of rank 0 have none);
///            temporaries have rank 1 or 0, parameters keep their shape and strides, from which the
///            call takes its slots
///
///   machine  no operator, call or type that the target lacks (ir/machine_form.hpp)
enum class Stage : std::uint8_t { blocks, loops, vector, flat, machine };

std::string_view to_text(ForKind kind);
/// False: not one of their names.
bool parse_for_kind(std::string_view text, ForKind& out);
std::string_view to_text(IterKind kind);
std::string_view to_text(Stage stage);

/// What happens where the factors of a split do not divide the extent.
///   exact: they do divide it · guard: a test per instance; border tiles get a version of their
///   own where lowering takes it for worth it · mask: one version of all tiles, whose lanes are
///   masked and whose copies are tested · peel: whole tiles in a loop without tests, and what is
///   left behind it · shift: the last tile moves inward and recomputes, where its blocks may run
///   twice · round_up: computes past the end into temporaries, which become longer; nothing is left
///   of it to realise
enum class Tail : std::uint8_t { exact, guard, mask, peel, shift, round_up };
inline constexpr std::string_view kTailWords[] = {"exact", "guard", "mask",
                                                  "peel",  "shift", "round_up"};
constexpr std::string_view to_text(Tail tail) { return kTailWords[static_cast<int>(tail)]; }
bool parse_tail(std::string_view text, Tail& out);

/// Whether iterations in which a condition holds that differs between them run apart from the
/// others.
///   automatic: where border tiles of a nest are worth a second version · never: conditions that
///   depend on the loop stay where they are · always: the loop becomes up to three, one after the
///   other
enum class Partition : std::uint8_t { automatic, never, always };
inline constexpr std::string_view kPartitionWords[] = {"automatic", "never", "always"};
constexpr std::string_view to_text(Partition policy) {
  return kPartitionWords[static_cast<int>(policy)];
}
bool parse_partition(std::string_view text, Partition& out);

/// Whether a store goes past the caches, a hint to codegen: `any` as far as its alignment allows,
/// `lines` only where it fills whole cache lines. Several rows that are written in turn want lines:
/// parts of more lines than a core can gather are written one by one, at a fifth of the speed.
enum class Streaming : std::uint8_t { none, any, lines };

/// How far functions and divisions may be from the exact result; docs/math.md has the figures.
/// accurate: 1 unit in the last place; there is no such version of some functions of f64 (L0605).
/// normal: 1 to 4 units. fast: tanh and erf of f32 to 12 units, and divisors that stay the same in
/// a loop, or are constant, become factors.
enum class Math : std::uint8_t { accurate, normal, fast };

}  // namespace lathe

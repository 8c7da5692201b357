// Kinds of loops and of iterators, and the stages of lowering.
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
///   blocks: as written and scheduled · loops: no blocks, guards explicit · vector: no vectorized
///   or unrolled loop flat: every access has one index, the element's offset (registers of rank 0
///   have none); temporaries have rank 1 or 0, parameters keep their shape and strides, from which
///   the call takes its slots · machine: no math call that codegen can't emit as an instruction, no
///   type that the target lacks
enum class Stage : std::uint8_t { blocks, loops, vector, flat, machine };

std::string_view to_text(ForKind kind);
/// False: not one of their names.
bool parse_for_kind(std::string_view text, ForKind& out);
std::string_view to_text(IterKind kind);
std::string_view to_text(Stage stage);

}  // namespace lathe

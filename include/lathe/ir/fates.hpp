// What becomes of attributes where a step or a pass changes the loop or the block that carries
// them: the one table that all of them ask.
#pragma once

#include <lathe/ir/attributes.hpp>

namespace lathe::detail {

enum class Change : std::uint8_t {
  replace,   ///< other loops run the iterations: split, fuse, merge, pad, an intrinsic
  spread,    ///< iterations become threads: parallel
  unfold,    ///< iterations become lanes, copies, those of an axis: vectorize, unroll, bind
  share,     ///< iterations share a buffer: hoist_storage, double_buffer, rolling_buffer
  stage,     ///< statements run for different iterations at a time: software_pipeline
  move,      ///< the loop takes another place in its nest: reorder
  enclose,   ///< the loop becomes part of a block: blockize
  clone,     ///< a copy does the same for others
  refill,    ///< a copy stores something else: an init, what surrounds a box, a partial result
  border,    ///< a copy runs a few of the iterations: partition, the ends of a pipeline
  version,   ///< a copy runs in border tiles, which lowering makes unasked: it stays short
  lose,      ///< the loop goes, what it holds is elsewhere: compute_at, an inlined block
  join,      ///< several blocks become one: blockize
  divert,    ///< the block's stores go to another buffer: cache_write, a consumer's result instead
  deliver,   ///< a copy stores what the block did: cache_write
  hand_over  ///< another block does all that this one did: reverse_compute_inline
};
enum class Fate : std::uint8_t { keep, drop, refuse };

Fate fate_of(const Attribute& a, Change change);
/// The first one that forbids the change; nullptr: none does.
const Attribute* forbids(const Attributes& all, Change change);
/// Those that are left after it.
Attributes after(Change change, const Attributes& all);

}  // namespace lathe::detail

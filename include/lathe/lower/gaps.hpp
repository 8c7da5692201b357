// Where views of row-major tensors may leave gaps in memory.
#pragma once

#include <cstdint>

namespace lathe {

/// Between which elements of a view there may be others.
enum class Gaps : std::uint8_t {
  rows,   ///< between all but those of its last axis, which are neighbours
  pixels  ///< of rank 3 and more the last two axes have none: a crop of an image, channels last
};

}  // namespace lathe

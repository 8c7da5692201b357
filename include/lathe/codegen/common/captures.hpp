// What the body of a parallel loop takes from around it.
#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe::detail {

struct LoopCaptures {
  Vec<Buffer> buffers;  ///< used and not allocated inside, each once
  Vec<VarRef> vars;     ///< but the loop's own
};
LoopCaptures captures_of(const ForNode& loop);

}  // namespace lathe::detail

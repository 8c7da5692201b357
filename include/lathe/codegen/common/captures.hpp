// What the body of a parallel loop takes from around it.
#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// The buffers that a loop's body uses and does not allocate itself, each once.
Vec<Buffer> buffers_captured(const Stmt& body);

}  // namespace lathe::detail

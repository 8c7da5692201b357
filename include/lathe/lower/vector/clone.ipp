#pragma once

#include <lathe/lower/vector/clone.hpp>

namespace lathe::detail {

LATHE_DECL Stmt CloneFresh::stmt(const Stmt& s) {
  if (const auto* a = s.as<AllocNode>()) {
    BufferNode node = *a->buffer;
    for (auto& extent : node.shape) extent = expr(extent);
    Buffer fresh(new BufferNode(std::move(node)));
    buffers_[a->buffer.get()] = fresh;
    return make_alloc(fresh, stmt(a->body));
  }
  return RenewVars::stmt(s);
}

LATHE_DECL Buffer CloneFresh::buffer(const Buffer& b) {
  const Buffer* found = buffers_.find(b.get());
  return found ? *found : b;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

inline Buffer with_open_strides(const Buffer& b, Gaps gaps) {
  BufferNode node = *b;
  const int rank = node.rank(), pixel = gaps == Gaps::pixels && rank > 2 ? rank - 2 : rank;
  for (int axis = 0; axis + 1 < rank; ++axis)
    node.strides.push_back(axis == pixel
                               ? node.shape.back()
                               : AnyExpr(make_var(node.name + ".s" + std::to_string(axis))));
  node.strides.push_back(1);
  return Buffer(new BufferNode(std::move(node)));
}

class OpenBuffers : public Mutator {
 public:
  NodeMap<Buffer> open;
  bool any = false;
  Buffer buffer(const Buffer& b) override {
    const Buffer* found = open.find(b.get());
    return found ? *found : b;
  }
};

}  // namespace detail

LATHE_DECL Program open_strides(const Program& program, Gaps gaps) {
  ProgramNode node = *program;
  detail::OpenBuffers buffers;
  for (auto& param : node.params) {
    if (!param.buffer || !param.buffer->strides.empty() || param.buffer->rank() == 0) continue;
    Buffer open = detail::with_open_strides(param.buffer, gaps);
    buffers.open.insert(param.buffer.get(), open), buffers.any = true;
    param.buffer = open;
  }
  if (buffers.any) node.body = buffers.stmt(node.body);
  return Program(std::move(node));
}

}  // namespace lathe

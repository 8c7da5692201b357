#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

inline Buffer with_open_strides(const Buffer& b) {
  BufferNode node = *b;
  for (int axis = 0; axis + 1 < node.rank(); ++axis)
    node.strides.push_back(make_var(node.name + ".s" + std::to_string(axis)));
  node.strides.push_back(1);
  return Buffer(new BufferNode(std::move(node)));
}

}  // namespace detail

LATHE_DECL Program open_strides(const Program& program) {
  ProgramNode node = *program;
  for (auto& param : node.params) {
    if (!param.buffer || !param.buffer->strides.empty() || param.buffer->rank() == 0) continue;
    Buffer open = detail::with_open_strides(param.buffer);
    node.body = replace_buffer(node.body, param.buffer, open);
    param.buffer = open;
  }
  return Program(std::move(node));
}

}  // namespace lathe

// The slots of a call on dense arrays, for tests that run a program without a binding.
#pragma once

#include <cstdint>
#include <functional>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/ir/stmt.hpp>
#include <vector>

namespace test {

/// What a call of dense views and numbers is made of.
struct DenseCall {
  std::vector<void*> buffers;  ///< of the parameters that are buffers, in order
  std::function<std::int64_t(const lathe::AnyExpr&)> extent = [](const lathe::AnyExpr& e) {
    return *lathe::as_const_int(e);
  };
  std::function<std::uint64_t(lathe::DType)> scalar;
};

inline std::vector<std::uint64_t> slots_of(const lathe::Program& program, const DenseCall& call) {
  using Kind = lathe::CallSlot::Kind;
  std::vector<std::uint64_t> slots;
  for (const lathe::CallSlot& s : lathe::slot_layout(program)) {
    const lathe::Param* param =
        s.param < 0 ? nullptr : &program->params[static_cast<std::size_t>(s.param)];
    if (s.kind == Kind::buffer) {
      std::size_t before = 0;
      for (int p = 0; p < s.param; ++p)
        before += program->params[static_cast<std::size_t>(p)].buffer != nullptr;
      slots.push_back(reinterpret_cast<std::uintptr_t>(call.buffers.at(before)));
    }
    if (s.kind == Kind::dim)
      slots.push_back(static_cast<std::uint64_t>(
          call.extent(program->dims[static_cast<std::size_t>(s.index)]->var)));
    if (s.kind == Kind::scalar) slots.push_back(call.scalar(param->dtype()));
    if (s.kind != Kind::stride) continue;
    std::int64_t stride = 1;
    for (int axis = s.index + 1; axis < param->buffer->rank(); ++axis)
      stride *= call.extent(param->buffer->shape[static_cast<std::size_t>(axis)]);
    slots.push_back(static_cast<std::uint64_t>(stride));
  }
  return slots;
}

}  // namespace test

#pragma once

#include <lathe/ir/slot_layout.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

/// A program as for_each_slot asks.
class ProgramSignature {
 public:
  explicit ProgramSignature(const ProgramNode& program) : program_(program) {
    for (const auto& d : program.dims) known_.insert(d->var.get());
  }
  int params() const { return static_cast<int>(program_.params.size()); }
  int dims() const { return static_cast<int>(program_.dims.size()); }
  int rank(int p) const { return param(p).buffer ? param(p).buffer->rank() : -1; }
  bool owns(int p) const { return !param(p).is_argument(); }
  bool passes_stride(int p, int axis) {
    const BufferNode& b = *param(p).buffer;
    if (b.strides.empty()) return axis + 1 < b.rank();
    const auto* var = b.strides[static_cast<std::size_t>(axis)].as<VarNode>();
    return var && known_.insert(var).second;
  }
  const Param& param(int p) const { return program_.params[static_cast<std::size_t>(p)]; }

 private:
  const ProgramNode& program_;
  NodeSet known_;
};

}  // namespace detail

LATHE_DECL SlotLayout slot_layout(const Program& program) {
  SlotLayout slots;
  detail::ProgramSignature signature(*program);
  for_each_slot(signature, [&](CallSlot::Kind kind, int param, int index) {
    CallSlot slot{kind, param, index, 8, {}};
    if (const VarNode* var = slot_variable(program, slot))
      slot.name = var->name, slot.bytes = var->dtype.bytes();
    else
      slot.name = signature.param(param).name();
    if (kind == CallSlot::Kind::stride && signature.param(param).buffer->strides.empty())
      slot.name += ".s" + std::to_string(index);
    slots.push_back(std::move(slot));
  });
  return slots;
}

LATHE_DECL const VarNode* slot_variable(const Program& program, const CallSlot& slot) {
  if (slot.kind == CallSlot::Kind::dim)
    return program->dims[static_cast<std::size_t>(slot.index)]->var.get();
  const Param& param = program->params[static_cast<std::size_t>(slot.param)];
  if (slot.kind == CallSlot::Kind::scalar) return param.var.get();
  if (slot.kind == CallSlot::Kind::buffer || param.buffer->strides.empty()) return nullptr;
  return param.buffer->strides[static_cast<std::size_t>(slot.index)].as<VarNode>();
}

}  // namespace lathe

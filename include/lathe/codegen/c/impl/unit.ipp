#pragma once

#include <lathe/codegen/c/emitter.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/support/kernel_c.hpp>

namespace lathe {
namespace detail {

LATHE_DECL void CEmitter::emit_entry(const Program& program) {
  int slot = 0;
  const auto bind = [&](const RefCounted* var, DType t, std::string_view name) {
    const std::string from = cat("slots[", slot, "]");
    const DType bits{TypeCode::uint, t.bits, 1, false};
    vars_[var] = t.is_bool() ? named(cat("(", from, " & 255) != 0"), t, name)
                 : t.is_float()
                     ? reinterpret(bits, t, named(cat("(", type(bits), ")", from), bits, name))
                     : named(cat("(", type(t), ")", from), t, name);
  };
  for (const CallSlot& s : slot_layout(program)) {
    if (s.kind == CallSlot::Kind::buffer) {
      const Buffer& b = program->params[static_cast<std::size_t>(s.param)].buffer;
      const std::string name = unique(s.name), t(c_memory_type(b->dtype));
      line(t, " *restrict ", name, " = (", t, " *)(uintptr_t)slots[", slot, "];");
      places_[b.get()] = {name, false};
    } else if (const VarNode* var = slot_variable(program, s)) {
      bind(var, var->dtype, s.name);
    }
    ++slot;
  }
  stmt(program->body);
  finish(cat("int32_t ", state_.symbol, "(const uint64_t *slots, lathe_runtime *rt)"));
}

}  // namespace detail

LATHE_DECL void CUnit::define(const std::string& name, std::string_view text) {
  if (!defined_.contains(name)) defined_.insert(name), definitions_ += text;
}

LATHE_DECL Vec<std::string> CUnit::add(const Program& program, std::string_view symbol) {
  detail::CKernelState state{*this, std::string(symbol)};
  detail::CEmitter(state).emit_entry(program);
  return std::move(state.messages);
}

LATHE_DECL std::string CUnit::text() const {
  return cat(detail::kKernelPrologue, definitions_, "\n", functions_);
}

}  // namespace lathe

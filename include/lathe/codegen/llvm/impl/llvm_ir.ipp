#pragma once

#include <lathe/codegen/common/symbol.hpp>
#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

LATHE_DECL LlvmEmitter::LlvmEmitter(LlvmKernelState& state, const std::string& symbol)
    : state_(state), module_(state.module), f_(state.module), symbol_(symbol) {
  fails_.push_back({"", "fail", false});
}

LATHE_DECL void LlvmEmitter::bind_slots(const Program& program) {
  const LlvmPlace slots{"%slots", 0, 8, false};
  int next = 0;
  for (const CallSlot& s : state_.kernel.slots) {
    const int slot = next++;
    auto read = [&](DType t, std::string_view type) {
      const std::string where = address(slots, kI64, f_.integer(kI64, slot), true);
      return f_.op(t, "load ", type, ", ptr ", where, ", align 8, !invariant.load !0");
    };
    if (s.kind == CallSlot::Kind::buffer) {
      // Parameters are disjoint memory, which the call checks.
      const Buffer& buffer = program->params[static_cast<std::size_t>(s.param)].buffer;
      LlvmPlace at;
      at.pointer = read(kI64, "ptr").text;
      at.alignment = buffer->alignment;
      at.scope = module_.alias_scope(s.name);
      places_[buffer.get()] = at;
    } else if (const VarNode* var = slot_variable(program, s)) {
      const DType stored = memory_type(var->dtype);
      vars_[var] = from_memory(read(stored, llvm_type(stored)), var->dtype);
    }
  }
  for (const auto& dim : program->dims)
    multiples_[dim->var.get()] = dim->multiple_of > 0 ? dim->multiple_of : 1;
}

LATHE_DECL void LlvmEmitter::emit_entry(const Program& program) {
  bind_slots(program);
  stmt(program->body);
  finish("ptr %slots, ptr %rt");
}

LATHE_DECL void LlvmEmitter::finish(std::string_view params) {
  auto leave = [&](std::string_view status) {
    // Streamed data must be visible before the caller goes on.
    if (streamed_ && module_.can("x86.sse.sfence")) {
      module_.declare("void", "llvm.x86.sse.sfence", "");
      f_.line("call void @llvm.x86.sse.sfence()");
    }
    f_.line("ret i32 ", status);
    f_.end();
  };
  leave("0");
  if (fails_.back().used) {
    f_.frame_named("%status", "i32", 4);
    f_.start("fail");
    if (uses_tiles_) tile_call("x86.tilerelease", "", "");
    LlvmValue status = f_.op(kI32, "load i32, ptr %status, align 4");
    leave(status.text);
  }
  bool entry = symbol_ == state_.kernel.symbol;
  module_.add_function(
      f_.finish(cat("define ", entry ? "" : "internal ", "i32 @", symbol_, "(", params, ")")));
}

}  // namespace detail

LATHE_DECL LlvmKernel emit_llvm(const Program& program, const Target& target, int llvm_major,
                                std::string_view symbol) {
  if (target.kind != TargetKind::cpu || llvm_major < 16 || llvm_major > 22)
    throw UserError("L0620",
                    target.kind != TargetKind::cpu
                        ? cat("emit_llvm: target '", target.name, "' is not a CPU")
                        : cat("emit_llvm: LLVM ", llvm_major, " is not supported"),
                    Location{}, {}, "use a CPU target and LLVM 16 to 22");
  LlvmKernel kernel;
  kernel.symbol = symbol.empty() ? detail::kernel_symbol(program->name) : std::string(symbol);
  kernel.slots = slot_layout(program);
  detail::LlvmModule module(target, llvm_major);
  detail::LlvmKernelState state{module, kernel};
  detail::LlvmEmitter entry(state, kernel.symbol);
  entry.emit_entry(program);
  kernel.text = module.finish();
  kernel.externals = std::move(module.externals);
  return kernel;
}

}  // namespace lathe

#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

// A name as an LLVM and ELF symbol.
inline std::string llvm_symbol(std::string_view name) {
  std::string symbol = "lathe_";
  for (char c : name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    symbol += plain || c == '.' ? c : '_';
  }
  return symbol;
}

LATHE_DECL LlvmEmitter::LlvmEmitter(LlvmKernelState& state, const std::string& symbol)
    : state_(state), module_(state.module), f_(state.module), symbol_(symbol) {
  fails_.push_back({"", "fail", false});
}

LATHE_DECL void LlvmEmitter::bind_slots(const Program& program) {
  facts_ = Facts(program);
  int slot = 0;
  LlvmPlace slots{"%slots", 0, 8, false};
  auto read = [&](DType t, std::string_view type) {
    std::string where = address(slots, kI64, f_.integer(kI64, slot++), true);
    return f_.op(t, "load ", type, ", ptr ", where, ", align 8, !invariant.load !0");
  };
  // Parameters are disjoint memory, which the call checks.
  for (const auto& s : state_.kernel.slots) {
    if (s.kind == KernelSlot::Kind::dim) {
      const DimNode& dim = *program->dims[static_cast<std::size_t>(s.index)];
      vars_[dim.var.get()] = read(kI64, "i64");
      multiples_[dim.var.get()] = dim.multiple_of > 0 ? dim.multiple_of : 1;
      continue;
    }
    const Param& param = program->params[static_cast<std::size_t>(s.param)];
    if (s.kind == KernelSlot::Kind::stride) {
      const auto* var = param.buffer->strides[static_cast<std::size_t>(s.index)].as<VarNode>();
      vars_[var] = read(kI64, "i64");
    } else if (s.kind == KernelSlot::Kind::scalar) {
      DType stored = memory_type(param.dtype());
      vars_[param.var.get()] = from_memory(read(stored, llvm_type(stored)), param.dtype());
    } else {
      LlvmPlace at;
      at.pointer = read(kI64, "ptr").text;
      at.alignment = param.buffer->alignment;
      at.scope = module_.alias_scope(param.name());
      places_[param.buffer.get()] = at;
    }
  }
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
    LlvmValue status = f_.op(kI32, "load i32, ptr %status, align 4");
    leave(status.text);
  }
  bool entry = symbol_ == state_.kernel.symbol;
  module_.add_function(
      f_.finish(cat("define ", entry ? "" : "internal ", "i32 @", symbol_, "(", params, ")")));
}

}  // namespace detail

LATHE_DECL Vec<KernelSlot> kernel_slots(const Program& program) {
  Vec<KernelSlot> slots;
  NodeSet seen;
  const auto& params = program->params;
  for (std::size_t p = 0; p < params.size(); ++p)
    if (params[p].buffer)
      slots.push_back({KernelSlot::Kind::buffer, static_cast<int>(p), 0, 8, params[p].name()});
  for (std::size_t d = 0; d < program->dims.size(); ++d) {
    const VarRef& var = program->dims[d]->var;
    slots.push_back({KernelSlot::Kind::dim, -1, static_cast<int>(d), 8, var->name});
    seen.insert(var.get());
  }
  for (std::size_t p = 0; p < params.size(); ++p) {
    if (!params[p].buffer) continue;
    const auto& strides = params[p].buffer->strides;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      const auto* var = strides[axis].as<VarNode>();
      if (!var || !seen.insert(var).second) continue;
      slots.push_back(
          {KernelSlot::Kind::stride, static_cast<int>(p), static_cast<int>(axis), 8, var->name});
    }
  }
  for (std::size_t p = 0; p < params.size(); ++p)
    if (!params[p].buffer)
      slots.push_back({KernelSlot::Kind::scalar, static_cast<int>(p), 0, params[p].dtype().bytes(),
                       params[p].name()});
  return slots;
}

LATHE_DECL LlvmKernel emit_llvm(const Program& program, const Target& target, int llvm_major,
                                std::string_view symbol) {
  if (target.kind != TargetKind::cpu || llvm_major < 16 || llvm_major > 22)
    throw UserError("L0620",
                    target.kind != TargetKind::cpu
                        ? cat("emit_llvm: target '", target.name, "' is not a CPU")
                        : cat("emit_llvm: LLVM ", llvm_major, " is not supported"),
                    Location{}, {}, "use a CPU target and LLVM 16 to 22");
  LlvmKernel kernel;
  kernel.symbol = symbol.empty() ? detail::llvm_symbol(program->name) : std::string(symbol);
  kernel.slots = kernel_slots(program);
  detail::LlvmModule module(target, llvm_major);
  detail::LlvmKernelState state{module, kernel};
  detail::LlvmEmitter entry(state, kernel.symbol);
  entry.emit_entry(program);
  kernel.text = module.finish();
  kernel.externals = std::move(module.externals);
  return kernel;
}

}  // namespace lathe

#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/tile.hpp>

namespace lathe::detail {

// Tile registers by number: LLVM's own model of them (x86_amx) stores what it can't hold with a
// stride that it loses (llvm issue 110190), and place_tiles has chosen numbers already.

inline std::string llvm_tile(const Buffer& b) { return cat("i8 ", b->tile); }

LATHE_DECL void LlvmEmitter::tile_call(std::string_view name, std::string_view params,
                                       std::string_view args) {
  invariant(module_.can(name), "codegen: a tile was not legalized");
  module_.declare("void", cat("llvm.", name), params);
  f_.line("call void @llvm.", name, "(", args, ")");
}

LATHE_DECL void LlvmEmitter::store_tile(const StoreNode& n) {
  const auto& call = *n.value.as<CallNode>();
  const auto* from = call.args[0].as<LoadNode>();
  if (call.op == CallOp::tile_dot) return multiply_tiles(call);
  const int rows = static_cast<int>(*as_const_int(call.args[1]));
  if (n.buffer->scope != Scope::fragment)
    return move_tile("x86.tilestored64", from->buffer, n.buffer, n.indices[0], rows);
  if (from) return move_tile("x86.tileloadd64", n.buffer, from->buffer, from->indices[0], rows);
  tile_call("x86.tilezero", "i8 immarg", llvm_tile(n.buffer));
}

LATHE_DECL void LlvmEmitter::move_tile(std::string_view name, const Buffer& reg,
                                       const Buffer& memory, const AnyExpr& index, int rows) {
  const auto* ramp = rows > 1 ? index.as<RampNode>() : nullptr;
  invariant(rows == 1 || (ramp && ramp->lanes == rows), "codegen: rows of a tile are not lined up");
  const AnyExpr row = ramp ? ramp->base : index;
  const auto* elements = row.as<RampNode>();
  const LlvmPlace& at = place(memory);
  const std::string pointer =
      address(at, memory->dtype, index64(elements ? elements->base : row), true);
  LlvmValue pitch = ramp ? index64(ramp->stride) : f_.integer(kI64, 0);
  pitch = f_.binary("mul", pitch, f_.integer(kI64, memory->dtype.element_bytes()));
  tile_call(name, "i8 immarg, ptr, i64",
            cat(llvm_tile(reg), ", ptr ", pointer, ", i64 ", pitch.text));
}

LATHE_DECL void LlvmEmitter::multiply_tiles(const CallNode& n) {
  const auto reg = [&](std::size_t k) { return n.args[k].as<LoadNode>()->buffer; };
  const bool a = n.args[1].dtype().is_signed(), b = n.args[2].dtype().is_signed();
  const std::string_view name = n.dtype.is_float() ? "x86.tdpbf16ps"
                                : a                ? (b ? "x86.tdpbssd" : "x86.tdpbsud")
                                                   : (b ? "x86.tdpbusd" : "x86.tdpbuud");
  tile_call(name, "i8 immarg, i8 immarg, i8 immarg",
            cat(llvm_tile(reg(0)), ", ", llvm_tile(reg(1)), ", ", llvm_tile(reg(2))));
}

// Intel SDM, LDTILECFG: palette 1, bytes of a row from byte 16 on, rows from byte 48 on.
LATHE_DECL void LlvmEmitter::configure_tiles(const CallNode& n) {
  std::uint64_t words[3];
  for (std::size_t k = 0; k < 3; ++k)
    words[k] = static_cast<std::uint64_t>(*as_const_int(n.args[k]));
  if (words[0] == 0) return tile_call("x86.tilerelease", "", "");
  uses_tiles_ = true;
  const std::uint64_t config[8] = {1, 0, words[1], words[2], 0, 0, words[0], 0};
  const std::string memory = f_.frame("[8 x i64]", 64);
  for (int k = 0; k < 8; ++k)
    f_.line("store i64 ", format_int(static_cast<std::int64_t>(config[k])), ", ptr ",
            address({memory, 0, 64, false}, kI64, f_.integer(kI64, k), true), ", align 8");
  tile_call("x86.ldtilecfg", "ptr", cat("ptr ", memory));
}

}  // namespace lathe::detail

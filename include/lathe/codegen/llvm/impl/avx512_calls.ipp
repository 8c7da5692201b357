// Calls that are one instruction of AVX-512: exponents of floats, and estimates.
#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/ops.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

/// LLVM's name of a call of f32 or f64, and what its arguments are beside the operands: an
/// immediate before what masked lanes keep, and how to round, behind the mask.
struct Avx512Call {
  std::string_view name, immediate, rounding;
};

inline Avx512Call avx512_call_of(CallOp op) {
  // As MXCSR says: to nearest even.
  constexpr std::string_view as_set = ", i32 4";
  switch (op) {
    case CallOp::scalb:
      return {"mask.scalef", "", as_set};
    case CallOp::logb:
      return {"mask.getexp", "", as_set};
    case CallOp::significand:
      // 3: from 3/4 to 3/2; 12: 1 of -0, NaN of what is negative.
      return {"mask.getmant", "i32 15, ", as_set};
    case CallOp::reciprocal_estimate:
      return {"rcp14", "", ""};
    case CallOp::rsqrt_estimate:
      return {"rsqrt14", "", ""};
    default:
      unreachable("codegen: no instruction of AVX-512");
  }
}

LATHE_DECL LlvmValue LlvmEmitter::avx512_call(CallOp op, const Vec<LlvmValue>& args) {
  const int lanes = args[0].dtype.lanes, bits = args[0].dtype.bits;
  const auto [instruction, immediate, rounding] = avx512_call_of(op);
  const auto name_of = [&, call = instruction](int width) {
    return cat("x86.avx512.", call, bits == 64 ? ".pd." : ".ps.", width);
  };
  const int width = lanes * bits <= 256 && module_.can(name_of(256)) ? 256 : 512;
  const std::string name = name_of(width);
  invariant(bits >= 32 && module_.can(name), "a call of AVX-512 was not legalized");
  const int full = width / bits;
  const DType t = args[0].dtype.with_lanes(full);
  const std::string type = llvm_type(t), mask = full > 8 ? "i16" : "i8";
  std::string types;
  for (std::size_t k = 0; k < args.size(); ++k) types += cat(type, ", ");
  module_.declare(type, cat("llvm.", name),
                  cat(types, immediate.empty() ? "" : "i32, ", type, ", ", mask,
                      rounding.empty() ? "" : ", i32"));
  LlvmValue result;
  for (int first = 0; first < lanes; first += full) {
    Lanes part;
    for (int l = 0; l < full; ++l) part.push_back(first + l < lanes ? first + l : -1);
    std::string pieces;
    for (const LlvmValue& v : args) {
      const LlvmValue piece = lanes == 1      ? f_.splat(v, full)
                              : lanes == full ? v
                                              : f_.shuffle(v, part);
      pieces += cat(type, " ", piece.text, ", ");
    }
    const LlvmValue whole = f_.op(t, "call ", type, " @llvm.", name, "(", pieces, immediate, type,
                                  " zeroinitializer, ", mask, " -1", rounding, ")");
    result = first == 0 ? whole : f_.concat(result, whole);
  }
  if (lanes == 1) return f_.extract(result, 0);
  if (result.dtype.lanes == lanes) return result;
  return f_.shuffle(result, llvm_lane_range(0, lanes));
}

}  // namespace lathe::detail

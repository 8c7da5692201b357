// Lanes in an order that is computed, by the instructions that take bytes of 16 from a table.
#pragma once

#include <lathe/codegen/llvm/emitter.hpp>

namespace lathe::detail {

inline LlvmValue llvm_call_permute(LlvmFunction& f, std::string_view name, DType type,
                                   const Vec<LlvmValue>& args) {
  std::string types, values;
  for (const auto& a : args) {
    append(types, types.empty() ? "" : ", ", llvm_type(a.dtype));
    append(values, values.empty() ? "" : ", ", llvm_type(a.dtype), " ", a.text);
  }
  f.module.declare(llvm_type(type), cat("llvm.", name), types);
  return f.op(type, "call ", llvm_type(type), " @llvm.", name, "(", values, ")");
}

/// 16 bytes in the order of as many numbers from 0 to 15.
inline LlvmValue llvm_permute_16(LlvmFunction& f, const LlvmValue& v, const LlvmValue& from) {
  const bool x86 = f.module.target.arch == "x86_64";
  return llvm_call_permute(f, x86 ? "x86.ssse3.pshuf.b.128" : "aarch64.neon.tbl1.v16i8", v.dtype,
                           {v, from});
}

/// 32 bytes in the order of as many numbers from 0 to 31.
inline LlvmValue llvm_permute_32(LlvmFunction& f, const LlvmValue& v, const LlvmValue& from) {
  const auto half = [&](const LlvmValue& of, int k) {
    return f.shuffle(of, llvm_lane_range(16 * k, 16));
  };
  if (f.module.target.arch != "x86_64") {
    LlvmValue parts[2];
    for (int k = 0; k < 2; ++k)
      parts[k] = llvm_call_permute(f, "aarch64.neon.tbl2.v16i8", kU8.with_lanes(16),
                                   {half(v, 0), half(v, 1), half(from, k)});
    return f.concat(parts[0], parts[1]);
  }
  // Each half of the result takes from both halves, by the low four bits of the numbers.
  const auto taken = [&](int k) {
    const LlvmValue both = f.concat(half(v, k), half(v, k));
    return llvm_call_permute(f, "x86.avx2.pshuf.b", v.dtype, {both, from});
  };
  const LlvmValue upper = f.compare("icmp ugt", from, f.integer(from.dtype, 15));
  return f.select(upper, taken(1), taken(0));
}

/// The numbers of the bytes that lanes with these numbers have.
inline LlvmValue llvm_byte_numbers(LlvmFunction& f, const LlvmValue& lanes, int bytes) {
  if (bytes == 1) return lanes;
  Vec<int> from;
  std::string within = "<";
  for (int k = 0; k < lanes.dtype.lanes * bytes; ++k) {
    from.push_back(k / bytes);
    append(within, k ? ", " : "", "i8 ", k % bytes);
  }
  const LlvmValue spread = f.shuffle(lanes, from);
  const LlvmValue first = f.binary("mul", spread, f.integer(spread.dtype, bytes));
  return f.binary("or", first, {spread.dtype, within + ">"});
}

LATHE_DECL LlvmValue LlvmEmitter::permute(const LlvmValue& v, const LlvmValue& lanes) {
  const DType t = v.dtype;
  if (t.lanes == 1) return v;
  invariant(is_permuted(t, module_.caps), "codegen: a permutation was not legalized");
  const int bytes = t.bytes(), size = bytes > 16 ? 32 : 16;
  const LlvmValue from = llvm_lanes_or_zero(f_, llvm_byte_numbers(f_, lanes, t.element_bytes()), 0,
                                            size),
                  in = llvm_lanes_or_zero(f_, f_.convert("bitcast", v, kU8.with_lanes(bytes)), 0,
                                          size),
                  out = size == 16 ? llvm_permute_16(f_, in, from) : llvm_permute_32(f_, in, from);
  return f_.convert("bitcast", llvm_lanes_or_zero(f_, out, 0, bytes), t);
}

}  // namespace lathe::detail

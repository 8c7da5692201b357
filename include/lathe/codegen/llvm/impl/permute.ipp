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

// Of the bytes 0 to 15 of one vector and 16 to 31 of the other, those that are not in their place
// are permuted in each alone, by numbers that LLVM must not know: it would make one shuffle of all.
LATHE_DECL LlvmValue LlvmEmitter::merged_bytes(const LlvmValue& a, const LlvmValue& b,
                                               const Vec<int>& lanes) {
  constexpr int kZero = 128;
  std::string from[2];
  int second = 0;
  bool in_place[2] = {true, true};
  for (int l = 0; l < 16; ++l) {
    const int lane = lanes[static_cast<std::size_t>(l)], of = lane >= 16 ? 1 : 0;
    for (int k = 0; k < 2; ++k)
      append(from[k], l ? ", i8 " : "i8 ", k == of && lane >= 0 ? lane - 16 * k : kZero);
    second |= of << l;
    in_place[of] = in_place[of] && (lane < 0 || lane - 16 * of == l);
  }
  if (in_place[0] && in_place[1]) return f_.shuffle(a, b, lanes);
  const DType numbers = kU8.with_lanes(16);
  const auto permuted = [&](const LlvmValue& v, int k) {
    return llvm_permute_16(f_, v, opaque({numbers, cat("<", from[k], ">")}));
  };
  if (!in_place[0] && !in_place[1]) return f_.binary("or", permuted(a, 0), permuted(b, 1));
  const DType word{TypeCode::uint, 16, 1, false};
  const LlvmValue from_b =
      f_.convert("bitcast", opaque({word, format_int(second)}), kBool.with_lanes(16));
  return f_.select(from_b, in_place[1] ? b : permuted(b, 1), in_place[0] ? a : permuted(a, 0));
}

}  // namespace lathe::detail

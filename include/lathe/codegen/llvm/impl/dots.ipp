// Dot products as instructions of the target.
#pragma once

#include <lathe/codegen/llvm/emitter.hpp>

namespace lathe::detail {

/// An instruction that multiplies groups of lanes, or takes their differences, and adds each group
/// up.
struct LlvmDot {
  CallOp op;
  std::string_view features;  ///< all that it needs
  std::string_view name;
  int lanes;  ///< of the sum
  /// LLVM's type of the factors; where newer majors read bytes, words are what all take.
  std::string_view factors;
  std::string_view signs{};  ///< of bytes: of a and b
  bool adds = true;          ///< takes what it adds to
  /// LLVM's type of the result, if it is not that of the sum.
  std::string_view gives{};
};

inline constexpr LlvmDot kLlvmDots[] = {
    {CallOp::dot4, "avx512vnni avx512vl", "x86.avx512.vpdpbusd.128", 4, "<4 x i32>", "us"},
    {CallOp::dot4, "avx512vnni avx512vl", "x86.avx512.vpdpbusd.256", 8, "<8 x i32>", "us"},
    {CallOp::dot4, "avx512vnni", "x86.avx512.vpdpbusd.512", 16, "<16 x i32>", "us"},
    {CallOp::dot4, "avxvnni", "x86.avx512.vpdpbusd.128", 4, "<4 x i32>", "us"},
    {CallOp::dot4, "avxvnni", "x86.avx512.vpdpbusd.256", 8, "<8 x i32>", "us"},
    {CallOp::dot4, "avxvnniint8", "x86.avx2.vpdpbssd.128", 4, "<4 x i32>", "ss"},
    {CallOp::dot4, "avxvnniint8", "x86.avx2.vpdpbssd.256", 8, "<8 x i32>", "ss"},
    {CallOp::dot4, "avxvnniint8", "x86.avx2.vpdpbuud.128", 4, "<4 x i32>", "uu"},
    {CallOp::dot4, "avxvnniint8", "x86.avx2.vpdpbuud.256", 8, "<8 x i32>", "uu"},
    {CallOp::dot4, "dotprod", "aarch64.neon.sdot.v4i32.v16i8", 4, "<16 x i8>", "ss"},
    {CallOp::dot4, "dotprod", "aarch64.neon.udot.v4i32.v16i8", 4, "<16 x i8>", "uu"},
    {CallOp::dot4, "i8mm", "aarch64.neon.usdot.v4i32.v16i8", 4, "<16 x i8>", "us"},
    {CallOp::mat_dot8, "i8mm", "aarch64.neon.smmla.v4i32.v16i8", 4, "<16 x i8>", "ss"},
    {CallOp::mat_dot8, "i8mm", "aarch64.neon.ummla.v4i32.v16i8", 4, "<16 x i8>", "uu"},
    {CallOp::mat_dot8, "i8mm", "aarch64.neon.usmmla.v4i32.v16i8", 4, "<16 x i8>", "us"},
    {CallOp::dot2, "avx512bf16 avx512vl", "x86.avx512bf16.dpbf16ps.128", 4, "<8 x bfloat>"},
    {CallOp::dot2, "avx512bf16 avx512vl", "x86.avx512bf16.dpbf16ps.256", 8, "<16 x bfloat>"},
    {CallOp::dot2, "avx512bf16", "x86.avx512bf16.dpbf16ps.512", 16, "<32 x bfloat>"},
    {CallOp::odd_dot2, "bf16", "aarch64.neon.bfdot.v4f32.v8bf16", 4, "<8 x bfloat>"},
    {CallOp::odd_mat_dot4, "bf16", "aarch64.neon.bfmmla", 4, "<8 x bfloat>"},
    {CallOp::dot_words, "", "x86.sse2.pmadd.wd", 4, "<8 x i16>", "", false},
    {CallOp::dot_words, "avx2", "x86.avx2.pmadd.wd", 8, "<16 x i16>", "", false},
    {CallOp::dot_words, "avx512bw", "x86.avx512.pmaddw.d.512", 16, "<32 x i16>", "", false},
    {CallOp::sad8, "", "x86.sse2.psad.bw", 4, "<16 x i8>", "uu", false, "<2 x i64>"},
    {CallOp::sad8, "avx2", "x86.avx2.psad.bw", 8, "<32 x i8>", "uu", false, "<4 x i64>"},
    {CallOp::sad8, "avx512bw", "x86.avx512.psad.bw.512", 16, "<64 x i8>", "uu", false, "<8 x i64>"},
};

inline bool has_all(const Target& target, std::string_view features) {
  while (!features.empty()) {
    const std::size_t end = std::min(features.find(' '), features.size());
    if (!target.has(features.substr(0, end))) return false;
    features.remove_prefix(std::min(end + 1, features.size()));
  }
  return true;
}

/// The narrowest that takes all lanes, else the widest.
inline const LlvmDot* llvm_dot(const CallNode& n, const Target& target) {
  const auto sign = [&](std::size_t k) { return n.args[k].dtype().is_signed() ? 's' : 'u'; };
  const LlvmDot* best = nullptr;
  for (const LlvmDot& row : kLlvmDots) {
    if (row.op != n.op || !has_all(target, row.features)) continue;
    if (!row.signs.empty() && (row.signs[0] != sign(1) || row.signs[1] != sign(2))) continue;
    const bool better = !best || (best->lanes < n.dtype.lanes
                                      ? row.lanes > best->lanes
                                      : row.lanes < best->lanes && row.lanes >= n.dtype.lanes);
    if (better) best = &row;
  }
  return best;
}

LATHE_DECL LlvmValue LlvmEmitter::dot(const CallNode& n) {
  const LlvmDot* row = llvm_dot(n, module_.target);
  invariant(row != nullptr, "a dot product was not legalized");
  const std::string_view name = row->name, factors = row->factors;
  const int full = row->lanes, lanes = n.dtype.lanes;
  const int group = n.args[1].dtype().lanes / lanes;
  LlvmValue sum = value(n.args[0]), a = value(n.args[1]), b = value(n.args[2]), result;
  const std::string type = llvm_type(n.dtype.with_lanes(full)), before = cat(type, ", "),
                    gives(row->gives.empty() ? std::string_view(type) : row->gives);
  module_.declare(gives, cat("llvm.", name), cat(row->adds ? before : "", factors, ", ", factors));
  for (int first = 0; first < lanes; first += full) {
    auto piece = [&](const LlvmValue& v, int width) {
      if (v.dtype.lanes == full * width) return v;
      if (v.dtype.lanes == 1) return f_.splat(v, full);
      Lanes part;
      for (int l = first * width; l < (first + full) * width; ++l)
        part.push_back(l < v.dtype.lanes ? l : -1);
      return f_.shuffle(v, part);
    };
    auto cast = [&](const LlvmValue& v) {
      LlvmValue all = piece(v, group);
      if (llvm_type(all.dtype) == factors) return all;
      return f_.op(all.dtype, "bitcast ", llvm_type(all.dtype), " ", all.text, " to ", factors);
    };
    LlvmValue s = piece(sum, 1), x = cast(a), y = cast(b);
    LlvmValue part = f_.op(s.dtype, "call ", gives, " @llvm.", name, "(",
                           row->adds ? cat(type, " ", s.text, ", ") : "", factors, " ", x.text,
                           ", ", factors, " ", y.text, ")");
    if (!row->gives.empty()) part = f_.op(s.dtype, "bitcast ", gives, " ", part.text, " to ", type);
    if (!row->adds) part = f_.binary("add", s, part);
    result = first == 0 ? part : f_.concat(result, part);
  }
  if (lanes == 1) return f_.extract(result, 0);
  return result.dtype.lanes == lanes ? result : f_.shuffle(result, llvm_lane_range(0, lanes));
}

}  // namespace lathe::detail

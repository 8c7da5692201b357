#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <numeric>

namespace lathe::detail {

LATHE_DECL LlvmValue LlvmEmitter::widen_index(LlvmValue v) {
  if (v.dtype.bits == 64) return v;
  DType wide = kI64.with_lanes(v.dtype.lanes);
  if (v.is_const()) return v.dtype = wide, v;
  return f_.convert(v.dtype.is_signed() ? "sext" : "zext", v, wide);
}

LATHE_DECL LlvmValue LlvmEmitter::index64(const AnyExpr& e) { return widen_index(value(e)); }

LATHE_DECL std::string LlvmEmitter::address(const LlvmPlace& at, DType element,
                                            const LlvmValue& index, bool inbounds) {
  if (index.text == "0") return at.pointer;
  return f_
      .op(kI64, "getelementptr ", inbounds ? "inbounds " : "",
          llvm_type(memory_type(element.scalar())), ", ptr ", at.pointer, ", i64 ", index.text)
      .text;
}

LATHE_DECL std::int64_t LlvmEmitter::multiple_of(const AnyExpr& e) const {
  constexpr std::int64_t enough = 4096;
  switch (e.kind()) {
    case ExprKind::Const: {
      if (e.dtype().is_float()) return 1;
      std::int64_t v = e.as<ConstNode>()->i;
      return v == INT64_MIN ? enough : v < 0 ? -v : v;
    }
    case ExprKind::Var: {
      const auto* found = multiples_.find(e.as<VarNode>());
      return found ? *found : 1;
    }
    // Of a vector: what its first lane is a multiple of.
    case ExprKind::Broadcast:
      return multiple_of(e.as<BroadcastNode>()->value);
    case ExprKind::Ramp:
      return multiple_of(e.as<RampNode>()->base);
    case ExprKind::Binary: {
      const auto* n = e.as<BinaryNode>();
      if (n->op != BinaryOp::add && n->op != BinaryOp::sub && n->op != BinaryOp::mul) return 1;
      std::int64_t a = multiple_of(n->a), b = multiple_of(n->b);
      if (n->op != BinaryOp::mul) return std::gcd(a, b);
      // Only powers of two matter, and wrapping keeps those.
      a = std::gcd(a, enough), b = std::gcd(b, enough);
      return std::gcd(a * b, enough);
    }
    default:
      return 1;
  }
}

LATHE_DECL int LlvmEmitter::alignment(const LlvmPlace& at, DType element,
                                      std::int64_t multiple) const {
  int natural = element.element_bytes();
  if (at.alignment <= natural) return natural;
  std::int64_t known =
      std::gcd<std::int64_t>(at.alignment, std::gcd<std::int64_t>(multiple, 4096) * natural);
  known &= -known;
  return known < natural ? natural : static_cast<int>(known);
}

LATHE_DECL Vec<int> llvm_lane_range(int first, int count, int step) {
  Vec<int> lanes;
  for (int l = 0; l < count; ++l) lanes.push_back(first + l * step);
  return lanes;
}

LATHE_DECL LlvmValue llvm_iota(DType t, std::int64_t step) {
  std::string text = "<";
  for (int l = 0; l < t.lanes; ++l) {
    const auto lane = static_cast<std::uint64_t>(l) * static_cast<std::uint64_t>(step);  // wraps
    append(text, l ? ", " : "", llvm_type(t.scalar()), " ", static_cast<std::int64_t>(lane));
  }
  return {t, text + ">"};
}

LATHE_DECL LlvmStrided LlvmEmitter::strided(const AnyExpr& e, std::int64_t stride) {
  return {index64(lane_base(e)), stride, multiple_of(e)};
}

LATHE_DECL LlvmStrided LlvmEmitter::shifted(LlvmStrided at, std::int64_t elements) {
  if (elements == 0) return at;
  at.base = f_.binary("add", at.base, f_.integer(kI64, elements));
  at.multiple = std::gcd(at.multiple, elements);
  return at;
}

}  // namespace lathe::detail

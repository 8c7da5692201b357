#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/codegen/llvm/workarounds/word_masks.ipp>
#include <lathe/ir/math_table.hpp>

namespace lathe::detail {

LATHE_DECL std::string_view llvm_arithmetic(BinaryOp op, DType t) {
  bool f = t.is_float();
  switch (op) {
    case BinaryOp::add:
      return f ? "fadd" : "add";
    case BinaryOp::sub:
      return f ? "fsub" : "sub";
    case BinaryOp::mul:
      return f ? "fmul" : "mul";
    case BinaryOp::and_:
    case BinaryOp::bit_and:
      return "and";
    case BinaryOp::or_:
    case BinaryOp::bit_or:
      return "or";
    case BinaryOp::bit_xor:
      return "xor";
    case BinaryOp::div:
      return f ? "fdiv" : t.is_signed() ? "sdiv" : "udiv";
    case BinaryOp::mod:
      return f ? "frem" : t.is_signed() ? "srem" : "urem";
    case BinaryOp::shl:
      return "shl";
    case BinaryOp::shr:
      return t.is_signed() ? "ashr" : "lshr";
    default:
      throw InternalError(cat("codegen: '", op_text(op), "' was not legalized"));
  }
}

inline std::string_view llvm_comparison(BinaryOp op, DType t) {
  // Unordered is unequal to everything and neither less nor greater.
  static constexpr std::string_view of_float[] = {"fcmp oeq", "fcmp une", "fcmp olt",
                                                  "fcmp ole", "fcmp ogt", "fcmp oge"};
  static constexpr std::string_view of_signed[] = {"icmp eq",  "icmp ne",  "icmp slt",
                                                   "icmp sle", "icmp sgt", "icmp sge"};
  static constexpr std::string_view of_unsigned[] = {"icmp eq",  "icmp ne",  "icmp ult",
                                                     "icmp ule", "icmp ugt", "icmp uge"};
  int row = static_cast<int>(op) - static_cast<int>(BinaryOp::eq);
  return t.is_float() ? of_float[row] : t.is_signed() ? of_signed[row] : of_unsigned[row];
}

LATHE_DECL LlvmValue LlvmEmitter::compare(BinaryOp op, const LlvmValue& a, const LlvmValue& b) {
  return f_.compare(llvm_comparison(op, a.dtype), a, b);
}

LATHE_DECL LlvmValue LlvmEmitter::binary(BinaryOp op, DType t, const LlvmValue& a,
                                         const LlvmValue& b) {
  if (is_comparison(op)) return compare(op, a, b);
  switch (op) {
    case BinaryOp::fast_min:
    case BinaryOp::fast_max:
      return f_.select(compare(op == BinaryOp::fast_min ? BinaryOp::lt : BinaryOp::gt, a, b), a, b);
    case BinaryOp::min:
    case BinaryOp::max: {
      invariant(t.is_int(), "codegen: min or max of floats was not legalized");
      const bool is_min = op == BinaryOp::min;
      return f_.intrinsic(t.is_signed() ? (is_min ? "smin" : "smax")
                          : is_min      ? "umin"
                                        : "umax",
                          {a, b});
    }
    case BinaryOp::mod:
      if (t.is_float()) module_.external(t.bits == 64 ? "fmod" : "fmodf");
      [[fallthrough]];
    default:
      return f_.binary(llvm_arithmetic(op, t), a, b);
  }
}

LATHE_DECL LlvmValue LlvmEmitter::unary(const UnaryNode& n) {
  LlvmValue a = value(n.a);
  if (n.op == UnaryOp::neg) {
    if (a.dtype.is_float()) return f_.op(a.dtype, "fneg ", llvm_type(a.dtype), " ", a.text);
    return f_.binary("sub", llvm_zero(a.dtype), a);
  }
  return f_.binary("xor", a, f_.integer(a.dtype, a.dtype.is_bool() ? 1 : -1));
}

LATHE_DECL LlvmValue LlvmEmitter::call(const CallNode& n) {
  if (is_dot(n.op)) return dot(n);
  if (n.op == CallOp::permute) return permute(value(n.args[0]), value(n.args[1]));
  Vec<LlvmValue> args;
  for (const auto& a : n.args) args.push_back(value(a));
  DType t = args[0].dtype;
  switch (n.op) {
    case CallOp::abs:
      return f_.intrinsic("fabs", args);
    case CallOp::round:
      return f_.intrinsic("roundeven", args);
    case CallOp::popcount:
      return f_.intrinsic("ctpop", args);
    case CallOp::fma:
      // Without the instruction LLVM calls the C library.
      if (math_form(n.op, module_.caps) == MathForm::call)
        module_.external(t.bits == 64 ? "fma" : "fmaf");
      [[fallthrough]];
    case CallOp::sqrt:
    case CallOp::floor:
    case CallOp::ceil:
    case CallOp::trunc:
    case CallOp::copysign:
      return f_.intrinsic(op_text(n.op), args);
    case CallOp::is_nan:
      return f_.compare("fcmp uno", args[0], args[0]);
    case CallOp::scalb:
    case CallOp::logb:
    case CallOp::significand:
    case CallOp::reciprocal_estimate:
    case CallOp::rsqrt_estimate:
      return avx512_call(n.op, args);
    case CallOp::reinterpret:
      if (llvm_type(t) == llvm_type(n.dtype)) return {n.dtype, args[0].text};
      if (n.dtype.is_bool() && llvm_loops_over_word_masks(module_.major))
        return llvm_mask_of_word(f_, args[0], n.dtype);
      return f_.convert("bitcast", args[0], n.dtype);
    default:
      throw InternalError(cat("codegen: '", op_text(n.op), "' was not expanded"));
  }
}

}  // namespace lathe::detail

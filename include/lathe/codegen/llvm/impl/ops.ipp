#pragma once

#include <bit>
#include <cmath>
#include <lathe/codegen/llvm/emitter.hpp>

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
    default:
      unreachable("not an arithmetic operator");
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

LATHE_DECL LlvmValue LlvmEmitter::binary(BinaryOp op, const LlvmValue& a, const LlvmValue& b,
                                         const AnyExpr* right) {
  if (is_comparison(op)) return compare(op, a, b);
  switch (op) {
    case BinaryOp::div:
    case BinaryOp::mod:
      if (!a.dtype.is_float()) return divide(op, a, b, right);
      return op == BinaryOp::div ? f_.binary("fdiv", a, b) : remainder(a, b);
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      return floor_divide(op, a, b, right);
    case BinaryOp::shl:
    case BinaryOp::shr:
      return shift(op, a, b, right);
    case BinaryOp::min:
    case BinaryOp::max:
      return min_max(op, a, b);
    case BinaryOp::fast_min:
    case BinaryOp::fast_max: {
      auto order = op == BinaryOp::fast_min ? BinaryOp::lt : BinaryOp::gt;
      return f_.select(compare(order, a, b), a, b);
    }
    default:
      return f_.binary(llvm_arithmetic(op, a.dtype), a, b);
  }
}

// LLVM 15 to 22 (x86 with AVX2) fill vectors of bytes up to a register, divide them by a constant
// through high halves of products, and where the quotients are permuted and multiplied take the
// low halves, all 0.
inline bool llvm_loses_quotients(DType t, std::int64_t divisor) {
  auto is_power = [](std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); };
  return t.bits == 8 && t.lanes > 1 && (t.lanes < 16 || !is_power(t.lanes)) &&
         !is_power(divisor < 0 ? -divisor : divisor);
}

// With m the first whole number above 2^16 / |divisor|, a * m / 2^16 rounded down is the quotient
// for all bytes a >= 0 and one less for a < 0, since 255 * |divisor| < 2^16 (Granlund and
// Montgomery 1994).
LATHE_DECL LlvmValue LlvmEmitter::divide_bytes(bool is_div, const LlvmValue& a,
                                               std::int64_t divisor) {
  DType t = a.dtype, wide = t.is_signed() ? kI32 : kU32;
  wide.lanes = t.lanes;
  std::int64_t m = 65536 / (divisor < 0 ? -divisor : divisor) + 1;
  LlvmValue x = f_.convert(t.is_signed() ? "sext" : "zext", a, wide);
  LlvmValue quotient = f_.binary(t.is_signed() ? "ashr" : "lshr",
                                 f_.binary("mul", x, f_.integer(wide, m)), f_.integer(wide, 16));
  if (t.is_signed())
    quotient = f_.binary("sub", quotient, f_.binary("ashr", x, f_.integer(wide, 31)));
  if (divisor < 0) quotient = f_.binary("sub", llvm_zero(wide), quotient);
  if (is_div) return f_.convert("trunc", quotient, t);
  LlvmValue taken = f_.binary("mul", quotient, f_.integer(wide, divisor));
  return f_.convert("trunc", f_.binary("sub", x, taken), t);
}

LATHE_DECL LlvmValue LlvmEmitter::divide(BinaryOp op, const LlvmValue& a, const LlvmValue& b,
                                         const AnyExpr* divisor) {
  DType t = a.dtype;
  bool is_div = op == BinaryOp::div;
  std::string_view opcode = t.is_signed() ? (is_div ? "sdiv" : "srem") : is_div ? "udiv" : "urem";
  const std::int64_t* known = divisor ? as_const_int(*divisor) : nullptr;
  if (known && *known != 0 && !(t.is_signed() && *known == -1))
    return llvm_loses_quotients(t, *known) ? divide_bytes(is_div, a, *known)
                                           : f_.binary(opcode, a, b);
  LlvmValue zero = llvm_zero(t), one = f_.integer(t, 1);
  LlvmValue is_zero = f_.compare("icmp eq", b, zero), trivial = is_zero;
  if (t.is_signed()) trivial = f_.compare("icmp ult", f_.binary("add", b, one), f_.integer(t, 2));
  // A remainder by 1 is the 0 that a remainder by 0 or -1 has to be.
  LlvmValue result = f_.binary(opcode, a, f_.select(trivial, one, b));
  if (!is_div) return result;
  if (!t.is_signed()) return f_.select(is_zero, zero, result);
  LlvmValue negated = f_.binary("sub", zero, a);
  return f_.select(trivial, f_.select(is_zero, zero, negated), result);
}

LATHE_DECL LlvmValue LlvmEmitter::floor_divide(BinaryOp op, const LlvmValue& a, const LlvmValue& b,
                                               const AnyExpr* divisor) {
  DType t = a.dtype;
  bool is_div = op == BinaryOp::floordiv;
  if (t.is_float()) {
    LlvmValue down = f_.intrinsic("floor", {f_.binary("fdiv", a, b)});
    return is_div ? down : f_.binary("fsub", a, f_.binary("fmul", down, b));
  }
  if (!t.is_signed()) return divide(is_div ? BinaryOp::div : BinaryOp::mod, a, b, divisor);
  const std::int64_t* known = divisor ? as_const_int(*divisor) : nullptr;
  if (known && *known > 0 && (*known & (*known - 1)) == 0) {
    if (!is_div) return f_.binary("and", a, f_.integer(t, *known - 1));
    return f_.binary("ashr", a,
                     f_.integer(t, std::countr_zero(static_cast<std::uint64_t>(*known))));
  }
  LlvmValue zero = llvm_zero(t), rest = divide(BinaryOp::mod, a, b, divisor);
  LlvmValue wrong = f_.compare("icmp slt", f_.binary("xor", rest, b), zero);
  wrong = f_.binary("and", wrong, f_.compare("icmp ne", rest, zero));
  if (!is_div) return f_.select(wrong, f_.binary("add", rest, b), rest);
  LlvmValue quotient = divide(BinaryOp::div, a, b, divisor);
  return f_.select(wrong, f_.binary("add", quotient, f_.integer(t, -1)), quotient);
}

LATHE_DECL LlvmValue LlvmEmitter::remainder(const LlvmValue& a, const LlvmValue& b) {
  module_.external(a.dtype.bits == 64 ? "fmod" : "fmodf");
  return f_.binary("frem", a, b);
}

LATHE_DECL LlvmValue LlvmEmitter::shift(BinaryOp op, const LlvmValue& a, LlvmValue b,
                                        const AnyExpr* count) {
  const std::int64_t* known = count ? as_const_int(*count) : nullptr;
  if (known)
    b = f_.integer(b.dtype, *known & (b.dtype.bits - 1));
  else
    b = f_.binary("and", b, f_.integer(b.dtype, b.dtype.bits - 1));
  return f_.binary(op == BinaryOp::shl ? "shl" : a.dtype.is_signed() ? "ashr" : "lshr", a, b);
}

// A constant that is neither NaN nor the zero whose sign a comparison can't see.
inline bool llvm_orders_alone(const AnyExpr& e, BinaryOp op) {
  const AnyExpr* core = &e;
  while (const auto* b = core->as<BroadcastNode>()) core = &b->value;
  const auto* c = core->as<ConstNode>();
  if (!c || std::isnan(c->f)) return false;
  return c->f != 0 || std::signbit(c->f) == (op == BinaryOp::max);
}

LATHE_DECL LlvmValue LlvmEmitter::min_max(const BinaryNode& n) {
  LlvmValue a = value(n.a), b = value(n.b);
  if (!n.dtype.is_float()) return min_max(n.op, a, b);
  bool left = llvm_orders_alone(n.a, n.op);
  if (!left && !llvm_orders_alone(n.b, n.op)) {
    const AnyExpr* core = &n.b;
    while (const auto* c = core->as<BroadcastNode>()) core = &c->value;
    const auto* zero = core->as<ConstNode>();
    if (!zero || zero->f != 0) return min_max(n.op, a, b);
    // max(x, +0) and min(x, -0): take the constant also where x is the other zero, and never for
    // NaN.
    auto order = n.op == BinaryOp::min ? BinaryOp::ge : BinaryOp::le;
    return f_.select(compare(order, a, b), b, a);
  }
  // x86 has c > x ? c : x as one instruction, and it gives x if x is NaN or an equal zero.
  const LlvmValue &c = left ? a : b, &x = left ? b : a;
  return f_.select(compare(n.op == BinaryOp::min ? BinaryOp::lt : BinaryOp::gt, c, x), c, x);
}

LATHE_DECL LlvmValue LlvmEmitter::min_max(BinaryOp op, const LlvmValue& a, const LlvmValue& b) {
  bool is_min = op == BinaryOp::min;
  DType t = a.dtype;
  if (t.is_bool()) return f_.binary(is_min ? "and" : "or", a, b);
  if (!t.is_float()) {
    std::string_view name = t.is_signed() ? (is_min ? "smin" : "smax") : is_min ? "umin" : "umax";
    return f_.intrinsic(name, {a, b});
  }
  LlvmValue best = f_.select(compare(is_min ? BinaryOp::lt : BinaryOp::gt, a, b), a, b);
  // Equal operands differ at most in the sign of a zero: the bits decide it.
  DType bits{TypeCode::uint, t.bits, t.lanes, false};
  LlvmValue merged = f_.binary(is_min ? "or" : "and", f_.convert("bitcast", a, bits),
                               f_.convert("bitcast", b, bits));
  LlvmValue ordered =
      f_.select(compare(BinaryOp::eq, a, b), f_.convert("bitcast", merged, t), best);
  // best is b if either is NaN; a NaN in a has to win.
  return f_.select(f_.compare("fcmp uno", a, a), a, ordered);
}

LATHE_DECL LlvmValue LlvmEmitter::unary(const UnaryNode& n) {
  LlvmValue a = value(n.a);
  if (n.op == UnaryOp::neg) {
    if (a.dtype.is_float()) return f_.op(a.dtype, "fneg ", llvm_type(a.dtype), " ", a.text);
    return f_.binary("sub", llvm_zero(a.dtype), a);
  }
  return f_.binary("xor", a, f_.integer(a.dtype, a.dtype.is_bool() ? 1 : -1));
}

LATHE_DECL LlvmValue LlvmEmitter::fused(const Vec<LlvmValue>& args) {
  DType t = args[0].dtype;
  if (!t.is_float()) return f_.binary("add", f_.binary("mul", args[0], args[1]), args[2]);
  // Without the instruction LLVM calls the C library.
  bool native = module_.target.arch != "x86_64" || module_.target.has("fma");
  if (!native) module_.external(t.bits == 64 ? "fma" : "fmaf");
  return f_.intrinsic("fma", args);
}

LATHE_DECL LlvmValue LlvmEmitter::call(const CallNode& n) {
  if (is_dot(n.op)) return dot(n);
  Vec<LlvmValue> args;
  for (const auto& a : n.args) args.push_back(value(a));
  DType t = args[0].dtype;
  switch (n.op) {
    case CallOp::sqrt:
      return f_.intrinsic("sqrt", args);
    case CallOp::floor:
    case CallOp::ceil:
    case CallOp::trunc:
      return t.is_float() ? f_.intrinsic(op_text(n.op), args) : args[0];
    case CallOp::round:
      return t.is_float() ? f_.intrinsic("roundeven", args) : args[0];
    case CallOp::fma:
      return fused(args);
    case CallOp::copysign:
      return f_.intrinsic("copysign", args);
    case CallOp::popcount:
      return f_.intrinsic("ctpop", args);
    case CallOp::abs: {
      if (t.is_float()) return f_.intrinsic("fabs", args);
      if (!t.is_signed()) return args[0];
      LlvmValue negated = f_.binary("sub", llvm_zero(t), args[0]);
      return f_.select(f_.compare("icmp slt", args[0], llvm_zero(t)), negated, args[0]);
    }
    case CallOp::is_nan:
      return t.is_float() ? f_.compare("fcmp uno", args[0], args[0]) : llvm_zero(n.dtype);
    case CallOp::scalb:
      return scalb(args[0], args[1]);
    case CallOp::reinterpret:
      return llvm_type(t) == llvm_type(n.dtype) ? LlvmValue{n.dtype, args[0].text}
                                                : f_.convert("bitcast", args[0], n.dtype);
    default:
      throw InternalError(cat("codegen: '", op_text(n.op), "' was not expanded"));
  }
}

// A vector whose groups of lanes are wanted where the result's lane is.
LATHE_DECL LlvmValue LlvmEmitter::dot_factor(const AnyExpr& e, int group) {
  if (mask_.text.empty() || !llvm_may_load(e)) return value(e);
  Lanes lanes;
  for (int l = 0; l < e.dtype().lanes; ++l) lanes.push_back(l / group);
  LlvmValue mask = mask_for(e.dtype().lanes / group);
  return under(mask.dtype.lanes == 1 ? f_.splat(mask, e.dtype().lanes) : f_.shuffle(mask, lanes),
               e);
}

LATHE_DECL LlvmValue LlvmEmitter::dot(const CallNode& n) {
  const bool bytes = n.op == CallOp::dot4;
  const int full = 16, group = bytes ? 4 : 2, lanes = n.dtype.lanes;
  std::string_view name = bytes ? "x86.avx512.vpdpbusd.512" : "x86.avx512bf16.dpbf16ps.512";
  invariant(module_.can(name), "a dot product was not legalized");
  LlvmValue sum = value(n.args[0]), a = dot_factor(n.args[1], group),
            b = dot_factor(n.args[2], group), result;
  // LLVM's types: the sum, and words of four bytes (newer majors read them as bytes) or bf16.
  const std::string type = llvm_type(n.dtype.with_lanes(full)),
                    factors = bytes ? "<16 x i32>" : "<32 x bfloat>";
  module_.declare(type, cat("llvm.", name), cat(type, ", ", factors, ", ", factors));
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
      return f_.op(all.dtype, "bitcast ", llvm_type(all.dtype), " ", all.text, " to ", factors);
    };
    LlvmValue s = piece(sum, 1), x = cast(a), y = cast(b);
    LlvmValue part = f_.op(s.dtype, "call ", type, " @llvm.", name, "(", type, " ", s.text, ", ",
                           factors, " ", x.text, ", ", factors, " ", y.text, ")");
    result = first == 0 ? part : f_.concat(result, part);
  }
  if (lanes == 1) return f_.extract(result, 0);
  return result.dtype.lanes == lanes ? result : f_.shuffle(result, llvm_lane_range(0, lanes));
}

LATHE_DECL LlvmValue LlvmEmitter::scalb(const LlvmValue& x, const LlvmValue& power) {
  bool wide = x.dtype.bits == 64;
  std::string_view name = wide ? "x86.avx512.mask.scalef.pd.512" : "x86.avx512.mask.scalef.ps.512";
  invariant(x.dtype.bits >= 32 && module_.can(name), "scalb was not legalized");
  int full = wide ? 8 : 16, lanes = x.dtype.lanes;
  LlvmValue result;
  DType t = x.dtype.with_lanes(full);
  std::string type = llvm_type(t), mask = wide ? "i8" : "i16";
  module_.declare(type, cat("llvm.", name), cat(type, ", ", type, ", ", type, ", ", mask, ", i32"));
  for (int first = 0; first < lanes; first += full) {
    Lanes part;
    for (int l = 0; l < full; ++l) part.push_back(first + l < lanes ? first + l : -1);
    auto piece = [&](const LlvmValue& v) {
      if (lanes == 1) return f_.splat(v, full);
      return lanes == full ? v : f_.shuffle(v, part);
    };
    LlvmValue a = piece(x), b = piece(power);
    // Mask all ones; 4: round as MXCSR says, to nearest even.
    LlvmValue scaled = f_.op(t, "call ", type, " @llvm.", name, "(", type, " ", a.text, ", ", type,
                             " ", b.text, ", ", type, " zeroinitializer, ", mask, " -1, i32 4)");
    result = first == 0 ? scaled : f_.concat(result, scaled);
  }
  if (lanes == 1) return f_.extract(result, 0);
  if (result.dtype.lanes == lanes) return result;
  Lanes keep;
  for (int l = 0; l < lanes; ++l) keep.push_back(l);
  return f_.shuffle(result, keep);
}

}  // namespace lathe::detail

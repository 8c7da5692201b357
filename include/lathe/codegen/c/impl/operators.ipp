#pragma once

#include <lathe/codegen/c/emitter.hpp>

namespace lathe::detail {

/// Unsigned integers that wrap as t does: C computes what is narrower than an int as an int.
inline DType c_modular(DType t) {
  t.code = TypeCode::uint;
  if (t.lanes == 1 && t.bits < 32) t.bits = 32;
  return t;
}

inline std::string_view c_symbol(BinaryOp op) {
  return op == BinaryOp::and_ ? "&" : op == BinaryOp::or_ ? "|" : op_text(op);
}

LATHE_DECL CEmitter::Text CEmitter::binary(BinaryOp op, DType t, Text a, Text b) {
  const bool vector = t.lanes > 1;
  const std::string own = type(t), wide = t.is_int() ? type(c_modular(t)) : own;
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::shl:
      if (t.is_float()) break;
      return cat("((", own, ")((", wide, ")", a, " ", c_symbol(op), " (", wide, ")", b, "))");
    case BinaryOp::mod: {
      if (!t.is_float()) break;
      const std::string_view name = t.bits == 64 ? "fmod(" : "fmodf(";
      if (!vector) return cat(name, a, ", ", b, ")");
      return lanes(t, c_lanes(t), cat(name, a, "[l], ", b, "[l])"));
    }
    case BinaryOp::min:
    case BinaryOp::max:
    case BinaryOp::fast_min:
    case BinaryOp::fast_max: {
      const bool less = op == BinaryOp::min || op == BinaryOp::fast_min;
      invariant(!t.is_float() || op > BinaryOp::max, "codegen: min or max was not legalized");
      a = simple(a, t), b = simple(b, t);
      const std::string_view at = vector ? "[l]" : "";
      Text chosen = cat("(", a, at, less ? " < " : " > ", b, at, " ? ", a, at, " : ", b, at, ")");
      return vector ? lanes(t, c_lanes(t), chosen) : chosen;
    }
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      throw InternalError("codegen: a floor division was not legalized");
    default:
      break;
  }
  Text out = cat("(", a, " ", c_symbol(op), " ", b, ")");
  if (!is_comparison(op)) return vector || t.is_float() ? out : cat("((", own, ")", out, ")");
  if (!vector) return out;
  // As bytes 0 and -1, true would be below false.
  const std::string as = t.is_bool() ? cat("(", type(kU8.with_lanes(t.lanes)), ")") : "";
  return cat("__builtin_convertvector(", as, a, " ", op_text(op), " ", as, b, ", ",
             type(kBool.with_lanes(t.lanes)), ")");
}

LATHE_DECL CEmitter::Text CEmitter::unary(const UnaryNode& n) {
  const Text a = value(n.a);
  const DType t = n.dtype;
  if (n.op == UnaryOp::not_) return cat(t.lanes > 1 ? "(~" : "(!", a, ")");
  const std::string wide = t.is_int() ? type(c_modular(t)) : type(t);
  return cat("((", type(t), ")(", n.op == UnaryOp::neg ? "-" : "~", "(", wide, ")", a, "))");
}

LATHE_DECL CEmitter::Text CEmitter::cast(const CastNode& n) {
  const DType from = n.value.dtype(), to = n.dtype;
  const Text a = value(n.value);
  if (to.lanes == 1) return to.is_bool() ? cat("(", a, " != 0)") : cat("((", type(to), ")", a, ")");
  return cat("__builtin_convertvector(", a,
             to.is_bool()     ? " != 0"
             : from.is_bool() ? " & 1"
                              : "",
             ", ", type(to), ")");
}

LATHE_DECL CEmitter::Text CEmitter::reinterpret(DType from, DType to, const Text& bits) {
  if (from == to) return bits;
  const Text a = named(bits, from);
  if (to.is_bool()) return lanes(to, to.lanes, cat("-(int8_t)(", a, " >> l & 1)"));
  const Text own = unique("bits");
  line(type(to), " ", own, from.is_bool() ? " = 0;" : ";");
  if (from.is_bool())
    line("for (int l = 0; l < ", from.lanes, "; ++l) ", own, " |= (", type(to), ")((", type(to),
         ")(", a, "[l] & 1) << l);");
  else
    line("memcpy(&", own, ", &", a, ", sizeof ", own, ");");
  return own;
}

LATHE_DECL CEmitter::Text CEmitter::call(const CallNode& n) {
  const DType t = n.args[0].dtype();
  const std::string_view at = t.lanes > 1 ? "[l]" : "";
  if (n.op == CallOp::reinterpret) return reinterpret(t, n.dtype, value(n.args[0]));
  if (n.op == CallOp::is_nan) {
    const Text a = simple(value(n.args[0]), t);
    return binary(BinaryOp::ne, t, a, a);
  }
  if (n.op == CallOp::scalb || is_dot(n.op) || n.op == CallOp::prefetch || n.op <= CallOp::erf ||
      n.op == CallOp::pow)
    throw InternalError(cat("codegen: '", op_text(n.op), "' was not legalized"));
  std::string name(n.op == CallOp::abs     ? "fabs"
                   : n.op == CallOp::round ? "nearbyint"
                                           : op_text(n.op));
  if (t.bits == 32) name += 'f';
  // Bits above those of the type are none of its own.
  if (n.op == CallOp::popcount) {
    DType bits = t.scalar();
    bits.code = TypeCode::uint;
    name = cat("__builtin_popcountll((", c_scalar_type(bits), ")");
  }
  const Text text =
      cat(name, "(", join(n.args, ", ", [&](const AnyExpr& e) { return cat(value(e), at); }),
          n.op == CallOp::popcount ? "))" : ")");
  return t.lanes > 1 ? lanes(t, c_lanes(t), text) : text;
}

}  // namespace lathe::detail

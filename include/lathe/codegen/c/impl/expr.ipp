#pragma once

#include <cmath>
#include <cstdio>
#include <lathe/codegen/c/emitter.hpp>
#include <lathe/ir/math_table.hpp>

namespace lathe::detail {

// A long expression gets a name too.
LATHE_DECL CText CEmitter::kept(const CText& text, const AnyExpr& e, bool shared) {
  return shared || text.size() > 72 ? simple(text, e.dtype()) : text;
}

LATHE_DECL CText CEmitter::constant(const ConstNode& n) const {
  const DType t = n.dtype;
  if (!t.is_float()) {
    if (t.is_signed() && n.i == INT64_MIN) return "INT64_MIN";
    if (n.i < 0 && !t.is_unsigned()) return cat("(", n.i, ")");
    // Of 32 bits and more a number has its type, of less it is an int as all operands are.
    return cat(static_cast<std::uint64_t>(n.i), t.is_unsigned() && t.bits >= 32 ? "u" : "");
  }
  const char *minus = std::signbit(n.f) ? "-" : "", *suffix = t.bits == 32 ? "f" : "";
  if (std::isnan(n.f)) return "NAN";
  if (std::isinf(n.f)) return cat("(", minus, "INFINITY)");
  char digits[48];
  std::snprintf(digits, sizeof digits, "(%a%s)", n.f, suffix);
  return digits;
}

LATHE_DECL CText CEmitter::let(const LetNode& n) {
  const std::size_t before = mark();
  for (const auto& b : n.bindings)
    vars_[b.var.get()] = named(value(b.value), b.var->dtype, b.var->name);
  CText result = value(n.body);
  // The same body under another binding of the variables is another value.
  forget(before);
  return result;
}

LATHE_DECL CText CEmitter::select(const SelectNode& n) {
  const CText condition = value(n.condition);
  if (n.condition.dtype().lanes == 1) return branches(condition, n);
  const DType t = n.dtype, bits{TypeCode::sint, t.is_bool() ? kI8.bits : t.bits, t.lanes, false};
  const CText yes = value(n.yes), no = value(n.no);
  const std::string word = type(bits);
  const CText k = named(cat("__builtin_convertvector(", condition, ", ", word, ")"), bits);
  return cat("((", type(t), ")((", k, " & (", word, ")", yes, ") | (~", k, " & (", word, ")", no,
             ")))");
}

// The arm that is not chosen is not evaluated.
LATHE_DECL CText CEmitter::branches(const CText& condition, const SelectNode& n) {
  const CText result = unique("t");
  const auto arm = [&](const AnyExpr& e) {
    std::string around = std::exchange(code_, {});
    const std::size_t before = mark();
    ++depth_;
    CText text = value(e);
    const bool plain = code_.empty();
    line(result, " = ", text, ";");
    --depth_;
    forget(before);
    return std::pair(plain ? text : CText(), std::exchange(code_, std::move(around)));
  };
  const auto [yes, yes_code] = arm(n.yes);
  const auto [no, no_code] = arm(n.no);
  if (n.dtype.lanes == 1 && !yes.empty() && !no.empty())
    return cat("(", condition, " ? ", yes, " : ", no, ")");
  line(type(n.dtype), " ", result, ";");
  line("if (", condition, ") {");
  code_ += yes_code;
  line("} else {");
  code_ += no_code;
  line("}");
  return result;
}

LATHE_DECL CText CEmitter::broadcast(const BroadcastNode& n) {
  const DType t = n.value.dtype();
  const CText v = value(n.value);
  return lanes(n.dtype, c_lanes(n.dtype),
               t.lanes > 1 ? cat(v, "[l % ", t.lanes, "]") : cat(t.is_bool() ? "-" : "", v));
}

LATHE_DECL CText CEmitter::ramp(const RampNode& n) {
  const DType t = n.dtype;
  const auto part = [&](const AnyExpr& e) {
    const int inner = e.dtype().lanes;
    const CText v = simple(value(e), e.dtype());
    return cat("(uint64_t)", v, inner == 1 ? "" : cat("[l % ", inner, "]"));
  };
  const CText base = part(n.base), stride = part(n.stride);
  return lanes(t, c_lanes(t),
               cat("(", c_scalar_type(t.scalar()), ")(", base, " + (uint64_t)(l / ",
                   n.base.dtype().lanes, ") * ", stride, ")"));
}

LATHE_DECL CText CEmitter::shuffle(const ShuffleNode& n) {
  Vec<CText> all;
  for (const auto& v : n.vectors) {
    const DType t = v.dtype();
    const CText from = simple(value(v), t);
    for (int l = 0; l < t.lanes; ++l)
      all.push_back(t.lanes == 1 ? cat(t.is_bool() ? "-" : "", from) : cat(from, "[", l, "]"));
  }
  const auto picked = [&](int l) { return all[static_cast<std::size_t>(l)]; };
  const DType t = n.dtype;
  if (n.lanes.size() > 1) return named(cat("{", join(n.lanes, ", ", picked), "}"), t);
  return t.is_bool() ? cat("(", picked(n.lanes[0]), " != 0)") : picked(n.lanes[0]);
}

/// Unsigned integers that wrap as t does: C computes what is narrower than an int as an int.
inline DType c_modular(DType t) {
  t.code = TypeCode::uint;
  if (t.lanes == 1 && t.bits < 32) t.bits = 32;
  return t;
}

LATHE_DECL CText CEmitter::binary(BinaryOp op, DType t, CText a, CText b) {
  invariant(op != BinaryOp::floordiv && op != BinaryOp::floormod, "codegen: no floor divisions");
  const bool vector = t.lanes > 1;
  const std::string_view symbol = is_logic(op) ? op_text(op).substr(1) : op_text(op);
  const std::string own = type(t), wide = t.is_int() ? type(c_modular(t)) : own;
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::shl:
      if (t.is_float()) break;
      return cat("((", own, ")((", wide, ")", a, " ", symbol, " (", wide, ")", b, "))");
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
      CText chosen = cat("(", a, at, less ? " < " : " > ", b, at, " ? ", a, at, " : ", b, at, ")");
      return vector ? lanes(t, c_lanes(t), chosen) : chosen;
    }
    default:
      break;
  }
  CText out = cat("(", a, " ", symbol, " ", b, ")");
  if (!is_comparison(op)) return vector || t.is_float() ? out : cat("((", own, ")", out, ")");
  if (!vector) return out;
  // As bytes 0 and -1, true would be below false.
  const std::string as = t.is_bool() ? cat("(", type(kU8.with_lanes(t.lanes)), ")") : "";
  return cat("__builtin_convertvector(", as, a, " ", op_text(op), " ", as, b, ", ",
             type(kBool.with_lanes(t.lanes)), ")");
}

LATHE_DECL CText CEmitter::unary(const UnaryNode& n) {
  const CText a = value(n.a);
  const DType t = n.dtype;
  if (n.op == UnaryOp::not_) return cat(t.lanes > 1 ? "(~" : "(!", a, ")");
  const std::string wide = t.is_int() ? type(c_modular(t)) : type(t);
  return cat("((", type(t), ")(", n.op == UnaryOp::neg ? "-" : "~", "(", wide, ")", a, "))");
}

LATHE_DECL CText CEmitter::cast(const CastNode& n) {
  const DType from = n.value.dtype(), to = n.dtype;
  const CText a = value(n.value);
  if (to.lanes == 1) return to.is_bool() ? cat("(", a, " != 0)") : cat("((", type(to), ")", a, ")");
  const std::string_view as = to.is_bool() ? " != 0" : from.is_bool() ? " & 1" : "";
  return cat("__builtin_convertvector(", a, as, ", ", type(to), ")");
}

LATHE_DECL CText CEmitter::reinterpret(DType from, DType to, const CText& bits) {
  if (from == to) return bits;
  const CText a = named(bits, from);
  if (to.is_bool()) return lanes(to, to.lanes, cat("-(int8_t)(", a, " >> l & 1)"));
  const CText own = unique("bits");
  line(type(to), " ", own, from.is_bool() ? " = 0;" : ";");
  if (from.is_bool())
    line("for (int l = 0; l < ", from.lanes, "; ++l) ", own, " |= (", type(to), ")((", type(to),
         ")(", a, "[l] & 1) << l);");
  else
    line("memcpy(&", own, ", &", a, ", sizeof ", own, ");");
  return own;
}

LATHE_DECL CText CEmitter::call(const CallNode& n) {
  const DType t = n.args[0].dtype();
  const std::string_view at = t.lanes > 1 ? "[l]" : "";
  if (n.op == CallOp::reinterpret) return reinterpret(t, n.dtype, value(n.args[0]));
  if (n.op == CallOp::is_nan) {
    const CText a = simple(value(n.args[0]), t);
    return binary(BinaryOp::ne, t, a, a);
  }
  if (is_of_exponents(n.op) || is_estimate(n.op) || crosses_lanes(n.op) || is_tile(n.op) ||
      !op_pure(n.op) || is_transcendental(n.op))
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
  const CText text =
      cat(name, "(", join(n.args, ", ", [&](const AnyExpr& e) { return cat(value(e), at); }),
          n.op == CallOp::popcount ? "))" : ")");
  return t.lanes > 1 ? lanes(t, c_lanes(t), text) : text;
}

}  // namespace lathe::detail

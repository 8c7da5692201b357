#pragma once

#include <bit>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

LATHE_DECL int infix_precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::or_:
      return 1;
    case BinaryOp::and_:
      return 2;
    case BinaryOp::bit_or:
      return 3;
    case BinaryOp::bit_xor:
      return 4;
    case BinaryOp::bit_and:
      return 5;
    case BinaryOp::eq:
    case BinaryOp::ne:
      return 6;
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      return 7;
    case BinaryOp::shl:
    case BinaryOp::shr:
      return 8;
    case BinaryOp::add:
    case BinaryOp::sub:
      return 9;
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::mod:
      return 10;
    default:
      return 0;
  }
}

inline constexpr int kUnaryPrecedence = 11;

/// C's precedence is right here, but nobody knows it by heart.
inline bool wants_parens(BinaryOp parent, const AnyExpr& operand) {
  const auto* child = operand.as<BinaryNode>();
  if (!child || infix_precedence(child->op) == 0) return false;
  int outer = infix_precedence(parent), inner = infix_precedence(child->op);
  if (outer == 6 || outer == 7) return inner <= 7;
  return child->op != parent && ((outer >= 3 && outer <= 5) || outer == 8);
}

template <class... Parts>
void Printer::put(const Parts&... parts) {
  append(out_, parts...);
}

inline void Printer::exprs(const Vec<AnyExpr>& list) {
  bool first = true;
  for (const auto& e : list) {
    if (!std::exchange(first, false)) put(", ");
    expr(e);
  }
}

inline std::string float_digits(const ConstNode& n) {
  std::string type = n.dtype == kF32 ? "" : n.dtype.str();
  if (n.f == n.f) {
    std::string digits =
        n.dtype.bits == 64 ? format_float(n.f) : format_float(static_cast<float>(n.f));
    if (digits.find("inf") == std::string::npos) return digits + type;
    return cat(digits[0] == '-' ? "-" : "", type, type.empty() ? "" : ".", "inf");
  }
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kQuiet = 0x7ff8000000000000;
  auto bits = std::bit_cast<std::uint64_t>(n.f);
  std::string text = cat(bits & kSign ? "-" : "", type, type.empty() ? "" : ".", "nan");
  if ((bits & ~kSign) == kQuiet) return text;
  double payload = std::bit_cast<double>(bits & ~kSign);
  return cat(text, '(', format_hex_bits(payload), ')');
}

inline void Printer::constant(const ConstNode& n) {
  if (n.dtype.is_float()) return put(float_digits(n));
  if (n.dtype.is_bool()) return put(n.i ? "true" : "false");
  if (n.dtype.is_unsigned())
    put(static_cast<std::uint64_t>(n.i));
  else
    put(n.i);
  if (n.dtype != kIndex) put(n.dtype.str());
}

inline void Printer::infix(const BinaryNode& n, int precedence) {
  int own = infix_precedence(n.op);
  if (own == 0) return call(op_text(n.op), {&n.a, &n.b});
  bool parens = own < precedence;
  if (parens) put('(');
  expr(n.a, wants_parens(n.op, n.a) ? kUnaryPrecedence : own);
  put(' ', op_text(n.op), ' ');
  expr(n.b, wants_parens(n.op, n.b) ? kUnaryPrecedence : own + 1);
  if (parens) put(')');
}

inline void Printer::unary(const UnaryNode& n) {
  put(op_text(n.op));
  if (n.op != UnaryOp::neg || !n.a.get() || n.a.kind() != ExprKind::Const)
    return expr(n.a, kUnaryPrecedence);
  put('('), expr(n.a), put(')');
}

inline void Printer::call(std::string_view name, std::initializer_list<const AnyExpr*> args) {
  put(name, '(');
  bool first = true;
  for (const auto* a : args) {
    if (!std::exchange(first, false)) put(", ");
    expr(*a);
  }
  put(')');
}

inline void Printer::let(const LetNode& n) {
  put('(');
  for (const auto& b : n.bindings) {
    put("let ", names_.bind(b.var.get(), b.var->name, true), " = ");
    expr(b.value);
    put(" in ");
  }
  expr(n.body);
  put(')');
  for (const auto& b : reversed(n.bindings)) names_.release(b.var.get());
}

inline void Printer::shuffle(const ShuffleNode& n) {
  put("shuffle(");
  exprs(n.vectors);
  put("; ", join(n.lanes, ", "), ')');
}

inline void Printer::access(const Buffer& buffer, const Vec<AnyExpr>& indices,
                            const AnyExpr& mask) {
  put(names_.use(buffer.get(), buffer->name), '[');
  exprs(indices);
  if (mask) put(indices.empty() ? "where " : " where "), expr(mask);
  put(']');
}

inline void Printer::range(const AnyExpr& min, const AnyExpr& extent) {
  const auto *lo = min.as<ConstNode>(), *count = extent.as<ConstNode>();
  std::int64_t end = 0;
  expr(min);
  if (lo && lo->dtype == kIndex && lo->i == 0) return put(".."), expr(extent);
  if (lo && count && lo->dtype == kIndex && count->dtype == kIndex &&
      !__builtin_add_overflow(lo->i, count->i, &end))
    return put("..", end);
  const auto* length = extent.as<BinaryNode>();  // what the parser makes of min..end
  if (length && length->op == BinaryOp::sub && !(lo && length->a.as<ConstNode>()) &&
      structurally_equal(length->b, min))
    return put(".."), expr(length->a);
  put("..+");
  expr(extent);
}

inline void Printer::expr(const AnyExpr& e, int precedence) {
  if (!e.get()) return put("<none>");
  switch (e.kind()) {
    case ExprKind::Const:
      return constant(*e.as<ConstNode>());
    case ExprKind::Var:
      return put(names_.use(e.get(), e.as<VarNode>()->name));
    case ExprKind::Load: {
      const auto* n = e.as<LoadNode>();
      return access(n->buffer, n->indices, n->mask);
    }
    case ExprKind::Let:
      return let(*e.as<LetNode>());
    case ExprKind::Binary:
      return infix(*e.as<BinaryNode>(), precedence);
    case ExprKind::Unary:
      return unary(*e.as<UnaryNode>());
    case ExprKind::Select: {
      const auto* n = e.as<SelectNode>();
      return call("select", {&n->condition, &n->yes, &n->no});
    }
    case ExprKind::Cast:
      return call(e.dtype().str(), {&e.as<CastNode>()->value});
    case ExprKind::Call: {
      const auto* n = e.as<CallNode>();
      put(op_text(n->op));
      if (n->op == CallOp::reinterpret) put('<', n->dtype.str(), '>');
      return put('('), exprs(n->args), put(')');
    }
    case ExprKind::Ramp: {
      const auto* n = e.as<RampNode>();
      return put("ramp("), expr(n->base), put(", "), expr(n->stride), put(", ", n->lanes, ')');
    }
    case ExprKind::Broadcast: {
      const auto* n = e.as<BroadcastNode>();
      return put("broadcast("), expr(n->value), put(", ", n->lanes, ')');
    }
    case ExprKind::Shuffle:
      return shuffle(*e.as<ShuffleNode>());
  }
}

}  // namespace detail
}  // namespace lathe

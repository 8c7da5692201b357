#pragma once

#include <cmath>
#include <cstdio>
#include <lathe/codegen/c/emitter.hpp>

namespace lathe::detail {

/// An expression of more characters gets a name.
inline constexpr std::size_t c_longest_text = 72;

LATHE_DECL CEmitter::Text CEmitter::value(const AnyExpr& e) {
  const bool leaf = e.kind() <= ExprKind::Var, shared = !leaf && e->shared();
  if (shared)
    if (const Text* known = memo_.find(e.get())) return *known;
  Text text = compute(e);
  if (shared || text.size() > c_longest_text) text = simple(text, e.dtype());
  if (shared) memo_.insert(e.get(), text), order_.push_back(e);
  return text;
}

LATHE_DECL void CEmitter::forget(std::size_t mark) {
  while (order_.size() > mark) memo_.pop(order_.back().get()), order_.pop_back();
}

inline std::string c_constant(const ConstNode& n) {
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

LATHE_DECL CEmitter::Text CEmitter::compute(const AnyExpr& e) {
  switch (e.kind()) {
    case ExprKind::Const:
      return c_constant(*e.as<ConstNode>());
    case ExprKind::Var: {
      const Text* found = vars_.find(e.get());
      if (!found)
        throw InternalError(cat("codegen: variable '", e.as<VarNode>()->name, "' is not bound"));
      return *found;
    }
    case ExprKind::Load:
      return load(*e.as<LoadNode>());
    case ExprKind::Let:
      return let(*e.as<LetNode>());
    case ExprKind::Binary: {
      const auto* n = e.as<BinaryNode>();
      Text a = value(n->a), b = value(n->b);
      return binary(n->op, n->a.dtype(), std::move(a), std::move(b));
    }
    case ExprKind::Unary:
      return unary(*e.as<UnaryNode>());
    case ExprKind::Select:
      return select(*e.as<SelectNode>());
    case ExprKind::Cast:
      return cast(*e.as<CastNode>());
    case ExprKind::Call:
      return call(*e.as<CallNode>());
    case ExprKind::Ramp:
      return ramp(*e.as<RampNode>());
    case ExprKind::Broadcast:
      return broadcast(*e.as<BroadcastNode>());
    case ExprKind::Shuffle:
      return shuffle(*e.as<ShuffleNode>());
  }
  unreachable("an expression of no kind");
}

LATHE_DECL CEmitter::Text CEmitter::let(const LetNode& n) {
  const std::size_t mark = order_.size();
  for (const auto& b : n.bindings)
    vars_[b.var.get()] = named(value(b.value), b.var->dtype, b.var->name);
  Text result = value(n.body);
  // The same body under another binding of the variables is another value.
  forget(mark);
  return result;
}

LATHE_DECL CEmitter::Text CEmitter::select(const SelectNode& n) {
  const Text condition = value(n.condition);
  if (n.condition.dtype().lanes == 1) return branches(condition, n);
  const DType t = n.dtype, bits{TypeCode::sint, t.is_bool() ? kI8.bits : t.bits, t.lanes, false};
  const Text yes = value(n.yes), no = value(n.no);
  const std::string word = type(bits);
  const Text k = named(cat("__builtin_convertvector(", condition, ", ", word, ")"), bits);
  return cat("((", type(t), ")((", k, " & (", word, ")", yes, ") | (~", k, " & (", word, ")", no,
             ")))");
}

// The arm that is not chosen is not evaluated.
LATHE_DECL CEmitter::Text CEmitter::branches(const Text& condition, const SelectNode& n) {
  const Text result = unique("t");
  const auto arm = [&](const AnyExpr& e) {
    std::string before = std::exchange(code_, {});
    const std::size_t mark = order_.size();
    ++depth_;
    Text text = value(e);
    const bool plain = code_.empty();
    line(result, " = ", text, ";");
    --depth_;
    forget(mark);
    return std::pair(plain ? text : Text(), std::exchange(code_, std::move(before)));
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

LATHE_DECL CEmitter::Text CEmitter::splat(const Text& scalar, DType t) {
  return lanes(t, c_lanes(t), cat(t.is_bool() ? "-" : "", scalar));
}

LATHE_DECL CEmitter::Text CEmitter::broadcast(const BroadcastNode& n) {
  const DType inner = n.value.dtype();
  const Text v = value(n.value);
  if (inner.lanes == 1) return splat(v, n.dtype);
  return lanes(n.dtype, c_lanes(n.dtype), cat(v, "[l % ", inner.lanes, "]"));
}

LATHE_DECL CEmitter::Text CEmitter::ramp(const RampNode& n) {
  const DType t = n.dtype;
  const auto part = [&](const AnyExpr& e) {
    const int inner = e.dtype().lanes;
    const Text v = simple(value(e), e.dtype());
    return cat("(uint64_t)", v, inner == 1 ? "" : cat("[l % ", inner, "]"));
  };
  const Text base = part(n.base), stride = part(n.stride);
  return lanes(t, c_lanes(t),
               cat("(", c_scalar_type(t.scalar()), ")(", base, " + (uint64_t)(l / ",
                   n.base.dtype().lanes, ") * ", stride, ")"));
}

LATHE_DECL CEmitter::Text CEmitter::shuffle(const ShuffleNode& n) {
  Vec<Text> all;
  for (const auto& v : n.vectors) {
    const DType t = v.dtype();
    const Text from = simple(value(v), t);
    for (int l = 0; l < t.lanes; ++l)
      all.push_back(t.lanes == 1 ? cat(t.is_bool() ? "-" : "", from) : cat(from, "[", l, "]"));
  }
  const auto picked = [&](int l) { return all[static_cast<std::size_t>(l)]; };
  const DType t = n.dtype;
  if (n.lanes.size() > 1) return named(cat("{", join(n.lanes, ", ", picked), "}"), t);
  return t.is_bool() ? cat("(", picked(n.lanes[0]), " != 0)") : picked(n.lanes[0]);
}

}  // namespace lathe::detail

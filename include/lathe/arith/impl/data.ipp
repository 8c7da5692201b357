#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/rules.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

inline const ConstNode* const_node(const AnyExpr& e) {
  const AnyExpr* at = &e;
  while (const auto* b = at->as<BroadcastNode>()) at = &b->value;
  return at->as<ConstNode>();
}

inline bool is_number(const AnyExpr& e, double value) {
  const auto* c = const_node(e);
  if (!c) return false;
  return c->dtype.is_float() ? c->f == value && !std::signbit(c->f)
                             : static_cast<double>(c->i) == value;
}
inline bool is_all_ones(const AnyExpr& e) {
  const auto* c = const_node(e);
  return c && !c->dtype.is_float() && c->i == fold_wrap(c->dtype, ~std::uint64_t{0});
}
inline bool is_minus_zero(const AnyExpr& e) {
  const auto* c = const_node(e);
  return c && c->dtype.is_float() && c->f == 0 && std::signbit(c->f);
}

inline bool rule_applies(const DataRule& rule, const AnyExpr& a, const AnyExpr& b) {
  DType t = a.dtype();
  if (rule.type == For::ints     ? !(t.is_int() || t.is_bool())
      : rule.type == For::floats ? !t.is_float()
                                 : !t.is_bool())
    return false;
  switch (rule.when) {
    case When::zero:
      return is_number(b, 0);
    case When::one:
      return is_number(b, 1);
    case When::all_ones:
      return is_all_ones(b);
    case When::minus_zero:
      return is_minus_zero(b);
    case When::same:
      return same_expr(a, b);
    case When::left_zero:
      return is_number(a, 0);
    case When::left_one:
      return is_number(a, 1);
    case When::left_all_ones:
      return is_all_ones(a);
  }
  return false;
}

inline AnyExpr fold_constants(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  const auto *x = const_node(a), *y = const_node(b);
  if (!x || !y) return {};
  DType out = is_comparison(op) ? kBool.with_lanes(a.dtype().lanes) : a.dtype();
  if (!x->dtype.is_float()) {
    std::int64_t v;
    return fold_int(op, x->dtype, x->i, y->i, v) ? make_int(out, v) : AnyExpr();
  }
  if (is_comparison(op)) {
    bool v;
    return fold_float_compare(op, x->f, y->f, v) ? make_int(out, v) : AnyExpr();
  }
  double v;
  return fold_float(op, x->dtype, x->f, y->f, v) ? make_float(out, v) : AnyExpr();
}

// Operands are simplified.
LATHE_DECL AnyExpr Simplifier::binary_data(BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
  if (AnyExpr folded = fold_constants(op, a, b)) return folded;
  for (const auto& rule : kDataRules) {
    if (rule.op != op || !rule_applies(rule, a, b)) continue;
    switch (rule.gives) {
      case Gives::left:
        return a;
      case Gives::right:
        return b;
      case Gives::zero:
        return make_int(a.dtype(), 0);
      case Gives::all_ones:
        return make_int(a.dtype(), -1);
    }
  }
  return make_binary(op, a, b);
}

LATHE_DECL AnyExpr Simplifier::unary_data(UnaryOp op, const AnyExpr& a) {
  if (const auto* c = const_node(a)) {
    if (op == UnaryOp::not_) return make_int(a.dtype(), c->i == 0);
    if (op == UnaryOp::bit_not) return make_int(a.dtype(), ~c->i);
    if (!c->dtype.is_float())
      return make_int(a.dtype(), static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(c->i)));
    if (!std::isnan(c->f)) return make_float(a.dtype(), -c->f);
  }
  const auto* u = a.as<UnaryNode>();
  return u && u->op == op ? u->a : make_unary(op, a);
}

inline bool cast_constant(DType to, const ConstNode& c, AnyExpr& out) {
  DType t = to.scalar();
  if (!c.dtype.is_float()) {
    const bool big = c.dtype == kU64 && c.i < 0;
    if (t.is_bool()) return out = make_int(to, c.i != 0), true;
    if (t.is_int()) return out = make_int(to, c.i), true;
    // Exact in f64, so that rounding to t is the only one.
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    if (big || c.i > kExact || c.i < -kExact) return false;
    return out = make_float(to, static_cast<double>(c.i)), true;
  }
  if (std::isnan(c.f)) return false;
  if (t.is_bool()) return out = make_int(to, c.f != 0), true;
  if (t.is_float()) return out = make_float(to, c.f), !std::isnan(round_to(t, c.f));
  ConstInterval r = range_of_type(t);
  double v = std::trunc(c.f);
  if (t.bits == 64) {
    if (std::fabs(v) >= 9e18 || (v < 0 && t.is_unsigned())) return false;
  } else {
    v = v < static_cast<double>(r.min) ? static_cast<double>(r.min) : v;
    v = v > static_cast<double>(r.max) ? static_cast<double>(r.max) : v;
  }
  return out = make_int(to, static_cast<std::int64_t>(v)), true;
}

LATHE_DECL AnyExpr Simplifier::cast(DType dtype, const AnyExpr& value) {
  AnyExpr out;
  if (value.dtype() == dtype) return value;
  if (const auto* c = const_node(value); c && cast_constant(dtype, *c, out)) return out;
  // Through a wider integer and back is nothing.
  const auto* inner = value.as<CastNode>();
  DType mid = value.dtype();
  if (inner && mid.is_int() && dtype.is_int() && inner->value.dtype().is_int()) {
    DType from = inner->value.dtype();
    if (mid.bits >= dtype.bits) return cast(dtype, inner->value);
    if (mid.bits > from.bits && (from.is_unsigned() || mid.is_signed()))
      return cast(dtype, inner->value);
  }
  return make_cast(dtype, value);
}

LATHE_DECL AnyExpr Simplifier::select(const SelectNode& n) {
  AnyExpr condition = expr(n.condition);
  if (const auto* c = as_const_int(condition)) return expr(*c ? n.yes : n.no);
  AnyExpr yes, no;
  if (condition.dtype() == kBool && budget_ > 0) {
    Facts in_yes = facts_, in_no = facts_;
    in_yes.learn(condition, *this);
    in_no.learn(negation(condition), *this);
    yes = Simplifier(in_yes, *this).expr(n.yes);
    no = Simplifier(in_no, *this).expr(n.no);
  } else {
    yes = expr(n.yes);
    no = expr(n.no);
  }
  if (same_expr(yes, no)) return yes;
  const auto *a = const_node(yes), *b = const_node(no);
  if (yes.dtype().is_bool() && yes.dtype() == condition.dtype() && a && b)
    return a->i ? condition : negation(condition);
  return make_select(condition, yes, no);
}

inline Vec<LetBinding> used_bindings(const Vec<LetBinding>& all, const AnyExpr& body) {
  NodeSet used;
  const auto note = [&](const AnyExpr& e) {
    for (const auto& v : free_vars(e)) used.insert(v.get());
  };
  note(body);
  Vec<LetBinding> kept;
  for (const auto& b : reversed(all)) {
    if (!used.contains(b.var.get())) continue;
    note(b.value);
    kept.push_back(b);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

LATHE_DECL AnyExpr Simplifier::let(const LetNode& n) {
  Facts inner = facts_;
  Simplifier engine(inner, *this);
  Vec<LetBinding> bindings;
  Substitution trivial;
  for (const auto& b : n.bindings) {
    AnyExpr value = engine.expr(substitute(b.value, trivial));
    if (value.kind() == ExprKind::Const || value.kind() == ExprKind::Var) {
      trivial.emplace_back(b.var, std::move(value));
      continue;
    }
    if (value.dtype() == kIndex) engine.note_let(b.var, value, inner);
    bindings.push_back({b.var, std::move(value)});
  }
  AnyExpr body = engine.expr(substitute(n.body, trivial));
  return make_let(used_bindings(bindings, body), body);
}

LATHE_DECL AnyExpr Simplifier::load(const AnyExpr& e) {
  const auto* n = e.as<LoadNode>();
  Vec<AnyExpr> indices;
  bool changed = false, uniform = e.dtype().is_vector() && n->buffer->dtype.lanes == 1;
  for (const auto& i : n->indices) {
    indices.push_back(expr(i));
    changed = changed || !indices.back().same_as(i);
    uniform =
        uniform && (!indices.back().dtype().is_vector() || indices.back().as<BroadcastNode>());
  }
  AnyExpr mask = n->mask ? expr(n->mask) : n->mask;
  changed = changed || !mask.same_as(n->mask);
  if (mask) {
    const auto* c = as_const_int(mask);
    if (c && *c == 0) return make_const(e.dtype(), 0);
    if (c) mask = {}, changed = true;
  }
  if (uniform && !mask.get()) {
    for (auto& i : indices)
      if (const auto* b = i.as<BroadcastNode>())
        uniform = uniform && !b->value.dtype().is_vector(), i = b->value;
    if (uniform) return make_broadcast(make_load(n->buffer, indices), e.dtype().lanes);
    return e;
  }
  return changed ? make_load(n->buffer, std::move(indices), mask) : e;
}

LATHE_DECL AnyExpr Simplifier::call(const CallNode& n) {
  Vec<AnyExpr> args;
  bool changed = false;
  for (const auto& a : n.args) {
    args.push_back(expr(a));
    changed = changed || !args.back().same_as(a);
  }
  if (n.op == CallOp::abs && args[0].dtype().is_int()) {
    ConstInterval r = range(args[0]);
    if (r.min >= 0) return args[0];
    if (args[0].dtype() == kIndex && safe(args[0]) && nonneg(poly(args[0]))) return args[0];
  }
  if (!changed) return AnyExpr(Ref<CallNode>(&n));
  return n.op == CallOp::reinterpret ? make_reinterpret(n.dtype, args[0])
                                     : make_call(n.op, std::move(args));
}

// Nodes whose own rules don't depend on the type of what they give.
LATHE_DECL AnyExpr Simplifier::structural(const AnyExpr& e) {
  switch (e.kind()) {
    case ExprKind::Load:
      return load(e);
    case ExprKind::Let:
      return let(*e.as<LetNode>());
    case ExprKind::Unary:
      return unary_data(e.as<UnaryNode>()->op, expr(e.as<UnaryNode>()->a));
    case ExprKind::Select:
      return select(*e.as<SelectNode>());
    case ExprKind::Cast:
      return cast(e.dtype(), expr(e.as<CastNode>()->value));
    case ExprKind::Call:
      return call(*e.as<CallNode>());
    case ExprKind::Shuffle: {
      const auto* n = e.as<ShuffleNode>();
      Vec<AnyExpr> vectors;
      bool changed = false;
      for (const auto& v : n->vectors) {
        vectors.push_back(expr(v));
        changed = changed || !vectors.back().same_as(v);
      }
      return changed ? make_shuffle(std::move(vectors), n->lanes) : e;
    }
    default:
      return e;
  }
}

}  // namespace detail
}  // namespace lathe

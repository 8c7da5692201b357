#pragma once

#include <array>
#include <lathe/ir/expr.hpp>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/error.hpp>

namespace lathe {
namespace detail {

inline std::int64_t wrap_to(DType t, std::int64_t value) {
  if (t.is_bool()) return value != 0;
  if (t.bits == 64) return value;
  auto shift = static_cast<unsigned>(64 - t.bits);
  auto bits = static_cast<std::uint64_t>(value) << shift;
  return t.is_signed() ? static_cast<std::int64_t>(bits) >> shift
                       : static_cast<std::int64_t>(bits >> shift);
}

LATHE_DECL void too_tall() {
  throw UserError("L0123",
                  "an expression has more than " + std::to_string(kMaxExprHeight) + " levels",
                  Location{}, {}, "give a part of it a tensor of its own, or fold over a Reduce");
}

LATHE_DECL void check_operand(const AnyExpr& e) {
  if (e.get()) return;
  throw UserError("L0116", "an operand is undefined: an expression that was given no value",
                  Location{}, {}, "AnyExpr() is none; begin with make_const(dtype, 0)");
}
inline void check_operands(std::initializer_list<const AnyExpr*> all) {
  for (const AnyExpr* e : all) check_operand(*e);
}

}  // namespace detail

LATHE_DECL std::string_view op_text(BinaryOp op) {
  static constexpr std::string_view texts[] = {
#define LATHE_OP(name, text) text,
      LATHE_BINARY_OPS(LATHE_OP)
#undef LATHE_OP
  };
  return texts[static_cast<int>(op)];
}

LATHE_DECL std::string_view op_text(UnaryOp op) {
  static constexpr std::string_view texts[] = {
#define LATHE_OP(name, text) text,
      LATHE_UNARY_OPS(LATHE_OP)
#undef LATHE_OP
  };
  return texts[static_cast<int>(op)];
}

LATHE_DECL std::string_view op_text(CallOp op) {
  static constexpr std::string_view texts[] = {
#define LATHE_OP(name, arity, pure) #name,
      LATHE_CALL_OPS(LATHE_OP)
#undef LATHE_OP
  };
  return texts[static_cast<int>(op)];
}

LATHE_DECL int op_arity(CallOp op) {
  static constexpr int arities[] = {
#define LATHE_OP(name, arity, pure) arity,
      LATHE_CALL_OPS(LATHE_OP)
#undef LATHE_OP
  };
  return arities[static_cast<int>(op)];
}

LATHE_DECL bool op_pure(CallOp op) {
  static constexpr bool pure[] = {
#define LATHE_OP(name, arity, is_pure) is_pure,
      LATHE_CALL_OPS(LATHE_OP)
#undef LATHE_OP
  };
  return pure[static_cast<int>(op)];
}

namespace detail {

/// The numbers that proofs make over and over, one node each. A thread has its own: one table for
/// all would have every thread count on the same lines of memory.
class FewNumbers {
 public:
  static constexpr std::int64_t kLeast = -1, kMost = 64;

  /// Index `value` from kLeast to kMost.
  static AnyExpr at(std::int64_t value) {
    if (ended_) return fresh(value);  // the thread ends: its table is gone
    static thread_local FewNumbers table;
    Ref<ConstNode>& kept = table.kept_[static_cast<std::size_t>(value - kLeast)];
    if (!kept) kept = fresh(value);
    return kept;
  }

  FewNumbers(const FewNumbers&) = delete;
  FewNumbers& operator=(const FewNumbers&) = delete;

 private:
  FewNumbers() = default;
  ~FewNumbers() { ended_ = true; }

  static Ref<ConstNode> fresh(std::int64_t value) {
    return make_ref<ConstNode>(kIndex, value, 0.0);
  }

  static constinit inline thread_local bool ended_ = false;
  std::array<Ref<ConstNode>, kMost - kLeast + 1> kept_;
};

}  // namespace detail

LATHE_DECL AnyExpr::AnyExpr(std::int64_t value) : AnyExpr(make_int(kIndex, value)) {}

LATHE_DECL VarRef make_var(std::string name, DType dtype) {
  return make_ref<VarNode>(std::move(name), dtype);
}

LATHE_DECL VarRef make_scalar_argument(std::string name, DType dtype) {
  auto* node = new VarNode(std::move(name), dtype);
  node->data = true;
  return VarRef(node);
}

LATHE_DECL AnyExpr make_int(DType dtype, std::int64_t value) {
  invariant(!dtype.is_float(), "make_int of a floating type");
  if (dtype == kIndex && value >= detail::FewNumbers::kLeast && value <= detail::FewNumbers::kMost)
    return detail::FewNumbers::at(value);
  AnyExpr scalar = make_ref<ConstNode>(dtype.scalar(), detail::wrap_to(dtype, value), 0.0);
  return make_broadcast(scalar, dtype.lanes);
}

LATHE_DECL AnyExpr make_float(DType dtype, double value) {
  invariant(dtype.is_float(), "make_float of an integer type");
  AnyExpr scalar =
      make_ref<ConstNode>(dtype.scalar(), std::int64_t{0}, detail::round_to(dtype.scalar(), value));
  return make_broadcast(scalar, dtype.lanes);
}

LATHE_DECL AnyExpr make_const(DType dtype, double value) {
  if (dtype.is_float()) return make_float(dtype, value);
  if (value >= 0x1p63)
    return make_const(dtype, value >= 0x1p64 ? UINT64_MAX : static_cast<std::uint64_t>(value));
  // Also NaN, which casts make 0.
  if (!(value >= -0x1p63)) return make_int(dtype, value < 0 ? INT64_MIN : 0);
  return make_int(dtype, static_cast<std::int64_t>(value));
}
// By way of double, f32 would be rounded twice.
namespace detail {
template <class I>
AnyExpr number_const(DType dtype, I value) {
  if (!dtype.is_float()) return make_int(dtype, static_cast<std::int64_t>(value));
  return make_float(dtype, dtype.bits == 32 ? static_cast<double>(static_cast<float>(value))
                                            : static_cast<double>(value));
}
}  // namespace detail
LATHE_DECL AnyExpr make_const(DType dtype, std::int64_t value) {
  return detail::number_const(dtype, value);
}
LATHE_DECL AnyExpr make_const(DType dtype, std::uint64_t value) {
  return detail::number_const(dtype, value);
}

LATHE_DECL AnyExpr make_bool(bool value) { return make_int(kBool, value); }

LATHE_DECL AnyExpr make_binary(BinaryOp op, AnyExpr a, AnyExpr b) {
  detail::check_operands({&a, &b});
  invariant(a.dtype() == b.dtype(), "binary operands differ in dtype");
  invariant(is_logic(op) ? a.dtype().is_bool() : true, "logic needs bool");
  DType dtype = a.dtype();
  if (is_comparison(op)) dtype = kBool.with_lanes(dtype.lanes);
  return make_ref<BinaryNode>(dtype, op, std::move(a), std::move(b));
}

LATHE_DECL AnyExpr make_unary(UnaryOp op, AnyExpr a) {
  detail::check_operand(a);
  invariant(op != UnaryOp::not_ || a.dtype().is_bool(), "bad unary operand");
  return make_ref<UnaryNode>(op, std::move(a));
}

LATHE_DECL AnyExpr make_select(AnyExpr condition, AnyExpr yes, AnyExpr no) {
  detail::check_operands({&condition, &yes, &no});
  invariant(condition.dtype().is_bool() && yes.dtype() == no.dtype(), "select operands disagree");
  invariant(condition.dtype().lanes == 1 || condition.dtype().lanes == yes.dtype().lanes,
            "select lanes disagree");
  return make_ref<SelectNode>(std::move(condition), std::move(yes), std::move(no));
}

LATHE_DECL AnyExpr make_cast(DType dtype, AnyExpr value) {
  detail::check_operand(value);
  invariant(dtype.lanes == value.dtype().lanes, "cast changes lanes");
  if (value.dtype() == dtype) return value;
  return make_ref<CastNode>(dtype, std::move(value));
}

LATHE_DECL AnyExpr make_call(CallOp op, Vec<AnyExpr> args) {
  invariant(static_cast<int>(args.size()) == op_arity(op), "call with a wrong number of arguments");
  invariant(op != CallOp::reinterpret, "use make_reinterpret");
  for (const auto& a : args) detail::check_operand(a);
  DType dtype = args[0].dtype();
  if (op == CallOp::is_nan) dtype = kBool.with_lanes(dtype.lanes);
  return make_ref<CallNode>(dtype, op, std::move(args));
}

LATHE_DECL AnyExpr make_reinterpret(DType dtype, AnyExpr value) {
  detail::check_operand(value);
  invariant(dtype.bits * dtype.lanes == value.dtype().bits * value.dtype().lanes,
            "reinterpret changes the width");
  return make_ref<CallNode>(dtype, CallOp::reinterpret, Vec<AnyExpr>{std::move(value)});
}

LATHE_DECL AnyExpr make_let(VarRef var, AnyExpr value, AnyExpr body) {
  return make_let(Vec<LetBinding>{{std::move(var), std::move(value)}}, std::move(body));
}

LATHE_DECL AnyExpr make_let(Vec<LetBinding> bindings, AnyExpr body) {
  detail::check_operand(body);
  if (bindings.empty()) return body;
  for (const auto& b : bindings) {
    detail::check_operand(b.value);
    invariant(b.var && b.var->dtype == b.value.dtype(), "let variable and value differ in dtype");
  }
  if (const auto* inner = body.as<LetNode>()) {
    bindings.append(inner->bindings.begin(), inner->bindings.end());
    return make_let(std::move(bindings), inner->body);
  }
  return make_ref<LetNode>(std::move(bindings), std::move(body));
}

LATHE_DECL AnyExpr make_ramp(AnyExpr base, AnyExpr stride, int lanes) {
  detail::check_operands({&base, &stride});
  invariant(base.dtype().scalar() == stride.dtype().scalar() && lanes > 1, "bad ramp");
  return make_ref<RampNode>(std::move(base), std::move(stride), lanes);
}

LATHE_DECL AnyExpr make_broadcast(AnyExpr value, int lanes) {
  detail::check_operand(value);
  invariant(lanes > 0, "bad broadcast");
  if (lanes == 1) return value;
  return make_ref<BroadcastNode>(std::move(value), lanes);
}

LATHE_DECL AnyExpr make_shuffle(Vec<AnyExpr> vectors, Vec<int> lanes) {
  invariant(!vectors.empty() && !lanes.empty(), "empty shuffle");
  for (const auto& v : vectors) detail::check_operand(v);
  DType dtype = vectors[0].dtype().with_lanes(static_cast<int>(lanes.size()));
  return make_ref<ShuffleNode>(dtype, std::move(vectors), std::move(lanes));
}

LATHE_DECL AnyExpr make_load(Buffer buffer, Vec<AnyExpr> indices, AnyExpr mask) {
  invariant(static_cast<bool>(buffer), "load of no buffer");
  for (const auto& i : indices) detail::check_operand(i);
  invariant(static_cast<int>(indices.size()) == buffer->rank() || indices.size() == 1,
            "load with a wrong number of indices");
  int lanes = buffer->dtype.lanes;
  for (const auto& i : indices)
    if (i.dtype().lanes != 1) lanes = i.dtype().lanes;
  DType dtype = buffer->dtype.with_lanes(lanes);
  return make_ref<LoadNode>(dtype, std::move(buffer), std::move(indices), std::move(mask));
}

LATHE_DECL const std::int64_t* as_const_int(const AnyExpr& e) {
  const AnyExpr* at = &e;
  while (const auto* b = at->as<BroadcastNode>()) at = &b->value;
  const auto* c = at->as<ConstNode>();
  return c && !c->dtype.is_float() ? &c->i : nullptr;
}

LATHE_DECL bool is_const(const AnyExpr& e, std::int64_t value) {
  const auto* c = as_const_int(e);
  return c && *c == value;
}

}  // namespace lathe

#pragma once

#include <lathe/ir/narrow.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/narrow_types.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// Every expression of a narrow type is rewritten to its carrier; the others keep their type.
class NarrowTypes : public Mutator {
 public:
  explicit NarrowTypes(const TargetCaps& caps) : caps_(caps) {}

  LATHE_DECL AnyExpr expr(const AnyExpr& e) override;
  LATHE_DECL Stmt stmt(const Stmt& s) override;
  LATHE_DECL Buffer buffer(const Buffer& b) override;
  VarRef var(const VarRef& v);

 private:
  AnyExpr binary(const BinaryNode& n);
  AnyExpr unary(const UnaryNode& n);
  AnyExpr cast(const CastNode& n);
  AnyExpr call(const CallNode& n);
  AnyExpr fma(const CallNode& n);
  AnyExpr decoded(const AnyExpr& e);
  AnyExpr to_bits(DType narrow, const AnyExpr& value);
  static AnyExpr clamped(DType narrow, const AnyExpr& value);

  const TargetCaps& caps_;
  Vec<std::pair<VarRef, VarRef>> vars_;
  Vec<std::pair<Buffer, Buffer>> buffers_;
};

LATHE_DECL Buffer NarrowTypes::buffer(const Buffer& b) {
  if (!is_narrow(b->dtype)) return b;
  for (const auto& [from, to] : buffers_)
    if (from == b) return to;
  BufferNode node = *b;
  node.dtype = carrier_of(b->dtype);
  buffers_.emplace_back(b, Buffer(new BufferNode(std::move(node))));
  return buffers_.back().second;
}

LATHE_DECL VarRef NarrowTypes::var(const VarRef& v) {
  if (!is_narrow(v->dtype)) return v;
  for (const auto& [from, to] : vars_)
    if (from == v) return to;
  vars_.emplace_back(v, make_var(v->name, carrier_of(v->dtype)));
  return vars_.back().second;
}

// The f32 (or, of a 4-bit integer, 8-bit) value that a narrow expression stands for.
LATHE_DECL AnyExpr NarrowTypes::decoded(const AnyExpr& e) {
  AnyExpr bits = expr(e);
  DType t = e.dtype();
  return t.is_float() && is_narrow(t) ? decode_narrow(t, bits, caps_) : bits;
}

LATHE_DECL AnyExpr NarrowTypes::to_bits(DType narrow, const AnyExpr& value) {
  return narrow.is_float() ? encode_narrow(narrow, value, caps_) : wrap_narrow(narrow, value);
}

LATHE_DECL AnyExpr NarrowTypes::expr(const AnyExpr& e) {
  DType t = e.dtype();
  switch (e.kind()) {
    case ExprKind::Const:
      if (!is_narrow(t)) return e;
      if (!t.is_float()) return make_int(carrier_of(t), e.as<ConstNode>()->i);
      return make_int(carrier_of(t), encode_float(float_format(t), e.as<ConstNode>()->f));
    case ExprKind::Var:
      return is_narrow(t) ? AnyExpr(var(VarRef(e.as<VarNode>()))) : e;
    case ExprKind::Let: {
      const auto* n = e.as<LetNode>();
      Vec<LetBinding> bindings;
      bool changed = false;
      for (const auto& b : n->bindings) {
        AnyExpr value = expr(b.value);
        VarRef v = var(b.var);
        changed = changed || v != b.var || !value.same_as(b.value);
        bindings.push_back({v, std::move(value)});
      }
      AnyExpr body = expr(n->body);
      return changed || !body.same_as(n->body) ? make_let(std::move(bindings), body) : e;
    }
    case ExprKind::Binary: {
      const auto* n = e.as<BinaryNode>();
      return is_narrow(n->a.dtype()) ? binary(*n) : descend(e);
    }
    case ExprKind::Unary:
      return is_narrow(t) ? unary(*e.as<UnaryNode>()) : descend(e);
    case ExprKind::Cast: {
      const auto* n = e.as<CastNode>();
      return is_narrow(t) || is_narrow(n->value.dtype()) ? cast(*n) : descend(e);
    }
    case ExprKind::Call: {
      const auto* n = e.as<CallNode>();
      if (n->op == CallOp::tile) return make_call(n->op, {expr(n->args[0]), n->args[1]});
      bool narrow = n->op != CallOp::prefetch && (is_narrow(t) || is_narrow(n->args[0].dtype()));
      return narrow ? call(*n) : descend(e);
    }
    case ExprKind::Ramp: {
      AnyExpr lanes = descend(e);
      return is_narrow(t) ? wrap_narrow(t, lanes) : lanes;
    }
    default:
      return descend(e);
  }
}

LATHE_DECL AnyExpr NarrowTypes::binary(const BinaryNode& n) {
  DType t = n.a.dtype();
  AnyExpr a = decoded(n.a), b = decoded(n.b);
  if (t.bits == 4 && (n.op == BinaryOp::shl || n.op == BinaryOp::shr))
    b = make_binary(BinaryOp::bit_and, b, make_int(b.dtype(), 3));
  AnyExpr result = make_binary(n.op, a, b);
  return is_comparison(n.op) ? result : to_bits(t, result);
}

LATHE_DECL AnyExpr NarrowTypes::unary(const UnaryNode& n) {
  AnyExpr bits = expr(n.a);
  if (n.dtype.is_float()) {
    AnyExpr sign = make_int(bits.dtype(), std::int64_t{1} << (n.dtype.bits - 1));
    return make_binary(BinaryOp::bit_xor, bits, sign);
  }
  return wrap_narrow(n.dtype, make_unary(n.op, bits));
}

// A float saturates at the ends of four bits.
LATHE_DECL AnyExpr NarrowTypes::clamped(DType narrow, const AnyExpr& value) {
  AnyExpr low = make_int(value.dtype(), narrow.is_signed() ? -8 : 0);
  AnyExpr high = make_int(value.dtype(), narrow.is_signed() ? 7 : 15);
  return make_binary(BinaryOp::min, make_binary(BinaryOp::max, value, low), high);
}

LATHE_DECL AnyExpr NarrowTypes::cast(const CastNode& n) {
  DType from = n.value.dtype(), to = n.dtype;
  AnyExpr value = decoded(n.value);
  if (!is_narrow(to)) return make_cast(to, value);
  if (!to.is_float()) {
    AnyExpr byte = make_cast(carrier_of(to), value);
    return from.is_float() ? clamped(to, byte) : wrap_narrow(to, byte);
  }
  if (from.is_float()) return to_bits(to, value);
  int lanes = from.lanes;
  // f64 holds integers of 32 bits; of 64 bits it holds enough, once the last bit says what was cut
  // off.
  if (from.bits == 64) {
    DType u64 = kU64.with_lanes(lanes);
    AnyExpr zero = make_int(from, 0);
    auto word = [&](std::uint64_t v) { return make_int(u64, static_cast<std::int64_t>(v)); };
    return with_value("i", value, [&](const AnyExpr& x) {
      AnyExpr size = make_cast(u64, x), negative;
      if (from.is_signed()) {
        negative = make_binary(BinaryOp::lt, x, zero);
        size = make_select(negative, word(0) - size, size);
      }
      return with_value("size", size, [&](const AnyExpr& m) {
        AnyExpr low = make_binary(BinaryOp::bit_and, m, word(0x7FF));
        AnyExpr cut = make_select(make_binary(BinaryOp::ne, low, word(0)), word(0x800), word(0));
        AnyExpr sticky = make_binary(BinaryOp::bit_or, make_binary(BinaryOp::bit_xor, m, low), cut);
        AnyExpr large = make_binary(BinaryOp::ge, m, word(std::uint64_t{1} << 53));
        AnyExpr wide = make_cast(kF64.with_lanes(lanes), make_select(large, sticky, m));
        if (negative) wide = make_select(negative, -wide, wide);
        return to_bits(to, wide);
      });
    });
  }
  return to_bits(to, make_cast((from.bits < 32 ? kF32 : kF64).with_lanes(lanes), value));
}

// Products of narrow floats are exact in f64.
LATHE_DECL AnyExpr NarrowTypes::fma(const CallNode& n) {
  const DType t = n.dtype, wide = kF64.with_lanes(t.lanes);
  Vec<AnyExpr> args;
  if (t.code == TypeCode::ieee && caps_.half_fma) {
    for (const auto& a : n.args) args.push_back(make_reinterpret(t, expr(a)));
    return make_reinterpret(carrier_of(t), make_call(n.op, std::move(args)));
  }
  for (const auto& a : n.args) args.push_back(make_cast(wide, decoded(a)));
  return to_bits(t, sum_to_odd(args[0] * args[1], args[2]));
}

LATHE_DECL AnyExpr NarrowTypes::call(const CallNode& n) {
  DType from = n.args[0].dtype();
  if (n.op == CallOp::reinterpret) {
    AnyExpr bits = expr(n.args[0]);
    DType to = is_narrow(n.dtype) ? carrier_of(n.dtype) : n.dtype;
    if (n.dtype.bits == 4) return wrap_narrow(n.dtype, make_cast(to, bits));
    return bits.dtype() == to ? bits : make_reinterpret(to, bits);
  }
  if (n.op == CallOp::fma) return fma(n);
  if (n.op == CallOp::permute) return make_call(n.op, {expr(n.args[0]), expr(n.args[1])});
  Vec<AnyExpr> args;
  for (const auto& a : n.args) args.push_back(decoded(a));
  if (n.op == CallOp::popcount)
    args[0] = make_binary(BinaryOp::bit_and, args[0], make_int(args[0].dtype(), 15));
  AnyExpr result = make_call(n.op, std::move(args));
  return n.op == CallOp::is_nan ? result : to_bits(from, result);
}

LATHE_DECL Stmt NarrowTypes::stmt(const Stmt& s) {
  if (const auto* n = s.as<LetStmtNode>()) {
    AnyExpr value = expr(n->value);
    VarRef v = var(n->var);
    Stmt body = stmt(n->body);
    if (v == n->var && value.same_as(n->value) && body.same_as(n->body)) return s;
    return make_let_stmt(v, value, body);
  }
  if (const auto* n = s.as<AtomicNode>(); n && is_narrow(n->buffer->dtype))
    throw UserError("L0621",
                    cat("atomic update of '", n->buffer->name, "': no machine updates ",
                        n->buffer->dtype.str(), " atomically"),
                    Location{}, {}, "accumulate in f32 or i32 and convert once");
  return descend(s);
}

}  // namespace detail

LATHE_DECL Program legalize_types(const Program& program, const TargetCaps& caps) {
  detail::NarrowTypes pass(caps);
  ProgramNode node = *program;
  for (auto& param : node.params) {
    if (param.buffer) param.buffer = pass.buffer(param.buffer);
    if (param.var) param.var = pass.var(param.var);
  }
  node.body = pass.stmt(node.body);
  return Program(std::move(node));
}

}  // namespace lathe

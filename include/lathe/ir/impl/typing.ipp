#pragma once

#include <cmath>
#include <lathe/ir/impl/verifier.hpp>
#include <lathe/ir/tile.hpp>

namespace lathe {
namespace detail {

/// i64, or i32 once a pass has proved that it is enough.
inline bool is_index_type(DType t) { return t.scalar() == kI64 || t.scalar() == kI32; }
inline bool same_lanes(DType a, DType b) { return a.lanes == b.lanes && a.scalable == b.scalable; }

/// Lanes that indices agree on (1 if all are scalars); 0 if they do not agree or are no integers.
inline int index_lanes(const Vec<AnyExpr>& indices) {
  int lanes = 1;
  for (const auto& i : indices) {
    if (!i.get() || !is_index_type(i.dtype())) return 0;
    if (i.dtype().lanes == 1) continue;
    if (lanes != 1 && lanes != i.dtype().lanes) return 0;
    lanes = i.dtype().lanes;
  }
  return lanes;
}

LATHE_DECL std::string_view access_problem(const Buffer& buffer, const Vec<AnyExpr>& indices,
                                           DType value, const AnyExpr& mask) {
  if (!buffer) return "the access has no buffer";
  if (static_cast<int>(indices.size()) != buffer->rank() && indices.size() != 1)
    return "the number of indices is not the buffer's rank";
  int lanes = index_lanes(indices);
  if (lanes == 0) return "indices are not integers of type i64 with one number of lanes";
  if (lanes != 1 && buffer->dtype.is_vector()) return "a vector index into a buffer of vectors";
  if (value.scalar() != buffer->dtype.scalar())
    return "the value has another type than the buffer's elements";
  if (value.lanes != (lanes == 1 ? buffer->dtype.lanes : lanes))
    return "the value has another number of lanes";
  if (mask.get() && (!mask.dtype().is_bool() || !same_lanes(mask.dtype(), value)))
    return "the mask is not bool with the value's lanes";
  return {};
}

inline std::string_view binary_problem(const BinaryNode& n) {
  if (!n.a.get() || !n.b.get()) return "an operand is missing";
  DType t = n.a.dtype();
  if (t != n.b.dtype()) return "the operands differ in type";
  if (n.dtype != (is_comparison(n.op) ? kBool.with_lanes(t.lanes) : t))
    return "the result has the wrong type";
  switch (n.op) {
    case BinaryOp::and_:
    case BinaryOp::or_:
      return t.is_bool() ? "" : "the operands are not bool";
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
      return t.is_float() ? "the operands are not integers" : "";
    case BinaryOp::shl:
    case BinaryOp::shr:
      return t.is_int() ? "" : "the operands are not integers";
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::mod:
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      return t.is_bool() ? "the operands are bool" : "";
    default:
      return {};
  }
}

inline std::string_view unary_problem(const UnaryNode& n) {
  if (!n.a.get()) return "the operand is missing";
  if (n.op == UnaryOp::neg) return n.a.dtype().is_bool() ? "the operand is bool" : "";
  if (n.op == UnaryOp::not_) return n.a.dtype().is_bool() ? "" : "the operand is not bool";
  return n.a.dtype().is_int() ? "" : "the operand is not an integer";
}

// Of a dot product in groups: the sum, and two vectors of as many lanes for each.
inline std::string_view dot_words_problem(const Vec<AnyExpr>& args) {
  const DType sum = args[0].dtype(), words = kI16.with_lanes(2 * sum.lanes);
  if (sum.scalar() != kI32) return "dot_words adds to i32";
  return args[1].dtype() == words && args[2].dtype() == words
             ? ""
             : "dot_words multiplies i16, two for each lane of the sum";
}

inline std::string_view sad8_problem(const Vec<AnyExpr>& args) {
  const DType sum = args[0].dtype(), bytes = kU8.with_lanes(4 * sum.lanes);
  if (sum.scalar() != kI32 || sum.lanes % 2 != 0) return "sad8 adds to pairs of i32";
  return args[1].dtype() == bytes && args[2].dtype() == bytes
             ? ""
             : "sad8 takes u8, eight for each pair of sums";
}

inline std::string_view mat_dot_problem(const Vec<AnyExpr>& args) {
  const DType sum = args[0].dtype();
  if (sum.scalar() != kI32 || sum.lanes % 4 != 0) return "mat_dot8 adds to 2 x 2 sums of i32";
  for (std::size_t k = 1; k < 3; ++k) {
    const DType t = args[k].dtype();
    if (!t.is_int() || t.bits != 8 || t.lanes != 4 * sum.lanes)
      return "mat_dot8 multiplies integers of 8 bits, 2 x 8 for each 2 x 2 sums";
  }
  return {};
}

inline std::string_view odd_dot_problem(CallOp op, const Vec<AnyExpr>& args) {
  const DType sum = args[0].dtype(), a = args[1].dtype(), b = args[2].dtype();
  if (sum.scalar() != kF32 || (op == CallOp::odd_mat_dot4 && sum.lanes % 4 != 0))
    return op == CallOp::odd_dot2 ? "odd_dot2 adds to f32"
                                  : "odd_mat_dot4 adds to 2 x 2 sums of f32";
  if (a != b || a.lanes != 2 * sum.lanes) return "the arguments' lanes do not fit each other";
  return a.scalar() == kBF16 || a.scalar() == kU16 ? "" : "the factors are no bf16";
}

inline std::string_view dot_problem(CallOp op, const Vec<AnyExpr>& args) {
  const bool four = op == CallOp::dot4;
  const DType sum = args[0].dtype();
  if (sum.scalar() != (four ? kI32 : kF32)) return four ? "dot4 adds to i32" : "dot2 adds to f32";
  for (std::size_t k = 1; k < 3; ++k) {
    const DType t = args[k].dtype();
    if (t.lanes != sum.lanes * (four ? 4 : 2)) return "the arguments' lanes do not fit each other";
    if (four ? !t.is_int() || t.bits != 8 : t.scalar() != kBF16 && t.scalar() != kU16)
      return four ? "dot4 multiplies integers of 8 bits" : "dot2 multiplies bf16";
  }
  return four || args[1].dtype() == args[2].dtype() ? "" : "the arguments differ in type";
}

inline std::string_view tile_dot_problem(const Vec<AnyExpr>& args) {
  const DType sum = args[0].dtype(), a = args[1].dtype(), b = args[2].dtype();
  const bool bytes = sum.scalar() == kI32 && a.is_int() && a.bits == 8 && b.is_int() && b.bits == 8;
  const bool halves = sum.scalar() == kF32 && a.scalar() == b.scalar() &&
                      (a.scalar() == kBF16 || a.scalar() == kU16);
  if (!bytes && !halves) return "tile_dot adds integers of 8 bits to i32, or bf16 to f32";
  return tile_shape(sum.lanes, a.lanes, b.lanes, bytes ? 4 : 2).rows > 0
             ? ""
             : "the lanes are those of no three tiles that fit each other";
}

// Zeros are all that a register can be filled with.
inline bool is_positive_zero(const AnyExpr& e) {
  if (const auto* b = e.as<BroadcastNode>()) return is_positive_zero(b->value);
  const auto* c = e.as<ConstNode>();
  return c && (c->dtype.is_float() ? c->f == 0 && !std::signbit(c->f) : c->i == 0);
}

inline std::string_view tile_problem(const Vec<AnyExpr>& args) {
  const std::int64_t* rows = as_const_int(args[1]);
  const DType t = args[0].dtype();
  if (!rows || *rows < 1 || t.lanes % *rows != 0) return "the lanes are not those of the rows";
  if (*rows > kTileRows || t.bytes() > *rows * kTileRowBytes)
    return "a tile has at most 16 rows of 64 bytes";
  return args[0].as<LoadNode>() || is_positive_zero(args[0]) ? "" : "a tile is loaded, or zeros";
}

inline std::string_view call_operand_problem(CallOp op, const Vec<AnyExpr>& args) {
  DType t = args[0].dtype();
  switch (op) {
    case CallOp::abs:
      return t.is_bool() ? "the operand is bool" : "";
    case CallOp::popcount:
      return t.is_int() ? "" : "the operand is not an integer";
    case CallOp::reinterpret:
      return {};
    case CallOp::dot4:
    case CallOp::dot2:
      return dot_problem(op, args);
    case CallOp::dot_words:
      return dot_words_problem(args);
    case CallOp::sad8:
      return sad8_problem(args);
    case CallOp::mat_dot8:
      return mat_dot_problem(args);
    case CallOp::odd_dot2:
    case CallOp::odd_mat_dot4:
      return odd_dot_problem(op, args);
    case CallOp::tile_dot:
      return tile_dot_problem(args);
    case CallOp::tile:
      return tile_problem(args);
    case CallOp::permute:
      return args[1].dtype() == kI8.with_lanes(t.lanes)
                 ? ""
                 : "permute takes a number of i8 for each lane";
    case CallOp::reciprocal_estimate:
    case CallOp::rsqrt_estimate:
      return t.scalar() == kF32 ? "" : "the argument is not an f32";
    case CallOp::tile_configure:
      for (const auto& a : args)
        if (a.dtype() != kU64 || !as_const_int(a))
          return "the tiles' sizes are no constants of u64";
      return {};
    case CallOp::prefetch:
      if (args[0].kind() != ExprKind::Load) return "prefetch needs a load";
      return as_const_int(args[1]) ? "" : "prefetch needs a constant locality";
    default:
      for (const auto& a : args)
        if (a.dtype() != t) return "the arguments differ in type";
  }
  return t.is_float() ? "" : "the argument is not a float";
}

inline std::string_view call_problem(const CallNode& n) {
  if (static_cast<int>(n.args.size()) != op_arity(n.op))
    return "the call has the wrong number of arguments";
  for (const auto& a : n.args)
    if (!a.get()) return "an argument is missing";
  auto problem = call_operand_problem(n.op, n.args);
  if (!problem.empty()) return problem;
  DType t = n.args[0].dtype();
  if (n.op == CallOp::reinterpret)
    return t.bits * t.lanes == n.dtype.bits * n.dtype.lanes
               ? ""
               : "reinterpret changes the number of bits";
  if (n.op == CallOp::is_nan) t = kBool.with_lanes(t.lanes);
  return n.dtype == t ? "" : "the result has the wrong type";
}

inline std::string_view ramp_problem(const RampNode& n) {
  if (!n.base.get() || !n.stride.get()) return "an operand is missing";
  DType base = n.base.dtype(), stride = n.stride.dtype();
  if (!base.is_int() || base.scalar() != stride.scalar())
    return "base and stride are not integers of one type";
  if (stride.lanes != 1 && stride.lanes != base.lanes)
    return "the stride has another number of lanes";
  return n.lanes >= 2 && base.lanes * n.lanes == n.dtype.lanes
             ? ""
             : "the number of lanes is out of range";
}

inline std::string_view broadcast_problem(const BroadcastNode& n) {
  if (!n.value.get()) return "the operand is missing";
  return n.lanes >= 2 && n.value.dtype().lanes * n.lanes == n.dtype.lanes
             ? ""
             : "the number of lanes is out of range";
}

inline std::string_view shuffle_problem(const ShuffleNode& n) {
  int total = 0;
  if (n.vectors.empty() || n.lanes.empty()) return "the shuffle is empty";
  for (const auto& v : n.vectors) {
    if (!v.get()) return "an operand is missing";
    if (v.dtype().scalar() != n.dtype.scalar()) return "the operands differ in type";
    total += v.dtype().lanes;
  }
  for (int lane : n.lanes)
    if (lane < 0 || lane >= total) return "a lane is out of range";
  return static_cast<std::size_t>(n.dtype.lanes) == n.lanes.size()
             ? ""
             : "the number of lanes is out of range";
}

inline std::string_view select_problem(const SelectNode& n) {
  if (!n.condition.get() || !n.yes.get() || !n.no.get()) return "an operand is missing";
  if (n.yes.dtype() != n.no.dtype()) return "the two values differ in type";
  DType c = n.condition.dtype();
  return c.is_bool() && (c.lanes == 1 || same_lanes(c, n.dtype))
             ? ""
             : "the condition is not bool with the value's lanes";
}

}  // namespace detail

LATHE_DECL std::string_view typing_problem(const AnyExpr& e) {
  switch (e.kind()) {
    case ExprKind::Const:
      return e.dtype().is_vector() ? "a constant is a vector" : "";
    case ExprKind::Var:
      return {};
    case ExprKind::Load: {
      const auto* n = e.as<LoadNode>();
      return detail::access_problem(n->buffer, n->indices, n->dtype, n->mask);
    }
    case ExprKind::Let: {
      const auto* n = e.as<LetNode>();
      if (!n->body.get()) return "an operand is missing";
      for (const auto& b : n->bindings) {
        if (!b.var.get() || !b.value.get()) return "an operand is missing";
        if (b.var->dtype != b.value.dtype()) return "the variable has another type than its value";
      }
      return {};
    }
    case ExprKind::Binary:
      return detail::binary_problem(*e.as<BinaryNode>());
    case ExprKind::Unary:
      return detail::unary_problem(*e.as<UnaryNode>());
    case ExprKind::Select:
      return detail::select_problem(*e.as<SelectNode>());
    case ExprKind::Cast: {
      const auto* n = e.as<CastNode>();
      if (!n->value.get()) return "the operand is missing";
      return detail::same_lanes(n->dtype, n->value.dtype()) ? ""
                                                            : "a cast changes the number of lanes";
    }
    case ExprKind::Call:
      return detail::call_problem(*e.as<CallNode>());
    case ExprKind::Ramp:
      return detail::ramp_problem(*e.as<RampNode>());
    case ExprKind::Broadcast:
      return detail::broadcast_problem(*e.as<BroadcastNode>());
    case ExprKind::Shuffle:
      return detail::shuffle_problem(*e.as<ShuffleNode>());
  }
  return "the expression has no such kind";
}

}  // namespace lathe

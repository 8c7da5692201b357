#pragma once

#include <algorithm>
#include <lathe/eval/frame.hpp>
#include <lathe/ir/tile.hpp>

namespace lathe::detail {

inline Scalar eval_const(const EvalExpr& e, EvalFrame&, int) { return e.value; }
inline Scalar eval_var(const EvalExpr& e, EvalFrame& frame, int lane) {
  return frame.var(e.slot + lane);
}
inline Scalar eval_load(const EvalExpr& e, EvalFrame& frame, int lane) {
  return frame.load(e, lane);
}

inline Scalar eval_let(const EvalExpr& e, EvalFrame& frame, int lane) {
  for (std::size_t k = 0; k < e.args.size(); ++k) {
    const EvalExpr& value = *e.args[k];
    const int slot = e.picks[2 * k];
    if (value.lanes == 1) {
      frame.var(slot) = value.at(frame, 0);
    } else if (!e.picks[2 * k + 1]) {
      frame.var(slot + lane) = value.at(frame, lane);
    } else {
      for (int l = 0; l < value.lanes; ++l) frame.var(slot + l) = value.at(frame, l);
    }
  }
  return e.b->at(frame, lane);
}

inline Scalar eval_binary(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar a = e.a->at(frame, lane), b = e.b->at(frame, lane);
  return scalar_binary(static_cast<BinaryOp>(e.op), e.dtype, a, b);
}

// Index arithmetic is most of what runs: the common operators on i64 skip the general way.
inline Scalar eval_index(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar a = e.a->at(frame, lane), b = e.b->at(frame, lane);
  const auto x = static_cast<std::uint64_t>(a.i), y = static_cast<std::uint64_t>(b.i);
  switch (static_cast<BinaryOp>(e.op)) {
    case BinaryOp::add:
      a.i = static_cast<std::int64_t>(x + y);
      return a;
    case BinaryOp::sub:
      a.i = static_cast<std::int64_t>(x - y);
      return a;
    case BinaryOp::mul:
      a.i = static_cast<std::int64_t>(x * y);
      return a;
    case BinaryOp::lt:
      a.i = a.i < b.i;
      return a;
    default:
      return scalar_binary(static_cast<BinaryOp>(e.op), kIndex, a, b);
  }
}

inline Scalar eval_unary(const EvalExpr& e, EvalFrame& frame, int lane) {
  return scalar_unary(static_cast<UnaryOp>(e.op), e.dtype, e.a->at(frame, lane));
}
inline Scalar eval_select(const EvalExpr& e, EvalFrame& frame, int lane) {
  return (e.a->spread(frame, lane).i ? e.b : e.c)->at(frame, lane);
}
inline Scalar eval_cast(const EvalExpr& e, EvalFrame& frame, int lane) {
  return scalar_cast(e.to, e.dtype, e.a->at(frame, lane));
}
inline Scalar eval_call(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar args[3];
  for (std::size_t k = 0; k < e.args.size(); ++k) args[k] = e.args[k]->spread(frame, lane);
  return scalar_call(static_cast<CallOp>(e.op), e.dtype, args);
}

// Lanes may be split or joined: the bits of all lanes, the first lowest, are cut anew.
inline Scalar eval_reinterpret(const EvalExpr& e, EvalFrame& frame, int lane) {
  const int from = e.dtype.bits, to = e.to.bits;
  const EvalExpr& value = *e.args[0];
  std::uint64_t bits = 0;
  if (from >= to) {
    bits = scalar_bits(e.dtype, value.at(frame, lane * to / from)) >> (lane * to % from);
  } else {
    for (int k = 0; k < to / from; ++k)
      bits |= scalar_bits(e.dtype, value.at(frame, lane * (to / from) + k)) << (k * from);
  }
  if (to < 64) bits &= (std::uint64_t{1} << to) - 1;
  return scalar_from_bits(e.to, bits);
}

inline Scalar eval_integer_dot(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar sum = e.args[0]->at(frame, lane);
  const DotLanes at = dot_lanes(static_cast<CallOp>(e.op), lane);
  for (int k = 0; k < at.count; ++k)
    sum.i += e.args[1]->at(frame, at.a + k).i * e.args[2]->at(frame, at.b + k).i;
  sum.i = wrap_int(kI32, sum.i);
  return sum;
}
inline Scalar eval_sad8(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar sum = e.args[0]->at(frame, lane);
  const DotLanes at = dot_lanes(CallOp::sad8, lane);
  for (int k = 0; k < at.count; ++k) {
    const std::int64_t a = e.args[1]->at(frame, at.a + k).i, b = e.args[2]->at(frame, at.b + k).i;
    sum.i += a < b ? b - a : a - b;
  }
  sum.i = wrap_int(kI32, sum.i);
  return sum;
}
// A factor of a dot that has bf16, or their bits.
inline float eval_bf16(const EvalExpr& e, Scalar factor) {
  return e.to == kU16 ? scalar_from_bits(kBF16, static_cast<std::uint64_t>(factor.i)).s : factor.s;
}
// Lane k of an argument.
inline float eval_bf16(const EvalExpr& e, EvalFrame& frame, std::size_t arg, int k) {
  return eval_bf16(e, e.args[arg]->at(frame, k));
}
inline Scalar eval_dot2(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar sum = e.args[0]->at(frame, lane);
  for (int k = 2 * lane + 1; k >= 2 * lane; --k)
    sum.s = scalar_dot2_step(sum.s, eval_bf16(e, frame, 1, k), eval_bf16(e, frame, 2, k));
  return sum;
}
inline Scalar eval_odd_dot(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar sum = e.args[0]->at(frame, lane);
  const DotLanes at = dot_lanes(static_cast<CallOp>(e.op), lane);
  for (int k = 0; k < at.count; k += 2) {
    const float a[] = {eval_bf16(e, frame, 1, at.a + k), eval_bf16(e, frame, 1, at.a + k + 1)};
    const float b[] = {eval_bf16(e, frame, 2, at.b + k), eval_bf16(e, frame, 2, at.b + k + 1)};
    sum.s = scalar_odd_dot2(sum.s, a, b);
  }
  return sum;
}
// Lane (i, j) of a tile, in the order that the instruction has.
inline Scalar eval_tile_dot(const EvalExpr& e, EvalFrame& frame, int lane) {
  const EvalExpr &sum = *e.args[0], &a = *e.args[1], &b = *e.args[2];
  const bool bytes = e.dtype.is_int();
  const TileShape shape = tile_shape(sum.lanes, a.lanes, b.lanes, bytes ? 4 : 2);
  const int i = lane / shape.columns, j = lane % shape.columns;
  auto factors = [&](int k) {
    const int group = k / shape.group, part = k % shape.group;
    return std::pair(a.at(frame, i * shape.depth + k),
                     b.at(frame, (group * shape.columns + j) * shape.group + part));
  };
  Scalar out = sum.at(frame, lane);
  if (bytes) {
    for (int k = 0; k < shape.depth; ++k) {
      const auto [x, y] = factors(k);
      out.i = wrap_int(kI32, out.i + x.i * y.i);
    }
    return out;
  }
  float parts[2] = {0, 0};
  for (int k = 0; k < shape.depth; ++k) {
    const auto [x, y] = factors(k);
    parts[k % 2] = scalar_dot2_step(parts[k % 2], eval_bf16(e, x), eval_bf16(e, y));
  }
  out.s = scalar_dot2_step(scalar_dot2_step(parts[0], 1, parts[1]), 1, out.s);
  return out;
}
inline Scalar eval_tile(const EvalExpr& e, EvalFrame& frame, int lane) {
  return e.args[0]->spread(frame, lane);
}
inline Scalar eval_permute(const EvalExpr& e, EvalFrame& frame, int lane) {
  const std::int64_t from = e.args[1]->at(frame, lane).i;
  return e.args[0]->at(frame,
                       static_cast<int>(std::clamp<std::int64_t>(from, 0, e.args[0]->lanes - 1)));
}
inline Scalar eval_nothing(const EvalExpr&, EvalFrame&, int) { return {}; }

inline Scalar eval_ramp(const EvalExpr& e, EvalFrame& frame, int lane) {
  Scalar base = e.a->at(frame, lane % e.a->lanes), step = e.b->spread(frame, lane % e.a->lanes);
  Scalar count = scalar_cast(e.dtype, kIndex, Scalar{lane / e.a->lanes});
  return scalar_binary(BinaryOp::add, e.dtype, base,
                       scalar_binary(BinaryOp::mul, e.dtype, count, step));
}
inline Scalar eval_broadcast(const EvalExpr& e, EvalFrame& frame, int lane) {
  return e.a->at(frame, lane % e.a->lanes);
}
inline Scalar eval_shuffle(const EvalExpr& e, EvalFrame& frame, int lane) {
  const int* pick = &e.picks[static_cast<std::size_t>(2 * lane)];
  return e.args[static_cast<std::size_t>(pick[0])]->at(frame, pick[1]);
}

inline EvalExpr::Run eval_call_function(CallOp op) {
  switch (op) {
    case CallOp::reinterpret:
      return eval_reinterpret;
    case CallOp::prefetch:
    case CallOp::tile_configure:
      return eval_nothing;
    case CallOp::tile:
      return eval_tile;
    case CallOp::tile_dot:
      return eval_tile_dot;
    case CallOp::dot4:
    case CallOp::dot_words:
    case CallOp::mat_dot8:
      return eval_integer_dot;
    case CallOp::sad8:
      return eval_sad8;
    case CallOp::odd_dot2:
    case CallOp::odd_mat_dot4:
      return eval_odd_dot;
    case CallOp::dot2:
      return eval_dot2;
    case CallOp::permute:
      return eval_permute;
    default:
      return eval_call;
  }
}

LATHE_DECL EvalExpr::Run eval_function(const AnyExpr& e) {
  switch (e.kind()) {
    case ExprKind::Const:
      return eval_const;
    case ExprKind::Var:
      return eval_var;
    case ExprKind::Load:
      return eval_load;
    case ExprKind::Let:
      return eval_let;
    case ExprKind::Binary:
      return e.as<BinaryNode>()->a.dtype().scalar() == kIndex ? eval_index : eval_binary;
    case ExprKind::Unary:
      return eval_unary;
    case ExprKind::Select:
      return eval_select;
    case ExprKind::Cast:
      return eval_cast;
    case ExprKind::Call:
      return eval_call_function(e.as<CallNode>()->op);
    case ExprKind::Ramp:
      return eval_ramp;
    case ExprKind::Broadcast:
      return eval_broadcast;
    case ExprKind::Shuffle:
      return eval_shuffle;
  }
  unreachable("evaluator: unknown expression");
}

}  // namespace lathe::detail

#pragma once

#include <algorithm>
#include <lathe/lower/machine/lane_masks.hpp>

namespace lathe::detail {

// As the bits of words: of the widest one, or the one that the rest fits in.
LATHE_DECL AnyExpr any_lane(const AnyExpr& mask) {
  const int lanes = mask.dtype().lanes;
  if (lanes == 1) return mask;
  AnyExpr any;
  // Fewer than 8 lanes are no integer, and LLVM finds a test of all bits in this.
  for (int l = 0; lanes < 8 && l < lanes; ++l) {
    AnyExpr set = make_shuffle({mask}, {l});
    any = any ? logical_or(any, set) : set;
  }
  if (any) return any;
  for (int first = 0; first < lanes; first += 64) {
    int width = 8;
    while (width < lanes - first && width < 64) width *= 2;
    AnyExpr part = mask;
    if (width != lanes) {
      Vec<int> picked;
      for (int l = first; l < first + width; ++l) picked.push_back(std::min(l, lanes));
      part = make_shuffle({mask, make_bool(false)}, std::move(picked));
    }
    const DType word{TypeCode::uint, static_cast<std::uint8_t>(width), 1, false};
    AnyExpr set = make_binary(BinaryOp::ne, make_reinterpret(word, part), make_int(word, 0));
    any = any ? logical_or(any, set) : set;
  }
  return any;
}

LATHE_DECL AnyExpr mask_of_lanes(const AnyExpr& mask, int lanes) {
  if (!mask || mask.dtype().lanes == lanes) return mask;
  return make_broadcast(any_lane(mask), lanes);
}

LATHE_DECL AnyExpr mask_of_operand(const AnyExpr& mask, int operand_lanes, const Vec<int>& map) {
  const int outer = static_cast<int>(map.size());
  if (!mask || mask.dtype().lanes != outer) return mask_of_lanes(mask, operand_lanes);
  if (operand_lanes == 1 && std::count(map.begin(), map.end(), 0) == outer) return any_lane(mask);
  // Round r takes, for each lane of the operand, the r-th lane that it feeds; the rounds are or-ed.
  AnyExpr result;
  Vec<bool> taken(map.size(), false);
  for (;;) {
    bool more = false;
    Vec<int> pick(static_cast<std::size_t>(operand_lanes), outer);
    for (std::size_t l = 0; l < map.size(); ++l) {
      if (map[l] < 0 || taken[l]) continue;
      int& slot = pick[static_cast<std::size_t>(map[l])];
      if (slot == outer) slot = static_cast<int>(l), taken[l] = more = true;
    }
    if (!more) break;
    AnyExpr part = make_shuffle({mask, make_bool(false)}, std::move(pick));
    result = result ? logical_or(result, part) : part;
  }
  return result ? result : make_int(kBool.with_lanes(operand_lanes), 0);
}

LATHE_DECL AnyExpr mask_and(const AnyExpr& a, const AnyExpr& b) {
  return !a ? b : !b ? a : logical_and(a, b);
}

LATHE_DECL DType mask_integer(int lanes, const TargetCaps& caps) {
  const bool bytes =
      caps.byte_masks || (caps.narrow_masks_by_words && lanes * kI32.bytes() > caps.register_bytes);
  return bytes && lanes <= 64 ? kI8 : kI32;
}

LATHE_DECL AnyExpr first_lanes(const AnyExpr& count, int lanes, const TargetCaps& caps) {
  const DType mask = kBool.with_lanes(lanes);
  const std::int64_t* known = as_const_int(count);
  if (!known && caps.mask_words && (lanes == 8 || lanes == 16 || lanes == 32)) {
    // A mask register is an integer: all ones, shifted out and turned around.
    const DType word{TypeCode::uint, static_cast<std::uint8_t>(lanes), 1, false};
    AnyExpr above = make_binary(BinaryOp::shl, AnyExpr(-1), count);
    return make_reinterpret(mask, make_cast(word, make_unary(UnaryOp::bit_not, above)));
  }
  const DType t = mask_integer(lanes, caps);
  return make_binary(BinaryOp::lt, make_ramp(make_int(t, 0), make_int(t, 1), lanes),
                     make_broadcast(known ? make_int(t, *known) : make_cast(t, count), lanes));
}

/// Of lanes first, first + 1 … below or at an end, where numbers say both.
inline AnyExpr count_of_known(const BinaryNode& n) {
  const auto* lane = n.a.as<RampNode>();
  const auto* end = n.b.as<BroadcastNode>();
  if (!lane || !end || (n.op != BinaryOp::lt && n.op != BinaryOp::le)) return {};
  const auto *first = as_const_int(lane->base), *stop = as_const_int(end->value);
  std::int64_t count = 0;
  if (!first || !stop || !is_const(lane->stride, 1) ||
      __builtin_sub_overflow(*stop, *first, &count))
    return {};
  if (n.op == BinaryOp::le && __builtin_add_overflow(count, 1, &count)) return {};
  return AnyExpr(std::clamp<std::int64_t>(count, 0, lane->lanes));
}

/// What an integer was cast from, if that were 64 bits.
inline AnyExpr before_cast(const AnyExpr& e) {
  const auto* n = e.as<CastNode>();
  return n && n->value.dtype() == kI64 ? n->value : AnyExpr();
}

LATHE_DECL AnyExpr count_of_first_lanes(const AnyExpr& mask) {
  if (const auto* let = mask.as<LetNode>()) {
    AnyExpr count = count_of_first_lanes(let->body);
    return count ? make_let(let->bindings, std::move(count)) : count;
  }
  if (const auto* order = mask.as<BinaryNode>()) {
    if (AnyExpr known = count_of_known(*order)) return known;
    const auto* lane = order->a.as<RampNode>();
    const auto* end = order->b.as<BroadcastNode>();
    const bool counts = order->op == BinaryOp::lt && lane && end && is_const(lane->base, 0) &&
                        lane->base.dtype().lanes == 1 && is_const(lane->stride, 1);
    return counts ? before_cast(end->value) : AnyExpr();
  }
  const auto* word = mask.as<CallNode>();
  if (!word || word->op != CallOp::reinterpret) return {};
  const AnyExpr bits = before_cast(word->args[0]);
  const auto* below = bits.as<UnaryNode>();
  const auto* above = below && below->op == UnaryOp::bit_not ? below->a.as<BinaryNode>() : nullptr;
  const bool shifted = above && above->op == BinaryOp::shl && is_const(above->a, -1);
  return shifted ? above->b : AnyExpr();
}

LATHE_DECL AnyExpr lanes_before(const AnyExpr& limit, std::int64_t first, int lanes) {
  if (const std::int64_t* known = as_const_int(limit))
    return AnyExpr(std::clamp<std::int64_t>(*known - first, 0, lanes));
  return make_binary(BinaryOp::max, make_binary(BinaryOp::min, limit - first, AnyExpr(lanes)),
                     AnyExpr(0));
}

}  // namespace lathe::detail

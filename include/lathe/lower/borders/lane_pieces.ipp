#pragma once

#include <lathe/analysis/borders.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/lower/borders/lane_pieces.hpp>
#include <lathe/lower/machine/lane_masks.hpp>

namespace lathe::detail {

LATHE_DECL bool is_uniform(const AnyExpr& e) {
  std::int64_t stride = -1;
  return lane_stride(e, stride) && stride == 0;
}

LATHE_DECL AnyExpr without_uniform_terms(AnyExpr index, AnyExpr& base) {
  const auto add = [&](BinaryOp op, const AnyExpr& term) {
    const AnyExpr sum = base ? base : AnyExpr(0), value = lane_base(term);
    base = op == BinaryOp::add ? fold_add(sum, value) : fold_sub(sum, value);
  };
  for (const auto* n = index.as<BinaryNode>(); n; n = index.as<BinaryNode>()) {
    const bool sum = n->op == BinaryOp::add;
    if (!sum && n->op != BinaryOp::sub) break;
    if (is_uniform(n->b))
      add(n->op, n->b), index = n->a;
    else if (sum && is_uniform(n->a))
      add(n->op, n->a), index = n->b;
    else
      break;
  }
  return index;
}

LATHE_DECL AnyExpr LaneEnds::inside(const AnyExpr& e) {
  const auto* n = e.as<BinaryNode>();
  if (!n || (n->op != BinaryOp::max && n->op != BinaryOp::min)) return {};
  const bool right = is_uniform(n->b);
  if (!right && !is_uniform(n->a)) return {};
  const AnyExpr &held = right ? n->a : n->b, &end = right ? n->b : n->a;
  const AnyExpr deeper = inside(held);
  add(n->op == BinaryOp::max, lane_base(end));
  return deeper ? deeper : held;
}

// An end that is beyond the other one becomes both.
LATHE_DECL void LaneEnds::add(bool least, const AnyExpr& end) {
  AnyExpr &near = least ? lowest : highest, &far = least ? highest : lowest;
  const auto joined = [&](const AnyExpr& a) {
    return !a ? AnyExpr() : least ? fold_max(a, end) : fold_min(a, end);
  };
  near = near ? joined(near) : end;
  far = joined(far);
}

class LanePieces {
 public:
  /// Empty where there are none.
  Vec<LanePiece> of(const AnyExpr& e) const {
    if (is_piece(e)) return {{AnyExpr(), e}};
    if (const AnyExpr x = turned_at_zero(e)) return turned(of(x));
    if (const auto* n = e.as<SelectNode>(); n && n->condition.dtype().is_vector())
      return chosen(condition(n->condition), of(n->yes), of(n->no));
    const auto* n = e.as<BinaryNode>();
    if (!n) return {};
    const bool right = is_uniform(n->b);
    if (!right && !is_uniform(n->a)) return {};
    const AnyExpr &lanes = right ? n->a : n->b, &end = right ? n->b : n->a;
    switch (n->op) {
      case BinaryOp::min:
        return ended(of(lanes), BinaryOp::gt, end);
      case BinaryOp::max:
        return ended(of(lanes), BinaryOp::lt, end);
      case BinaryOp::add:
        return moved(of(lanes), end);
      case BinaryOp::sub:
        return right ? moved(of(lanes), zero_like(end) - end) : moved(mirrored(of(lanes)), end);
      default:
        return {};
    }
  }

 private:
  static constexpr std::size_t kMost = 4;
  using Pieces = Vec<LanePiece>;

  static bool is_piece(const AnyExpr& e) {
    std::int64_t stride = 2;
    return lane_stride(e, stride) && stride >= -1 && stride <= 1;
  }
  static AnyExpr zero_like(const AnyExpr& e) { return make_int(e.dtype(), 0); }

  /// base + sign * piece, as one ramp or broadcast.
  static AnyExpr affine(const AnyExpr& piece, std::int64_t sign, const AnyExpr& base) {
    std::int64_t stride = 0;
    lane_stride(piece, stride);
    const AnyExpr first = lane_base(piece);
    const AnyExpr start = simplify(sign > 0 ? fold_add(base, first) : fold_sub(base, first));
    const int lanes = piece.dtype().lanes;
    return stride == 0 ? make_broadcast(start, lanes)
                       : make_ramp(start, AnyExpr(sign * stride), lanes);
  }
  static Pieces moved(Pieces pieces, const AnyExpr& by) {
    for (auto& p : pieces) p.index = affine(p.index, 1, lane_base(by));
    return pieces;
  }
  static Pieces mirrored(Pieces pieces) {
    for (auto& p : pieces) p.index = affine(p.index, -1, AnyExpr(0));
    return pieces;
  }

  /// Each piece, but for the lanes of it for which `test` holds.
  template <class Test, class Other>
  static Pieces parted(const Pieces& pieces, const Test& test, const Other& other) {
    Pieces out;
    for (const auto& p : pieces) {
      out.push_back({mask_and(p.where, test(p.index)), other(p.index)});
      out.push_back(p);
    }
    return out.size() <= kMost ? out : Pieces{};
  }
  static Pieces ended(const Pieces& pieces, BinaryOp beyond, const AnyExpr& end) {
    return parted(
        pieces, [&](const AnyExpr& index) { return make_binary(beyond, index, end); },
        [&](const AnyExpr&) { return end; });
  }
  static Pieces turned(const Pieces& pieces) {
    return parted(
        pieces,
        [&](const AnyExpr& index) { return make_binary(BinaryOp::lt, index, zero_like(index)); },
        [&](const AnyExpr& index) { return affine(index, -1, AnyExpr(0)); });
  }

  static Pieces chosen(const AnyExpr& condition, const Pieces& yes, const Pieces& no) {
    if (!condition || yes.empty() || no.empty() || yes.size() + no.size() > kMost) return {};
    Pieces out;
    for (const auto& p : yes) out.push_back({mask_and(condition, p.where), p.index});
    out.append(no);
    return out;
  }

  /// A condition whose comparisons are of pieces: their masks are counts.
  AnyExpr condition(const AnyExpr& e) const {
    const auto* n = e.as<BinaryNode>();
    if (!n) return {};
    if (n->op == BinaryOp::and_ || n->op == BinaryOp::or_) {
      const AnyExpr a = condition(n->a), b = condition(n->b);
      return a.get() && b.get() ? make_binary(n->op, a, b) : AnyExpr();
    }
    if (!is_comparison(n->op) || n->a.dtype().scalar() != kIndex) return {};
    const bool right = is_uniform(n->b);
    const Pieces pieces = of(right ? n->a : n->b);
    if (pieces.empty() || (!right && !is_uniform(n->a))) return {};
    const auto compared = [&](const LanePiece& p) {
      return right ? make_binary(n->op, p.index, n->b) : make_binary(n->op, n->a, p.index);
    };
    AnyExpr out = compared(pieces.back());
    for (std::size_t k = pieces.size() - 1; k-- > 0;) {
      const AnyExpr& where = pieces[k].where;
      out = make_binary(BinaryOp::or_, mask_and(where, compared(pieces[k])),
                        mask_and(make_unary(UnaryOp::not_, where), out));
    }
    return out;
  }
};

LATHE_DECL Vec<LanePiece> lane_pieces(const AnyExpr& index) { return LanePieces().of(index); }

}  // namespace lathe::detail

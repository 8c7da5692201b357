#pragma once

#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/lower/borders/lane_pieces.hpp>
#include <lathe/lower/borders/mutator_in_loops.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// Lanes that run through pixels of a few channels, where a pixel beyond a border is the outermost
/// one: clamp(floordiv(f, c) + shift, lowest, highest) * c + floormod(f, c) + base, f a ramp.
struct ClampedPixels {
  AnyExpr base, shift;  ///< scalars; empty: 0
  LaneEnds ends;        ///< in pixels
  AnyExpr lanes;        ///< f
  std::int64_t channels = 0;

  /// Whether the index is like this.
  bool set(const AnyExpr& index) {
    AnyExpr pixel, channel;
    if (!add_terms(index, pixel, channel) || !pixel || !channel) return false;
    const auto* rest = channel.as<BinaryNode>();
    const std::int64_t* c = as_const_int(lane_base(rest->b));
    std::int64_t stride = 0;
    if (!c || *c < 2 || *c > kMostChannels || !lane_stride(rest->a, stride) || stride != 1)
      return false;
    channels = *c, lanes = rest->a;
    const auto* product = pixel.as<BinaryNode>();
    const AnyExpr free = ends.inside(product->a);
    return same_expr(product->b, rest->b) && free.get() && is_pixel(free);
  }
  int count() const { return lanes.dtype().lanes; }
  AnyExpr first() const { return lane_base(lanes); }
  AnyExpr moved(const AnyExpr& by) const { return base ? fold_add(base, by) : by; }
  AnyExpr inside() const {
    const AnyExpr by = shift ? fold_mul(shift, AnyExpr(channels)) : AnyExpr(0);
    return make_ramp(moved(fold_add(first(), by)), AnyExpr(1), count());
  }
  /// Which lanes are before the lowest pixel, or behind the highest.
  AnyExpr is_beyond(bool lowest_end) const {
    const AnyExpr end = lowest_end ? ends.lowest : ends.highest + 1,
                  place = (shift ? fold_sub(end, shift) : end) * channels;
    return make_binary(lowest_end ? BinaryOp::lt : BinaryOp::ge, lanes,
                       make_broadcast(place, count()));
  }

 private:
  static constexpr std::int64_t kMostChannels = 4;

  bool add_terms(const AnyExpr& e, AnyExpr& pixel, AnyExpr& channel) {
    if (is_uniform(e)) {
      base = moved(lane_base(e));
      return true;
    }
    const auto* n = e.as<BinaryNode>();
    if (!n) return false;
    if (n->op == BinaryOp::add)
      return add_terms(n->a, pixel, channel) && add_terms(n->b, pixel, channel);
    AnyExpr& term = n->op == BinaryOp::floormod ? channel : pixel;
    if ((n->op != BinaryOp::floormod && n->op != BinaryOp::mul) || term.get() || !is_uniform(n->b))
      return false;
    term = e;
    return true;
  }

  bool is_pixel(const AnyExpr& e) {
    const AnyExpr rest = without_uniform_terms(e, shift);
    const auto* n = rest.as<BinaryNode>();
    return n && n->op == BinaryOp::floordiv && same_expr(n->a, lanes) && is_uniform(n->b) &&
           is_const(lane_base(n->b), channels);
  }
};

class PixelBorders : public MutatorInLoops {
 public:
  PixelBorders(const Program& program, const TargetCaps& caps)
      : MutatorInLoops(program), caps_(caps) {}

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    ClampedPixels pixels;
    // Under a mask narrow elements may be loaded one by one, which is no less.
    if (!n || n->dtype.lanes == 1 || n->indices.size() != 1 || n->buffer->dtype.lanes != 1 ||
        n->dtype.element_bytes() < caps_.masked_bytes || lane_offsets(n->indices[0]) ||
        !pixels.set(n->indices[0]) || !Simplifier(facts_).safe(pixels.first()))
      return descend(e);
    // Parts of the index and masks stand at several places.
    return fresh_lets(taken_apart(*n, pixels));
  }

  /// A dense load, and beyond an end one pixel again and again, each under a mask: none is in an
  /// arm, which would ask once more whether it is taken.
  AnyExpr taken_apart(const LoadNode& n, const ClampedPixels& pixels) {
    const AnyExpr mask = n.mask ? expr(n.mask) : AnyExpr();
    AnyExpr inside = mask;
    Vec<LetBinding> loads;
    Vec<AnyExpr> beyond, ends;
    for (const bool least : {true, false}) {
      const AnyExpr& end = least ? pixels.ends.lowest : pixels.ends.highest;
      if (!end) continue;
      beyond.push_back(pixels.is_beyond(least));
      inside = mask_and(inside, make_unary(UnaryOp::not_, beyond.back()));
      ends.push_back(repeated(n, pixels, end, mask_and(mask, beyond.back()), loads));
    }
    loads.push_back({make_var("inside", n.dtype), make_load(n.buffer, {pixels.inside()}, inside)});
    AnyExpr value(loads.back().var);
    for (std::size_t k = ends.size(); k-- > 0;) value = make_select(beyond[k], ends[k], value);
    return make_let(std::move(loads), value);
  }

  AnyExpr repeated(const LoadNode& n, const ClampedPixels& pixels, const AnyExpr& end,
                   const AnyExpr& mask, Vec<LetBinding>& loads) const {
    const bool whole = has_whole_pixels(*n.buffer, pixels);
    AnyExpr value;
    for (std::int64_t q = 0; q < pixels.channels; ++q) {
      const AnyExpr at = simplify(pixels.moved(end * pixels.channels + q)),
                    lanes = are_channel(pixels, q);
      loads.push_back(
          {make_var("end", n.dtype), make_load(n.buffer, {make_broadcast(at, pixels.count())},
                                               whole ? mask : mask_and(mask, lanes))});
      const AnyExpr one(loads.back().var);
      value = value ? make_select(lanes, one, value) : one;
    }
    return value;
  }

  /// Else a buffer may end with the one channel of its last pixel that is asked for.
  bool has_whole_pixels(const BufferNode& buffer, const ClampedPixels& pixels) const {
    const AnyExpr c(pixels.channels), base = pixels.base ? pixels.base : AnyExpr(0);
    return !buffer.shape.empty() && same_expr(buffer.shape.back(), c) &&
           is_const(simplify(floormod(base, c), facts_), 0);
  }

  /// Lane l is of channel (first + l) mod c: those of which l mod c is a number.
  AnyExpr are_channel(const ClampedPixels& pixels, std::int64_t q) const {
    const int lanes = pixels.count();
    const DType t = mask_integer(lanes, caps_);
    Vec<int> turns;
    for (int l = 0; l < lanes; ++l) turns.push_back(l % static_cast<int>(pixels.channels));
    const AnyExpr lane = make_shuffle({make_ramp(make_int(t, 0), make_int(t, 1), lanes)},
                                      std::move(turns)),
                  turn = floormod(q - pixels.first(), AnyExpr(pixels.channels));
    return make_binary(BinaryOp::eq, lane, make_broadcast(make_cast(t, turn), lanes));
  }

  const TargetCaps& caps_;
};

}  // namespace detail

LATHE_DECL Program pixel_borders(const Program& program, const TargetCaps& caps) {
  return program.with(detail::PixelBorders(program, caps).stmt(program->body));
}

}  // namespace lathe

#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/held.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

// Elements of another type: stores cast, loads cast back, and reducers work in the new type, in
// which another number stands for no element. With an offset, which stores add and loads take off.
class Retype : public Mutator {
 public:
  Retype(const Buffer& from, const Buffer& to, NoElement no_element, std::int64_t offset = 0)
      : from_(from), to_(to), no_element_(no_element), offset_(offset) {}

  Buffer buffer(const Buffer& b) override { return b == from_ ? to_ : b; }
  AnyExpr expr(const AnyExpr& e) override {
    const auto* cast = e.as<CastNode>();
    const auto* load = (cast ? cast->value : e).as<LoadNode>();
    if (!load || load->buffer != from_) return descend(e);
    const AnyExpr mask = optional(load->mask), held = make_load(to_, places(load->indices), mask);
    // Both types hold the number, which a cast from either takes.
    if (cast && no_element_ == NoElement::none && (offset_ == 0 || e.dtype().is_int()))
      return without_offset(make_cast(e.dtype(), held), mask);
    AnyExpr value =
        without_offset(make_cast(from_->dtype.with_lanes(load->dtype.lanes), held), mask);
    if (no_element_ != NoElement::none)
      value = make_select(make_binary(BinaryOp::eq, held, no_element(held.dtype())),
                          no_element(value.dtype()), value);
    return cast ? make_cast(e.dtype(), value) : value;
  }
  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == from_) {
      const bool none = no_element_ != NoElement::none &&
                        is_const(n->value, no_element_of(n->value.dtype(), no_element_));
      AnyExpr value = none ? no_element(to_->dtype) : plus(stored(expr(n->value)), BinaryOp::add);
      return make_store(to_, places(n->indices), std::move(value), optional(n->mask));
    }
    const auto* block = s.as<BlockNode>();
    if (!block || !block->reducer || !contains(buffers_written(block->body), from_))
      return descend(s);
    BlockNode retyped = *descend(s).as<BlockNode>();
    retyped.reducer = reducer(*block->reducer);
    return make_block(std::move(retyped));
  }

 private:
  Vec<AnyExpr> places(const Vec<AnyExpr>& indices) {
    Vec<AnyExpr> at;
    for (const auto& index : indices) at.push_back(expr(index));
    return at;
  }

  // What a mask leaves out is 0.
  AnyExpr without_offset(const AnyExpr& e, const AnyExpr& mask) const {
    const AnyExpr value = plus(e, BinaryOp::sub);
    if (offset_ == 0 || !mask.get()) return value;
    return make_select(mask, value, make_const(e.dtype(), 0));
  }

  // Integers wrap, so that the low bits of a number are those of itself moved there and back.
  AnyExpr plus(const AnyExpr& e, BinaryOp op) const {
    const DType t = e.dtype();
    return offset_ == 0 ? e : make_binary(op, e, make_const(t, wrap_int(t.scalar(), offset_)));
  }

  AnyExpr no_element(DType t) const {
    return make_const(t, no_element_of(t.scalar(), no_element_));
  }

  ReducerRef reducer(const ReducerNode& r) const {
    if (is_arg_reducer(r)) return with_position_type(r, to_->dtype);
    const bool sum = no_element_ == NoElement::none, most = no_element_ == NoElement::least;
    return builtin_reducer(sum ? "sum" : most ? "max" : "min", {to_->dtype});
  }

  // The low bits of sums, differences, products and choices follow from those of their operands.
  AnyExpr stored(const AnyExpr& e) const {
    const DType t = to_->dtype.with_lanes(e.dtype().lanes);
    if (t.bits > e.dtype().bits || e->weight > kLargest) return make_cast(t, e);
    if (const auto* cast = e.as<CastNode>(); cast && !cast->value.dtype().is_float())
      return make_cast(t, cast->value);
    if (const auto* either = e.as<SelectNode>())
      return make_select(either->condition, stored(either->yes), stored(either->no));
    const auto* n = e.as<BinaryNode>();
    if (!n || (n->op != BinaryOp::add && n->op != BinaryOp::sub && n->op != BinaryOp::mul))
      return make_cast(t, e);
    return make_binary(n->op, stored(n->a), stored(n->b));
  }

  static constexpr std::uint32_t kLargest = 1000;  ///< nodes of a value that is written anew
  const Buffer from_, to_;
  const NoElement no_element_;
  const std::int64_t offset_;
};

}  // namespace lathe::detail

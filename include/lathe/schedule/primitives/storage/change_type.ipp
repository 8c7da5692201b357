#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/held.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// Elements of another type: stores cast, loads cast back, and reducers work in the new type, in
// which another number stands for no element.
class Retype : public Mutator {
 public:
  Retype(const Buffer& from, const Buffer& to, NoElement no_element)
      : from_(from), to_(to), no_element_(no_element) {}

  Buffer buffer(const Buffer& b) override { return b == from_ ? to_ : b; }
  AnyExpr expr(const AnyExpr& e) override {
    const auto* load = e.as<LoadNode>();
    if (!load || load->buffer != from_) return descend(e);
    const AnyExpr held = make_load(to_, places(load->indices), optional(load->mask));
    const AnyExpr back = make_cast(from_->dtype.with_lanes(load->dtype.lanes), held);
    if (no_element_ == NoElement::none) return back;
    return make_select(make_binary(BinaryOp::eq, held, no_element(held.dtype())),
                       no_element(back.dtype()), back);
  }
  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == from_) {
      const bool none = no_element_ != NoElement::none &&
                        is_const(n->value, no_element_of(n->value.dtype(), no_element_));
      AnyExpr value = none ? no_element(to_->dtype) : stored(expr(n->value));
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
};

inline std::string types_that_hold(const HeldIntegers& held) {
  std::string out;
  for (DType t : exchangeable_types())
    if (can_hold(t, held)) out += " " + t.str();
  return out.empty() ? " none" : out;
}

inline std::string range_text(ConstInterval range) {
  if (range.empty() || !range.has_min() || !range.has_max()) return "values of no proven range";
  return "values from " + std::to_string(range.min) + " to " + std::to_string(range.max) +
         ", as far as is proven";
}

// What a type has room for, which is the new one, or the one of now.
inline std::string room_of(DType t, DType to, NoElement no_element) {
  const ConstInterval all = range_of_type(t);
  const bool least = no_element == NoElement::least, largest = no_element == NoElement::largest;
  return t.str() + (t == to ? "" : ", in which it is computed now,") + " holds " +
         std::to_string(all.min + least) + " to " + std::to_string(all.max - largest) +
         (least     ? ", its least number left to the identity"
          : largest ? ", its largest number left to the identity"
                    : "");
}

inline Verdict check_change_type(const Program& program, const Buffer& buffer, DType to) {
  const std::string name = "buffer " + in_quotes(buffer->name);
  auto no = [&](const std::string& why, std::string help = {}) {
    return refusal("L0253", name + " " + why, std::move(help));
  };
  if (!is_private(program->body, buffer))
    return no("is a parameter: the caller chose its type", "change that of a copy, of cache_write");
  if (buffer->dtype == to) return no("holds " + to.str() + " already");
  if (!is_exchangeable(buffer->dtype))
    return no("holds " + buffer->dtype.str() + ", whose values other types don't hold");
  if (has_typed_uses(program, buffer))
    return no("is used by an opaque block or an atomic update, which knows its type");
  const HeldIntegers held = held_integers(program, buffer);
  for (const auto& writer : writers(program->body, buffer))
    if (held.no_element == NoElement::none && writer.block->reducer &&
        writer.block->reducer->identity.size() != 1)
      return no("is one of several results of block " + in_quotes(writer.block->name()));
  // A sum that wraps in one type is another in the other.
  if (can_hold(to, held) && can_hold(buffer->dtype, held)) return {};
  return no("holds " + range_text(held.range) + "; " +
                room_of(can_hold(to, held) ? buffer->dtype : to, to, held.no_element),
            "types that hold this:" + types_that_hold(held) +
                "; clamp what is stored, or cast it from a smaller type, for a smaller range");
}

inline Verdict run_change_type(const Program& program, const Args& args, Edit* edit) {
  const Buffer buffer = find_buffer(program, args[0].text);
  DType to;
  if (!parse_dtype(args[1].text, to) || !is_exchangeable(to))
    return refusal("L0253", in_quotes(args[1].text) + " is no type to change to",
                   "types: i8 u8 i16 u16 i32 u32 i64");
  if (auto no = check_change_type(program, buffer, to)) return no;
  if (!edit) return {};
  BufferNode node = *buffer;
  node.dtype = to;
  Retype retype(buffer, Buffer(new BufferNode(std::move(node))),
                held_integers(program, buffer).no_element);
  edit->program = program.with(retype.stmt(program->body));
  return {};
}

LATHE_DECL const Primitive& primitive_change_type() {
  static const Primitive record{"change_type",
                                1,
                                {{"buffer", ArgKind::buffer}, {"dtype", ArgKind::word}},
                                "a private buffer holds integers of another type",
                                run_change_type};
  return record;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/held.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/storage/retype.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

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

inline Refusal type_refusal(const Buffer& buffer, const std::string& why, std::string help = {}) {
  return refusal("L0253", "buffer " + in_quotes(buffer->name) + " " + why, std::move(help));
}

// Wider floats hold each number of narrower ones. Sums in them are others.
inline Verdict check_widening(const Program& program, const Buffer& buffer, DType to) {
  const DType from = buffer->dtype;
  if (!to.is_float() || to.bits < 32 || to.bits <= from.bits)
    return type_refusal(buffer,
                        "holds " + from.str() + ", whose values " + to.str() + " does not hold",
                        from.bits < 32    ? "wider floats hold them: f32, f64"
                        : from.bits == 32 ? "f64 holds them"
                                          : "");
  for (const auto& writer : writers(program->body, buffer))
    if (writer.block->reducer)
      return type_refusal(buffer,
                          "holds sums of block " + in_quotes(writer.block->name()) +
                              ", which would be rounded otherwise",
                          "change the type of a copy, of cache_read or cache_write");
  return {};
}

// The numbers with another added to each: any, where that may be beyond i64.
inline HeldIntegers moved_by(HeldIntegers held, std::int64_t offset) {
  const ConstInterval was = held.range;
  ConstInterval& now = held.range;
  if (offset == 0 || was.empty()) return held;
  if (!was.has_min() || !was.has_max() || __builtin_add_overflow(was.min, offset, &now.min) ||
      __builtin_add_overflow(was.max, offset, &now.max))
    now = {};
  return held;
}

inline Verdict check_integers(const Program& program, const Buffer& buffer, DType to,
                              std::int64_t offset) {
  const HeldIntegers held = held_integers(program, buffer);
  for (const auto& writer : writers(program->body, buffer)) {
    const std::string by = " of block " + in_quotes(writer.block->name());
    if (held.no_element == NoElement::none && writer.block->reducer &&
        writer.block->reducer->identity.size() != 1)
      return type_refusal(buffer, "is one of several results" + by);
    if (writer.block->reducer && offset != 0)
      return type_refusal(buffer, "holds what the reduction" + by + " adds up in steps",
                          "an offset is for copies, of cache_read or cache_write");
  }
  // A sum that wraps in one type is another in the other.
  const HeldIntegers moved = moved_by(held, offset);
  if (can_hold(to, moved) && can_hold(buffer->dtype, held)) return {};
  return type_refusal(
      buffer,
      "holds " + range_text(moved.range) + "; " +
          room_of(can_hold(to, moved) ? buffer->dtype : to, to, held.no_element),
      "types that hold this:" + types_that_hold(moved) +
          "; clamp what is stored, or cast it from a smaller type, for a smaller range");
}

inline Verdict check_change_type(const Program& program, const Buffer& buffer, DType to,
                                 std::int64_t offset) {
  if (!is_private(program->body, buffer))
    return type_refusal(buffer, "is a parameter: the caller chose its type",
                        "change that of a copy, of cache_read or cache_write");
  if (buffer->dtype == to && offset == 0)
    return type_refusal(buffer, "holds " + to.str() + " already");
  const bool floats = buffer->dtype.is_float();
  if (!floats && !is_exchangeable(buffer->dtype))
    return type_refusal(buffer,
                        "holds " + buffer->dtype.str() + ", whose values other types don't hold");
  if (has_typed_uses(program, buffer))
    return type_refusal(buffer,
                        "is used by an opaque block or an atomic update, which knows its type");
  if (floats && offset != 0) return type_refusal(buffer, "holds floats, which would be rounded");
  if (floats) return check_widening(program, buffer, to);
  if (to.is_float()) return type_refusal(buffer, "holds integers, which are not kept as floats");
  return check_integers(program, buffer, to, offset);
}

inline Verdict run_change_type(const Program& program, const Args& args, Edit* edit) {
  const Buffer buffer = find_buffer(program, args[0].text);
  DType to;
  if (!parse_dtype(args[1].text, to) || !(is_exchangeable(to) || to == kF32 || to == kF64))
    return refusal("L0253", in_quotes(args[1].text) + " is no type to change to",
                   "types: i8 u8 i16 u16 i32 u32 i64 f32 f64");
  const std::int64_t offset = args[2].number;
  if (auto no = check_change_type(program, buffer, to, offset)) return no;
  if (!edit) return {};
  BufferNode node = *buffer;
  node.dtype = to;
  const NoElement none =
      to.is_float() ? NoElement::none : held_integers(program, buffer).no_element;
  Retype retype(buffer, Buffer(new BufferNode(std::move(node))), none, offset);
  edit->program = program.with(retype.stmt(program->body));
  return {};
}

LATHE_DECL const Primitive& primitive_change_type() {
  static const Primitive record{
      "change_type",
      1,
      {{"buffer", ArgKind::buffer}, {"dtype", ArgKind::word}, {"offset", ArgKind::number, "0"}},
      "a private buffer holds its numbers in another type",
      run_change_type};
  return record;
}

}  // namespace lathe::detail

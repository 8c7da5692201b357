#pragma once

#include <lathe/codegen/c/emitter.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/machine_form.hpp>

namespace lathe::detail {

LATHE_DECL const CEmitter::Place& CEmitter::place(const Buffer& buffer) const {
  const Place* found = places_.find(buffer.get());
  if (!found)
    throw InternalError(cat("codegen: buffer '", buffer->name, "' is neither param nor allocated"));
  return *found;
}

// One element, and element l of those that a vector index says.
LATHE_DECL CEmitter::Text CEmitter::element(const Buffer& b, const AnyExpr& index) {
  return cat(place(b).text, "[", value(index), "]");
}
LATHE_DECL CEmitter::Text CEmitter::elements(const Buffer& b, const AnyExpr& index) {
  std::int64_t stride = 0;
  if (index.dtype().lanes > 1 && (!lane_stride(index, stride) || stride != 1))
    return cat(place(b).text, "[", simple(value(index), index.dtype()), "[l]]");
  const AnyExpr first = lane_base(index);
  return cat(place(b).text, "[", simple(value(first), first.dtype()), " + l]");
}

LATHE_DECL CEmitter::Text CEmitter::load(const LoadNode& n) {
  const DType t = n.dtype;
  if (place(n.buffer).is_register) return place(n.buffer).text;
  const AnyExpr index = n.indices.empty() ? AnyExpr(0) : n.indices[0];
  if (t.lanes == 1) {
    const Text mask = n.mask ? value(n.mask) : Text(), read = element(n.buffer, index);
    const Text text = t.is_bool() ? cat("(", read, " != 0)") : read;
    return n.mask ? cat("(", mask, " ? ", text, " : 0)") : text;
  }
  const Text mask = n.mask ? simple(value(n.mask), n.mask.dtype()) : Text();
  const Text read = elements(n.buffer, index);
  const Text text = t.is_bool() ? cat("-(", read, " != 0)") : read;
  return lanes(t, t.lanes, n.mask ? cat(mask, "[l] ? ", text, " : 0") : text);
}

LATHE_DECL void CEmitter::store(const StoreNode& n) {
  const Place& at = place(n.buffer);
  const AnyExpr index = n.indices.empty() ? AnyExpr(0) : n.indices[0];
  int count = n.value.dtype().lanes;
  for (const std::uint16_t lanes : {index.dtype().lanes, n.buffer->dtype.lanes})
    if (lanes > count) count = lanes;
  const auto one = [&](const AnyExpr& e) {
    const Text v = simple(value(e), e.dtype());
    const bool vector = e.dtype().lanes > 1, byte = vector && e.dtype().is_bool();
    return cat(byte ? "(" : "", v, vector ? "[l]" : "", byte ? " & 1)" : "");
  };
  const Text test = n.mask ? cat("if (", one(n.mask), ") ") : Text();
  if (count == 1) {
    const Text v = value(n.value);
    return line(test, at.is_register ? at.text : element(n.buffer, index), " = ", v, ";");
  }
  if (at.is_register && !n.mask && n.value.dtype().lanes == count)
    return line(at.text, " = ", value(n.value), ";");
  const bool mask_lanes = at.is_register && n.buffer->dtype.is_bool();
  const Text v = mask_lanes ? cat("-", one(n.value)) : one(n.value);
  const Text to = at.is_register ? cat(at.text, "[l]") : elements(n.buffer, index);
  line("for (int l = 0; l < ", count, "; ++l) ", test, to, " = ", v, ";");
}

LATHE_DECL void CEmitter::atomic(const AtomicNode& n) {
  const AnyExpr index = n.indices.empty() ? AnyExpr(0) : n.indices[0];
  const DType t = n.value.dtype();
  const Text at = simple(value(index), index.dtype()), by = simple(value(n.value), t);
  for (int l = 0; l < index.dtype().lanes; ++l)
    atomic_element(n, index.dtype().lanes == 1 ? at : cat(at, "[", l, "]"),
                   t.lanes == 1 ? by : cat("(", by, "[", l, "]", t.is_bool() ? " & 1)" : ")"));
}

// Computes with the value read and tries again if another thread was faster.
LATHE_DECL void CEmitter::atomic_element(const AtomicNode& n, const Text& at, const Text& by) {
  const DType t = n.value.dtype().scalar();
  const std::string word = cat("lt_word", t.element_bytes() * 8), stored(c_memory_type(t));
  unit_.define(word, cat("typedef uint", t.element_bytes() * 8, "_t ", word,
                         " __attribute__((may_alias));\n"));
  const VarRef old = make_var("old", t), other = make_var("by", t);
  vars_[old.get()] = t.is_bool() ? "(old != 0)" : "old", vars_[other.get()] = by;
  line("for (;;) {");
  ++depth_;
  line(word, " *const to = (", word, " *)(", place(n.buffer).text, " + ", at, ");");
  line(word, " seen = __atomic_load_n(to, __ATOMIC_RELAXED), next;");
  line(stored, " old, now;");
  line("memcpy(&old, &seen, sizeof old);");
  const std::size_t mark = order_.size();
  line("now = ", value(machine_binary(n.op, old, other)), ";");
  forget(mark);
  line("memcpy(&next, &now, sizeof next);");
  line("if (__atomic_compare_exchange_n(to, &seen, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))");
  line("  break;");
  --depth_;
  line("}");
}

}  // namespace lathe::detail

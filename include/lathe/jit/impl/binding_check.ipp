#pragma once

#include <lathe/ir/narrow.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

LATHE_DECL const int* Binding::slot_of(const VarNode& var) const {
  for (const VarSlot& known : var_slots_)
    if (known.var == &var) return &known.slot;
  return nullptr;
}

LATHE_DECL std::int64_t Binding::value_of(const AnyExpr& e, const std::uint64_t* slots) const {
  if (const auto* value = as_const_int(e)) return *value;
  if (const auto* var = e.as<VarNode>()) {
    const int* slot = slot_of(*var);
    invariant(slot != nullptr, "an extent names a variable that no argument gives");
    return static_cast<std::int64_t>(slots[*slot]);
  }
  if (const auto* n = e.as<BinaryNode>()) {
    detail::Scalar a{value_of(n->a, slots)}, b{value_of(n->b, slots)};
    return detail::scalar_binary(n->op, n->a.dtype(), a, b).i;
  }
  if (const auto* n = e.as<UnaryNode>())
    return detail::scalar_unary(n->op, n->a.dtype(), {value_of(n->a, slots)}).i;
  if (const auto* n = e.as<CastNode>(); n && n->value.dtype().is_int())
    return detail::scalar_cast(n->dtype, n->value.dtype(), {value_of(n->value, slots)}).i;
  if (const auto* n = e.as<SelectNode>())
    return value_of(value_of(n->condition, slots) ? n->yes : n->no, slots);
  throw UserError(
      "L0506", cat("an extent or stride of a parameter is made of more than arithmetic: ", str(e)),
      Location{}, {}, "use integers, Dims and the operators on them");
}

LATHE_DECL bool Binding::check(const CallArg* given, std::uint64_t* slots, Failure& failure) const {
  constexpr std::size_t kMany = 32;
  ArgBytes few[kMany];
  Vec<ArgBytes> many;
  if (args_.size() > kMany) many.resize(args_.size());
  ArgBytes* bytes = args_.size() > kMany ? many.data() : few;
  for (int a = 0; a < args(); ++a)
    if (!check_arg(a, given[a], slots, bytes[a], failure)) return false;
  return ((later_.empty() && sizes_.empty()) || check_later(given, slots, failure)) &&
         check_overlap(given, bytes, failure);
}

LATHE_DECL int Binding::wrong_extent(const Arg& arg, const CallArg& given,
                                     std::uint64_t* slots) const {
  const detail::AxisRule* axes = axes_.data() + arg.first_axis;
  for (int d = 0; d < arg.rank; ++d)
    if (!axes[d].extent.holds(given.extents[d], slots)) return d;
  return -1;
}

LATHE_DECL bool Binding::bind_dense(const CallArg* given, std::uint64_t* slots) const {
  if (!simple_) return false;
  ArgBytes bytes[kFewArgs];
  for (int a = 0; a < args(); ++a) {
    const Arg& arg = arg_at(a);
    bytes[a] = {0, 0};
    if (arg.rank < 0) {
      slots[arg.slot] = given[a].scalar;
      continue;
    }
    if (wrong_extent(arg, given[a], slots) >= 0) return false;
    std::int64_t elements = 1;
    for (int d = arg.rank; d-- > 0;)
      if (given[a].strides[d] != elements ||
          __builtin_mul_overflow(elements, given[a].extents[d], &elements))
        return false;
    // In the order of the axes, of which the first one that names a stride sets it.
    for (int d = 0; d < arg.rank; ++d)
      if (!axes_[static_cast<std::size_t>(arg.first_axis + d)].stride.holds(given[a].strides[d],
                                                                            slots))
        return false;
    if (elements < 1 || elements > kMostSpan) return false;
    const auto base = reinterpret_cast<std::uintptr_t>(given[a].data);
    slots[arg.slot] = base;
    bytes[a] = {base, base + static_cast<std::uintptr_t>(elements * arg.element_bytes)};
    if (detail::check_address(base, arg.alignment_mask, bytes[a]) != CallError::none) return false;
  }
  for (int w = 0; w < args(); ++w)
    for (int a = 0; arg_at(w).written && a < args(); ++a)
      if (a != w && !detail::apart(bytes[w], bytes[a])) return false;
  return sizes_.empty() || dims_are_small(slots);
}

LATHE_DECL bool Binding::check_arg(int a, const CallArg& given, std::uint64_t* slots,
                                   ArgBytes& bytes, Failure& failure) const {
  const Arg& arg = arg_at(a);
  bytes = {0, 0};
  if (arg.rank < 0) return slots[arg.slot] = given.scalar, true;
  const auto base = reinterpret_cast<std::uintptr_t>(given.data);
  slots[arg.slot] = base;
  const detail::AxisRule* axes = axes_.data() + arg.first_axis;
  detail::ViewSpan span;
  int wrong_stride = -1;
  if (const int wrong = wrong_extent(arg, given, slots); wrong >= 0)
    return failure = {CallError::extent, a, wrong}, false;
  // A stride may be declared to be any of the extents.
  for (int d = 0; d < arg.rank; ++d) {
    const std::int64_t extent = given.extents[d], stride = given.strides[d];
    // The stride of an axis with at most one element means nothing.
    if (!axes[d].stride.holds(stride, slots) && extent > 1 && wrong_stride < 0) wrong_stride = d;
    span.add(extent, stride);
  }
  if (wrong_stride >= 0) return failure = {CallError::stride, a, wrong_stride}, false;
  if (span.empty) return true;
  if (!span.too_large())
    bytes = {base + static_cast<std::uintptr_t>(span.low * arg.element_bytes),
             base + static_cast<std::uintptr_t>(span.high * arg.element_bytes)};
  CallError error = detail::check_address(base, arg.alignment_mask, bytes);
  if (error == CallError::none && arg.written && span.overlaps_itself())
    error = CallError::self_overlap;
  if (error != CallError::none) failure = {error, a, 0};
  return error == CallError::none;
}

LATHE_DECL bool Binding::check_later(const CallArg* given, const std::uint64_t* slots,
                                     Failure& failure) const {
  for (const General& g : later_) {
    const std::int64_t extent = given[g.arg].extents[g.axis];
    if (g.of_stride && extent <= 1) continue;
    if ((g.of_stride ? given[g.arg].strides[g.axis] : extent) != value_of(g.value, slots))
      return failure = {g.of_stride ? CallError::stride : CallError::extent, g.arg, g.axis}, false;
  }
  for (std::size_t k = 0; k < sizes_.size() && !dims_are_small(slots); ++k)
    if (!fits_memory(sizes_[k], slots))
      return failure = {CallError::temporary, static_cast<int>(k), 0}, false;
  return true;
}

LATHE_DECL bool Binding::check_overlap(const CallArg* given, const ArgBytes* bytes,
                                       Failure& failure) const {
  for (int w = 0; w < args(); ++w) {
    if (!arg_at(w).written) continue;
    for (int a = 0; a < args(); ++a)
      if (a != w && !detail::apart(bytes[w], bytes[a]) && !interleaved(w, given[w], a, given[a]))
        return failure = {CallError::overlap, w, a}, false;
  }
  return true;
}

// Two columns of blocks in one matrix: the same outer stride, and inner ranges that are disjoint
// modulo that stride.
LATHE_DECL bool Binding::interleaved(int first, const CallArg& x, int second,
                                     const CallArg& y) const {
  const Arg &a = arg_at(first), &b = arg_at(second);
  if (a.rank < 1 || b.rank < 1) return false;
  // The stride of an axis with one element may be any number.
  if (x.strides[0] > kMostSpan || y.strides[0] > kMostSpan) return false;
  if (x.strides[0] <= 0 || y.strides[0] <= 0) return false;
  const std::int64_t step = x.strides[0] * a.element_bytes;
  if (step != y.strides[0] * b.element_bytes) return false;
  auto inner = [](const Arg& arg, const CallArg& given) {
    std::int64_t reach = 1;
    for (int d = 1; d < arg.rank; ++d) {
      if (given.strides[d] < 0) return std::int64_t{-1};
      reach += (given.extents[d] - 1) * given.strides[d];
    }
    return reach * arg.element_bytes;
  };
  const std::int64_t nx = inner(a, x), ny = inner(b, y);
  if (nx < 0 || ny < 0 || nx > step || ny > step) return false;
  std::int64_t shift =
      (reinterpret_cast<std::intptr_t>(y.data) - reinterpret_cast<std::intptr_t>(x.data)) % step;
  if (shift < 0) shift += step;
  return shift >= nx && shift + ny <= step;
}

}  // namespace lathe

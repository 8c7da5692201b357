#pragma once

#include <algorithm>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/jit/binding.hpp>
#include <limits>

namespace lathe {

LATHE_DECL Binding::Binding(const Program& program, Vec<int> order)
    : program_(program), layout_(slot_layout(program)) {
  add_slots();
  for (int param : order) add_arg(param);
  // Extents first: what general extents and strides need is then known.
  for (int a = 0; a < args(); ++a) add_extent_rules(a);
  for (int a = 0; a < args(); ++a) add_stride_rules(a);
  add_sizes();
  add_dense_plan();
  simple_ = later_.empty() && args() <= kFewArgs;
}

LATHE_DECL void Binding::add_slots() {
  param_slots_.resize(program_->params.size());
  open_strides_.resize(program_->params.size());
  set_by_.assign(layout_.size(), -1);
  first_dim_ = layout_.size();
  for (std::size_t k = layout_.size(); k-- > 0;) {
    const CallSlot& s = layout_[k];
    const int slot = static_cast<int>(k);
    const bool owned =
        s.param >= 0 && !program_->params[static_cast<std::size_t>(s.param)].is_argument();
    if (!owned && arg_slots_ == 0) arg_slots_ = slot + 1;
    if (s.kind == CallSlot::Kind::dim) first_dim_ = k;
    if (s.kind == CallSlot::Kind::buffer || s.kind == CallSlot::Kind::scalar)
      param_slots_[static_cast<std::size_t>(s.param)] = slot;
    else if (const VarNode* var = slot_variable(program_, s))
      var_slots_.push_back({var, slot});
    else if (s.index == 0)
      open_strides_[static_cast<std::size_t>(s.param)] = slot;
  }
}

LATHE_DECL void Binding::add_arg(int param) {
  const Param& p = program_->params[static_cast<std::size_t>(param)];
  Arg arg;
  arg.param = param;
  arg.slot = param_slots_[static_cast<std::size_t>(param)];
  arg.rank = p.buffer ? p.buffer->rank() : -1;
  arg.element_bytes = p.dtype().element_bytes();
  const int alignment =
      p.buffer && p.buffer->alignment > 0 ? p.buffer->alignment : arg.element_bytes;
  arg.alignment_mask = static_cast<std::uintptr_t>(alignment - 1);
  arg.written = p.access != Access::in;
  arg.first_axis = static_cast<int>(axes_.size());
  if (arg.rank > 0) axes_.resize(axes_.size() + static_cast<std::size_t>(arg.rank));
  args_.push_back(arg);
}

/// A variable's slot takes the first number that a call has for it.
LATHE_DECL detail::NumberRule Binding::rule_of(const AnyExpr& e, General place) {
  detail::NumberRule rule;
  if (const auto* value = as_const_int(e)) {
    rule.mode = detail::NumberRule::number, rule.least = *value;
    return rule;
  }
  const auto* var = e.as<VarNode>();
  const int* slot = var ? slot_of(*var) : nullptr;
  int* setter = slot ? &set_by_[static_cast<std::size_t>(*slot)] : nullptr;
  // Arguments are checked in order: what a later one sets is not known yet.
  if (!slot || *setter > place.arg) {
    place.value = e;
    later_.push_back(std::move(place));
    return rule;
  }
  rule.slot = static_cast<std::uint16_t>(*slot);
  rule.mode = *setter < 0 ? detail::NumberRule::sets : detail::NumberRule::same;
  if (*setter < 0) *setter = place.arg;
  return rule;
}

/// What an extent may be that nothing has set before.
LATHE_DECL void Binding::bound_dim(detail::NumberRule& rule) const {
  rule.mode = detail::NumberRule::sets_dim, rule.most = std::numeric_limits<std::int64_t>::max();
  if (rule.slot < first_dim_ || rule.slot >= first_dim_ + program_->dims.size()) return;
  const DimNode& d = *program_->dims[rule.slot - first_dim_];
  rule.least = d.min, rule.most = std::min(d.max, kLargestDim), rule.multiple = d.multiple_of;
}

LATHE_DECL void Binding::add_extent_rules(int arg) {
  const Buffer& b = param_of(arg).buffer;
  for (int axis = 0; b && axis < b->rank(); ++axis) {
    detail::NumberRule& rule = axis_at(arg, axis).extent;
    rule = rule_of(b->shape[static_cast<std::size_t>(axis)], {arg, axis, false, {}});
    if (rule.mode == detail::NumberRule::sets) bound_dim(rule);
  }
}

/// Of flat code that declares none too: such buffers are row-major without gaps.
LATHE_DECL AnyExpr Binding::declared_stride(const BufferNode& b, int axis) {
  if (!b.strides.empty()) return b.strides[static_cast<std::size_t>(axis)];
  AnyExpr stride(1);
  for (std::size_t d = b.shape.size(); d-- > static_cast<std::size_t>(axis) + 1;)
    stride = fold_mul(stride, b.shape[d]);
  return stride;
}

LATHE_DECL void Binding::add_stride_rules(int arg) {
  const Buffer& b = param_of(arg).buffer;
  // The indices of flat code have no axes any more.
  const bool flat = program_->stage >= Stage::flat;
  if (b && b->strides.empty() && b->rank() > 1 && !flat) open_args_.push_back(arg);
  for (int axis = 0; b && axis < b->rank(); ++axis) {
    detail::NumberRule& rule = axis_at(arg, axis).stride;
    if (!b->strides.empty() || flat) {
      rule = rule_of(declared_stride(*b, axis), {arg, axis, true, {}});
    } else if (axis + 1 == b->rank()) {
      rule.mode = detail::NumberRule::number, rule.least = 1;
    } else {
      const int first = open_strides_[static_cast<std::size_t>(arg_at(arg).param)];
      rule.mode = detail::NumberRule::sets;
      rule.slot = static_cast<std::uint16_t>(first + axis);
    }
  }
}

LATHE_DECL bool Binding::has_pixels() const {
  return std::any_of(open_args_.begin(), open_args_.end(),
                     [&](int a) { return arg_at(a).rank > 2; });
}

LATHE_DECL std::span<const Gaps> Binding::gaps_of_views() const {
  static constexpr Gaps all[] = {Gaps::rows, Gaps::pixels};
  return std::span(all, open_args_.empty() ? 0 : has_pixels() ? 2 : 1);
}

LATHE_DECL Gaps Binding::gaps(const CallArg* args) const {
  for (const int a : open_args_) {
    const int last = arg_at(a).rank - 1;
    if (last > 1 && args[a].extents[last - 1] > 1 &&
        args[a].strides[last - 1] != args[a].extents[last])
      return Gaps::rows;
  }
  return has_pixels() ? Gaps::pixels : Gaps::rows;
}

LATHE_DECL void Binding::add_dense_plan() {
  Vec<int> in_order;
  for (std::size_t k = 0; k < program_->params.size(); ++k)
    if (program_->params[k].is_argument()) in_order.push_back(static_cast<int>(k));
  bool all =
      args_.size() == in_order.size() && program_->dims.empty() && sizes_.empty() && later_.empty();
  Vec<std::uint64_t> slots(layout_.size());
  for (int a = 0; all && a < args(); ++a)
    all = arg_at(a).param == in_order[static_cast<std::size_t>(a)] && add_dense(a, slots.data());
  if (!all) dense_plan_.clear();
}

/// False if the row-major view of this argument's extents is not one that passes.
LATHE_DECL bool Binding::add_dense(int a, std::uint64_t* slots) {
  const Arg& arg = arg_at(a);
  if (arg.rank < 0) return true;
  if (!param_of(a).buffer->strides.empty()) return false;
  const auto rank = static_cast<std::size_t>(arg.rank);
  Vec<std::int64_t> extents(rank), strides(rank);
  std::int64_t elements = 1;
  for (std::size_t d = rank; d-- > 0;) {
    const detail::NumberRule& rule = axis_at(a, static_cast<int>(d)).extent;
    if (rule.mode != detail::NumberRule::number) return false;
    extents[d] = rule.least, strides[d] = elements;
    if (__builtin_mul_overflow(elements, rule.least, &elements)) return false;
  }
  CallArg view;
  view.data = reinterpret_cast<void*>(arg.alignment_mask + 1);
  view.extents = extents.data(), view.strides = strides.data();
  ArgBytes bytes;
  Failure none;
  if (!check_arg(a, view, slots, bytes, none) || bytes.begin == bytes.end) return false;
  dense_plan_.push_back(static_cast<std::int64_t>(arg.alignment_mask));
  dense_plan_.push_back(static_cast<std::int64_t>(bytes.end - bytes.begin));
  for (std::size_t d = 0; d < rank; ++d)
    dense_plan_.push_back(extents[d]), dense_plan_.push_back(strides[d]);
  return true;
}

}  // namespace lathe

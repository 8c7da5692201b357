#pragma once

#include <algorithm>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

LATHE_DECL Binding::Binding(const Program& program, Vec<int> order) : program_(program) {
  Vec<Rule> open;
  lay_out_slots(open);
  for (int index : order) add_arg(index);
  // Extents first: what general extents and strides need is then known.
  for (int a = 0; a < args(); ++a)
    if (param_of(a).buffer) add_extent_rules(a, *param_of(a).buffer);
  for (int a = 0; a < args(); ++a)
    if (param_of(a).buffer) add_stride_rules(a, *param_of(a).buffer);
  Vec<std::uint16_t> arg_of(program->params.size(), 0);
  for (int a = 0; a < args(); ++a)
    arg_of[static_cast<std::size_t>(args_[static_cast<std::size_t>(a)].param)] =
        static_cast<std::uint16_t>(a);
  for (Rule& rule : open) {
    rule.arg = arg_of[static_cast<std::size_t>(rule.first_arg)];
    rules_.push_back(rule);
  }
  for (std::size_t k = 0; k < rules_.size(); ++k) add_axis(static_cast<int>(k));
  add_sizes();
  add_dense_plan();
}

/// As kernel_slots does, with one slot per distinct stride variable. Undeclared outer strides get
/// variables in lowering; `open` receives a rule for each, with the parameter for an argument.
LATHE_DECL void Binding::lay_out_slots(Vec<Rule>& open) {
  const auto& params = program_->params;
  int slot = 0;
  param_slots_.resize(params.size());
  for (std::size_t p = 0; p < params.size(); ++p)
    if (params[p].buffer) param_slots_[p] = slot++;
  first_dim_ = slot;
  dim_count_ = static_cast<int>(program_->dims.size());
  auto add_var = [&](const VarNode* var) {
    many_slots_.insert(var, slot);
    var_slots_.emplace_back(var, slot++);
  };
  for (const auto& d : program_->dims) add_var(d->var.get());
  for (std::size_t p = 0; p < params.size(); ++p) {
    const auto& b = params[p].buffer;
    if (!b) continue;
    for (int axis = 0; b->strides.empty() && axis + 1 < b->rank(); ++axis) {
      Rule rule;
      rule.kind = Check::stride;
      rule.axis = static_cast<std::uint8_t>(axis);
      rule.slot = static_cast<std::uint16_t>(slot++);
      rule.sets = true;
      rule.first_arg = static_cast<int>(p);
      open.push_back(rule);
    }
    for (const auto& stride : b->strides)
      if (const auto* var = stride.as<VarNode>(); var && var_slot(*var) < 0) add_var(var);
  }
  for (std::size_t p = 0; p < params.size(); ++p)
    if (!params[p].buffer) param_slots_[p] = slot++;
  slot_count_ = slot;
  set_by_.assign(static_cast<std::size_t>(slot), -1);
}

LATHE_DECL void Binding::add_arg(int index) {
  const Param& param = program_->params[static_cast<std::size_t>(index)];
  Arg arg;
  arg.param = index;
  arg.slot = param_slots_[static_cast<std::size_t>(index)];
  arg.rank = param.buffer ? param.buffer->rank() : -1;
  arg.element_bytes = param.dtype().element_bytes();
  int alignment =
      param.buffer && param.buffer->alignment > 0 ? param.buffer->alignment : arg.element_bytes;
  arg.alignment_mask = static_cast<std::uintptr_t>(alignment - 1);
  arg.written = param.access != Access::in;
  arg.first_axis = static_cast<int>(axes_.size());
  if (arg.rank > 0) axes_.resize(axes_.size() + static_cast<std::size_t>(arg.rank));
  args_.push_back(arg);
}

/// Where the fast path finds a rule.
LATHE_DECL void Binding::add_axis(int index) {
  const Rule& r = rules_[static_cast<std::size_t>(index)];
  Axis& axis = axes_[static_cast<std::size_t>(args_[r.arg].first_axis + r.axis)];
  const bool of_extent = r.kind <= Check::dim;
  if (r.kind == Check::dim) {
    if (r.value > 0 || r.largest < kLargestDim || r.multiple != 1) later_.push_back(index);
    return;
  }
  Axis::Mode mode = r.sets ? Axis::sets : r.expr.get() ? Axis::later : Axis::same;
  if (!r.sets && (r.kind == Check::extent || r.kind == Check::stride)) mode = Axis::number;
  if (mode == Axis::later) later_.push_back(index);
  (of_extent ? axis.extent : axis.stride) = mode;
  (of_extent ? axis.extent_slot : axis.stride_slot) = r.slot;
  (of_extent ? axis.extent_value : axis.stride_value) = r.value;
}

LATHE_DECL void Binding::add_dense_plan() {
  bool all = dim_count_ == 0 && sizes_.empty() && later_.empty();
  for (std::size_t a = 0; all && a < args_.size(); ++a)
    all = args_[a].param == static_cast<int>(a) && add_dense(args_[a]);
  if (!all || args_.size() != program_->params.size()) dense_plan_.clear();
}

/// False where a row-major view may be wrong, or too large.
LATHE_DECL bool Binding::add_dense(const Arg& arg) {
  if (arg.rank < 0) return true;
  const std::size_t start = dense_plan_.size();
  dense_plan_.resize(start + 2 + 2 * static_cast<std::size_t>(arg.rank));
  std::int64_t elements = 1;
  for (int d = arg.rank; d-- > 0;) {
    const Axis& axis = axes_[static_cast<std::size_t>(arg.first_axis + d)];
    if (axis.extent != Axis::number || axis.extent_value < 1) return false;
    if (axis.stride != (d + 1 == arg.rank ? Axis::number : Axis::sets)) return false;
    std::int64_t* at = &dense_plan_[start + 2 + 2 * static_cast<std::size_t>(d)];
    at[0] = axis.extent_value, at[1] = elements;
    if (__builtin_mul_overflow(elements, axis.extent_value, &elements) || elements > kMostSpan)
      return false;
  }
  dense_plan_[start] = static_cast<std::int64_t>(arg.alignment_mask);
  dense_plan_[start + 1] = elements * arg.element_bytes;
  return true;
}

LATHE_DECL int Binding::var_slot(const VarNode& var) const {
  if (var_slots_.size() > kFewVars) {
    const int* found = many_slots_.find(&var);
    return found ? *found : -1;
  }
  for (const auto& [known, slot] : var_slots_)
    if (known == &var) return slot;
  return -1;
}

LATHE_DECL void Binding::add_value_rule(Rule rule, const AnyExpr& e, Check constant, Check same,
                                        Check general) {
  if (const auto* value = as_const_int(e)) {
    rule.kind = constant;
    rule.value = *value;
  } else if (const auto* var = e.as<VarNode>(); var && var_slot(*var) >= 0) {
    rule.slot = static_cast<std::uint16_t>(var_slot(*var));
    int& setter = set_by_[rule.slot];
    rule.kind = same;
    rule.sets = setter < 0;
    if (rule.sets) setter = rule.arg;
    rule.first_arg = setter;
  } else {
    rule.kind = general;
    rule.expr = e;
  }
  rules_.push_back(rule);
}

LATHE_DECL void Binding::add_extent_rules(int arg, const BufferNode& b) {
  Rule rule;
  rule.arg = static_cast<std::uint16_t>(arg);
  for (int axis = 0; axis < b.rank(); ++axis) {
    rule.axis = static_cast<std::uint8_t>(axis);
    const AnyExpr& e = b.shape[static_cast<std::size_t>(axis)];
    add_value_rule(rule, e, Check::extent, Check::extent_same, Check::extent_expr);
    if (!rules_.back().sets) continue;
    Rule bounds = rules_.back();
    bounds.kind = Check::dim;
    if (const int k = bounds.slot - first_dim_; k >= 0 && k < dim_count_) {
      const DimNode& d = *program_->dims[static_cast<std::size_t>(k)];
      bounds.value = d.min, bounds.largest = std::min(d.max, kLargestDim);
      bounds.multiple = d.multiple_of;
    }
    rules_.push_back(bounds);
  }
}

LATHE_DECL void Binding::add_stride_rules(int arg, const BufferNode& b) {
  Rule rule;
  rule.arg = static_cast<std::uint16_t>(arg);
  for (int axis = 0; axis < b.rank(); ++axis) {
    rule.axis = static_cast<std::uint8_t>(axis);
    if (!b.strides.empty())
      add_value_rule(rule, b.strides[static_cast<std::size_t>(axis)], Check::stride,
                     Check::stride_same, Check::stride_expr);
    else if (axis + 1 == b.rank())
      add_value_rule(rule, AnyExpr(1), Check::stride, Check::stride_same, Check::stride_expr);
  }
}

LATHE_DECL std::int64_t Binding::value_of(const AnyExpr& e, const std::uint64_t* slots) const {
  if (const auto* value = as_const_int(e)) return *value;
  if (const auto* var = e.as<VarNode>()) {
    int slot = var_slot(*var);
    invariant(slot >= 0, "an extent names a variable that no argument gives");
    return static_cast<std::int64_t>(slots[slot]);
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

/// The stride of an axis with at most one element means nothing.
LATHE_DECL bool Binding::holds(const Rule& r, const CallArg* args, std::uint64_t* slots) const {
  const std::int64_t extent = args[r.arg].extents[r.axis];
  const std::int64_t given = r.kind <= Check::dim ? extent : args[r.arg].strides[r.axis];
  if (r.sets && r.kind != Check::dim) {
    slots[r.slot] = static_cast<std::uint64_t>(given);
    return true;
  }
  switch (r.kind) {
    case Check::extent:
      return given == r.value;
    case Check::extent_same:
      return given == static_cast<std::int64_t>(slots[r.slot]);
    case Check::extent_expr:
      return given == value_of(r.expr, slots);
    case Check::dim:
      return given >= r.value && given <= r.largest && (r.multiple == 1 || given % r.multiple == 0);
    case Check::stride:
      return given == r.value || extent <= 1;
    case Check::stride_same:
      return given == static_cast<std::int64_t>(slots[r.slot]) || extent <= 1;
    default:
      return extent <= 1 || given == value_of(r.expr, slots);
  }
}

LATHE_DECL Binding::Failure Binding::fill(const CallArg* args, std::uint64_t* slots) const {
  for (std::size_t k = 0; k < rules_.size(); ++k)
    if (!holds(rules_[k], args, slots)) return {rules_[k].kind, static_cast<int>(k), 0};
  for (std::size_t a = 0; a < args_.size(); ++a)
    slots[args_[a].slot] =
        args_[a].rank < 0 ? args[a].scalar : reinterpret_cast<std::uintptr_t>(args[a].data);
  for (std::size_t k = 0; k < sizes_.size(); ++k)
    if (!fits_memory(sizes_[k], slots)) return {Check::temporary, static_cast<int>(k), 0};
  return check_memory(args);
}

/// One argument: fills its slots, and gives the bytes that it may touch. False: something does not
/// fit.
LATHE_DECL bool Binding::take(const Arg& arg, const CallArg& given, std::uint64_t* slots,
                              std::uintptr_t& begin, std::uintptr_t& end) const {
  const auto base = reinterpret_cast<std::uintptr_t>(given.data);
  slots[arg.slot] = arg.rank < 0 ? given.scalar : base;
  const Axis* axis = axes_.data() + arg.first_axis;
  std::int64_t low = 0, high = 1, count = 1, reach = 0;
  bool good = true, empty = arg.rank < 0, overflow = false;
  for (int d = 0; d < arg.rank; ++d, ++axis) {
    const std::int64_t extent = given.extents[d], stride = given.strides[d];
    std::uint64_t& extent_slot = slots[axis->extent_slot];
    if (axis->extent == Axis::number)
      good &= extent == axis->extent_value;
    else if (axis->extent == Axis::sets)
      extent_slot = static_cast<std::uint64_t>(extent);
    else if (axis->extent == Axis::same)
      good &= extent_slot == static_cast<std::uint64_t>(extent);
    std::uint64_t& stride_slot = slots[axis->stride_slot];
    if (axis->stride == Axis::number)
      good &= stride == axis->stride_value || extent <= 1;
    else if (axis->stride == Axis::sets)
      stride_slot = static_cast<std::uint64_t>(stride);
    else if (axis->stride == Axis::same)
      good &= stride_slot == static_cast<std::uint64_t>(stride) || extent <= 1;
    good &= extent >= 0;
    empty |= extent == 0;
    overflow |= __builtin_mul_overflow(count, extent, &count);
    overflow |= extent < 1 || __builtin_mul_overflow(extent - 1, stride, &reach);
    std::int64_t& side = reach < 0 ? low : high;
    overflow |= __builtin_add_overflow(side, reach, &side);
  }
  begin = end = 0;
  if (empty) return good;
  good &= !overflow && low >= -kMostSpan && high <= kMostSpan;
  if (!good) return false;
  begin = base + static_cast<std::uintptr_t>(low * arg.element_bytes);
  end = base + static_cast<std::uintptr_t>(high * arg.element_bytes);
  return base != 0 && begin < end && (base & arg.alignment_mask) == 0 &&
         !(arg.written && high - low < count);
}

LATHE_DECL bool Binding::fill_fast(const CallArg* args, std::uint64_t* slots) const {
  constexpr std::size_t kMany = 16;
  const std::size_t n = args_.size();
  if (n > kMany) return false;
  std::uintptr_t begin[kMany], end[kMany];
  bool good = true;
  for (std::size_t a = 0; a < n; ++a) good &= take(args_[a], args[a], slots, begin[a], end[a]);
  for (std::size_t w = 0; w < n; ++w)
    for (std::size_t a = 0; args_[w].written && a < n; ++a)
      good &= a == w || begin[w] >= end[a] || begin[a] >= end[w];
  good = good && ((sizes_.empty() && dim_count_ == 0) || dims_are_small(slots));
  for (std::size_t k = 0; good && k < later_.size(); ++k)
    good = holds(rules_[static_cast<std::size_t>(later_[k])], args, slots);
  return good;
}

LATHE_DECL void Binding::diagnose(const CallArg* args, std::uint64_t* slots, Location where) const {
  const Failure f = fill(args, slots);
  if (f.kind != Check::none) fail(f, args, slots, where);
}

LATHE_DECL Binding::Bytes Binding::bytes_of(const Arg& arg, const CallArg& given) const {
  std::int64_t low = 0, high = 1, count = 1, reach = 0;
  bool overflow = false;
  for (int d = 0; d < arg.rank; ++d)
    if (given.extents[d] <= 0) return {};
  for (int d = 0; d < arg.rank; ++d) {
    overflow |= __builtin_mul_overflow(count, given.extents[d], &count);
    overflow |= __builtin_mul_overflow(given.extents[d] - 1, given.strides[d], &reach);
    std::int64_t& side = reach < 0 ? low : high;
    overflow |= __builtin_add_overflow(side, reach, &side);
  }
  const auto base = reinterpret_cast<std::uintptr_t>(given.data);
  if (overflow || low < -kMostSpan || high > kMostSpan) return {base, base + 1, false, true};
  const auto begin = base + static_cast<std::uintptr_t>(low * arg.element_bytes),
             end = base + static_cast<std::uintptr_t>(high * arg.element_bytes);
  return {begin, end, high - low < count, base != 0 && begin >= end};
}

LATHE_DECL Binding::Failure Binding::check_memory(const CallArg* args) const {
  constexpr std::size_t kMany = 32;
  Bytes bytes[kMany];
  const std::size_t n = args_.size();
  for (std::size_t a = 0; a < n; ++a) {
    const Arg& arg = args_[a];
    if (arg.rank < 0) continue;
    const Bytes b = bytes_of(arg, args[a]);
    if (a < kMany) bytes[a] = b;
    if (b.begin == b.end) continue;
    if (!args[a].data) return {Check::null, static_cast<int>(a), 0};
    if (reinterpret_cast<std::uintptr_t>(args[a].data) & arg.alignment_mask)
      return {Check::alignment, static_cast<int>(a), 0};
    if (b.too_large) return {Check::too_large, static_cast<int>(a), 0};
    if (arg.written && b.self_overlap) return {Check::self_overlap, static_cast<int>(a), 0};
  }
  for (std::size_t w = 0; w < n; ++w) {
    if (!args_[w].written || args_[w].rank < 0) continue;
    const Bytes out = w < kMany ? bytes[w] : bytes_of(args_[w], args[w]);
    for (std::size_t a = 0; a < n; ++a) {
      if (a == w || args_[a].rank < 0) continue;
      const Bytes other = a < kMany ? bytes[a] : bytes_of(args_[a], args[a]);
      if (out.begin < other.end && other.begin < out.end &&
          !interleaved(args_[w], args[w], args_[a], args[a]))
        return {Check::overlap, static_cast<int>(w), static_cast<int>(a)};
    }
  }
  return {};
}

// Two columns of blocks in one matrix: the same outer stride, and inner ranges that are disjoint
// modulo that stride.
LATHE_DECL bool Binding::interleaved(const Arg& a, const CallArg& x, const Arg& b,
                                     const CallArg& y) {
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

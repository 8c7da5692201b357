#pragma once

#include <lathe/ir/print.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline std::string binding_axis(const std::string& name, int axis) {
  return cat("'", name, "' axis ", axis, ": ");
}

/// Which declaration takes a view with these strides.
inline std::string layout_help(const CallArg& arg, int rank) {
  auto dense_at = [&](int axis) { return arg.extents[axis] <= 1 || arg.strides[axis] == 1; };
  if (rank > 0 && dense_at(rank - 1)) return "the default declaration takes it";
  return rank > 1 && dense_at(0) ? "lt::col_major on the input takes it"
                                 : "lt::any_stride on the input takes it";
}

}  // namespace detail

LATHE_DECL std::string Binding::describe_sparse(const CallArg* args) const {
  for (const int a : open_args_) {
    const int axis = sparse_axis(a, args[a]);
    if (axis < 0) continue;
    std::int64_t pitch = 1;
    for (int d = axis + 1; d < arg_at(a).rank; ++d) pitch *= args[a].extents[d];
    return cat("'", arg_name(a), "' has stride ", args[a].strides[axis], " on axis ", axis,
               ", where ", pitch, " is dense");
  }
  return {};
}

LATHE_DECL void Binding::fail_extent(const Failure& f, const CallArg* args,
                                     const std::uint64_t* slots, Location where) const {
  using detail::NumberRule;
  const NumberRule& rule = axis_at(f.arg, f.other).extent;
  const std::string place = detail::binding_axis(arg_name(f.arg), f.other);
  const std::int64_t given = args[f.arg].extents[f.other];
  if (rule.mode == NumberRule::number)
    throw UserError(
        "L0302", cat(place, "extent is ", given, ", but the kernel was made for ", rule.least),
        where, {}, "pass a view of the declared shape, or declare the extent as an lt::Dim");
  const AnyExpr& e = param_of(f.arg).buffer->shape[static_cast<std::size_t>(f.other)];
  if (rule.mode == NumberRule::same)
    throw UserError("L0303",
                    cat(place, "extent is ", given, ", but Dim '", str(e), "' is ",
                        static_cast<std::int64_t>(slots[rule.slot]), " (taken from '",
                        arg_name(set_by_[rule.slot]), "')"),
                    where);
  if (rule.mode == NumberRule::later)
    throw UserError("L0303",
                    cat(place, "extent is ", given, ", but ", str(e), " is ", value_of(e, slots)),
                    where);
  std::string bounds = cat("at least ", rule.least);
  if (rule.most < kLargestDim || given > rule.most) append(bounds, " and at most ", rule.most);
  if (rule.multiple != 1) append(bounds, " and a multiple of ", rule.multiple);
  throw UserError("L0304", cat(place, "extent is ", given, ", but Dim '", str(e), "' is ", bounds),
                  where);
}

LATHE_DECL void Binding::fail_stride(const Failure& f, const CallArg* args,
                                     const std::uint64_t* slots, Location where) const {
  using detail::NumberRule;
  const CallArg& arg = args[f.arg];
  const NumberRule& rule = axis_at(f.arg, f.other).stride;
  const Param& param = param_of(f.arg);
  std::int64_t wanted = rule.least;
  if (rule.mode != NumberRule::number)
    wanted = value_of(declared_stride(*param.buffer, f.other), slots);
  throw UserError("L0305",
                  cat(detail::binding_axis(arg_name(f.arg), f.other), "stride is ",
                      arg.strides[f.other], ", but the declaration takes ", wanted),
                  where, {},
                  program_->stage >= Stage::flat
                      ? "a program that was lowered for dense arguments takes no others"
                  : param.access == Access::in ? detail::layout_help(arg, arg_at(f.arg).rank)
                                               : "results are row-major: pass a row-major view");
}

LATHE_DECL void Binding::fail_memory(const Failure& f, Location where) const {
  const std::string& name = arg_name(f.arg);
  if (f.error == CallError::null)
    throw UserError("L0306", cat("'", name, "': the pointer is null"), where);
  if (f.error == CallError::alignment)
    throw UserError("L0307",
                    cat("'", name, "': the address is no multiple of ",
                        arg_at(f.arg).alignment_mask + 1, " bytes"),
                    where);
  if (f.error == CallError::too_large)
    throw UserError("L0314", cat("'", name, "': the view spans more memory than there can be"),
                    where);
  if (f.error == CallError::self_overlap)
    throw UserError(
        "L0309",
        cat("'", name, "': its strides put several elements into one place, but it is written"),
        where, {}, "pass a view without a stride of 0 along an axis of several elements");
  const bool both = arg_at(f.other).written;
  const bool inout = param_of(f.arg).access == Access::inout;
  throw UserError(
      "L0308", cat("'", name, "' overlaps '", arg_name(f.other), "' in memory"), where, {},
      both    ? "give each result memory of its own"
      : inout ? "give each argument memory of its own: only the two that lt::inout "
                "names share it"
              : "give the result memory of its own, or declare lt::inout(input, result)");
}

LATHE_DECL void Binding::fail(const Failure& f, const CallArg* args, const std::uint64_t* slots,
                              Location where) const {
  if (f.error == CallError::temporary)
    throw UserError("L0314",
                    cat("'", *sizes_[static_cast<std::size_t>(f.arg)].name,
                        "' would have more elements than memory can hold, for these arguments"),
                    where);
  if (f.error == CallError::extent) fail_extent(f, args, slots, where);
  if (f.error == CallError::stride) fail_stride(f, args, slots, where);
  fail_memory(f, where);
}

}  // namespace lathe

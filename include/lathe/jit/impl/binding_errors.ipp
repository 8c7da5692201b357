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

LATHE_DECL void Binding::fail_extent(const Rule& r, const CallArg* args, const std::uint64_t* slots,
                                     Location where) const {
  const std::string& name = arg_name(r.arg);
  const std::string place = detail::binding_axis(name, r.axis);
  const std::int64_t given = args[r.arg].extents[r.axis];
  if (r.kind == Check::extent)
    throw UserError(
        "L0302", cat(place, "extent is ", given, ", but the kernel was made for ", r.value), where,
        {}, cat("pass a view of the declared shape, or declare the extent as an lt::Dim"));
  const AnyExpr& e =
      program_->params[static_cast<std::size_t>(args_[r.arg].param)].buffer->shape[r.axis];
  if (r.kind == Check::extent_same)
    throw UserError("L0303",
                    cat(place, "extent is ", given, ", but Dim '", str(e), "' is ",
                        static_cast<std::int64_t>(slots[r.slot]), " (taken from '",
                        arg_name(r.first_arg), "')"),
                    where);
  if (r.kind == Check::extent_expr)
    throw UserError("L0303",
                    cat(place, "extent is ", given, ", but ", str(e), " is ", value_of(e, slots)),
                    where);
  std::string bounds = cat("at least ", r.value);
  if (r.largest < kLargestDim || given > r.largest) append(bounds, " and at most ", r.largest);
  if (r.multiple != 1) append(bounds, " and a multiple of ", r.multiple);
  throw UserError("L0304", cat(place, "extent is ", given, ", but Dim '", str(e), "' is ", bounds),
                  where);
}

LATHE_DECL void Binding::fail_stride(const Rule& r, const CallArg* args, const std::uint64_t* slots,
                                     Location where) const {
  const CallArg& arg = args[r.arg];
  const std::string place = detail::binding_axis(arg_name(r.arg), r.axis);
  std::int64_t wanted = r.value;
  if (r.kind == Check::stride_same) wanted = static_cast<std::int64_t>(slots[r.slot]);
  if (r.kind == Check::stride_expr) wanted = value_of(r.expr, slots);
  const bool is_input = param_of(r.arg).access == Access::in;
  throw UserError(
      "L0305",
      cat(place, "stride is ", arg.strides[r.axis], ", but the declaration takes ", wanted), where,
      {},
      is_input ? detail::layout_help(arg, args_[r.arg].rank)
               : "results are row-major: pass a row-major view");
}

LATHE_DECL void Binding::fail_memory(const Failure& f, const CallArg* args, Location where) const {
  const std::string& name = arg_name(f.rule);
  const Arg& arg = args_[static_cast<std::size_t>(f.rule)];
  if (f.kind == Check::null)
    throw UserError("L0306", cat("'", name, "': the pointer is null"), where);
  if (f.kind == Check::alignment)
    throw UserError(
        "L0307",
        cat("'", name, "': the address is no multiple of ", arg.alignment_mask + 1, " bytes"),
        where);
  if (f.kind == Check::too_large)
    throw UserError("L0314", cat("'", name, "': the view spans more memory than there can be"),
                    where);
  if (f.kind == Check::self_overlap)
    throw UserError(
        "L0309",
        cat("'", name, "': its strides put several elements into one place, but it is written"),
        where, {}, "pass a view without a stride of 0 along an axis of several elements");
  const bool both = args_[static_cast<std::size_t>(f.other)].written;
  const bool inout = param_of(f.rule).access == Access::inout;
  (void)args;
  throw UserError(
      "L0308", cat("'", name, "' overlaps '", arg_name(f.other), "' in memory"), where, {},
      both    ? "give each result memory of its own"
      : inout ? "give each argument memory of its own: only the two that lt::inout "
                "names share it"
              : "give the result memory of its own, or declare lt::inout(input, result)");
}

LATHE_DECL void Binding::fail(const Failure& f, const CallArg* args, const std::uint64_t* slots,
                              Location where) const {
  if (f.kind == Check::temporary)
    throw UserError("L0314",
                    cat("'", *sizes_[static_cast<std::size_t>(f.rule)].name,
                        "' would have more elements than memory can hold, for these arguments"),
                    where);
  if (f.kind >= Check::null) fail_memory(f, args, where);
  const Rule& r = rules_[static_cast<std::size_t>(f.rule)];
  if (f.kind <= Check::dim) fail_extent(r, args, slots, where);
  fail_stride(r, args, slots, where);
}

}  // namespace lathe

#pragma once

#include <lathe/dsl/checks.hpp>
#include <lathe/dsl/expr.hpp>

namespace lathe {

LATHE_DECL AnyExpr detail::literal_of(DType dtype, std::int64_t value, Location where) {
  if (dtype.is_float()) return make_const(dtype, value);
  AnyExpr e = make_int(dtype, value);
  bool fits = *as_const_int(e) == value && !(dtype == kU64 && value < 0);
  if (fits) return e;
  throw UserError("L0110", std::to_string(value) + " does not fit " + dtype.str(), where, {},
                  "use a value of the type's range, or lt::cast");
}
LATHE_DECL AnyExpr detail::literal_of(DType dtype, std::uint64_t value, Location where) {
  if (dtype.is_float()) return make_const(dtype, value);
  if (dtype == kU64) return make_int(dtype, static_cast<std::int64_t>(value));
  if (value <= static_cast<std::uint64_t>(INT64_MAX))
    return literal_of(dtype, static_cast<std::int64_t>(value), where);
  throw UserError("L0110", std::to_string(value) + " does not fit " + dtype.str(), where, {},
                  "use a value of the type's range, or lt::cast");
}
LATHE_DECL AnyExpr detail::literal_of(DType dtype, double value) {
  return make_float(dtype, value);
}

LATHE_DECL void detail::check_expr_type(const AnyExpr& e, DType dtype, Location where) {
  if (e.get() && e.dtype() == dtype) return;
  throw UserError("L0109",
                  "an expression of type " + (e ? e.dtype().str() : std::string("(none)")) +
                      " is used as " + dtype.str(),
                  where);
}

namespace detail {

inline VarRef make_dim_var(const std::string& name, const DimOptions& options, Location where) {
  check_name(name, where);
  auto* origin = new VarOrigin(VarOrigin::dim, name);
  Ref<VarOrigin> owner(origin);
  origin->min = options.min;
  origin->max = options.max;
  origin->multiple_of = options.multiple_of;
  bool good = options.multiple_of > 0 && options.min >= 0 && options.min <= options.max &&
              options.max / options.multiple_of * options.multiple_of >= options.min;
  if (!good)
    throw UserError("L0118",
                    "Dim '" + name + "' with min " + std::to_string(options.min) + ", max " +
                        std::to_string(options.max) + " and multiple_of " +
                        std::to_string(options.multiple_of) + " has no legal value",
                    where);
  return make_declared_var(name, kIndex, owner);
}

}  // namespace detail

LATHE_DECL Dim::Dim(std::string name, DimOptions options, Location where)
    : Expr(AnyExpr(detail::make_dim_var(name, options, where))) {}

}  // namespace lathe

#pragma once

#include <lathe/dsl/any.hpp>
#include <lathe/dsl/checks.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/reducer_law.hpp>

namespace lathe {
namespace detail {

inline Vec<VarRef> operand_vars(const char* prefix, const Vec<AnyExpr>& like) {
  Vec<VarRef> vars;
  for (std::size_t k = 0; k < like.size(); ++k)
    vars.push_back(make_var(prefix + (like.size() == 1 ? "" : std::to_string(k)), like[k].dtype()));
  return vars;
}

}  // namespace detail

LATHE_DECL ReducerRef sum_reducer(DType t) { return builtin_reducer("sum", {t}); }
LATHE_DECL ReducerRef prod_reducer(DType t) { return builtin_reducer("prod", {t}); }
LATHE_DECL ReducerRef max_reducer(DType t) { return builtin_reducer("max", {t}); }
LATHE_DECL ReducerRef min_reducer(DType t) { return builtin_reducer("min", {t}); }
LATHE_DECL ReducerRef any_reducer() { return builtin_reducer("any", {kBool}); }
LATHE_DECL ReducerRef all_reducer() { return builtin_reducer("all", {kBool}); }
LATHE_DECL ReducerRef argmax_reducer(DType t) { return builtin_reducer("argmax", {t, kIndex}); }
LATHE_DECL ReducerRef argmin_reducer(DType t) { return builtin_reducer("argmin", {t, kIndex}); }

LATHE_DECL ReducerRef make_reducer(
    std::string name, Vec<AnyExpr> identity,
    FunctionRef<Vec<AnyExpr>(std::span<const VarRef> lhs, std::span<const VarRef> rhs)> combine,
    std::optional<bool> associative, std::optional<bool> commutative, Location where) {
  detail::check_name(name, where);
  if (identity.empty()) throw UserError("L0107", "reducer '" + name + "' has no identity", where);
  for (const auto& e : identity)
    if (!e.get())
      throw UserError("L0116", "reducer '" + name + "' has an undefined identity", where);
  Vec<VarRef> lhs = detail::operand_vars("a", identity), rhs = detail::operand_vars("b", identity);
  Vec<AnyExpr> combined;
  try {
    combined = combine(lhs, rhs);
  } catch (const InternalError& e) {
    throw detail::unfit_operands("reducer '" + name + "'", e, where);
  }
  if (combined.size() != identity.size())
    throw UserError("L0107",
                    "reducer '" + name + "' has " + std::to_string(identity.size()) +
                        " identities, but combines to " + std::to_string(combined.size()) +
                        " values",
                    where);
  auto* reducer = new ReducerNode(std::move(name), std::move(identity), std::move(lhs),
                                  std::move(rhs), std::move(combined));
  ReducerRef out(reducer);
  detail::check_reducer(*reducer, where);
  const bool known = has_known_laws(*reducer);
  reducer->associative = associative ? *associative : known && identity_problem(*reducer).empty();
  reducer->commutative = commutative.value_or(known);
  detail::check_reducer_laws(*reducer, {}, where);
  return out;
}

LATHE_DECL AnyExpr reduce_position(std::span<const AnyReduce> axes) {
  if (axes.size() == 1) return axes[0].var;
  AnyExpr position;
  for (const auto& axis : axes) {
    AnyExpr step = is_const(axis.min, 0) ? AnyExpr(axis.var) : AnyExpr(axis.var) - axis.min;
    position = position ? position * axis.extent + step : step;
  }
  return position;
}

}  // namespace lathe

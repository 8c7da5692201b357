#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/ir/reducer.hpp>
#include <limits>

namespace lathe {
namespace detail {

/// The least (greatest) value of a dtype: an infinity where there is one.
inline AnyExpr extreme_value(DType t, bool greatest) {
  if (t.is_float()) {
    double top = t.code == TypeCode::e4m3 ? 448.0 : std::numeric_limits<double>::infinity();
    return make_float(t, greatest ? top : -top);
  }
  if (t.is_unsigned()) return make_int(t, greatest ? -1 : 0);
  std::int64_t top = t.bits == 64 ? INT64_MAX : (std::int64_t{1} << (t.bits - 1)) - 1;
  return make_int(t, greatest ? top : -top - 1);
}

inline ReducerRef binary_reducer(std::string_view name, BinaryOp op, AnyExpr identity) {
  VarRef a = make_var("a", identity.dtype()), b = make_var("b", identity.dtype());
  Vec<AnyExpr> combine = {make_binary(op, a, b)}, identities = {identity};
  return make_ref<ReducerNode>(std::string(name), identities, Vec<VarRef>{a}, Vec<VarRef>{b},
                               combine);
}

/// (value, position): take is "the left one wins".
inline ReducerRef arg_reducer(std::string_view name, BinaryOp better, AnyExpr worst,
                              DType position) {
  DType t = worst.dtype();
  VarRef v0 = make_var("v0", t), p0 = make_var("p0", position), v1 = make_var("v1", t),
         p1 = make_var("p1", position);
  AnyExpr wins = make_binary(better, v0, v1), ties = eq(v0, v1);
  if (t.is_float()) {
    AnyExpr nan0 = make_call(CallOp::is_nan, {v0}), nan1 = make_call(CallOp::is_nan, {v1});
    wins = logical_or(wins, logical_and(nan0, logical_not(nan1)));
    ties = logical_or(ties, logical_and(nan0, nan1));
  }
  AnyExpr take = logical_or(wins, logical_and(ties, AnyExpr(p0) <= AnyExpr(p1)));
  return make_ref<ReducerNode>(
      std::string(name), Vec<AnyExpr>{worst, extreme_value(position, true)}, Vec<VarRef>{v0, p0},
      Vec<VarRef>{v1, p1}, Vec<AnyExpr>{make_select(take, v0, v1), make_select(take, p0, p1)});
}

}  // namespace detail

LATHE_DECL ReducerRef builtin_reducer(std::string_view name, const Vec<DType>& dtypes) {
  for (DType t : dtypes)
    if (t.is_vector()) return {};
  if (dtypes.size() == 1) {
    DType t = dtypes[0];
    if (name == "any" && t.is_bool())
      return detail::binary_reducer(name, BinaryOp::or_, make_bool(false));
    if (name == "all" && t.is_bool())
      return detail::binary_reducer(name, BinaryOp::and_, make_bool(true));
    if (t.is_bool()) return {};
    if (name == "sum") return detail::binary_reducer(name, BinaryOp::add, make_const(t, 0));
    if (name == "prod") return detail::binary_reducer(name, BinaryOp::mul, make_const(t, 1));
    if (name == "min")
      return detail::binary_reducer(name, BinaryOp::min, detail::extreme_value(t, true));
    if (name == "max")
      return detail::binary_reducer(name, BinaryOp::max, detail::extreme_value(t, false));
  }
  if (dtypes.size() == 2 && dtypes[1].is_int() && !dtypes[0].is_bool()) {
    if (name == "argmin")
      return detail::arg_reducer(name, BinaryOp::lt, detail::extreme_value(dtypes[0], true),
                                 dtypes[1]);
    if (name == "argmax")
      return detail::arg_reducer(name, BinaryOp::gt, detail::extreme_value(dtypes[0], false),
                                 dtypes[1]);
  }
  return {};
}

LATHE_DECL const CombinerRow* find_combiner(BinaryOp op) {
  static constexpr CombinerRow rows[] = {
      {BinaryOp::add, true, true, true},        {BinaryOp::mul, true, true, true},
      {BinaryOp::min, true, true, false},       {BinaryOp::max, true, true, false},
      {BinaryOp::and_, true, false, false},     {BinaryOp::or_, true, false, false},
      {BinaryOp::bit_and, true, false, false},  {BinaryOp::bit_or, true, false, false},
      {BinaryOp::bit_xor, true, false, false},  {BinaryOp::fast_min, true, false, false},
      {BinaryOp::fast_max, true, false, false},
  };
  for (const auto& row : rows)
    if (row.op == op) return &row;
  return nullptr;
}

namespace detail {

// The name of the built-in reducer that combines so; empty if none does.
inline std::string_view arg_name(const ReducerNode& r) {
  if (r.combine.size() != 2) return {};
  const Vec<DType> dtypes{r.combine[0].dtype(), r.combine[1].dtype()};
  for (const char* name : {"argmin", "argmax"}) {
    const ReducerRef known = builtin_reducer(name, dtypes);
    if (!known) continue;
    const auto combines = make_ref<ReducerNode>(r.name, known->identity, r.lhs, r.rhs, r.combine);
    if (structurally_equal(known, ReducerRef(combines))) return name;
  }
  return {};
}

}  // namespace detail

LATHE_DECL bool is_arg_reducer(const ReducerNode& r) { return !detail::arg_name(r).empty(); }

LATHE_DECL ReducerRef with_position_type(const ReducerNode& r, DType position) {
  const ReducerRef known = builtin_reducer(detail::arg_name(r), {r.combine[0].dtype(), position});
  return make_ref<ReducerNode>(r.name, Vec<AnyExpr>{r.identity[0], known->identity[1]}, known->lhs,
                               known->rhs, known->combine);
}

}  // namespace lathe

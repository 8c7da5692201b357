// Reductions: sum, argmax and the others, and reducers of one's own.
#pragma once

#include <initializer_list>
#include <lathe/dsl/expr.hpp>
#include <tuple>

namespace lathe {

/// What sum(…) and the others give: the whole value of a compute. It has no arithmetic; a second
/// compute does that.
template <class... Ts>
class Reduction {
 public:
  explicit Reduction(AnyValue value) : value_(std::move(value)) {}
  /// The same fold over only those points at which the condition holds. L0117 if it names no reduce
  /// axis.
  Reduction where(const Expr<bool>& condition) const {
    Reduction out = *this;
    AnyExpr& all = out.value_.predicate;
    all = all ? make_binary(BinaryOp::and_, all, condition.any()) : condition.any();
    return out;
  }
  const AnyValue& any() const { return value_; }

 private:
  AnyValue value_;
};

namespace detail {

inline AnyValue reduction_value(ReducerRef reducer, Vec<AnyExpr> terms, Vec<AnyReduce> axes) {
  AnyValue out;
  out.reducer = std::move(reducer);
  out.values = std::move(terms);
  out.axes = std::move(axes);
  return out;
}
template <class... R>
concept ReduceAxes = sizeof...(R) > 0 && (std::is_same_v<R, Reduce> && ...);

inline Vec<AnyReduce> axes_of(std::initializer_list<Reduce> axes) {
  Vec<AnyReduce> all;
  for (const Reduce& axis : axes) all.push_back(axis.axis());
  return all;
}

}  // namespace detail

// Each folds the first argument over the axes that follow: sum(X(i, r), r), sum(A(p, q), {p, q}).
#define LATHE_DSL_FOLDS(X)                           \
  X(sum, sum_reducer, !dtype_of<T>.is_bool())        \
  X(prod, prod_reducer, !dtype_of<T>.is_bool())      \
  X(reduce_max, max_reducer, !dtype_of<T>.is_bool()) \
  X(reduce_min, min_reducer, !dtype_of<T>.is_bool())
#define LATHE_DSL_FOLD(name, reducer, condition)                                                  \
  template <detail::IsOperand A>                                                                  \
  auto name(const A& term, std::initializer_list<Reduce> axes) {                                  \
    using T = typename detail::ElementOf<A>::type;                                                \
    static_assert(condition, "lathe: " #name " is not defined for this element type");            \
    return Reduction<T>(detail::reduction_value(reducer(dtype_of<T>), {detail::operand<T>(term)}, \
                                                detail::axes_of(axes)));                          \
  }                                                                                               \
  template <detail::IsOperand A, class... R>                                                      \
  requires detail::ReduceAxes<R...>                                                               \
  auto name(const A& term, const R&... axes) { return name(term, {Reduce(axes)...}); }
LATHE_DSL_FOLDS(LATHE_DSL_FOLD)
#undef LATHE_DSL_FOLD
#undef LATHE_DSL_FOLDS

/// True where the condition holds at some point; false over nothing.
inline Reduction<bool> any(const Expr<bool>& condition, std::initializer_list<Reduce> axes) {
  return Reduction<bool>(
      detail::reduction_value(any_reducer(), {condition.any()}, detail::axes_of(axes)));
}
template <class... R>
requires detail::ReduceAxes<R...> Reduction<bool> any(const Expr<bool>& condition,
                                                      const R&... axes) {
  return any(condition, {Reduce(axes)...});
}
/// True where the condition holds at every point; true over nothing.
inline Reduction<bool> all(const Expr<bool>& condition, std::initializer_list<Reduce> axes) {
  return Reduction<bool>(
      detail::reduction_value(all_reducer(), {condition.any()}, detail::axes_of(axes)));
}
template <class... R>
requires detail::ReduceAxes<R...> Reduction<bool> all(const Expr<bool>& condition,
                                                      const R&... axes) {
  return all(condition, {Reduce(axes)...});
}

// Two outputs: get<0>() is the value, get<1>() its position, the axis variable (several axes:
// row-major from their starts). Of equal values the lowest position wins; NaN wins over every
// number. Over nothing: (identity, INT64_MAX).
#define LATHE_DSL_FOLDS(X) X(argmax) X(argmin)
#define LATHE_DSL_FOLD(name)                                                      \
  template <detail::IsOperand A>                                                  \
  auto name(const A& term, std::initializer_list<Reduce> axes) {                  \
    using T = typename detail::ElementOf<A>::type;                                \
    Vec<AnyReduce> all = detail::axes_of(axes);                                   \
    AnyExpr position = reduce_position(all);                                      \
    return Reduction<T, std::int64_t>(detail::reduction_value(                    \
        name##_reducer(dtype_of<T>), {detail::operand<T>(term), position}, all)); \
  }                                                                               \
  template <detail::IsOperand A, class... R>                                      \
  requires detail::ReduceAxes<R...>                                               \
  auto name(const A& term, const R&... axes) { return name(term, {Reduce(axes)...}); }
LATHE_DSL_FOLDS(LATHE_DSL_FOLD)
#undef LATHE_DSL_FOLD
#undef LATHE_DSL_FOLDS

/// Whether terms may be regrouped and reordered; both are needed to run a fold in parallel.
/// Regrouping starts each part of a fold from the identity: besides combine(combine(a, b), c) ==
/// combine(a, combine(b, c)), associative says that combine(identity, x) == x == combine(x,
/// identity) for every x that a fold gives. Left open, a law holds where the combine shows it: each
/// value is combined by itself with one of + * min max && || & | ^, as the table of built-in
/// reducers has it. Else it doesn't hold, and the fold runs in the order of its axes. What is said
/// to hold is tried on numbers (L0131).
struct ReducerOptions {
  std::optional<bool> associative = {};
  std::optional<bool> commutative = {};
};

/// A reducer of one's own over one value or a tuple; called with a term and axes, it gives a
/// Reduction.
template <class... Ts>
class Reducer {
 public:
  explicit Reducer(ReducerRef reducer) : reducer_(std::move(reducer)) {}

  template <class... R>
  requires detail::ReduceAxes<R...> Reduction<Ts...>
  operator()(const std::tuple<Expr<Ts>...>& terms, const R&... axes) const {
    Vec<AnyExpr> all;
    std::apply([&](const auto&... t) { (all.push_back(t.any()), ...); }, terms);
    return Reduction<Ts...>(detail::reduction_value(reducer_, std::move(all), {axes.axis()...}));
  }
  const ReducerRef& any() const { return reducer_; }

 private:
  ReducerRef reducer_;
};

namespace detail {

template <class... Ts, std::size_t... K>
std::tuple<Expr<Ts>...> typed_operands(std::span<const VarRef> vars, std::index_sequence<K...>) {
  return std::tuple<Expr<Ts>...>(Expr<Ts>(AnyExpr(vars[K]))...);
}

}  // namespace detail

/// A reducer over tuples. combine(a, b) takes and gives a tuple, and may use only a and b; the
/// identity, which an empty fold gives, is made of numbers (L0121). Without options its order is
/// fixed, unless its combine is one that the library knows.
///     using Pair = std::tuple<lt::Expr<float>, lt::Expr<float>>;
///     auto sums = lt::reducer("sums", Pair{0.0f, 0.0f}, [](Pair a, Pair b) { … },
///                             {.associative = true, .commutative = true});
///     sums(Pair{X(i, r), X(i, r) * X(i, r)}, r)
template <class... Ts, class F>
Reducer<Ts...> reducer(std::string name, const std::tuple<Expr<Ts>...>& identity, F combine,
                       ReducerOptions options = {}, Location where = Location::here()) {
  Vec<AnyExpr> identities;
  std::apply([&](const auto&... t) { (identities.push_back(t.any()), ...); }, identity);
  auto combine_any = [&](std::span<const VarRef> lhs, std::span<const VarRef> rhs) {
    auto all = std::index_sequence_for<Ts...>{};
    std::tuple<Expr<Ts>...> combined =
        combine(detail::typed_operands<Ts...>(lhs, all), detail::typed_operands<Ts...>(rhs, all));
    Vec<AnyExpr> out;
    std::apply([&](const auto&... t) { (out.push_back(t.any()), ...); }, combined);
    return out;
  };
  return Reducer<Ts...>(make_reducer(std::move(name), std::move(identities), combine_any,
                                     options.associative, options.commutative, where));
}

/// A reducer over one value: `lt::reducer("absmax", lt::Expr<float>(0), [](auto a, auto b) { … })`.
template <class T, class F>
Reducer<T> reducer(std::string name, const Expr<T>& identity, F combine,
                   ReducerOptions options = {}, Location where = Location::here()) {
  auto tupled = [&](const std::tuple<Expr<T>>& a, const std::tuple<Expr<T>>& b) {
    return std::tuple<Expr<T>>(combine(std::get<0>(a), std::get<0>(b)));
  };
  return reducer(std::move(name), std::tuple<Expr<T>>(identity), tupled, options, where);
}

}  // namespace lathe

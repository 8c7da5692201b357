// Tensors and their computation: Input<T, R>, compute, Tensor<T, R>, Outputs; rank and type are in
// the types.
#pragma once

#include <array>
#include <lathe/dsl/expr.hpp>
#include <lathe/dsl/program.hpp>
#include <lathe/dsl/reduction.hpp>
#include <tuple>

namespace lathe {

namespace detail {

template <class I>
AnyExpr index_operand(const I& index) {
  if constexpr (LiteralFor<I, std::int64_t>) {
    return literal<std::int64_t>(index);
  } else if constexpr (std::is_convertible_v<const I&, Expr<std::int64_t>>) {
    return Expr<std::int64_t>(index).any();
  } else {
    static_assert(std::is_convertible_v<const I&, Expr<std::int64_t>>,
                  "lathe: an index is an i64 expression or an integer. Convert it: "
                  "lt::cast<std::int64_t>(x)");
    return {};
  }
}

}  // namespace detail

/// A tensor of T with rank R: an AnyTensor whose rank and type the compiler checks.
template <class T, int R>
class TypedTensor : public AnyTensor {
 public:
  using element_type = T;
  static constexpr int rank = R;

  explicit TypedTensor(AnyTensor tensor) : AnyTensor(std::move(tensor)) {}

  /// The element at these indices. Compiled code does not check them: clamp, pad or select what
  /// may be outside. L0126 where that is certain; lt::evaluate checks all (L0409).
  template <class... I>
  Expr<T> operator()(const I&... index) const {
    static_assert(sizeof...(I) == R, "lathe: the number of indices is not the tensor's rank");
    // Without a place: this line is not the caller's, and a compute around it adds its own.
    return Expr<T>(at({detail::index_operand(index)...}, Location{}));
  }
  Expr<std::int64_t> extent(int d) const {
    return Expr<std::int64_t>(shape()[static_cast<std::size_t>(d)]);
  }
};

/// An argument that kernels read. Rank 0 is a scalar, passed by value. A layout other than
/// row-major is declared:
///     lt::Input<float, 2> A("A", {m, k}), At("At", {k, m}, lt::col_major);
/// So is that its elements are always the same (InputOptions). Errors as make_input.
template <class T, int R>
class Input : public TypedTensor<T, R> {
 public:
  Input(std::string name, const Extent (&extents)[std::size_t(R)],
        Layout layout = Layout::row_major, Location where = Location::here())
      : Input(std::move(name), Vec<Extent>(extents, extents + R), InputOptions{layout}, where) {}
  Input(std::string name, const Extent (&extents)[std::size_t(R)], InputOptions options,
        Location where = Location::here())
      : Input(std::move(name), Vec<Extent>(extents, extents + R), options, where) {}
  template <std::same_as<std::array<Extent, std::size_t(R)>>
                A>  // a template, so that braces do not ask for it
  Input(std::string name, const A& extents, Layout layout = Layout::row_major,
        Location where = Location::here())
      : Input(std::move(name), Vec<Extent>(extents.begin(), extents.end()), InputOptions{layout},
              where) {}
  template <std::same_as<std::array<Extent, std::size_t(R)>> A>
  Input(std::string name, const A& extents, InputOptions options, Location where = Location::here())
      : Input(std::move(name), Vec<Extent>(extents.begin(), extents.end()), options, where) {}

 private:
  Input(std::string name, Vec<Extent> extents, InputOptions options, Location where)
      : TypedTensor<T, R>(
            make_input(std::move(name), dtype_of<T>, std::move(extents), options, where)) {}
};
template <class T>
class Input<T, 0> : public TypedTensor<T, 0> {
 public:
  explicit Input(std::string name, Location where = Location::here())
      : TypedTensor<T, 0>(make_input(std::move(name), dtype_of<T>, {}, Layout::row_major, where)) {}
};

/// What compute gives for one value.
template <class T, int R>
class Tensor : public TypedTensor<T, R> {
 public:
  explicit Tensor(AnyTensor tensor) : TypedTensor<T, R>(std::move(tensor)) {}
};

/// What compute gives for several values: tensors of one shape, filled by one block.
template <int R, class... Ts>
class Outputs : public OutputList {
 public:
  explicit Outputs(Vec<AnyTensor> all) : OutputList{std::move(all)} {}
  template <std::size_t I>
  auto get() const {
    static_assert(I < sizeof...(Ts), "lathe: this compute has fewer outputs");
    return Tensor<std::tuple_element_t<I, std::tuple<Ts...>>, R>(this->tensors[I]);
  }
};

namespace detail {

/// What a body's result makes of a compute: how it becomes an AnyValue, and the class of the
/// tensors.
template <class V, int R>
struct ComputeResult {
  static_assert(
      IsExpr<V>,
      "lathe: the body of a compute gives an expression, a reduction, or a tuple of expressions");
  using T = typename ElementOf<V>::type;
  using type = Tensor<T, R>;
  static AnyValue value(const V& v) { return AnyValue(operand<T>(v)); }
  static type make(Vec<AnyTensor> all) { return type(std::move(all[0])); }
};
template <class V, int R>
requires std::is_arithmetic_v<V>
struct ComputeResult<V, R> {
  using type = Tensor<V, R>;
  static AnyValue value(V v) { return AnyValue(literal<V>(v)); }
  static type make(Vec<AnyTensor> all) { return type(std::move(all[0])); }
};
template <class T, int R>
struct ComputeResult<Reduction<T>, R> {
  using type = Tensor<T, R>;
  static AnyValue value(const Reduction<T>& v) { return v.any(); }
  static type make(Vec<AnyTensor> all) { return type(std::move(all[0])); }
};
template <class... Ts, int R>
struct ComputeResult<Reduction<Ts...>, R> {
  using type = Outputs<R, Ts...>;
  static AnyValue value(const Reduction<Ts...>& v) { return v.any(); }
  static type make(Vec<AnyTensor> all) { return type(std::move(all)); }
};
template <class... Vs, int R>
struct ComputeResult<std::tuple<Vs...>, R> {
  using type = Outputs<R, typename ElementOf<Vs>::type...>;
  static AnyValue value(const std::tuple<Vs...>& v) {
    AnyValue out;
    std::apply([&](const auto&... e) { (out.values.push_back(e.any()), ...); }, v);
    return out;
  }
  static type make(Vec<AnyTensor> all) { return type(std::move(all)); }
};

// What a body takes for an axis. nvcc finds no pack in a decltype, nor in an alias that drops it.
template <std::size_t>
struct AxisVar {
  using type = Var;
};

template <class F, std::size_t... K>
auto compute_typed(std::string name, Vec<Extent> extents, F& body, std::index_sequence<K...>,
                   Location where) {
  static_assert(
      std::is_invocable_v<F&, typename AxisVar<K>::type...>,
      "lathe: the body of a compute takes one lt::Var per axis, and compiles for them. Functions "
      "of "
      "expressions are lt::exp, lt::max, ..., not those of std; lt::select chooses (see the errors "
      "above, if there are any)");
  using V = std::remove_cvref_t<std::invoke_result_t<F&, typename AxisVar<K>::type...>>;
  using Result = ComputeResult<V, static_cast<int>(sizeof...(K))>;
  auto any_body = [&]([[maybe_unused]] std::span<const VarRef> vars) {
    return Result::value(body(Var(vars[K])...));
  };
  return Result::make(compute_any(std::move(name), std::move(extents), any_body, where));
}

}  // namespace detail

/// Describes a tensor by the value of its element at each index; extents are integers or Dims, {}
/// gives a scalar.
///     auto C = lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
///       return lt::sum(A(i, r) * B(r, j), r);
///     });
/// A tuple of expressions, or a fold of several values, gives Outputs. Errors as compute_any.
template <std::size_t R, class F>
auto compute(std::string name, const Extent (&extents)[R], F&& body,
             Location where = Location::here()) {
  return detail::compute_typed(std::move(name), {extents, extents + R}, body,
                               std::make_index_sequence<R>{}, where);
}
template <std::size_t R, class F>
auto compute(std::string name, const std::array<Extent, R>& extents, F&& body,
             Location where = Location::here()) {
  return detail::compute_typed(std::move(name), {extents.begin(), extents.end()}, body,
                               std::make_index_sequence<R>{}, where);
}
struct NoExtents {};
template <class F>
auto compute(std::string name, NoExtents, F&& body, Location where = Location::here()) {
  return detail::compute_typed(std::move(name), {}, body, std::make_index_sequence<0>{}, where);
}

/// An argument that is read as X and holds Y afterwards. Legal if Y reads X only at the element
/// that it stores (L0115).
template <class T, int R>
struct InOut {
  Input<T, R> input;
  Tensor<T, R> result;
  /// As what a schedule is made of: lt::Schedule s(lt::inout(X, Y)).
  operator OutputList() const { return {{result}, {{input, result}}}; }
};
template <class T, int R>
InOut<T, R> inout(const Input<T, R>& input, const Tensor<T, R>& result) {
  return {input, result};
}

namespace detail {

inline void add_output(OutputList& list, const AnyTensor& tensor) {
  list.tensors.push_back(tensor);
}
template <class T, int R>
void add_output(OutputList& list, const InOut<T, R>& both) {
  list.tensors.push_back(both.result);
  list.inouts.emplace_back(both.input, both.result);
}
template <class T>
concept ProgramOutput = requires(OutputList& list, const T& output) {
  add_output(list, output);
};

}  // namespace detail

/// One program with several results: tensors, or lt::inout(input, result).
template <detail::ProgramOutput... T>
OutputList outputs(const T&... results) {
  OutputList list;
  (detail::add_output(list, results), ...);
  return list;
}

}  // namespace lathe

// Programs written as loops: what expressions cannot say, in the same IR and scheduled the same
// way.
#pragma once

#include <lathe/dsl/constant.hpp>
#include <lathe/dsl/reduction.hpp>
#include <lathe/dsl/script_any.hpp>
#include <lathe/dsl/tensor.hpp>
#include <tuple>

namespace lathe {

/// An element of a buffer that may be stored to: a value, and a place.
template <class T>
class Element : public Expr<T> {
 public:
  explicit Element(AnyExpr load) : Expr<T>(std::move(load)) {}
};

namespace detail {

template <class T, int R, class E>
class ScriptAccess : public AnyScriptBuffer {
 public:
  using element_type = T;
  static constexpr int rank = R;

  explicit ScriptAccess(AnyScriptBuffer buffer) : AnyScriptBuffer(std::move(buffer)) {}

  /// The element at these indices. Compiled code does not check them; lt::evaluate does (L0409).
  template <class... I>
  E operator()(const I&... index) const {
    static_assert(sizeof...(I) == R, "lathe: the number of indices is not the buffer's rank");
    return E(at({index_operand(index)...}, Location{}));
  }
  Expr<std::int64_t> extent(int d) const {
    return Expr<std::int64_t>(shape()[static_cast<std::size_t>(d)]);
  }
};

template <class T>
void element_type_of(const Element<T>*);
template <class A>
concept IsElement = requires(const A* a) {
  element_type_of(a);
};

template <class T, class V>
AnyExpr script_value(const V& value, Location where) {
  static_assert(!IsReduction<V>, "lathe: a script folds in a block: p.reduce(lt::Fold::sum, ...)");
  static_assert(IsExpr<V> || IsReduction<V> || std::is_arithmetic_v<V>,
                "lathe: what is stored is an expression or a number");
  if constexpr (IsExpr<V>) {
    static_assert(SameDType<T, typename ElementOf<V>::type>,
                  "lathe: the value is of another element type than the buffer. Convert it: "
                  "lt::cast<T>(x)");
    return value.any();
  } else if constexpr (std::is_arithmetic_v<V>) {
    static_assert(LiteralFor<V, T>,
                  "lathe: this number does not convert to the buffer's element type (a floating "
                  "literal needs a floating type, true and false need bool)");
    if constexpr (LiteralFor<V, T>) return literal<T>(value, where);
  }
  return {};
}
template <class A>
void check_element() {
  static_assert(IsElement<A>,
                "lathe: store to an element of an output, an inout or a local, as in "
                "p.store(y(i), x(i)): inputs are read only");
}
template <class A>
inline constexpr bool is_tuple = false;
template <class... A>
inline constexpr bool is_tuple<std::tuple<A...>> = true;
template <class V>
Range region_range(const V& part) {
  if constexpr (std::is_same_v<V, Range>)
    return part;
  else
    return {index_operand(part), AnyExpr(1)};
}

}  // namespace detail

/// A parameter that a script reads: x(i, j) is an Expr<T>. Rank 0 is a scalar, passed by value.
template <class T, int R>
class ScriptInput : public detail::ScriptAccess<T, R, Expr<T>> {
 public:
  using detail::ScriptAccess<T, R, Expr<T>>::ScriptAccess;
};
/// A constant that a script reads: no argument of its kernels.
template <class T, int R>
class ScriptConstant : public detail::ScriptAccess<T, R, Expr<T>> {
 public:
  using detail::ScriptAccess<T, R, Expr<T>>::ScriptAccess;
};
/// An output, an inout or a local of a script: b(i, j) is an Element<T>, to read and to store to.
template <class T, int R>
class ScriptBuffer : public detail::ScriptAccess<T, R, Element<T>> {
 public:
  using detail::ScriptAccess<T, R, Element<T>>::ScriptAccess;
};

/// How a block folds; the reducers of the same names (max and min are reduce_max and reduce_min).
enum class Fold : std::uint8_t { sum, prod, max, min, any, all, argmax, argmin };
/// The reducer for values of these types. L0109 if there is none
ReducerRef fold_reducer(Fold fold, const Vec<DType>& dtypes, Location where = Location::here());

/// A program as it is being written. What cannot be said by `compute` is said here: order,
/// recurrences, updates in place, branches.
///     auto prog = lt::script("scan", [&](lt::Script& p) {
///       auto x = p.input<float>("x", {n});
///       auto y = p.output<float>("y", {n});
///       auto acc = p.local<float>("acc", {});
///       p.store(acc(), 0.0f);
///       p.for_("i", n, [&](lt::Var i) {
///         p.store(acc(), acc() + x(i));
///         p.store(y(i), acc());
///       });
///     });
///     auto f = lt::jit<lt::View<const float, 1>, lt::View<float, 1>>(prog);
/// Without the lambda, where the buffers are needed later: lt::Script p("scan"); …
/// lt::jit(p.program(), x, y). Errors as AnyScript.
class Script : public AnyScript {
 public:
  explicit Script(std::string name, Location where = Location::here())
      : AnyScript(std::move(name), where) {}

  // Parameters, in this order, and memory of its own. Extents are integers or made of Dims; {}
  // gives rank 0.
#define LATHE_SCRIPT_BUFFER(method, Class, access)                                                 \
  template <class T, std::size_t R>                                                                \
  auto method(std::string name, const Extent(&extents)[R], Layout layout = Layout::row_major,      \
              Location where = Location::here()) {                                                 \
    return Class<T, static_cast<int>(R)>(                                                          \
        param(access, std::move(name), dtype_of<T>, {extents, extents + R}, layout, where));       \
  }                                                                                                \
  template <class T>                                                                               \
  auto method(std::string name, NoExtents, Location where = Location::here()) {                    \
    return Class<T, 0>(param(access, std::move(name), dtype_of<T>, {}, Layout::row_major, where)); \
  }
  LATHE_SCRIPT_BUFFER(input, ScriptInput, Access::in)
  LATHE_SCRIPT_BUFFER(output, ScriptBuffer, Access::out)
  LATHE_SCRIPT_BUFFER(inout, ScriptBuffer, Access::inout)
#undef LATHE_SCRIPT_BUFFER
  /// auto w = p.constant(lt::constant("w", weights, {k, n}));
  template <class T, int R>
  auto constant(const Constant<T, R>& tensor, Location where = Location::here()) {
    return ScriptConstant<T, R>(AnyScript::constant(tensor, where));
  }
  template <class T, std::size_t R>
  auto local(std::string name, const Extent (&extents)[R], Scope scope = Scope::global,
             Location where = Location::here()) {
    return ScriptBuffer<T, static_cast<int>(R)>(
        AnyScript::local(std::move(name), dtype_of<T>, {extents, extents + R}, scope, where));
  }
  template <class T>
  auto local(std::string name, NoExtents, Scope scope = Scope::global,
             Location where = Location::here()) {
    return ScriptBuffer<T, 0>(AnyScript::local(std::move(name), dtype_of<T>, {}, scope, where));
  }

  /// p.store(y(i), x(i) + 1)
  template <class A, class V>
  void store(const A& element, const V& value, Location where = Location::here()) {
    detail::check_element<A>();
    using T = typename detail::ElementOf<A>::type;
    AnyScript::store(element.any(), detail::script_value<T>(value, where), where);
  }
  /// p.atomic(lt::BinaryOp::add, count(x(i)), 1)
  template <class A, class V>
  void atomic(BinaryOp op, const A& element, const V& value, Location where = Location::here()) {
    detail::check_element<A>();
    using T = typename detail::ElementOf<A>::type;
    AnyScript::atomic(op, element.any(), detail::script_value<T>(value, where), where);
  }
  /// auto t = p.let("t", x(i) * 2);
  template <detail::IsExpr V>
  auto let(std::string name, const V& value, Location where = Location::here()) {
    using T = typename detail::ElementOf<V>::type;
    return Expr<T>(AnyScript::let(std::move(name), value.any(), where));
  }
  void assert_(const Expr<bool>& condition, std::string message,
               Location where = Location::here()) {
    AnyScript::assert_(condition.any(), std::move(message), where);
  }

  /// p.for_("i", n, [&](lt::Var i) { … }): i from 0 to n - 1
  template <class F>
  void for_(std::string name, const Extent& extent, F&& body, Location where = Location::here()) {
    for_(std::move(name), 0, extent, body, where);
  }
  /// p.for_("j", i + 1, n, [&](lt::Var j) { … }): j from i + 1 to n - 1
  template <class F>
  void for_(std::string name, const Extent& begin, const Extent& end, F&& body,
            Location where = Location::here()) {
    static_assert(std::is_invocable_v<F&, Var>, "lathe: the body of a loop takes one lt::Var");
    AnyScript::for_(
        std::move(name), range(begin, end), [&](const VarRef& var) { body(Var(var)); }, where);
  }
  void if_(const Expr<bool>& condition, FunctionRef<void()> then,
           Location where = Location::here()) {
    AnyScript::if_(condition.any(), then, where);
  }
  void if_(const Expr<bool>& condition, FunctionRef<void()> then, FunctionRef<void()> otherwise,
           Location where = Location::here()) {
    AnyScript::if_(condition.any(), then, otherwise, where);
  }
  void while_(const Expr<bool>& condition, FunctionRef<void()> body,
              Location where = Location::here()) {
    AnyScript::while_(condition.any(), body, where);
  }

  /// p.block("C", {i, j}, [&](lt::Var vi, lt::Var vj) { p.store(C(vi, vj), A(vi, vj) * 2); });
  template <std::size_t R, class F>
  void block(std::string name, const BlockIter (&iters)[R], F&& body,
             Location where = Location::here()) {
    block_typed(std::move(name), {iters, iters + R}, body, std::make_index_sequence<R>{}, where);
  }
  template <class F>
  void block(std::string name, NoExtents, F&& body, Location where = Location::here()) {
    block_typed(std::move(name), {}, body, std::make_index_sequence<0>{}, where);
  }
  // In a block's body.
  /// From the identity: p.reduce(lt::Fold::sum, C(vi, vj), A(vi, vk) * B(vk, vj)).
  template <class A, class V>
  requires(!detail::is_tuple<A>) void reduce(Fold fold, const A& element, const V& term,
                                             Location where = Location::here()) {
    fold_one(fold, element, term, true, where);
  }
  /// From what the element holds.
  template <class A, class V>
  requires(!detail::is_tuple<A>) void update(Fold fold, const A& element, const V& term,
                                             Location where = Location::here()) {
    fold_one(fold, element, term, false, where);
  }
  /// Of several values: p.reduce(lt::Fold::argmax, std::tuple(top(vi), at(vi)),
  /// std::tuple(x(vi, vk), vk)), and with an lt::reducer in place of the Fold.
  template <class How, class... A, class... V>
  void reduce(const How& how, const std::tuple<A...>& elements, const std::tuple<V...>& terms,
              Location where = Location::here()) {
    fold_all(how, elements, terms, true, where);
  }
  template <class How, class... A, class... V>
  void update(const How& how, const std::tuple<A...>& elements, const std::tuple<V...>& terms,
              Location where = Location::here()) {
    fold_all(how, elements, terms, false, where);
  }
  void where(const Expr<bool>& condition, Location where = Location::here()) {
    AnyScript::where(condition.any(), where);
  }
  /// p.reads(x, lt::range(0, n), vj): what an opaque block reads at most, per axis a range or an
  /// index. A block that says so is known by what it says.
  template <class T, int R, class E, class... I>
  void reads(const detail::ScriptAccess<T, R, E>& buffer, const I&... part) {
    static_assert(sizeof...(I) == R, "lathe: a region has one range for each axis of its buffer");
    region(false, buffer, {detail::region_range(part)...}, Location{});
  }
  template <class T, int R, class E, class... I>
  void writes(const detail::ScriptAccess<T, R, E>& buffer, const I&... part) {
    static_assert(sizeof...(I) == R, "lathe: a region has one range for each axis of its buffer");
    region(true, buffer, {detail::region_range(part)...}, Location{});
  }

 private:
  template <class F, std::size_t... K>
  void block_typed(std::string name, const Vec<BlockIter>& iters, F& body,
                   std::index_sequence<K...>, Location where) {
    static_assert(std::is_invocable_v<F&, typename detail::AxisVar<K>::type...>,
                  "lathe: the body of a block takes one lt::Var per iterator, and compiles for "
                  "them (see the errors above, if there are any)");
    AnyScript::block(
        std::move(name), iters,
        [&]([[maybe_unused]] std::span<const VarRef> vars) { body(Var(vars[K])...); }, where);
  }
  template <class A, class V>
  void fold_one(Fold fold, const A& element, const V& term, bool init, Location where) {
    detail::check_element<A>();
    using T = typename detail::ElementOf<A>::type;
    AnyScript::fold(fold_reducer(fold, {dtype_of<T>}, where), {element.any()},
                    {detail::script_value<T>(term, where)}, init, where);
  }
  template <class How, class... A, class... V>
  void fold_all(const How& how, const std::tuple<A...>& elements, const std::tuple<V...>& terms,
                bool init, Location where) {
    (detail::check_element<A>(), ...);
    static_assert(sizeof...(A) == sizeof...(V), "lathe: a fold has one term for each element");
    Vec<AnyExpr> to, what;
    std::apply([&](const auto&... e) { (to.push_back(e.any()), ...); }, elements);
    std::apply(
        [&](const auto&... t) {
          (what.push_back(detail::script_value<typename detail::ElementOf<A>::type>(t, where)),
           ...);
        },
        terms);
    if constexpr (std::is_same_v<How, Fold>)
      AnyScript::fold(fold_reducer(how, {dtype_of<typename detail::ElementOf<A>::type>...}, where),
                      to, what, init, where);
    else
      AnyScript::fold(how.any(), to, what, init, where);
  }
};

/// The program that a body writes; see Script.
Program script(std::string name, FunctionRef<void(Script&)> body,
               Location where = Location::here());

}  // namespace lathe

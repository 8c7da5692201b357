// Typed expressions: Expr<T>, literals, operators, and the errors of both.
#pragma once

#include <lathe/dsl/any.hpp>
#include <lathe/ir/narrow.hpp>
#include <type_traits>

namespace lathe {

template <class... Ts>
class Reduction;

namespace detail {

/// False, but only where a template is used.
template <class>
inline constexpr bool never = false;

// A literal as a constant of a type. L0110 if an integer does not fit.
AnyExpr literal_of(DType dtype, std::int64_t value, Location where = {});
AnyExpr literal_of(DType dtype, std::uint64_t value, Location where = {});
AnyExpr literal_of(DType dtype, double value);
/// L0109 unless the expression is a scalar of this type.
void check_expr_type(const AnyExpr& e, DType dtype, Location where = {});

template <class T>
inline constexpr bool is_float_element = dtype_of<T>.is_float();
template <class T>
inline constexpr bool is_int_element = dtype_of<T>.is_int();

/// An integer converts to any element type but bool, a floating number to floating ones, true and
/// false to bool.
template <class L, class T>
concept LiteralFor = std::is_arithmetic_v<L> &&
    (std::is_same_v<T, bool> == std::is_same_v<L, bool>)&&(std::is_integral_v<L> ||
                                                           is_float_element<T>);

template <class T, class L>
AnyExpr literal(L value, Location where = {}) {
  if constexpr (std::is_same_v<L, bool>)
    return make_bool(value);
  else if constexpr (std::is_floating_point_v<L>)
    return literal_of(dtype_of<T>, static_cast<double>(value));
  else if constexpr (std::is_signed_v<L>)
    return literal_of(dtype_of<T>, static_cast<std::int64_t>(value), where);
  else
    return literal_of(dtype_of<T>, static_cast<std::uint64_t>(value), where);
}

}  // namespace detail

/// A value of element type T at one point of a compute. Copies share it, and moving one copies it;
/// nothing converts implicitly but literals.
template <class T>
class Expr {
 public:
  using element_type = T;

  Expr(const Expr&) = default;
  Expr& operator=(const Expr&) & = default;
  template <class V>
  void operator=(const V&) && {
    static_assert(detail::never<V>,
                  "lathe: an element is not assigned: the body of a compute returns its value; "
                  "loops that store are written with lt::script");
  }
  /// From the untyped core; L0109 if its dtype is not T's.
  explicit Expr(AnyExpr value, Location where = {}) : value_(std::move(value)) {
    detail::check_expr_type(value_, dtype_of<T>, where);
  }
  template <class L>
  requires detail::LiteralFor<L, T> Expr(L value, Location where = Location::here())
      : value_(detail::literal<T>(value, where)) {}
  /// Of another C++ type that the same element type carries: long long, where std::int64_t is long.
  template <class U>
  requires(!std::is_same_v<U, T> && SameDType<U, T>) Expr(const Expr<U>& other)
      : value_(other.any()) {}

  const AnyExpr& any() const { return value_; }

  /// No C++ condition can ask an expression: it has no value while a program is described.
  template <class B>
  requires std::is_same_v<B, bool>
  explicit operator B() const {
    static_assert(detail::never<B>,
                  "lathe: if, ?: and loops of C++ can't ask an expression, which has no value yet: "
                  "lt::select(condition, yes, no) chooses between two");
    return false;
  }

 private:
  AnyExpr value_;
};

inline Extent::Extent(const Expr<std::int64_t>& value) : value_(value.any()) {}

/// An axis of a compute: what the parameters of its body are.
class Var : public Expr<std::int64_t> {
 public:
  explicit Var(const VarRef& var) : Expr(AnyExpr(var)) {}
};

/// Bounds of a Dim, checked at each call; kernels may rely on them.
struct DimOptions {
  std::int64_t min = 0;
  std::int64_t max = INT64_MAX;
  std::int64_t multiple_of = 1;
};

/// A symbolic extent: a call takes its value from the arguments' shapes, which must agree.
///     lt::Dim n("n", {.multiple_of = 8});
/// L0101 bad name · L0118 bounds that nothing meets
class Dim : public Expr<std::int64_t> {
 public:
  explicit Dim(std::string name, DimOptions options = {}, Location where = Location::here());
};

/// An axis to fold over, from 0 or from {min, extent}. A range may depend on dims, on the axes of
/// the compute, on earlier reduce axes, and on elements of inputs.
class Reduce : public Expr<std::int64_t> {
 public:
  Reduce(std::string name, const Extent& extent, Location where = Location::here())
      : Reduce(make_reduce(std::move(name), 0, extent, where)) {}
  Reduce(std::string name, const Extent (&range)[2], Location where = Location::here())
      : Reduce(make_reduce(std::move(name), range[0], range[1], where)) {}
  explicit Reduce(AnyReduce axis) : Expr(AnyExpr(axis.var)), axis_(std::move(axis)) {}

  const AnyReduce& axis() const { return axis_; }

 private:
  AnyReduce axis_;
};

namespace detail {

template <class T>
T element_of_expr(const Expr<T>*);
template <class... Ts>
void element_of_reduction(const Reduction<Ts...>*);
template <class A>
concept IsExpr = requires(const A* a) {
  element_of_expr(a);
};
template <class A>
concept IsReduction = requires(const A* a) {
  element_of_reduction(a);
};
template <class A>
concept IsOperand = IsExpr<A> || IsReduction<A>;

template <class A>
struct ElementOf {
  static_assert(!IsReduction<A>,
                "lathe: a reduction is the whole value of a compute. Store it with auto t = "
                "lt::compute(\"t\", ...) and "
                "use t(i) in a second compute");
  using type = int;
};
template <IsExpr A>
struct ElementOf<A> {
  using type = decltype(element_of_expr(static_cast<const A*>(nullptr)));
};

/// The one element type of a list of operands and literals.
template <class A, class B>
struct CommonElement {
  static_assert(!IsReduction<A> && !IsReduction<B>,
                "lathe: a reduction is the whole value of a compute. Store it with auto t = "
                "lt::compute(\"t\", ...) and "
                "use t(i) in a second compute");
  static_assert(IsReduction<A> || IsReduction<B>,
                "lathe: an operand is neither an expression nor a number");
  using type = int;
};
template <IsExpr A, IsExpr B>
struct CommonElement<A, B> {
  using type = typename ElementOf<A>::type;
  static_assert(SameDType<type, typename ElementOf<B>::type>,
                "lathe: the operands have different element types. Convert one: lt::cast<T>(x)");
};
template <IsExpr A, class B>
requires std::is_arithmetic_v<B>
struct CommonElement<A, B> {
  using type = typename ElementOf<A>::type;
  static_assert(LiteralFor<B, type>,
                "lathe: this number does not convert to the other operand's element type (a "
                "floating literal needs a "
                "floating type, true and false need bool)");
};
template <class A, IsExpr B>
requires std::is_arithmetic_v<A>
struct CommonElement<A, B> : CommonElement<B, A> {
};
template <class A, class B>
using Common = typename CommonElement<A, B>::type;

/// The same of three, of which one is no literal.
template <class A, class B, class C>
struct CommonElementOf3 : CommonElementOf3<B, C, A> {};
template <IsOperand A, class B, class C>
struct CommonElementOf3<A, B, C> {
  using type = Common<A, B>;
  static_assert(std::is_same_v<Common<A, C>, type>);
};
template <class A, class B, class C>
using Common3 = typename CommonElementOf3<A, B, C>::type;

template <class T, class A>
AnyExpr operand(const A& a) {
  if constexpr (IsExpr<A>)
    return a.any();
  else if constexpr (LiteralFor<A, T>)
    return literal<T>(a);
  else
    return {};
}
template <class Result, class A, class B>
Expr<Result> binary(BinaryOp op, const A& a, const B& b) {
  using T = Common<A, B>;
  return Expr<Result>(make_binary(op, operand<T>(a), operand<T>(b)));
}

template <class A, class B>
concept Operands = IsOperand<A> || IsOperand<B>;
template <class A, class B, class C>
concept Operands3 = IsOperand<A> || Operands<B, C>;

}  // namespace detail

// Integers: / and % truncate as in C++, and give 0 for a divisor of 0; floordiv and floormod round
// down.
// clang-format off
#define LATHE_DSL_OPERATORS(X) \
  X(+, add, T, true) \
  X(-, sub, T, true) \
  X(*, mul, T, true) \
  X(/, div, T, true) \
  X(%, mod, T, dtype_of<T>.is_int()) X(&, bit_and, T, dtype_of<T>.is_int()) \
      X(|, bit_or, T, dtype_of<T>.is_int()) X(^, bit_xor, T, dtype_of<T>.is_int()) \
          X(<<, shl, T, dtype_of<T>.is_int()) X(>>, shr, T, dtype_of<T>.is_int()) \
              X(==, eq, bool, true) X(!=, ne, bool, true) X(<, lt, bool, true) \
                  X(<=, le, bool, true) X(>, gt, bool, true) X(>=, ge, bool, true) \
                      X(&&, and_, bool, dtype_of<T>.is_bool()) \
                          X(||, or_, bool, dtype_of<T>.is_bool())
// clang-format on
// clang-format off
#define LATHE_DSL_OPERATOR(symbol, name, Result, condition) \
  template <class A, class B> \
  requires detail::Operands<A, B> \
  auto operator symbol(const A& a, const B& b) { \
    using T [[maybe_unused]] = detail::Common<A, B>; \
    static_assert(condition, "lathe: operator " #symbol " is not defined for this element type"); \
    return detail::binary<Result>(BinaryOp::name, a, b); \
  }
// clang-format on
LATHE_DSL_OPERATORS(LATHE_DSL_OPERATOR)
#undef LATHE_DSL_OPERATOR
#undef LATHE_DSL_OPERATORS

// An expression may be built up: sum += X(i + d). Tensors, axes and dims are not assigned to.
#define LATHE_DSL_ASSIGNMENTS(X) X(+) X(-) X(*) X(/)
#define LATHE_DSL_ASSIGNMENT(symbol)                                                       \
  template <detail::IsExpr A, class B>                                                     \
  A& operator symbol##=(A& a, const B& b) {                                                \
    static_assert(std::is_same_v<A, Expr<typename A::element_type>>,                       \
                  "lathe: an axis or a dim keeps its meaning. Assign to a copy: lt::Expr " \
                  "x = i");                                                                \
    return a = A((a symbol b).any());                                                      \
  }
LATHE_DSL_ASSIGNMENTS(LATHE_DSL_ASSIGNMENT)
#undef LATHE_DSL_ASSIGNMENT
#undef LATHE_DSL_ASSIGNMENTS

template <detail::IsOperand A>
auto operator-(const A& a) {
  using T = typename detail::ElementOf<A>::type;
  return Expr<T>(make_unary(UnaryOp::neg, detail::operand<T>(a)));
}
template <detail::IsOperand A>
auto operator!(const A& a) {
  static_assert(std::is_same_v<typename detail::ElementOf<A>::type, bool>,
                "lathe: operator ! needs a bool");
  return Expr<bool>(make_unary(UnaryOp::not_, detail::operand<bool>(a)));
}
template <detail::IsOperand A>
auto operator~(const A& a) {
  using T = typename detail::ElementOf<A>::type;
  static_assert(dtype_of<T>.is_int(), "lathe: operator ~ needs an integer type");
  return Expr<T>(make_unary(UnaryOp::bit_not, detail::operand<T>(a)));
}

/// x converted to T: to integers truncating and saturating (NaN gives 0), between integers modulo
/// 2^bits, to bool x != 0.
template <class T, detail::IsOperand A>
Expr<T> cast(const A& x) {
  return Expr<T>(make_cast(dtype_of<T>, detail::operand<typename detail::ElementOf<A>::type>(x)));
}
/// The bits of x as a T of the same width.
template <class T, detail::IsOperand A>
Expr<T> reinterpret(const A& x) {
  using From = typename detail::ElementOf<A>::type;
  static_assert(dtype_of<T>.bits == dtype_of<From>.bits,
                "lathe: reinterpret needs types of one width");
  return Expr<T>(make_reinterpret(dtype_of<T>, detail::operand<From>(x)));
}

/// yes where the condition holds, else no; the arm that is not chosen is not evaluated, and reads
/// nothing.
template <class A, class B>
auto select(const Expr<bool>& condition, const A& yes, const B& no) {
  if constexpr (detail::Operands<A, B>) {
    using T = detail::Common<A, B>;
    return Expr<T>(make_select(condition.any(), detail::operand<T>(yes), detail::operand<T>(no)));
  } else {
    static_assert(std::is_arithmetic_v<A> && std::is_same_v<A, B>,
                  "lathe: select takes expressions, or two numbers of one type. Give one arm its "
                  "type: lt::Expr<float>(1)");
    if constexpr (std::is_arithmetic_v<A> && std::is_same_v<A, B>)
      return Expr<A>(make_select(condition.any(), detail::literal<A>(yes), detail::literal<A>(no)));
    else
      return Expr<float>(0);
  }
}

}  // namespace lathe

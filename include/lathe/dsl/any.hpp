// The untyped core of the DSL: tensors, axes and computations with rank and dtype as run-time
// values.
#pragma once

#include <concepts>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/function.hpp>
#include <lathe/support/vec.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace lathe {

template <class T>
class Expr;

/// An extent or the start of a range: an integer, a Dim, or an i64 expression.
class Extent {
 public:
  template <std::integral I>
  requires(!std::is_same_v<I, bool>) Extent(I value)
      : value_(make_int(std::in_range<std::int64_t>(value) ? kIndex : kU64,
                        static_cast<std::int64_t>(value))) {}
  Extent(const Expr<std::int64_t>& value);
  explicit Extent(AnyExpr value) : value_(std::move(value)) {}

  const AnyExpr& any() const { return value_; }

 private:
  AnyExpr value_;
};

/// How an argument lies in memory. row_major: innermost axis dense, outer strides from the view;
/// col_major: outermost axis dense, the others from the view; any_stride: all strides from the
/// view; dense: row-major without gaps.
enum class Layout : std::uint8_t { row_major, col_major, any_stride, dense };
inline constexpr Layout col_major = Layout::col_major;
inline constexpr Layout any_stride = Layout::any_stride;
inline constexpr Layout dense = Layout::dense;
std::string_view to_text(Layout layout);

/// What is declared of an argument besides its type and extents.
///     lt::Input<float, 2> W("W", {k, n}, {.constant = true});
struct InputOptions {
  Layout layout = Layout::row_major;
  /// A promise: every call of a kernel gives the same elements, which nobody changes meanwhile.
  /// What a schedule computes of them alone, the first call computes, and keeps. Results are wrong
  /// where it is broken; JitOptions::checked finds that (L0318). lt::constant needs no promise.
  bool constant = false;
};

namespace detail {

/// What a variable was declared as, for checks and messages.
struct VarOrigin : RefCounted {
  enum Kind : std::uint8_t { axis, reduce, dim, scalar, stride };
  Kind kind;
  std::string label;                                       ///< as messages name it
  std::string owner;                                       ///< the compute that an axis belongs to
  std::int64_t min = 0, max = INT64_MAX, multiple_of = 1;  ///< of a dim

  VarOrigin(Kind its_kind, std::string its_label, std::string its_owner = {})
      : kind(its_kind), label(std::move(its_label)), owner(std::move(its_owner)) {}
};
const VarOrigin* origin_of(const VarNode& var);
VarRef make_declared_var(std::string name, DType dtype, Ref<VarOrigin> origin);

/// A tensor's storage as a program sees it: an intermediate is allocated dense, an argument has the
/// layout declared.
struct TensorStorage {
  Buffer inner, param;
};

/// An input, or a computation of one or several tensors over the same axes.
struct TensorSource : RefCounted {
  mutable const TensorSource* next = nullptr;  ///< while a pipeline is taken down
  std::string name;
  bool is_input = false;
  Layout layout = Layout::row_major;
  Constancy constancy = Constancy::none;
  ConstantRef content;  ///< of an owned constant
  Vec<AnyExpr> extents;
  Vec<TensorStorage> storage;  ///< one per output; empty for a scalar
  BlockTag tag;                ///< of the block that computes it
  Vec<IterVar> iters;          ///< spatial, then reduce; no bindings
  Vec<AnyExpr> values;         ///< one per output: the value, or the term of the reducer
  ReducerRef reducer;
  AnyExpr predicate;
  Location where;
};

/// What a buffer inside a DSL expression stands for.
struct TensorOrigin : RefCounted {
  TensorOrigin(Ref<TensorSource> its_source, int its_output)
      : source(std::move(its_source)), output(its_output) {}
  LATHE_DECL ~TensorOrigin() override;
  Ref<TensorSource> source;
  int output;
};
const TensorOrigin* origin_of(const Buffer& buffer);

}  // namespace detail

/// A tensor: an input or what a compute gives. Copies share it, and moving one copies it.
/// Accessors of an undefined one throw L0116.
class AnyTensor {
 public:
  AnyTensor() = default;
  AnyTensor(const AnyTensor&) = default;
  AnyTensor& operator=(const AnyTensor&) = default;
  /// The tensor that a buffer in a DSL expression stands for.
  explicit AnyTensor(Buffer buffer) : buffer_(std::move(buffer)) {}
  /// A rank-0 input: its variable.
  explicit AnyTensor(VarRef scalar) : scalar_(std::move(scalar)) {}

  explicit operator bool() const { return buffer_ || scalar_; }
  const std::string& name() const { return scalar_ ? scalar_->name : defined().name; }
  DType dtype() const { return scalar_ ? scalar_->dtype : defined().dtype; }
  int rank() const { return scalar_ ? 0 : defined().rank(); }
  const Vec<AnyExpr>& shape() const;
  bool is_input() const { return scalar_ || source().is_input; }
  /// Its elements are known (make_constant): it is no argument.
  bool is_constant() const { return !scalar_ && source().constancy == Constancy::owned; }
  /// A rank-0 input, passed by value; scalar() is its variable.
  bool is_scalar() const { return static_cast<bool>(scalar_); }
  const VarRef& scalar() const { return scalar_; }
  /// The block that computes it; none for an input.
  const BlockTag& tag() const { return source().tag; }
  /// Its buffer in a program where it is an argument, and where it is an intermediate (none for a
  /// scalar).
  const Buffer& param_buffer() const { return storage().param; }
  const Buffer& inner_buffer() const { return storage().inner; }

  /// The element at these indices. L0108 for a wrong number of them or a type other than i64.
  AnyExpr at(Vec<AnyExpr> indices, Location where = Location::here()) const;
  bool same_as(const AnyTensor& other) const {
    return buffer_ == other.buffer_ && scalar_ == other.scalar_;
  }

  /// Of tensors only, not of scalars.
  const detail::TensorSource& source() const { return *origin().source; }
  int output() const { return origin().output; }
  /// Stands for the tensor inside DSL expressions; programs hold param_buffer or inner_buffer in
  /// its place.
  const Buffer& buffer() const { return buffer_; }

 protected:
  const detail::TensorStorage& storage() const {
    return source().storage[static_cast<std::size_t>(output())];
  }

 private:
  const BufferNode& defined() const;
  const detail::TensorOrigin& origin() const;

  Buffer buffer_;
  VarRef scalar_;
};

/// Axes that a tensor may have; levels, and nodes when it is written out, that one value may have.
inline constexpr std::size_t kMaxRank = 32;
inline constexpr std::uint32_t kMaxValueHeight = 1500;  ///< lowering, and inlining, add to it
inline constexpr std::uint32_t kMaxValueWeight = 1 << 20;

/// An argument. Rank 0 (no extents) is a scalar passed by value.
/// L0101 bad name · L0102 negative extent · L0103 size · L0104 extent of another type than i64 ·
/// L0109 element type · L0120 too many axes
/// L0132 a scalar that is called constant
AnyTensor make_input(std::string name, DType dtype, Vec<Extent> extents, InputOptions options,
                     Location where = Location::here());
inline AnyTensor make_input(std::string name, DType dtype, Vec<Extent> extents,
                            Layout layout = Layout::row_major, Location where = Location::here()) {
  return make_input(std::move(name), dtype, std::move(extents), InputOptions{layout}, where);
}

/// A tensor of known elements, which are copied: `strides` apart (in elements), or row-major
/// without gaps if those are none. Errors as make_input, and L0132 no axes, no elements where there
/// are some
AnyTensor make_constant(std::string name, DType dtype, std::span<const std::int64_t> extents,
                        const void* elements, const std::int64_t* strides = nullptr,
                        Location where = Location::here());

/// An axis to reduce over: var runs from min to min + extent - 1, min + extent below 2^63 (L0127).
struct AnyReduce {
  VarRef var;
  AnyExpr min, extent;
};
AnyReduce make_reduce(std::string name, Extent min, Extent extent,
                      Location where = Location::here());

/// What the body of a compute gives: one value per output; with a reducer, one term per output to
/// fold over axes.
struct AnyValue {
  Vec<AnyExpr> values;
  ReducerRef reducer;
  Vec<AnyReduce> axes;
  AnyExpr predicate;  ///< which reduce points take part; none: all

  AnyValue() = default;
  AnyValue(AnyExpr value) : values{std::move(value)} {}
};

/// One tensor per value of the body, over axes named i j k l i4 …
///     auto Y = compute_any("Y", {8}, [&](std::span<const VarRef> at) { return
///     AnyValue(X.at({at[0]}) * 2); })[0];
/// Errors as make_input, and: L0105 reduce variable left unreduced · L0106 variable of another
/// compute · L0107 reduce axes · L0109 types · L0116 no value · L0117 predicate · L0123, L0124 too
/// large an expression · L0126 an element that surely does not exist is read · L0127 reduce points
/// beyond 64 bits
Vec<AnyTensor> compute_any(std::string name, Vec<Extent> extents,
                           FunctionRef<AnyValue(std::span<const VarRef>)> body,
                           Location where = Location::here());

// Reducers over one element type. The identity of sum is +0.0: a sum of only -0.0 is +0.0, as is an
// empty one. That of reduce_max is -inf (for a type without infinity its lowest value), that of
// reduce_min the opposite.
ReducerRef sum_reducer(DType dtype);
ReducerRef prod_reducer(DType dtype);
ReducerRef max_reducer(DType dtype);  ///< NaN wins, -0 < +0
ReducerRef min_reducer(DType dtype);
ReducerRef any_reducer();
ReducerRef all_reducer();
/// Folds (value, i64 position): the largest (smallest) value; of equal ones the lowest position;
/// NaN beats all numbers. The identity is (-inf or inf, INT64_MAX): an empty fold has a position
/// that no axis has.
ReducerRef argmax_reducer(DType dtype);
ReducerRef argmin_reducer(DType dtype);
/// A reducer of one's own. combine may use only lhs and rhs, the identity no variable and no tensor
/// (L0121). Whether it is associative and commutative is as in ReducerOptions (L0131).
ReducerRef make_reducer(
    std::string name, Vec<AnyExpr> identity,
    FunctionRef<Vec<AnyExpr>(std::span<const VarRef> lhs, std::span<const VarRef> rhs)> combine,
    std::optional<bool> associative = {}, std::optional<bool> commutative = {},
    Location where = Location::here());
/// The position of a point among the reduce axes: the variable itself for one axis, else row-major
/// from each min.
AnyExpr reduce_position(std::span<const AnyReduce> axes);

}  // namespace lathe

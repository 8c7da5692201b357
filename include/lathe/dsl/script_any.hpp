// The untyped core of scripts: buffers, loops, blocks and stores, with rank and dtype as run-time
// values.
#pragma once

#include <lathe/dsl/expr.hpp>

namespace lathe {

namespace detail {
class ScriptState;
}

/// A buffer of a script, or a scalar that the call passes by value. Copies share it.
class AnyScriptBuffer {
 public:
  explicit AnyScriptBuffer(AnyTensor tensor) : tensor_(std::move(tensor)) {}

  const std::string& name() const { return tensor_.name(); }
  DType dtype() const { return tensor_.dtype(); }
  int rank() const { return tensor_.rank(); }
  const Vec<AnyExpr>& shape() const { return tensor_.shape(); }
  /// What names it where a program is compiled: jit_any(program, {x.tensor(), y.tensor()}).
  const AnyTensor& tensor() const { return tensor_; }
  /// What statements hold; none for a scalar.
  Buffer buffer() const { return tensor_.is_scalar() ? Buffer() : tensor_.inner_buffer(); }
  /// The element at these indices, to read or to store to. L0108 for a wrong number of them, L0104
  /// for a type other than i64.
  AnyExpr at(Vec<AnyExpr> indices, Location where = Location::here()) const;

 private:
  AnyTensor tensor_;
};

/// The numbers from begin to end - 1.
Range range(const Extent& begin, const Extent& end);

/// An iterator of a block: what it is bound to, which values it takes, and what it means.
///     i                                 a loop's variable: takes the loop's values; what it means
///                                       follows from the body (reduce if the block folds and
///                                       stores nowhere by it, else spatial)
///     lt::reduce(k)                     the same, said
///     lt::spatial(io * 8 + ii, n)       any binding, and the values 0 to n - 1
///     lt::spatial(e, lt::range(a, b))   the values a to b - 1
class BlockIter {
 public:
  BlockIter(const Var& loop) : binding_(loop.any()) {}
  BlockIter(IterKind kind, AnyExpr binding, Range domain = {})
      : known_(true), kind_(kind), binding_(std::move(binding)), domain_(std::move(domain)) {}

  bool has_kind() const { return known_; }
  IterKind kind() const { return kind_; }
  const AnyExpr& binding() const { return binding_; }
  const Range& domain() const { return domain_; }  ///< empty: the loop's

 private:
  bool known_ = false;
  IterKind kind_ = IterKind::spatial;
  AnyExpr binding_;
  Range domain_;
};
#define LATHE_SCRIPT_ITER(name)                                                    \
  inline BlockIter name(const Var& loop) { return {IterKind::name, loop.any()}; }  \
  inline BlockIter name(const Expr<std::int64_t>& binding, const Extent& extent) { \
    return {IterKind::name, binding.any(), range(0, extent)};                      \
  }                                                                                \
  inline BlockIter name(const Expr<std::int64_t>& binding, const Range& domain) {  \
    return {IterKind::name, binding.any(), domain};                                \
  }
LATHE_SCRIPT_ITER(spatial)
LATHE_SCRIPT_ITER(reduce)
LATHE_SCRIPT_ITER(opaque)
#undef LATHE_SCRIPT_ITER

/// Records a program statement by statement. Each method adds a statement where the script stands:
/// at its end, or at the end of the body that is running. What a body declares holds in the rest of
/// it. A method that throws, or whose body throws, adds nothing.
///
/// Errors of all methods: L0101 bad name · L0104 index or extent of another type than i64 · L0109
/// types · L0111 one name twice · L0116 undefined expression · L0123, L0124 too large an expression
/// · L0129 a variable or buffer that is not there · L0130 a statement that can't stand here.
class AnyScript {
 public:
  explicit AnyScript(std::string name, Location where = Location::here());
  AnyScript(const AnyScript&) = delete;
  AnyScript& operator=(const AnyScript&) = delete;

  const std::string& name() const;

  /// A parameter; for Access::in without extents a scalar, passed by value. Parameters stand in the
  /// order in which they are declared. L0102, L0103, L0119, L0120 extents, as make_input.
  AnyScriptBuffer param(Access access, std::string name, DType dtype, Vec<Extent> extents,
                        Layout layout = Layout::row_major, Location where = Location::here());
  /// A tensor of make_constant, which the program then owns. L0132: another one.
  AnyScriptBuffer constant(const AnyTensor& tensor, Location where = Location::here());
  /// Memory for the rest of the body that is running, with undefined content.
  AnyScriptBuffer local(std::string name, DType dtype, Vec<Extent> extents,
                        Scope scope = Scope::global, Location where = Location::here());

  /// Stores to an element, as AnyScriptBuffer::at gives it. L0128: of an input.
  void store(const AnyExpr& element, const AnyExpr& value, Location where = Location::here());
  /// element = op(element, value), indivisible among parallel iterations: add sub mul min max,
  /// bit_* of integers, and_ or_ of bools, and others that are no comparison.
  void atomic(BinaryOp op, const AnyExpr& element, const AnyExpr& value,
              Location where = Location::here());
  /// A value that is computed here, once.
  AnyExpr let(std::string name, const AnyExpr& value, Location where = Location::here());
  /// Ends the kernel with this message where the condition does not hold (L0407).
  void assert_(const AnyExpr& condition, std::string message, Location where = Location::here());

  /// A loop. The range may depend on what is around it: loops, data, Dims. L0102 negative extent
  void for_(std::string name, const Range& over, FunctionRef<void(const VarRef&)> body,
            Location where = Location::here());
  void if_(const AnyExpr& condition, FunctionRef<void()> then, Location where = Location::here());
  void if_(const AnyExpr& condition, FunctionRef<void()> then, FunctionRef<void()> otherwise,
           Location where = Location::here());
  void while_(const AnyExpr& condition, FunctionRef<void()> body,
              Location where = Location::here());

  /// The unit of scheduling. Its body uses its iterators, not the loops around it. L0102 negative
  /// extent
  void block(std::string name, const Vec<BlockIter>& iters,
             FunctionRef<void(std::span<const VarRef>)> body, Location where = Location::here());
  // The following are part of the block whose body is running.
  /// Folds terms into elements, one each; such a block holds nothing else. With init the elements
  /// start from the identity, else from what they hold.
  void fold(const ReducerRef& reducer, const Vec<AnyExpr>& elements, const Vec<AnyExpr>& terms,
            bool init, Location where = Location::here());
  /// The block runs at those points only at which the condition holds.
  void where(const AnyExpr& condition, Location where = Location::here());
  /// What a block reads or writes at most, where its body does not tell.
  void region(bool writes, const AnyScriptBuffer& buffer, Vec<Range> ranges,
              Location where = Location::here());

  /// The program as it stands now. L0114 a Dim that is no extent of a parameter · L0506 an output
  /// that nothing is stored to, or read before
  Program program(Location where = Location::here()) const;

 private:
  detail::ScriptState& state() const;

  Ref<RefCounted> state_;  ///< a detail::ScriptState
};

}  // namespace lathe

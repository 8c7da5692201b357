// Expressions: the grammar of what a value is, its semantics, and one plain struct per node.
//
//   Expr  := Const | Var | Load(buffer, indices, mask?) | Let((var, value)+, body)
//          | Binary(op, a, b) | Unary(op, a) | Select(condition, yes, no) | Cast(value)
//          | Call(op, args) | Ramp(base, stride, lanes) | Broadcast(value, lanes)
//          | Shuffle(vectors, lanes)
//   dtype := bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2, times lanes
//
// Semantics (the evaluator is their definition; every back end is tested against it):
// * Every node has one dtype. Operands of Binary agree exactly in dtype, lanes included;
//   comparisons and logic give bool with the same lanes. Nothing converts implicitly.
// * Integers wrap modulo 2^bits. div and mod truncate as in C++; floordiv and floormod round
//   toward minus infinity. x/0 and x%0 are 0 in all four forms; MIN/-1 is MIN and MIN%-1 is 0.
//   A shift count is taken modulo the width; shr is arithmetic on signed types.
// * Floats are IEEE, round to nearest even, one rounding per node; a type narrower than f32
//   computes in f32 and rounds to its own type at every node, but for fma, which rounds once. min
//   and max propagate NaN and order -0 < +0. fast_min and fast_max are a < b ? a : b and a > b ? a
//   : b: what the hardware has, no promise on NaN and signed zero beyond that formula. Which NaN an
//   operation gives is open, its sign too.
// * Cast: float to integer truncates and saturates, NaN gives 0; integer to integer wraps; to bool
//   is x != 0; to float rounds to nearest even. f8e4m3 has no infinity: an overflow becomes its
//   NaN.
// * Select is lazy: the arm that is not chosen is not evaluated, and its loads do not happen. On
//   vectors this holds lane by lane. and, or evaluate both sides (they are pure).
// * A Load whose mask lane is false does not touch memory and gives 0 in that lane.
// * Ramp lane l is base + l * stride; base may itself be a vector (then lanes nest, the base's
//   lanes innermost).
// * Calls are pure unless their row says otherwise. Rounding of exp, log, ... is fixed by the pass
//   that expands them; before that pass they are the correctly rounded result of the C library in
//   f64, then rounded to the dtype.
#pragma once

#include <concepts>
#include <cstdint>
#include <lathe/ir/dtype.hpp>
#include <lathe/ir/ops.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/ref.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <string_view>

namespace lathe {

// The one list of expression nodes: kinds, visitors, printer, equality and hash follow it.
// clang-format off
#define LATHE_EXPR_NODES(X) \
  X(Const) X(Var) X(Load) X(Let) X(Binary) X(Unary) X(Select) X(Cast) X(Call) \
  X(Ramp) X(Broadcast) X(Shuffle)
// clang-format on

enum class ExprKind : std::uint8_t {
#define LATHE_KIND(name) name,
  LATHE_EXPR_NODES(LATHE_KIND)
#undef LATHE_KIND
};
struct ExprNode : RefCounted {
  ExprNode(ExprKind its_kind, DType type) : kind(its_kind), dtype(type) {}
  const ExprKind kind;
  const DType dtype;
  std::uint32_t height = 1;  ///< nodes on the longest way down
  std::uint32_t weight = 1;  ///< nodes when written out, shared ones at each use; stops at 2^32 - 1

 protected:
  template <class... E>
  void hold(const E&... parts) {
    (hold_one(parts.get()), ...);
  }
  template <class E>
  void hold_all(const Vec<E>& parts) {
    for (const auto& e : parts) hold_one(e.get());
  }

 private:
  void hold_one(const ExprNode* part) {
    if (!part) return;
    if (part->height >= height) height = part->height + 1;
    weight = part->weight > UINT32_MAX - weight ? UINT32_MAX : weight + part->weight;
  }
};

struct ConstNode;
struct VarNode;
struct BufferNode;
using VarRef = Ref<VarNode>;
using Buffer = Ref<BufferNode>;

/// An expression whose dtype is a run-time value; the typed Expr<T> of the DSL is a facade over it.
/// Copying shares the node. An empty AnyExpr is false and stands for "none" where a field is
/// optional.
class AnyExpr : public Ref<ExprNode> {
 public:
  AnyExpr() = default;
  AnyExpr(std::nullptr_t) {}
  template <class Node>
  requires std::is_convertible_v<const Node*, const ExprNode*> AnyExpr(const Ref<Node>& node)
      : Ref<ExprNode>(node) {}
  template <class Node>
  requires std::is_convertible_v<const Node*, const ExprNode*> AnyExpr(Ref<Node>&& node)
  noexcept : Ref<ExprNode>(std::move(node)) {}
  AnyExpr(bool) = delete;
  AnyExpr(int value) : AnyExpr(static_cast<std::int64_t>(value)) {}  ///< an i64 constant
  AnyExpr(std::int64_t value);                                       ///< an i64 constant

  ExprKind kind() const { return get()->kind; }
  DType dtype() const { return get()->dtype; }
  /// The node as a T if it is one, else null.
  template <class T>
  const T* as() const {
    return get() && get()->kind == T::kKind ? static_cast<const T*>(get()) : nullptr;
  }
  bool same_as(const AnyExpr& other) const { return get() == other.get(); }
};

struct ConstNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Const;
  ConstNode(DType type, std::int64_t its_i, double its_f)
      : ExprNode(kKind, type), i(its_i), f(its_f) {}
  std::int64_t i;  ///< the value of an integer or boolean type (u64 as its bit pattern), wrapped to
                   ///< its width
  double f;        ///< the value of a floating type, already rounded to it
};

/// Compared by identity: two variables with one name are two variables.
struct VarNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Var;
  VarNode(std::string its_name, DType type) : ExprNode(kKind, type), name(std::move(its_name)) {}
  std::string name;
  bool data = false;  ///< a caller gives it, so it may be any number, and arithmetic on it wrap
  Ref<RefCounted> origin;  ///< what the DSL declared it as; no part of the meaning of a program
};

/// A fragment is kept in tile registers: each access is of a whole tile, at a constant place.
enum class Scope : std::uint8_t { global, shared, local, reg, fragment };

/// The stride of a dimension that is not the last is offset modulo factor: at least the extent of
/// what lies inside it, and more where that is needed. Dense dimensions around it grow with it.
struct StrideRule {
  int dim = 0;
  std::int64_t factor = 1, offset = 0;
  bool operator==(const StrideRule&) const = default;
};
inline constexpr std::int64_t kMostStrideFactor = 1 << 20;

struct BufferNode : RefCounted {
  std::string name;
  DType dtype;           ///< lanes > 1 only for promoted registers
  Vec<AnyExpr> shape;    ///< i64
  Vec<AnyExpr> strides;  ///< i64, in elements; empty means dense row-major
  Scope scope = Scope::global;
  int alignment = 0;  ///< bytes that the base address is a multiple of; 0 means that of the element
  int tile = -1;      ///< of a fragment of rank 0: the number of its register
  Vec<StrideRule> aligned;  ///< of temporaries, at most one a dimension; flatten keeps them
  Ref<RefCounted> origin;   ///< the tensor that the DSL made it for; never set inside a program

  BufferNode(std::string its_name, DType type, Vec<AnyExpr> its_shape,
             Vec<AnyExpr> its_strides = {}, Scope its_scope = Scope::global, int its_alignment = 0)
      : name(std::move(its_name)),
        dtype(type),
        shape(std::move(its_shape)),
        strides(std::move(its_strides)),
        scope(its_scope),
        alignment(its_alignment) {}
  int rank() const { return static_cast<int>(shape.size()); }
};

/// An element (or, with vector indices, one element a lane) of a buffer. From Stage::flat on there
/// is one index, the element's offset from the base address, whatever the buffer's rank (none for a
/// register of rank 0).
struct LoadNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Load;
  LoadNode(DType type, Buffer its_buffer, Vec<AnyExpr> its_indices, AnyExpr its_mask)
      : ExprNode(kKind, type),
        buffer(std::move(its_buffer)),
        indices(std::move(its_indices)),
        mask(std::move(its_mask)) {
    hold_all(this->indices), hold(this->mask);
  }
  Buffer buffer;
  Vec<AnyExpr> indices;
  AnyExpr mask;  ///< bool with the value's lanes, or none
};

struct LetBinding {
  VarRef var;
  AnyExpr value;
};

/// Values by name, in the order in which they are computed: what stands at more than one place is
/// computed once. A list, so that thousands of them are no deeper than their values.
struct LetNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Let;
  LetNode(Vec<LetBinding> its_bindings, AnyExpr its_body)
      : ExprNode(kKind, its_body.dtype()),
        bindings(std::move(its_bindings)),
        body(std::move(its_body)) {
    for (const auto& b : bindings) hold(b.value);
    hold(this->body);
  }
  Vec<LetBinding> bindings;  ///< at least one; a value may use the variables before its own
  AnyExpr body;              ///< no Let: make_let puts those of one into the list
};

struct BinaryNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Binary;
  BinaryNode(DType type, BinaryOp its_op, AnyExpr its_a, AnyExpr its_b)
      : ExprNode(kKind, type), op(its_op), a(std::move(its_a)), b(std::move(its_b)) {
    hold(this->a, this->b);
  }
  BinaryOp op;
  AnyExpr a, b;
};

struct UnaryNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Unary;
  UnaryNode(UnaryOp opcode, AnyExpr x) : ExprNode(kKind, x.dtype()), op(opcode), a(std::move(x)) {
    hold(this->a);
  }
  UnaryOp op;
  AnyExpr a;
};

struct SelectNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Select;
  SelectNode(AnyExpr its_condition, AnyExpr its_yes, AnyExpr its_no)
      : ExprNode(kKind, its_yes.dtype()),
        condition(std::move(its_condition)),
        yes(std::move(its_yes)),
        no(std::move(its_no)) {
    hold(this->condition, this->yes, this->no);
  }
  AnyExpr condition, yes, no;
};

struct CastNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Cast;
  CastNode(DType type, AnyExpr its_value) : ExprNode(kKind, type), value(std::move(its_value)) {
    hold(this->value);
  }
  AnyExpr value;
};

struct CallNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Call;
  CallNode(DType type, CallOp its_op, Vec<AnyExpr> its_args)
      : ExprNode(kKind, type), op(its_op), args(std::move(its_args)) {
    hold_all(this->args);
  }
  CallOp op;
  Vec<AnyExpr> args;
};

struct RampNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Ramp;
  RampNode(AnyExpr its_base, AnyExpr its_stride, int its_lanes)
      : ExprNode(kKind, its_base.dtype().with_lanes(its_base.dtype().lanes * its_lanes)),
        base(std::move(its_base)),
        stride(std::move(its_stride)),
        lanes(its_lanes) {
    hold(this->base, this->stride);
  }
  AnyExpr base, stride;
  int lanes;
};

/// Lane l of the result is lane l % n of value, n being value's lanes.
struct BroadcastNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Broadcast;
  BroadcastNode(AnyExpr its_value, int its_lanes)
      : ExprNode(kKind, its_value.dtype().with_lanes(its_value.dtype().lanes * its_lanes)),
        value(std::move(its_value)),
        lanes(its_lanes) {
    hold(this->value);
  }
  AnyExpr value;
  int lanes;
};

/// Lane l of the result is lane lanes[l] of the concatenated vectors. One lane gives a scalar.
struct ShuffleNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Shuffle;
  ShuffleNode(DType type, Vec<AnyExpr> its_vectors, Vec<int> its_lanes)
      : ExprNode(kKind, type), vectors(std::move(its_vectors)), lanes(std::move(its_lanes)) {
    hold_all(this->vectors);
  }
  Vec<AnyExpr> vectors;
  Vec<int> lanes;
};

/// Of an expression in a statement: passes go down by recursion. One that is still being built may
/// be of any height; bind_shared (ir/share.hpp) cuts it into pieces.
inline constexpr std::uint32_t kMaxExprHeight = 4000;
namespace detail {
[[noreturn]] void too_tall();
inline void check_height(const AnyExpr& e) {
  if (e.get() && e->height > kMaxExprHeight) too_tall();
}
}  // namespace detail

// Factories. They check types and throw InternalError; what a user can get wrong is checked before,
// by the DSL. L0116: an operand that is none.
VarRef make_var(std::string name, DType dtype = kIndex);
/// One that callers of a program give.
VarRef make_scalar_argument(std::string name, DType dtype);
AnyExpr make_int(DType dtype,
                 std::int64_t value);           ///< wraps to the width; lanes > 1 give a Broadcast
AnyExpr make_float(DType dtype, double value);  ///< rounds to the type
/// Either of the two above, by dtype. Integers keep all their bits; a fraction is cut off where the
/// dtype is an integer, and what is beyond 64 bits is the nearest there is.
AnyExpr make_const(DType dtype, double value);
AnyExpr make_const(DType dtype, std::int64_t value);
AnyExpr make_const(DType dtype, std::uint64_t value);
template <std::integral I>
AnyExpr make_const(DType dtype, I value) {
  using Wide = std::conditional_t<std::is_signed_v<I>, std::int64_t, std::uint64_t>;
  return make_const(dtype, static_cast<Wide>(value));
}
AnyExpr make_bool(bool value);
AnyExpr make_binary(BinaryOp op, AnyExpr a, AnyExpr b);
AnyExpr make_unary(UnaryOp op, AnyExpr a);
AnyExpr make_select(AnyExpr condition, AnyExpr yes, AnyExpr no);
AnyExpr make_cast(DType dtype, AnyExpr value);  ///< value itself if it has the dtype
AnyExpr make_call(CallOp op, Vec<AnyExpr> args);
AnyExpr make_reinterpret(DType dtype, AnyExpr value);
AnyExpr make_let(VarRef var, AnyExpr value, AnyExpr body);
AnyExpr make_let(Vec<LetBinding> bindings, AnyExpr body);  ///< body itself if there are none
AnyExpr make_ramp(AnyExpr base, AnyExpr stride, int lanes);
AnyExpr make_broadcast(AnyExpr value, int lanes);  ///< value itself for one lane
AnyExpr make_shuffle(Vec<AnyExpr> vectors, Vec<int> lanes);
AnyExpr make_load(Buffer buffer, Vec<AnyExpr> indices, AnyExpr mask = {});

/// The value if e is an integer or boolean constant (also a broadcast one), else null.
const std::int64_t* as_const_int(const AnyExpr& e);
bool is_const(const AnyExpr& e, std::int64_t value);

namespace detail {
/// L0116 if there is no e.
void check_operand(const AnyExpr& e);
template <class I>
concept NumberOperand = std::integral<I> && !std::is_same_v<I, bool>;
/// The value as a constant of e's dtype.
template <NumberOperand I>
AnyExpr const_like(const AnyExpr& e, I value) {
  check_operand(e);
  return make_const(e.dtype(), value);
}
}  // namespace detail

// Operators build nodes and fold nothing. An integer on one side takes the other side's dtype.
// There is no operator== : identity is same_as, structure is structurally_equal, and eq builds the
// node.
// clang-format off
#define LATHE_EXPR_OPERATOR(symbol, name) \
  inline AnyExpr operator symbol(const AnyExpr& a, const AnyExpr& b) { \
    return make_binary(BinaryOp::name, a, b); \
  } \
  template <detail::NumberOperand I> \
  AnyExpr operator symbol(const AnyExpr& a, I b) { \
    return make_binary(BinaryOp::name, a, detail::const_like(a, b)); \
  } \
  template <detail::NumberOperand I> \
  AnyExpr operator symbol(I a, const AnyExpr& b) { \
    return make_binary(BinaryOp::name, detail::const_like(b, a), b); \
  }
// clang-format on
LATHE_EXPR_OPERATOR(+, add)
LATHE_EXPR_OPERATOR(-, sub)
LATHE_EXPR_OPERATOR(*, mul)
LATHE_EXPR_OPERATOR(/, div)
LATHE_EXPR_OPERATOR(%, mod)
LATHE_EXPR_OPERATOR(<, lt)
LATHE_EXPR_OPERATOR(<=, le)
LATHE_EXPR_OPERATOR(>, gt)
LATHE_EXPR_OPERATOR(>=, ge)
#undef LATHE_EXPR_OPERATOR
// Logic has names: && and || could not be lazy, and !e asks whether e is empty.
AnyExpr operator&&(const AnyExpr& a, const AnyExpr& b) = delete;
AnyExpr operator||(const AnyExpr& a, const AnyExpr& b) = delete;
inline AnyExpr logical_and(const AnyExpr& a, const AnyExpr& b) {
  return make_binary(BinaryOp::and_, a, b);
}
inline AnyExpr logical_or(const AnyExpr& a, const AnyExpr& b) {
  return make_binary(BinaryOp::or_, a, b);
}
inline AnyExpr logical_not(const AnyExpr& a) { return make_unary(UnaryOp::not_, a); }
inline AnyExpr operator-(const AnyExpr& a) { return make_unary(UnaryOp::neg, a); }
inline AnyExpr eq(const AnyExpr& a, const AnyExpr& b) { return make_binary(BinaryOp::eq, a, b); }
inline AnyExpr ne(const AnyExpr& a, const AnyExpr& b) { return make_binary(BinaryOp::ne, a, b); }
inline AnyExpr floordiv(const AnyExpr& a, const AnyExpr& b) {
  return make_binary(BinaryOp::floordiv, a, b);
}
inline AnyExpr floormod(const AnyExpr& a, const AnyExpr& b) {
  return make_binary(BinaryOp::floormod, a, b);
}

}  // namespace lathe

// Programs: buffers, statements, blocks and what is around them, with their semantics.
//
//   Program := name, params(Buffer in | in constant | constant | out | inout, scalar Var),
//   dims(Dim),
//              body, stage
//   Stmt    := For(var, min, extent, kind, attributes, body) | Block | Alloc(buffer, body)
//            | Store(buffer, indices, value, mask?) | Atomic(op, buffer, indices, value)
//            | Let(var, value, body) | Seq(stmts) | If(condition, then, else?)
//            | While(condition, body) | Assert(condition, message) | Evaluate(call)
//   Block   := name, iters[(var, min, extent, spatial | reduce | opaque) = binding],
//              reads, writes, predicate?, reducer?, init, body, attributes
//   Reducer := name, identity(Expr…), lhs(Var…), rhs(Var…), combine(Expr…),
//              associative, commutative
//   Buffer  := name, dtype, shape(Expr…), strides(Expr…), scope, alignment,
//              aligned[(dim, factor, offset)]
//
// Semantics:
// * For runs var from min to min + extent - 1; an extent <= 0 runs nothing. Kinds other than serial
//   are promises that a schedule has proved; the evaluator runs them serially. Bound loops
//   (blockIdx.x … threadIdx.z) promise what parallel ones do, and that all threads of a block reach
//   the end of each loop over them. Lowering makes other loops of them.
//
// * A block instance runs for every point of the surrounding loops at which each binding lies in
//   its iterator's domain [min, min + extent). That guard is implied, never stored; lowering writes
//   it where it can't be proved. The predicate is a condition of the computation over the block's
//   own iterators. Only iterator variables, dims, scalar params and the block's own lets occur
//   inside a block, never the loop variables around it. Conditions are tested in their order and
//   lazily, lane by lane in vectors: first that each binding lies in its domain, iterator by
//   iterator, then the parts of the predicate's conjunction. What comes after one that fails is not
//   evaluated, and its loads do not happen.
//
// * A block without a reducer runs its body. In a block with a reducer the body is one Store per
//   output, in the order of the reducer's values (a Seq if there are several); the stored value is
//   the *term*, and the element becomes combine(lhs = element, rhs = term). All combines of an
//   instance are evaluated before any is stored.
//
// * With init, the element is set to the identity once per evaluation of its spatial point, before
//   its first update and also when the reduce domain is empty: before the outermost loop that feeds
//   a reduce iterator, for the spatial points reached inside that loop, under the part of the
//   predicate that names no reduce iterator. Those points follow from the loops that feed spatial
//   iterators (through lets and blocks around, too) and the conditions around that name nothing
//   else; other loops are taken to run, conditions on them to hold. Without init (after
//   decompose_reduction) the element holds what another block stored.
//
// * reads and writes are declared for opaque blocks only; for all others they follow from the body
//   and are empty here.
//
// * Alloc gives a buffer with undefined content; scopes other than global exist once per iteration
//   of the parallel loops around them (shared: of those over blocks, local and register: over
//   threads too). Strides are in elements; no strides means dense row-major.
//
// * Store with a mask stores the lanes whose mask is true. An Assert that fails ends the kernel
//   with its message.
#pragma once

#include <lathe/ir/attributes.hpp>
#include <lathe/ir/constant.hpp>
#include <lathe/ir/contents.hpp>
#include <lathe/ir/expr.hpp>
#include <lathe/ir/kinds.hpp>
#include <optional>

namespace lathe {

#define LATHE_STMT_NODES(X) \
  X(For) X(Block) X(Alloc) X(Store) X(Atomic) X(LetStmt) X(Seq) X(If) X(While) X(Assert) X(Evaluate)

enum class StmtKind : std::uint8_t {
#define LATHE_KIND(name) name,
  LATHE_STMT_NODES(LATHE_KIND)
#undef LATHE_KIND
};

std::string_view to_text(Scope scope);

struct StmtNode : RefCounted {
  explicit StmtNode(StmtKind its_kind) : kind(its_kind) {}
  /// L0123 where an expression has more than kMaxExprHeight levels.
  template <class... E>
  StmtNode(StmtKind its_kind, const E&... parts) : kind(its_kind) {
    (detail::check_height(parts), ...);
  }
  const StmtKind kind;
  detail::ContentsMemo contents{};
  detail::AnalysisMemo uses{};  ///< of an outermost one: who reads and writes what in it
};

class Stmt : public Ref<StmtNode> {
 public:
  Stmt() = default;
  Stmt(std::nullptr_t) {}
  template <class Node>
  requires std::is_convertible_v<const Node*, const StmtNode*> Stmt(const Ref<Node>& node)
      : Ref<StmtNode>(node) {}
  template <class Node>
  requires std::is_convertible_v<const Node*, const StmtNode*> Stmt(Ref<Node>&& node)
  noexcept : Ref<StmtNode>(std::move(node)) {}

  StmtKind kind() const { return get()->kind; }
  template <class T>
  const T* as() const {
    return get() && get()->kind == T::kKind ? static_cast<const T*>(get()) : nullptr;
  }
  bool same_as(const Stmt& other) const { return get() == other.get(); }
};

/// A loop's identity is its variable: it survives every rewrite that keeps the loop.
struct ForNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::For;
  ForNode(VarRef its_var, AnyExpr its_min, AnyExpr its_extent, ForKind its_loop_kind,
          Attributes its_attributes, Stmt its_body)
      : StmtNode(kKind, its_min, its_extent),
        var(std::move(its_var)),
        min(std::move(its_min)),
        extent(std::move(its_extent)),
        loop_kind(its_loop_kind),
        attributes(std::move(its_attributes)),
        body(std::move(its_body)) {}
  VarRef var;
  AnyExpr min, extent;
  ForKind loop_kind;
  Attributes attributes;
  Stmt body;
};

/// How elements combine. Everything in it is closed over lhs and rhs.
struct ReducerNode : RefCounted {
  std::string name;  ///< "sum", "argmax", or the user's
  Vec<AnyExpr> identity;
  Vec<VarRef> lhs, rhs;
  Vec<AnyExpr> combine;
  bool associative = true, commutative = true;

  ReducerNode(std::string its_name, Vec<AnyExpr> its_identity, Vec<VarRef> its_lhs,
              Vec<VarRef> its_rhs, Vec<AnyExpr> its_combine, bool its_associative = true,
              bool its_commutative = true)
      : name(std::move(its_name)),
        identity(std::move(its_identity)),
        lhs(std::move(its_lhs)),
        rhs(std::move(its_rhs)),
        combine(std::move(its_combine)),
        associative(its_associative),
        commutative(its_commutative) {}
};
using ReducerRef = Ref<ReducerNode>;

struct IterVar {
  VarRef var;
  AnyExpr min, extent;
  IterKind kind;
  AnyExpr binding;  ///< over the loop variables around the block
};

struct Range {
  AnyExpr min, extent;
};
struct Region {
  Buffer buffer;
  Vec<Range> ranges;
};

/// A block's identity; it survives every rewrite that keeps the block. Names are unique within a
/// program.
struct BlockTagNode : RefCounted {
  explicit BlockTagNode(std::string its_name) : name(std::move(its_name)) {}
  std::string name;
};
using BlockTag = Ref<BlockTagNode>;

struct BlockNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Block;
  BlockNode(BlockTag its_tag, Vec<IterVar> its_iters, Stmt its_body)
      : StmtNode(kKind),
        tag(std::move(its_tag)),
        iters(std::move(its_iters)),
        body(std::move(its_body)) {}
  BlockTag tag;
  Vec<IterVar> iters;
  Vec<Region> reads, writes;  ///< declared, for opaque blocks only
  AnyExpr predicate;          ///< none means true
  ReducerRef reducer;         ///< none: the body's stores overwrite
  bool init = false;          ///< whether this block sets the identity first
  Attributes attributes;
  Stmt body;

  const std::string& name() const { return tag->name; }
};

using ForRef = Ref<ForNode>;
using BlockRefNode = Ref<BlockNode>;

struct AllocNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Alloc;
  AllocNode(Buffer its_buffer, Stmt its_body)
      : StmtNode(kKind), buffer(std::move(its_buffer)), body(std::move(its_body)) {}
  Buffer buffer;
  Stmt body;
};

struct StoreNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Store;
  StoreNode(Buffer its_buffer, Vec<AnyExpr> its_indices, AnyExpr its_value, AnyExpr its_mask = {},
            Streaming its_streaming = Streaming::none)
      : StmtNode(kKind, its_value, its_mask),
        buffer(std::move(its_buffer)),
        indices(std::move(its_indices)),
        value(std::move(its_value)),
        mask(std::move(its_mask)),
        streaming(its_streaming) {}
  Buffer buffer;
  Vec<AnyExpr> indices;
  AnyExpr value, mask;
  Streaming streaming;
};

/// buffer[indices] = op(buffer[indices], value), indivisible among parallel iterations.
struct AtomicNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Atomic;
  AtomicNode(BinaryOp its_op, Buffer its_buffer, Vec<AnyExpr> its_indices, AnyExpr its_value)
      : StmtNode(kKind, its_value),
        op(its_op),
        buffer(std::move(its_buffer)),
        indices(std::move(its_indices)),
        value(std::move(its_value)) {}
  BinaryOp op;
  Buffer buffer;
  Vec<AnyExpr> indices;
  AnyExpr value;
};

struct LetStmtNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::LetStmt;
  LetStmtNode(VarRef its_var, AnyExpr its_value, Stmt its_body)
      : StmtNode(kKind, its_value),
        var(std::move(its_var)),
        value(std::move(its_value)),
        body(std::move(its_body)) {}
  VarRef var;
  AnyExpr value;
  Stmt body;
};

/// Never empty inside a Seq, never a Seq in a Seq (make_seq flattens); an empty Seq is "nothing".
struct SeqNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Seq;
  explicit SeqNode(Vec<Stmt> its_stmts) : StmtNode(kKind), stmts(std::move(its_stmts)) {}
  Vec<Stmt> stmts;
};

struct IfNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::If;
  IfNode(AnyExpr its_condition, Stmt its_then_body, Stmt its_else_body = {})
      : StmtNode(kKind, its_condition),
        condition(std::move(its_condition)),
        then_body(std::move(its_then_body)),
        else_body(std::move(its_else_body)) {}
  AnyExpr condition;
  Stmt then_body, else_body;  ///< else_body may be none
};

struct WhileNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::While;
  WhileNode(AnyExpr its_condition, Stmt its_body)
      : StmtNode(kKind, its_condition),
        condition(std::move(its_condition)),
        body(std::move(its_body)) {}
  AnyExpr condition;
  Stmt body;
};

struct AssertNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Assert;
  AssertNode(AnyExpr its_condition, std::string its_message, Vec<AnyExpr> its_values = {})
      : StmtNode(kKind, its_condition),
        condition(std::move(its_condition)),
        message(std::move(its_message)),
        values(std::move(its_values)) {}
  AnyExpr condition;
  std::string message;
  Vec<AnyExpr> values;  ///< of i64; {0}, {1} … in the message stand for what they were
};

struct EvaluateNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Evaluate;
  explicit EvaluateNode(AnyExpr its_call) : StmtNode(kKind, its_call), call(std::move(its_call)) {}
  AnyExpr call;
};

enum class Access : std::uint8_t { in, out, inout };

/// Whether the elements of a buffer that is only read are the same at every call.
enum class Constancy : std::uint8_t {
  none,
  promised,  ///< an argument of calls, who promise it
  owned      ///< no argument: whoever makes a kernel binds Param::content, row-major without gaps
};

/// A buffer, or a scalar passed by value (then buffer is none and var carries name and dtype).
struct Param {
  Access access = Access::in;
  Buffer buffer;
  VarRef var;
  Constancy constancy = Constancy::none;
  ConstantRef content{};  ///< of an owned constant; none where any elements of its type may come

  bool is_argument() const { return constancy != Constancy::owned; }

  const std::string& name() const;
  DType dtype() const;
};

/// What calls, and so simplification, take a Dim to be at most.
inline constexpr std::int64_t kLargestDim = std::int64_t{1} << 40;

/// A symbolic extent: taken from the arguments' shapes at the call and checked there against these
/// bounds.
struct DimNode : RefCounted {
  DimNode(VarRef its_var, std::int64_t its_min, std::int64_t its_max, std::int64_t its_multiple_of)
      : var(std::move(its_var)), min(its_min), max(its_max), multiple_of(its_multiple_of) {}
  VarRef var;
  std::int64_t min, max, multiple_of;
};
using DimRef = Ref<DimNode>;

struct ProgramNode : RefCounted {
  std::string name;
  Vec<Param> params;
  Vec<DimRef> dims;  ///< every Dim that a shape or the body names
  Stmt body;
  Stage stage = Stage::blocks;
  /// Steps of a schedule have changed it: nothing adds steps of its own. At Stage::blocks only.
  bool scheduled = false;
};

/// An immutable program; copying shares it.
class Program : public Ref<ProgramNode> {
 public:
  Program() = default;
  explicit Program(ProgramNode node) : Ref<ProgramNode>(new ProgramNode(std::move(node))) {}
  /// The same program with another body, at another stage.
  Program with(Stmt body, Stage stage) const;
  Program with(Stmt body) const { return with(std::move(body), get()->stage); }
  /// The text form; parse() reads it back.
  std::string str() const;
};

/// The same program for any elements of its constants: what code depends on.
Program without_contents(const Program& program);

// Factories.
/// The buffer of an owned constant.
Buffer constant_buffer(std::string name, DType dtype, Vec<AnyExpr> shape);
Buffer make_buffer(std::string name, DType dtype, Vec<AnyExpr> shape, Scope scope = Scope::global);
Stmt make_for(VarRef var, AnyExpr min, AnyExpr extent, Stmt body, ForKind kind = ForKind::serial,
              Attributes attributes = {});
/// What a statement that is a hint fetches; nullptr for any other.
const LoadNode* prefetched(const Stmt& s);
Stmt make_seq(Vec<Stmt> stmts);  ///< flattens, drops empty ones; one statement stands for itself
Stmt make_store(Buffer buffer, Vec<AnyExpr> indices, AnyExpr value, AnyExpr mask = {});
Stmt make_if(AnyExpr condition, Stmt then_body, Stmt else_body = {});
Stmt make_alloc(Buffer buffer, Stmt body);
Stmt make_let_stmt(VarRef var, AnyExpr value, Stmt body);
/// A block as a copy of another with some fields changed: auto node = *block; node.x = …;
/// make_block(node).
Stmt make_block(BlockNode node);
/// The sequence of a Seq, or the statement itself as a list of one.
Vec<Stmt> seq_of(const Stmt& s);

/// The element that a reducer block's store updates becomes this statement: lets of the combines,
/// then the stores.
Stmt expand_update(const BlockNode& block);
/// The identity stored at each output of a reducer block.
Stmt expand_init(const BlockNode& block);

}  // namespace lathe

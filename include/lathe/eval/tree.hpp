// The trees of small nodes that the evaluator interprets; variables and buffers are numbered slots.
#pragma once

#include <deque>
#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/vec.hpp>

namespace lathe::detail {

class EvalFrame;

/// One lane of an expression. Only Load reads memory, and nothing here writes but the slots of Let.
struct EvalExpr {
  using Run = Scalar (*)(const EvalExpr&, EvalFrame&, int lane);
  Run run = nullptr;
  DType dtype;  ///< of the operands where they differ from the result (comparison, cast, call)
  std::uint8_t op = 0;
  int slot = 0;       ///< Var: first lane's slot · Load: buffer
  int lanes = 1;      ///< of the result
  Scalar value = {};  ///< Const
  const EvalExpr* a = nullptr;
  const EvalExpr* b = nullptr;
  const EvalExpr* c = nullptr;
  Vec<const EvalExpr*> args;  ///< Load: indices · Let: values · Call, Shuffle: operands
  /// Shuffle: lane l is lane picks[2 l + 1] of vector picks[2 l] · Let: value k is for the slot
  /// picks[2 k], in all its lanes if what follows may ask lane l for others (picks[2 k + 1] = 1).
  Vec<int> picks;
  DType to;  ///< Cast, reinterpret

  Scalar at(EvalFrame& frame, int lane) const { return run(*this, frame, lane); }
  /// Lane l of something that may be a scalar beside vectors.
  Scalar spread(EvalFrame& frame, int lane) const {
    return run(*this, frame, lanes == 1 ? 0 : lane);
  }
};

struct EvalIter {
  int slot;
  const EvalExpr *binding, *min, *extent;
};

struct EvalStmt {
  enum Kind : std::uint8_t { seq, loop, store, atomic, let, branch, repeat, check, alloc, block };
  Kind kind = seq;
  std::uint8_t op = 0;  ///< atomic
  int slot = 0;         ///< loop, let: variable · store, atomic, alloc: buffer · check: message
  /// loop: min · store, atomic, let: value · branch, repeat, check: condition
  const EvalExpr* a = nullptr;
  const EvalExpr* b = nullptr;      ///< loop: extent · store: mask
  Vec<const EvalExpr*> args;        ///< indices · check: what it tells
  Vec<EvalIter> iters;              ///< block
  Vec<const EvalExpr*> conditions;  ///< block: after the iterators', in their order
  Vec<const EvalStmt*>
      children;  ///< seq; loop: the body, then inits that run before; branch: then, else
};

struct EvalBuffer {
  Buffer buffer;
  DType element;                        ///< scalar
  int lanes = 1;                        ///< of an element
  Vec<const EvalExpr*> shape, strides;  ///< no strides: dense, or as the call says
  int outer_strides = -1;  ///< where those are that the call says, an axis after the other
  bool output = false;
};

struct EvalTree : RefCounted {
  std::deque<EvalExpr> exprs;
  std::deque<EvalStmt> stmts;
  Vec<EvalBuffer> buffers;
  Vec<std::string> messages;
  /// What the slots of a call are for, in their order: one of the first buffers, or a variable.
  struct CallTarget {
    int buffer = -1, var = -1;
    DType type{};  ///< of the variable
  };
  Vec<CallTarget> call;
  int slots = 0;
  bool flat = false;    ///< one index, the offset of the element
  bool blocks = false;  ///< not lowered: its indices are a user's
  EvaluatorOptions options;
  const EvalStmt* body = nullptr;
  Vec<Stmt> kept;  ///< what was made on the way: nodes are known by address
};

/// Compiles a program; and one lane of each kind of node.
Ref<EvalTree> make_eval_tree(const Program& program, EvaluatorOptions options);
EvalExpr::Run eval_function(const AnyExpr& e);

}  // namespace lathe::detail

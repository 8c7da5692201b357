// The evaluator's compiler, from a program to the tree that it interprets.
#pragma once

#include <lathe/eval/tree.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// A statement around the place that is being compiled.
struct EvalScope {
  const StmtNode* node;
  bool in_else = false;
};

class EvalCompiler {
 public:
  EvalCompiler(EvalTree& tree, const Program& program) : tree_(tree), program_(program) {}
  void compile();

 private:
  using VarSet = Vec<const VarNode*>;

  void bind_params();
  int buffer_slot(const Buffer& b);
  int var_slot(const VarNode& var);
  void describe(EvalBuffer& out, const Buffer& b);
  void check_layout(const BufferNode& b, const AnyExpr& e) const;

  const EvalExpr* expr(const AnyExpr& e);
  const EvalExpr* optional(const AnyExpr& e) { return e.get() ? expr(e) : nullptr; }
  Vec<const EvalExpr*> list(const Vec<AnyExpr>& all);
  void fill(EvalExpr& out, const AnyExpr& e);
  void fill_let(EvalExpr& out, const LetNode& let);
  void fill_call(EvalExpr& out, const CallNode& n);
  void fill_shuffle(EvalExpr& out, const ShuffleNode& n);

  EvalStmt* stmt(EvalStmt::Kind kind) {
    tree_.stmts.emplace_back();
    tree_.stmts.back().kind = kind;
    return &tree_.stmts.back();
  }
  const EvalStmt* stmt(const Stmt& s);
  const EvalStmt* scope(const Stmt& s);
  const EvalStmt* seq(Vec<const EvalStmt*> children);
  const EvalStmt* inside(const Stmt& s, const StmtNode* around, bool in_else = false);
  const EvalStmt* loop(const ForNode& n);
  const EvalStmt* access(EvalStmt::Kind kind, const Buffer& b, const Vec<AnyExpr>& indices,
                         const AnyExpr& value);
  const EvalStmt* block(const BlockNode& n);
  EvalStmt* block_head(const BlockNode& n, bool init);
  const EvalStmt* init_nest(const BlockNode& n, std::size_t from);
  const EvalStmt* wrap(const EvalScope& scope, const EvalStmt* body, VarSet& used,
                       const VarSet& dropped);

  EvalTree& tree_;
  const Program& program_;
  NodeMap<int> buffers_;
  NodeMap<int> vars_;
  NodeMap<const EvalExpr*> exprs_;
  Vec<EvalScope> path_;
  Vec<std::pair<const StmtNode*, const EvalStmt*>> inits_;  ///< what runs before a loop
};

}  // namespace lathe::detail

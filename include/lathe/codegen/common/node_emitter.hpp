// Walking a program at Stage::machine node by node: what all emitters do alike. How a node is
// spelled is the emitter's.
#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/text.hpp>
#include <utility>

namespace lathe::detail {

/// Value is what an expression becomes, Place where a buffer's elements are. An Emitter has a
/// function for each node, and kept(value, e, shared), by which it may give the value a name.
template <class Emitter, class Value, class Place>
class NodeEmitter {
 protected:
  Value value(const AnyExpr& e) {
    if (e.kind() <= ExprKind::Var) return spelled(e);
    // Only a node with several owners can be met twice.
    if (!e->shared()) return self().kept(spelled(e), e, false);
    if (const Value* found = memo_.find(e.get())) return *found;
    Value v = self().kept(spelled(e), e, true);
    memo_.insert(e.get(), v);
    order_.push_back(e);
    return v;
  }

  void stmt(const Stmt& s) {
    // A store may have changed what a remembered load read.
    forget(0);
    switch (s.kind()) {
      case StmtKind::For:
        return self().loop(*s.as<ForNode>());
      case StmtKind::Block:
        unreachable("codegen: a block was not lowered");
      case StmtKind::Alloc:
        return self().alloc(*s.as<AllocNode>());
      case StmtKind::Store:
        return self().store(*s.as<StoreNode>());
      case StmtKind::Atomic:
        return self().atomic(*s.as<AtomicNode>());
      case StmtKind::LetStmt:
        return self().let_stmt(*s.as<LetStmtNode>());
      case StmtKind::Seq:
        for (const auto& child : s.as<SeqNode>()->stmts) stmt(child);
        return;
      case StmtKind::If:
        return self().branch(*s.as<IfNode>());
      case StmtKind::While:
        return self().while_loop(*s.as<WhileNode>());
      case StmtKind::Assert:
        return self().check(*s.as<AssertNode>());
      case StmtKind::Evaluate:
        return self().evaluate(*s.as<EvaluateNode>());
    }
  }

  const Value& variable(const VarNode& n) const {
    if (const Value* found = vars_.find(&n)) return *found;
    throw InternalError(cat("codegen: variable '", n.name, "' is not bound"));
  }
  const Place& place(const Buffer& buffer) const {
    if (const Place* found = places_.find(buffer.get())) return *found;
    throw InternalError(cat("codegen: buffer '", buffer->name, "' is neither param nor allocated"));
  }

  /// Whether the value has been computed already.
  bool known(const AnyExpr& e) const { return memo_.contains(e.get()); }
  /// What is remembered from here on may be forgotten: it is computed in a branch, say.
  std::size_t mark() const { return order_.size(); }
  void forget(std::size_t mark) {
    while (order_.size() > mark) memo_.pop(order_.back().get()), order_.pop_back();
  }

  NodeMap<Value> vars_;
  NodeMap<Place> places_;

 private:
  Emitter& self() { return static_cast<Emitter&>(*this); }

  Value spelled(const AnyExpr& e) {
    switch (e.kind()) {
      case ExprKind::Const:
        return self().constant(*e.as<ConstNode>());
      case ExprKind::Var:
        return variable(*e.as<VarNode>());
      case ExprKind::Load:
        return self().load(*e.as<LoadNode>());
      case ExprKind::Let:
        return self().let(*e.as<LetNode>());
      case ExprKind::Binary: {
        const auto* n = e.as<BinaryNode>();
        Value a = value(n->a), b = value(n->b);
        return self().binary(n->op, n->a.dtype(), a, b);
      }
      case ExprKind::Unary:
        return self().unary(*e.as<UnaryNode>());
      case ExprKind::Select:
        return self().select(*e.as<SelectNode>());
      case ExprKind::Cast:
        return self().cast(*e.as<CastNode>());
      case ExprKind::Call:
        return self().call(*e.as<CallNode>());
      case ExprKind::Ramp:
        return self().ramp(*e.as<RampNode>());
      case ExprKind::Broadcast:
        return self().broadcast(*e.as<BroadcastNode>());
      case ExprKind::Shuffle:
        return self().shuffle(*e.as<ShuffleNode>());
    }
    unreachable("an expression of no kind");
  }

  NodeMap<Value> memo_;  ///< of shared nodes, within one statement and what dominates the place
  Vec<AnyExpr> order_;
};

}  // namespace lathe::detail

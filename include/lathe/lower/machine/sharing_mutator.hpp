// A mutator for the last passes: what stands at several places of a statement is rewritten once and
// still is one node, which code computes once.
#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

class SharingMutator : public Mutator {
 public:
  AnyExpr expr(const AnyExpr& e) final {
    if (e.kind() == ExprKind::Const) return e;
    if (e.kind() == ExprKind::Var) {
      const AnyExpr* fresh = renewed_.find(e.get());
      return fresh ? *fresh : e;
    }
    // Only a node with several owners can be met twice.
    if (!e->shared()) return rewritten(e);
    if (const AnyExpr* known = known_.find(e.get())) return *known;
    AnyExpr out = rewritten(e);
    known_.insert(e.get(), out);
    order_.push_back(e);
    return out;
  }
  Stmt stmt(const Stmt& s) override {
    forget(0);
    return descend(s);
  }

 protected:
  virtual AnyExpr rewritten(const AnyExpr& e) = 0;
  /// Whether the node has been met already.
  bool known(const AnyExpr& e) const { return known_.contains(e.get()); }
  /// What stands for the variable of a let from here on: what is rewritten twice, once for each arm
  /// that shares it, binds variables of its own each time.
  VarRef renewed(const VarRef& var) {
    VarRef fresh = make_var(var->name, var->dtype);
    renewed_[var.get()] = AnyExpr(fresh);
    return fresh;
  }
  /// What is rewritten from here on may be forgotten.
  std::size_t mark() const { return order_.size(); }
  void forget(std::size_t mark) {
    while (order_.size() > mark) known_.pop(order_.back().get()), order_.pop_back();
  }

 private:
  NodeMap<AnyExpr> known_, renewed_;
  Vec<AnyExpr> order_;
};

}  // namespace lathe::detail

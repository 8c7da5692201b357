#pragma once

#include <lathe/eval/compiler.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

inline bool eval_holds(const Vec<const VarNode*>& set, const VarNode* var) {
  for (const auto* v : set)
    if (v == var) return true;
  return false;
}
inline void eval_add_vars(Vec<const VarNode*>& set, const AnyExpr& e) {
  for (const auto& v : free_vars(e))
    if (!eval_holds(set, v.get())) set.push_back(v.get());
}

/// A block's iterators and predicate; for an init without what names reduce iterators.
inline EvalStmt* EvalCompiler::block_head(const BlockNode& n, bool init) {
  EvalStmt* out = stmt(EvalStmt::block);
  for (const auto& it : n.iters)
    if (!init || it.kind != IterKind::reduce)
      out->iters.push_back({var_slot(*it.var), expr(it.binding), expr(it.min), expr(it.extent)});
  for (const auto& condition : init ? init_conjuncts(n) : conjuncts(n.predicate)) {
    tree_.kept.push_back(make_ref<EvaluateNode>(condition));
    out->conditions.push_back(expr(condition));
  }
  return out;
}

inline const EvalStmt* EvalCompiler::block(const BlockNode& n) {
  EvalStmt* out = block_head(n, false);
  Stmt body = n.reducer ? expand_update(n) : n.body;
  tree_.kept.push_back(body);
  out->children = {inside(body, &n)};
  if (!n.init) return out;
  // Which variables the reduce iterators come from, through lets and the iterators of blocks
  // around.
  VarSet sources;
  for (const auto& it : n.iters)
    if (it.kind == IterKind::reduce) eval_add_vars(sources, it.binding);
  std::size_t outermost = path_.size();
  for (std::size_t k = path_.size(); k-- > 0;) {
    Stmt around{Ref<StmtNode>(path_[k].node)};
    if (const auto* f = around.as<ForNode>(); f && eval_holds(sources, f->var.get())) outermost = k;
    if (const auto* let = around.as<LetStmtNode>(); let && eval_holds(sources, let->var.get()))
      eval_add_vars(sources, let->value);
    if (const auto* b = around.as<BlockNode>())
      for (const auto& it : b->iters)
        if (eval_holds(sources, it.var.get())) eval_add_vars(sources, it.binding);
  }
  const EvalStmt* init = init_nest(n, outermost);
  if (outermost == path_.size()) return seq({init, out});
  inits_.emplace_back(path_[outermost].node, init);
  return out;
}

/// The identity's stores, inside those of the statements from path_[from] on that the spatial
/// iterators need.
inline const EvalStmt* EvalCompiler::init_nest(const BlockNode& n, std::size_t from) {
  EvalStmt* head = block_head(n, true);
  Stmt stores = expand_init(n);
  tree_.kept.push_back(stores);
  head->children = {stmt(stores)};
  VarSet used, dropped;
  for (const auto& it : n.iters) {
    if (it.kind == IterKind::reduce) continue;
    eval_add_vars(used, it.binding);
    eval_add_vars(used, it.min);
    eval_add_vars(used, it.extent);
  }
  for (const auto& condition : init_conjuncts(n)) eval_add_vars(used, condition);
  // What the iterators do not need is dropped; conditions that name it are taken to hold.
  VarSet needed = used;
  for (std::size_t k = path_.size(); k-- > from;) wrap(path_[k], nullptr, needed, dropped);
  for (std::size_t k = from; k < path_.size(); ++k) {
    Stmt around{Ref<StmtNode>(path_[k].node)};
    if (const auto* f = around.as<ForNode>(); f && !eval_holds(needed, f->var.get()))
      dropped.push_back(f->var.get());
    if (const auto* let = around.as<LetStmtNode>(); let && !eval_holds(needed, let->var.get()))
      dropped.push_back(let->var.get());
    if (const auto* b = around.as<BlockNode>())
      for (const auto& it : b->iters)
        if (it.kind == IterKind::reduce) dropped.push_back(it.var.get());
  }
  const EvalStmt* out = head;
  for (std::size_t k = path_.size(); k-- > from;) out = wrap(path_[k], out, needed, dropped);
  return out;
}

/// Puts one statement of the path around an init; with no body it only notes which variables that
/// needs.
inline const EvalStmt* EvalCompiler::wrap(const EvalScope& scope, const EvalStmt* body,
                                          VarSet& used, const VarSet& dropped) {
  Stmt around{Ref<StmtNode>(scope.node)};
  if (const auto* f = around.as<ForNode>()) {
    if (!eval_holds(used, f->var.get())) return body;
    eval_add_vars(used, f->min);
    eval_add_vars(used, f->extent);
    if (!body) return nullptr;
    EvalStmt* out = stmt(EvalStmt::loop);
    out->slot = var_slot(*f->var);
    out->a = expr(f->min);
    out->b = expr(f->extent);
    out->children = {body};
    return out;
  }
  if (const auto* let = around.as<LetStmtNode>()) {
    if (!eval_holds(used, let->var.get())) return body;
    eval_add_vars(used, let->value);
    if (!body) return nullptr;
    EvalStmt* out = stmt(EvalStmt::let);
    out->slot = var_slot(*let->var);
    out->a = expr(let->value);
    out->children = {body};
    return out;
  }
  if (const auto* b = around.as<BlockNode>()) {
    for (const auto& it : b->iters)
      if (it.kind != IterKind::reduce) eval_add_vars(used, it.binding);
    if (!body) return nullptr;
    EvalStmt* out = block_head(*b, true);
    out->children = {body};
    return out;
  }
  const auto* branch = around.as<IfNode>();
  if (!branch || !body) return body;
  for (const auto& v : free_vars(branch->condition))
    if (eval_holds(dropped, v.get())) return body;
  EvalStmt* out = stmt(EvalStmt::branch);
  out->a = expr(branch->condition);
  out->children = {body};
  if (scope.in_else) out->children = {stmt(EvalStmt::seq), body};
  return out;
}

}  // namespace lathe::detail

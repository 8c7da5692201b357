#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/jit/eval_compiler.hpp>

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

/// The conditions of a predicate in their order; for an init those that name no reduce iterator.
inline void eval_conditions(const BlockNode& block, const AnyExpr& e, bool init,
                            Vec<AnyExpr>& out) {
  if (!e.get()) return;
  if (const auto* n = e.as<BinaryNode>(); n && n->op == BinaryOp::and_) {
    eval_conditions(block, n->a, init, out);
    eval_conditions(block, n->b, init, out);
    return;
  }
  for (const auto& it : block.iters)
    if (init && it.kind == IterKind::reduce && uses_var(e, it.var)) return;
  out.push_back(e);
}

/// A block's iterators and predicate; for an init without what names reduce iterators.
inline EvalStmt* EvalCompiler::block_head(const BlockNode& n, bool init) {
  EvalStmt* out = stmt(EvalStmt::block);
  for (const auto& it : n.iters)
    if (!init || it.kind != IterKind::reduce)
      out->iters.push_back({var_slot(*it.var), expr(it.binding), expr(it.min), expr(it.extent)});
  Vec<AnyExpr> conditions;
  eval_conditions(n, n.predicate, init, conditions);
  for (const auto& condition : conditions) {
    tree_.kept.push_back(make_ref<EvaluateNode>(condition));
    out->conditions.push_back(expr(condition));
  }
  return out;
}

/// Adds what the variables come from, through lets and the iterators of blocks around.
inline void EvalCompiler::add_sources(VarSet& vars) const {
  for (std::size_t k = path_.size(); k-- > 0;) {
    Stmt around{Ref<StmtNode>(path_[k].node)};
    if (const auto* let = around.as<LetStmtNode>(); let && eval_holds(vars, let->var.get()))
      eval_add_vars(vars, let->value);
    if (const auto* b = around.as<BlockNode>())
      for (const auto& it : b->iters)
        if (eval_holds(vars, it.var.get())) eval_add_vars(vars, it.binding);
  }
}

inline const EvalStmt* EvalCompiler::block(const BlockNode& n) {
  EvalStmt* out = block_head(n, false);
  Stmt body = n.reducer ? expand_update(n) : n.body;
  tree_.kept.push_back(body);
  out->children = {inside(body, &n)};
  if (!n.init) return out;
  VarSet sources;
  for (const auto& it : n.iters)
    if (it.kind == IterKind::reduce) eval_add_vars(sources, it.binding);
  add_sources(sources);
  std::size_t outermost = path_.size();
  for (std::size_t k = path_.size(); k-- > 0;) {
    Stmt around{Ref<StmtNode>(path_[k].node)};
    if (const auto* f = around.as<ForNode>(); f && eval_holds(sources, f->var.get())) outermost = k;
  }
  const EvalStmt* init = init_nest(n, outermost, sources);
  if (outermost == path_.size()) return seq({init, out});
  inits_.emplace_back(path_[outermost].node, init);
  return out;
}

/// Adds what the conditions around an init name, as far as they do not depend on what feeds reduce
/// iterators alone: those say nothing of a point.
inline void EvalCompiler::add_conditions(std::size_t from, const VarSet& reduces, VarSet& needed) {
  VarSet dropped;
  for (std::size_t k = path_.size(); k-- > from;) wrap(path_[k], nullptr, needed, dropped);
  VarSet conditions;
  for (std::size_t k = path_.size(); k-- > from;) {
    Stmt around{Ref<StmtNode>(path_[k].node)};
    const auto* branch = around.as<IfNode>();
    if (!branch) continue;
    VarSet named;
    eval_add_vars(named, branch->condition);
    add_sources(named);
    bool spatial = true;
    for (const auto* v : named)
      spatial = spatial && (!eval_holds(reduces, v) || eval_holds(needed, v));
    for (const auto* v : named)
      if (spatial && !eval_holds(conditions, v)) conditions.push_back(v);
  }
  for (const auto* v : conditions)
    if (!eval_holds(needed, v)) needed.push_back(v);
  for (std::size_t k = path_.size(); k-- > from;) wrap(path_[k], nullptr, needed, dropped);
}

/// The identity's stores, inside those of the statements from path_[from] on that the spatial
/// iterators need, and the conditions on where they are.
inline const EvalStmt* EvalCompiler::init_nest(const BlockNode& n, std::size_t from,
                                               const VarSet& reduces) {
  EvalStmt* head = block_head(n, true);
  Stmt stores = expand_init(n);
  tree_.kept.push_back(stores);
  head->children = {stmt(stores)};
  VarSet needed, dropped;
  for (const auto& it : n.iters) {
    if (it.kind == IterKind::reduce) continue;
    eval_add_vars(needed, it.binding);
    eval_add_vars(needed, it.min);
    eval_add_vars(needed, it.extent);
  }
  Vec<AnyExpr> conditions;
  eval_conditions(n, n.predicate, true, conditions);
  for (const auto& condition : conditions) eval_add_vars(needed, condition);
  add_conditions(from, reduces, needed);
  // What is not needed is dropped; conditions that name it are taken to hold.
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

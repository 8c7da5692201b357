#pragma once

#include <lathe/ir/renew.hpp>

namespace lathe::detail {

LATHE_DECL Stmt MutatorOfSizes::stmt(const Stmt& s) {
  const auto* a = s.as<AllocNode>();
  if (!a) return descend(s);
  BufferNode node = *a->buffer;
  bool changed = false;
  for (auto* sizes : {&node.shape, &node.strides})
    for (auto& size : *sizes) {
      AnyExpr next = expr(size);
      changed = changed || !next.same_as(size);
      size = std::move(next);
    }
  if (!changed) return descend(s);
  const Buffer fresh(new BufferNode(std::move(node)));
  return make_alloc(fresh, stmt(replace_buffer(a->body, a->buffer, fresh)));
}

LATHE_DECL void RenewLets::replace(const VarRef& var, AnyExpr value) {
  values_[var.get()] = std::move(value);
}
LATHE_DECL VarRef RenewLets::renew(const VarRef& var) {
  VarRef fresh = make_var(var->name, var->dtype);
  replace(var, fresh);
  return fresh;
}

LATHE_DECL AnyExpr RenewLets::expr(const AnyExpr& e) {
  if (const auto* v = e.as<VarNode>()) {
    const AnyExpr* found = values_.find(v);
    return found ? *found : e;
  }
  const auto* let = e.as<LetNode>();
  if (!let) return descend(e);
  Vec<LetBinding> bindings;
  for (const auto& b : let->bindings) {
    AnyExpr value = expr(b.value);
    bindings.push_back({renew(b.var), std::move(value)});
  }
  return make_let(std::move(bindings), expr(let->body));
}

LATHE_DECL Stmt RenewLets::stmt(const Stmt& s) {
  const auto* let = s.as<LetStmtNode>();
  if (!let) return MutatorOfSizes::stmt(s);
  AnyExpr value = expr(let->value);
  VarRef fresh = renew(let->var);
  return make_let_stmt(fresh, value, stmt(let->body));
}

LATHE_DECL Stmt RenewVars::stmt(const Stmt& s) {
  const auto* f = s.as<ForNode>();
  if (!f) return RenewLets::stmt(s);
  AnyExpr min = expr(f->min), extent = expr(f->extent);
  VarRef fresh = renew(f->var);
  return make_for(fresh, min, extent, stmt(f->body), f->loop_kind, f->attributes);
}

}  // namespace lathe::detail

#pragma once

#include <lathe/lower/vector/clone.hpp>

namespace lathe::detail {

LATHE_DECL VarRef CloneFresh::rename(const VarRef& var) {
  VarRef fresh = make_var(var->name, var->dtype);
  vars_[var.get()] = fresh;
  return fresh;
}

LATHE_DECL AnyExpr CloneFresh::expr(const AnyExpr& e) {
  if (const auto* v = e.as<VarNode>()) {
    const AnyExpr* found = vars_.find(v);
    return found ? *found : e;
  }
  if (const auto* let = e.as<LetNode>()) {
    Vec<LetBinding> bindings;
    for (const auto& b : let->bindings) {
      AnyExpr value = expr(b.value);
      bindings.push_back({rename(b.var), std::move(value)});
    }
    return make_let(std::move(bindings), expr(let->body));
  }
  return descend(e);
}

LATHE_DECL Stmt CloneFresh::stmt(const Stmt& s) {
  if (const auto* f = s.as<ForNode>()) {
    AnyExpr min = expr(f->min), extent = expr(f->extent);
    VarRef fresh = rename(f->var);
    return make_for(fresh, min, extent, stmt(f->body), f->loop_kind, f->attributes);
  }
  if (const auto* let = s.as<LetStmtNode>()) {
    AnyExpr value = expr(let->value);
    VarRef fresh = rename(let->var);
    return make_let_stmt(fresh, value, stmt(let->body));
  }
  if (const auto* a = s.as<AllocNode>()) {
    BufferNode node = *a->buffer;
    for (auto& extent : node.shape) extent = expr(extent);
    Buffer fresh(new BufferNode(std::move(node)));
    buffers_[a->buffer.get()] = fresh;
    return make_alloc(fresh, stmt(a->body));
  }
  return descend(s);
}

LATHE_DECL Buffer CloneFresh::buffer(const Buffer& b) {
  const Buffer* found = buffers_.find(b.get());
  return found ? *found : b;
}

}  // namespace lathe::detail

#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

/// A mutator that knows the sizes of temporaries: one that names what changes makes another buffer.
class MutatorOfSizes : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
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
};

class Substitute : public MutatorOfSizes {
 public:
  explicit Substitute(const Substitution& map) : map_(map) {}
  AnyExpr expr(const AnyExpr& e) override {
    if (e.kind() != ExprKind::Var) return descend(e);
    for (const auto& [var, value] : map_)
      if (var.get() == e.get()) return value;
    return e;
  }

 private:
  const Substitution& map_;
};

class ReplaceBuffer : public Mutator {
 public:
  ReplaceBuffer(const Buffer& from, const Buffer& to) : from_(from), to_(to) {}
  Stmt stmt(const Stmt& s) override {
    return may_touch(s, Contents::bit(from_->name)) ? descend(s) : s;
  }
  Buffer buffer(const Buffer& b) override { return b == from_ ? to_ : b; }

 private:
  const Buffer &from_, &to_;
};

class FreshLets : public MutatorOfSizes {
 public:
  AnyExpr expr(const AnyExpr& e) override {
    if (const auto* v = e.as<VarNode>()) {
      const VarRef* found = renamed_.find(v);
      return found ? AnyExpr(*found) : e;
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
  Stmt stmt(const Stmt& s) override {
    const auto* let = s.as<LetStmtNode>();
    if (!let) return MutatorOfSizes::stmt(s);
    AnyExpr value = expr(let->value);
    VarRef fresh = renew(let->var);
    return make_let_stmt(fresh, value, stmt(let->body));
  }

 private:
  VarRef renew(const VarRef& var) { return renamed_[var.get()] = make_var(var->name, var->dtype); }
  NodeMap<VarRef> renamed_;
};

}  // namespace detail

LATHE_DECL AnyExpr substitute(const AnyExpr& e, const Substitution& map) {
  return map.empty() ? e : detail::Substitute(map).expr(e);
}
LATHE_DECL Stmt substitute(const Stmt& s, const Substitution& map) {
  return map.empty() ? s : detail::Substitute(map).stmt(s);
}
LATHE_DECL AnyExpr fresh_lets(const AnyExpr& e) { return detail::FreshLets().expr(e); }
LATHE_DECL Stmt fresh_lets(const Stmt& s) { return detail::FreshLets().stmt(s); }
LATHE_DECL Vec<AnyExpr> MoveAccesses::moved(const Vec<AnyExpr>& indices) {
  Vec<AnyExpr> inner;
  for (const auto& index : indices) inner.push_back(expr(index));
  return place(inner);
}
LATHE_DECL AnyExpr MoveAccesses::expr(const AnyExpr& e) {
  const auto* n = e.as<LoadNode>();
  return n && n->buffer == from_ ? make_load(to_, moved(n->indices), optional(n->mask))
                                 : descend(e);
}
LATHE_DECL Stmt MoveAccesses::stmt(const Stmt& s) {
  if (!detail::may_touch(s, detail::Contents::bit(from_->name))) return s;
  if (const auto* n = s.as<StoreNode>(); n && n->buffer == from_)
    return make_ref<StoreNode>(to_, moved(n->indices), expr(n->value), optional(n->mask),
                               n->streaming);
  if (const auto* n = s.as<AtomicNode>(); n && n->buffer == from_)
    return make_ref<AtomicNode>(n->op, to_, moved(n->indices), expr(n->value));
  return descend(s);
}

LATHE_DECL Stmt replace_buffer(const Stmt& s, const Buffer& from, const Buffer& to) {
  return detail::ReplaceBuffer(from, to).stmt(s);
}

}  // namespace lathe

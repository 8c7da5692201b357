#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// Rebuilds a list of children; true if any changed.
template <class List, class F>
bool rebuild(List& list, F&& f) {
  bool changed = false;
  for (auto& item : list) {
    auto next = f(item);
    changed |= next.get() != item.get();
    item = std::move(next);
  }
  return changed;
}

}  // namespace detail

LATHE_DECL void Visitor::descend(const AnyExpr& e) {
  switch (e.kind()) {
    case ExprKind::Const:
    case ExprKind::Var:
      return;
    case ExprKind::Load: {
      const auto* n = e.as<LoadNode>();
      for (const auto& i : n->indices) expr(i);
      if (n->mask) expr(n->mask);
      buffer(n->buffer);
      return;
    }
    case ExprKind::Let:
      return expr(e.as<LetNode>()->value), expr(e.as<LetNode>()->body);
    case ExprKind::Binary:
      return expr(e.as<BinaryNode>()->a), expr(e.as<BinaryNode>()->b);
    case ExprKind::Unary:
      return expr(e.as<UnaryNode>()->a);
    case ExprKind::Select: {
      const auto* n = e.as<SelectNode>();
      return expr(n->condition), expr(n->yes), expr(n->no);
    }
    case ExprKind::Cast:
      return expr(e.as<CastNode>()->value);
    case ExprKind::Call:
      for (const auto& a : e.as<CallNode>()->args) expr(a);
      return;
    case ExprKind::Ramp:
      return expr(e.as<RampNode>()->base), expr(e.as<RampNode>()->stride);
    case ExprKind::Broadcast:
      return expr(e.as<BroadcastNode>()->value);
    case ExprKind::Shuffle:
      for (const auto& v : e.as<ShuffleNode>()->vectors) expr(v);
      return;
  }
}

namespace detail {

template <class F>
void each_range(const std::vector<Region>& regions, F&& f) {
  for (const auto& region : regions)
    for (const auto& range : region.ranges) f(range.min), f(range.extent);
}

}  // namespace detail

LATHE_DECL void Visitor::descend(const Stmt& s) {
  auto all = [this](const std::vector<AnyExpr>& list) {
    for (const auto& e : list) expr(e);
  };
  switch (s.kind()) {
    case StmtKind::For: {
      const auto* n = s.as<ForNode>();
      return expr(n->min), expr(n->extent), stmt(n->body);
    }
    case StmtKind::Block: {
      const auto* n = s.as<BlockNode>();
      for (const auto& it : n->iters) expr(it.binding), expr(it.min), expr(it.extent);
      for (const auto* regions : {&n->reads, &n->writes}) {
        detail::each_range(*regions, [this](const AnyExpr& e) { expr(e); });
        for (const auto& region : *regions) buffer(region.buffer);
      }
      if (n->predicate) expr(n->predicate);
      return stmt(n->body);
    }
    case StmtKind::Alloc:
      return buffer(s.as<AllocNode>()->buffer), stmt(s.as<AllocNode>()->body);
    case StmtKind::Store: {
      const auto* n = s.as<StoreNode>();
      all(n->indices);
      if (n->mask) expr(n->mask);
      return expr(n->value), buffer(n->buffer);
    }
    case StmtKind::Atomic: {
      const auto* n = s.as<AtomicNode>();
      return all(n->indices), expr(n->value), buffer(n->buffer);
    }
    case StmtKind::LetStmt:
      return expr(s.as<LetStmtNode>()->value), stmt(s.as<LetStmtNode>()->body);
    case StmtKind::Seq:
      for (const auto& child : s.as<SeqNode>()->stmts) stmt(child);
      return;
    case StmtKind::If: {
      const auto* n = s.as<IfNode>();
      expr(n->condition), stmt(n->then_body);
      if (n->else_body) stmt(n->else_body);
      return;
    }
    case StmtKind::While:
      return expr(s.as<WhileNode>()->condition), stmt(s.as<WhileNode>()->body);
    case StmtKind::Assert:
      return expr(s.as<AssertNode>()->condition);
    case StmtKind::Evaluate:
      return expr(s.as<EvaluateNode>()->call);
  }
}

LATHE_DECL AnyExpr Mutator::descend(const AnyExpr& e) {
  auto go = [this](const AnyExpr& x) { return expr(x); };
  switch (e.kind()) {
    case ExprKind::Const:
    case ExprKind::Var:
      return e;
    case ExprKind::Load: {
      const auto* n = e.as<LoadNode>();
      auto indices = n->indices;
      bool changed = detail::rebuild(indices, go);
      AnyExpr mask = optional(n->mask);
      Buffer b = buffer(n->buffer);
      if (!changed && mask.same_as(n->mask) && b == n->buffer) return e;
      return make_load(std::move(b), std::move(indices), std::move(mask));
    }
    case ExprKind::Let: {
      const auto* n = e.as<LetNode>();
      AnyExpr value = expr(n->value), body = expr(n->body);
      if (value.same_as(n->value) && body.same_as(n->body)) return e;
      return make_let(n->var, std::move(value), std::move(body));
    }
    case ExprKind::Binary: {
      const auto* n = e.as<BinaryNode>();
      AnyExpr a = expr(n->a), b = expr(n->b);
      if (a.same_as(n->a) && b.same_as(n->b)) return e;
      return make_binary(n->op, std::move(a), std::move(b));
    }
    case ExprKind::Unary: {
      const auto* n = e.as<UnaryNode>();
      AnyExpr a = expr(n->a);
      return a.same_as(n->a) ? e : make_unary(n->op, std::move(a));
    }
    case ExprKind::Select: {
      const auto* n = e.as<SelectNode>();
      AnyExpr c = expr(n->condition), yes = expr(n->yes), no = expr(n->no);
      if (c.same_as(n->condition) && yes.same_as(n->yes) && no.same_as(n->no)) return e;
      return make_select(std::move(c), std::move(yes), std::move(no));
    }
    case ExprKind::Cast: {
      const auto* n = e.as<CastNode>();
      AnyExpr value = expr(n->value);
      if (value.same_as(n->value)) return e;
      DType dtype = n->dtype.with_lanes(value.dtype().lanes);
      return make_cast(dtype, std::move(value));
    }
    case ExprKind::Call: {
      const auto* n = e.as<CallNode>();
      auto args = n->args;
      if (!detail::rebuild(args, go)) return e;
      if (n->op == CallOp::reinterpret)
        return make_reinterpret(n->dtype.with_lanes(args[0].dtype().lanes), args[0]);
      return make_call(n->op, std::move(args));
    }
    case ExprKind::Ramp: {
      const auto* n = e.as<RampNode>();
      AnyExpr base = expr(n->base), stride = expr(n->stride);
      if (base.same_as(n->base) && stride.same_as(n->stride)) return e;
      return make_ramp(std::move(base), std::move(stride), n->lanes);
    }
    case ExprKind::Broadcast: {
      const auto* n = e.as<BroadcastNode>();
      AnyExpr value = expr(n->value);
      return value.same_as(n->value) ? e : make_broadcast(std::move(value), n->lanes);
    }
    case ExprKind::Shuffle: {
      const auto* n = e.as<ShuffleNode>();
      auto vectors = n->vectors;
      return detail::rebuild(vectors, go) ? make_shuffle(std::move(vectors), n->lanes) : e;
    }
  }
  unreachable("expression kind");
}

namespace detail {

inline Stmt rebuild_block(Mutator& m, const Stmt& s) {
  const auto* n = s.as<BlockNode>();
  BlockNode next = *n;
  bool changed = false;
  auto go = [&](AnyExpr& e) {
    if (e.get() == nullptr) return;
    AnyExpr x = m.expr(e);
    changed |= !x.same_as(e);
    e = std::move(x);
  };
  for (auto& it : next.iters) go(it.min), go(it.extent), go(it.binding);
  for (auto* regions : {&next.reads, &next.writes}) {
    for (auto& region : *regions) {
      Buffer b = m.buffer(region.buffer);
      changed |= b != region.buffer;
      region.buffer = std::move(b);
      for (auto& range : region.ranges) go(range.min), go(range.extent);
    }
  }
  go(next.predicate);
  next.body = m.stmt(n->body);
  changed |= !next.body.same_as(n->body);
  return changed ? make_block(std::move(next)) : s;
}

}  // namespace detail

LATHE_DECL Stmt Mutator::descend(const Stmt& s) {
  auto go = [this](const AnyExpr& x) { return expr(x); };
  switch (s.kind()) {
    case StmtKind::For: {
      const auto* n = s.as<ForNode>();
      AnyExpr min = expr(n->min), extent = expr(n->extent);
      Stmt body = stmt(n->body);
      if (min.same_as(n->min) && extent.same_as(n->extent) && body.same_as(n->body)) return s;
      return make_for(n->var, std::move(min), std::move(extent), std::move(body), n->loop_kind,
                      n->annotations);
    }
    case StmtKind::Block:
      return detail::rebuild_block(*this, s);
    case StmtKind::Alloc: {
      const auto* n = s.as<AllocNode>();
      Buffer b = buffer(n->buffer);
      Stmt body = stmt(n->body);
      return b == n->buffer && body.same_as(n->body) ? s
                                                     : make_alloc(std::move(b), std::move(body));
    }
    case StmtKind::Store: {
      const auto* n = s.as<StoreNode>();
      auto indices = n->indices;
      bool changed = detail::rebuild(indices, go);
      AnyExpr mask = optional(n->mask), value = expr(n->value);
      Buffer b = buffer(n->buffer);
      if (!changed && mask.same_as(n->mask) && value.same_as(n->value) && b == n->buffer) return s;
      return make_ref<StoreNode>(std::move(b), std::move(indices), std::move(value),
                                 std::move(mask), n->streaming);
    }
    case StmtKind::Atomic: {
      const auto* n = s.as<AtomicNode>();
      auto indices = n->indices;
      bool changed = detail::rebuild(indices, go);
      AnyExpr value = expr(n->value);
      Buffer b = buffer(n->buffer);
      if (!changed && value.same_as(n->value) && b == n->buffer) return s;
      return make_ref<AtomicNode>(n->op, std::move(b), std::move(indices), std::move(value));
    }
    case StmtKind::LetStmt: {
      const auto* n = s.as<LetStmtNode>();
      AnyExpr value = expr(n->value);
      Stmt body = stmt(n->body);
      if (value.same_as(n->value) && body.same_as(n->body)) return s;
      return make_let_stmt(n->var, std::move(value), std::move(body));
    }
    case StmtKind::Seq: {
      auto stmts = s.as<SeqNode>()->stmts;
      bool changed = detail::rebuild(stmts, [this](const Stmt& x) { return stmt(x); });
      return changed ? make_seq(std::move(stmts)) : s;
    }
    case StmtKind::If: {
      const auto* n = s.as<IfNode>();
      AnyExpr c = expr(n->condition);
      Stmt yes = stmt(n->then_body), no = n->else_body ? stmt(n->else_body) : Stmt();
      if (c.same_as(n->condition) && yes.same_as(n->then_body) && no.same_as(n->else_body))
        return s;
      return make_if(std::move(c), std::move(yes), std::move(no));
    }
    case StmtKind::While: {
      const auto* n = s.as<WhileNode>();
      AnyExpr c = expr(n->condition);
      Stmt body = stmt(n->body);
      if (c.same_as(n->condition) && body.same_as(n->body)) return s;
      return make_ref<WhileNode>(std::move(c), std::move(body));
    }
    case StmtKind::Assert: {
      const auto* n = s.as<AssertNode>();
      AnyExpr c = expr(n->condition);
      return c.same_as(n->condition) ? s : Stmt(make_ref<AssertNode>(std::move(c), n->message));
    }
    case StmtKind::Evaluate: {
      const auto* n = s.as<EvaluateNode>();
      AnyExpr call = expr(n->call);
      return call.same_as(n->call) ? s : Stmt(make_ref<EvaluateNode>(std::move(call)));
    }
  }
  unreachable("statement kind");
}

namespace detail {

class Substitute : public Mutator {
 public:
  explicit Substitute(const Substitution& map) : map_(map) {}
  using Mutator::stmt;
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
  Buffer buffer(const Buffer& b) override { return b == from_ ? to_ : b; }

 private:
  const Buffer &from_, &to_;
};

// Free variables: what is used minus what is bound around the use. Bound variables are unique by
// identity, so it is enough to collect both sets and subtract.
class VarCollector : public Visitor {
 public:
  void expr(const AnyExpr& e) override {
    ++nodes;
    if (const auto* v = e.as<VarNode>()) add(used, VarRef(v));
    if (const auto* let = e.as<LetNode>()) bound.push_back(let->var);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    ++nodes;
    if (const auto* f = s.as<ForNode>()) bound.push_back(f->var);
    if (const auto* let = s.as<LetStmtNode>()) bound.push_back(let->var);
    if (const auto* b = s.as<BlockNode>())
      for (const auto& it : b->iters) bound.push_back(it.var);
    descend(s);
  }
  std::vector<VarRef> free() const {
    std::vector<VarRef> out;
    for (const auto& v : used) {
      bool is_bound = false;
      for (const auto& b : bound) is_bound |= b == v;
      if (!is_bound) out.push_back(v);
    }
    return out;
  }
  std::size_t nodes = 0;
  std::vector<VarRef> used, bound;

 private:
  static void add(std::vector<VarRef>& set, VarRef v) {
    for (const auto& x : set)
      if (x == v) return;
    set.push_back(std::move(v));
  }
};

template <class T>
VarCollector collect_vars(const T& root) {
  VarCollector c;
  if constexpr (std::is_same_v<T, Stmt>)
    c.stmt(root);
  else
    c.expr(root);
  return c;
}

template <class T>
bool occurs(const T& root, const VarRef& var) {
  for (const auto& v : collect_vars(root).used)
    if (v == var) return true;
  return false;
}

}  // namespace detail

LATHE_DECL AnyExpr substitute(const AnyExpr& e, const Substitution& map) {
  return map.empty() ? e : detail::Substitute(map).expr(e);
}
LATHE_DECL Stmt substitute(const Stmt& s, const Substitution& map) {
  return map.empty() ? s : detail::Substitute(map).stmt(s);
}
LATHE_DECL Stmt replace_buffer(const Stmt& s, const Buffer& from, const Buffer& to) {
  return detail::ReplaceBuffer(from, to).stmt(s);
}
LATHE_DECL bool uses_var(const AnyExpr& e, const VarRef& var) { return detail::occurs(e, var); }
LATHE_DECL bool uses_var(const Stmt& s, const VarRef& var) { return detail::occurs(s, var); }
LATHE_DECL std::vector<VarRef> free_vars(const AnyExpr& e) {
  return detail::collect_vars(e).free();
}
LATHE_DECL std::vector<VarRef> free_vars(const Stmt& s) { return detail::collect_vars(s).free(); }
LATHE_DECL std::size_t node_count(const AnyExpr& e) { return detail::collect_vars(e).nodes; }
LATHE_DECL std::size_t node_count(const Stmt& s) { return detail::collect_vars(s).nodes; }

}  // namespace lathe

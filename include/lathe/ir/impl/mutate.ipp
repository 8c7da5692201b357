#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// Mutates the children of one node, and knows whether any changed.
struct Mutation {
  Mutator& mutator;
  bool changed = false;

  AnyExpr operator()(const AnyExpr& e) {
    AnyExpr next = mutator.expr(e);
    changed |= !next.same_as(e);
    return next;
  }
  Stmt operator()(const Stmt& s) {
    Stmt next = mutator.stmt(s);
    changed |= !next.same_as(s);
    return next;
  }
  Buffer operator()(const Buffer& b) {
    Buffer next = mutator.buffer(b);
    changed |= next != b;
    return next;
  }
  template <class T>
  Vec<T> operator()(const Vec<T>& list) {
    Vec<T> next;
    next.reserve(list.size());
    for (const auto& item : list) next.push_back((*this)(item));
    return next;
  }
  template <class T>
  T optional(const T& child) {
    return child ? (*this)(child) : child;
  }
};

inline AnyExpr mutate_children(Mutation, const AnyExpr& e, const ConstNode&) { return e; }
inline AnyExpr mutate_children(Mutation, const AnyExpr& e, const VarNode&) { return e; }
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const LoadNode& n) {
  auto indices = go(n.indices);
  AnyExpr mask = go.optional(n.mask);
  Buffer b = go(n.buffer);
  return go.changed ? make_load(std::move(b), std::move(indices), std::move(mask)) : e;
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const LetNode& n) {
  Vec<LetBinding> bindings;
  for (const auto& b : n.bindings) bindings.push_back({b.var, go(b.value)});
  AnyExpr body = go(n.body);
  return go.changed ? make_let(std::move(bindings), std::move(body)) : e;
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const BinaryNode& n) {
  AnyExpr a = go(n.a), b = go(n.b);
  return go.changed ? make_binary(n.op, std::move(a), std::move(b)) : e;
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const UnaryNode& n) {
  AnyExpr a = go(n.a);
  return go.changed ? make_unary(n.op, std::move(a)) : e;
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const SelectNode& n) {
  AnyExpr c = go(n.condition), yes = go(n.yes), no = go(n.no);
  return go.changed ? make_select(std::move(c), std::move(yes), std::move(no)) : e;
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const CastNode& n) {
  AnyExpr value = go(n.value);
  if (!go.changed) return e;
  DType dtype = n.dtype.with_lanes(value.dtype().lanes);
  return make_cast(dtype, std::move(value));
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const CallNode& n) {
  auto args = go(n.args);
  if (!go.changed) return e;
  if (n.op == CallOp::reinterpret)
    return make_reinterpret(
        n.dtype.with_lanes(n.dtype.lanes * args[0].dtype().lanes / n.args[0].dtype().lanes),
        args[0]);
  return make_call(n.op, std::move(args));
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const RampNode& n) {
  AnyExpr base = go(n.base), stride = go(n.stride);
  return go.changed ? make_ramp(std::move(base), std::move(stride), n.lanes) : e;
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const BroadcastNode& n) {
  AnyExpr value = go(n.value);
  return go.changed ? make_broadcast(std::move(value), n.lanes) : e;
}
inline AnyExpr mutate_children(Mutation go, const AnyExpr& e, const ShuffleNode& n) {
  auto vectors = go(n.vectors);
  return go.changed ? make_shuffle(std::move(vectors), n.lanes) : e;
}

inline Stmt mutate_children(Mutation go, const Stmt& s, const ForNode& n) {
  AnyExpr min = go(n.min), extent = go(n.extent);
  Stmt body = go(n.body);
  if (!go.changed) return s;
  return make_for(n.var, std::move(min), std::move(extent), std::move(body), n.loop_kind,
                  n.attributes);
}

inline void mutate_regions(Mutation& go, Vec<Region>& regions) {
  for (auto& region : regions) {
    region.buffer = go(region.buffer);
    for (auto& range : region.ranges) {
      range.min = go.optional(range.min);
      range.extent = go.optional(range.extent);
    }
  }
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const BlockNode& n) {
  BlockNode next = n;
  for (auto& it : next.iters) {
    it.min = go.optional(it.min);
    it.extent = go.optional(it.extent);
    it.binding = go.optional(it.binding);
  }
  mutate_regions(go, next.reads);
  mutate_regions(go, next.writes);
  next.predicate = go.optional(next.predicate);
  next.body = go(n.body);
  return go.changed ? make_block(std::move(next)) : s;
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const AllocNode& n) {
  Buffer b = go(n.buffer);
  Stmt body = go(n.body);
  return go.changed ? make_alloc(std::move(b), std::move(body)) : s;
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const StoreNode& n) {
  auto indices = go(n.indices);
  AnyExpr mask = go.optional(n.mask), value = go(n.value);
  Buffer b = go(n.buffer);
  if (!go.changed) return s;
  return make_ref<StoreNode>(std::move(b), std::move(indices), std::move(value), std::move(mask),
                             n.streaming);
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const AtomicNode& n) {
  auto indices = go(n.indices);
  AnyExpr value = go(n.value);
  Buffer b = go(n.buffer);
  if (!go.changed) return s;
  return make_ref<AtomicNode>(n.op, std::move(b), std::move(indices), std::move(value));
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const LetStmtNode& n) {
  AnyExpr value = go(n.value);
  Stmt body = go(n.body);
  return go.changed ? make_let_stmt(n.var, std::move(value), std::move(body)) : s;
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const SeqNode& n) {
  auto stmts = go(n.stmts);
  return go.changed ? make_seq(std::move(stmts)) : s;
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const IfNode& n) {
  AnyExpr c = go(n.condition);
  Stmt yes = go(n.then_body), no = go.optional(n.else_body);
  return go.changed ? make_if(std::move(c), std::move(yes), std::move(no)) : s;
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const WhileNode& n) {
  AnyExpr c = go(n.condition);
  Stmt body = go(n.body);
  return go.changed ? Stmt(make_ref<WhileNode>(std::move(c), std::move(body))) : s;
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const AssertNode& n) {
  AnyExpr c = go(n.condition);
  auto values = go(n.values);
  return go.changed ? Stmt(make_ref<AssertNode>(std::move(c), n.message, std::move(values))) : s;
}
inline Stmt mutate_children(Mutation go, const Stmt& s, const EvaluateNode& n) {
  AnyExpr call = go(n.call);
  return go.changed ? Stmt(make_ref<EvaluateNode>(std::move(call))) : s;
}

}  // namespace detail

LATHE_DECL AnyExpr Mutator::descend(const AnyExpr& e) {
  switch (e.kind()) {
#define LATHE_KIND(name) \
  case ExprKind::name:   \
    return detail::mutate_children(detail::Mutation{*this}, e, *e.as<name##Node>());
    LATHE_EXPR_NODES(LATHE_KIND)
#undef LATHE_KIND
  }
  unreachable("expression kind");
}

LATHE_DECL Stmt Mutator::descend(const Stmt& s) {
  switch (s.kind()) {
#define LATHE_KIND(name) \
  case StmtKind::name:   \
    return detail::mutate_children(detail::Mutation{*this}, s, *s.as<name##Node>());
    LATHE_STMT_NODES(LATHE_KIND)
#undef LATHE_KIND
  }
  unreachable("statement kind");
}

}  // namespace lathe

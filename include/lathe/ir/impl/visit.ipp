#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

inline void visit_all(Visitor& v, const Vec<AnyExpr>& list) {
  for (const auto& e : list) v.expr(e);
}

inline void visit_children(Visitor&, const ConstNode&) {}
inline void visit_children(Visitor&, const VarNode&) {}
inline void visit_children(Visitor& v, const LoadNode& n) {
  visit_all(v, n.indices);
  if (n.mask) v.expr(n.mask);
  v.buffer(n.buffer);
}
inline void visit_children(Visitor& v, const LetNode& n) {
  for (const auto& b : n.bindings) v.expr(b.value);
  v.expr(n.body);
}
inline void visit_children(Visitor& v, const BinaryNode& n) { v.expr(n.a), v.expr(n.b); }
inline void visit_children(Visitor& v, const UnaryNode& n) { v.expr(n.a); }
inline void visit_children(Visitor& v, const SelectNode& n) {
  v.expr(n.condition), v.expr(n.yes), v.expr(n.no);
}
inline void visit_children(Visitor& v, const CastNode& n) { v.expr(n.value); }
inline void visit_children(Visitor& v, const CallNode& n) { visit_all(v, n.args); }
inline void visit_children(Visitor& v, const RampNode& n) { v.expr(n.base), v.expr(n.stride); }
inline void visit_children(Visitor& v, const BroadcastNode& n) { v.expr(n.value); }
inline void visit_children(Visitor& v, const ShuffleNode& n) { visit_all(v, n.vectors); }

inline void visit_regions(Visitor& v, const Vec<Region>& regions) {
  for (const auto& region : regions)
    for (const auto& range : region.ranges) v.expr(range.min), v.expr(range.extent);
  for (const auto& region : regions) v.buffer(region.buffer);
}

inline void visit_children(Visitor& v, const ForNode& n) {
  v.expr(n.min), v.expr(n.extent), v.stmt(n.body);
}
inline void visit_children(Visitor& v, const BlockNode& n) {
  for (const auto& it : n.iters) v.expr(it.binding), v.expr(it.min), v.expr(it.extent);
  visit_regions(v, n.reads);
  visit_regions(v, n.writes);
  if (n.predicate) v.expr(n.predicate);
  v.stmt(n.body);
}
inline void visit_children(Visitor& v, const AllocNode& n) { v.buffer(n.buffer), v.stmt(n.body); }
inline void visit_children(Visitor& v, const StoreNode& n) {
  visit_all(v, n.indices);
  if (n.mask) v.expr(n.mask);
  v.expr(n.value), v.buffer(n.buffer);
}
inline void visit_children(Visitor& v, const AtomicNode& n) {
  visit_all(v, n.indices);
  v.expr(n.value), v.buffer(n.buffer);
}
inline void visit_children(Visitor& v, const LetStmtNode& n) { v.expr(n.value), v.stmt(n.body); }
inline void visit_children(Visitor& v, const SeqNode& n) {
  for (const auto& child : n.stmts) v.stmt(child);
}
inline void visit_children(Visitor& v, const IfNode& n) {
  v.expr(n.condition), v.stmt(n.then_body);
  if (n.else_body) v.stmt(n.else_body);
}
inline void visit_children(Visitor& v, const WhileNode& n) { v.expr(n.condition), v.stmt(n.body); }
inline void visit_children(Visitor& v, const AssertNode& n) {
  v.expr(n.condition);
  for (const auto& e : n.values) v.expr(e);
}
inline void visit_children(Visitor& v, const EvaluateNode& n) { v.expr(n.call); }

}  // namespace detail

LATHE_DECL void Visitor::descend(const AnyExpr& e) {
  switch (e.kind()) {
#define LATHE_KIND(name) \
  case ExprKind::name:   \
    return detail::visit_children(*this, *e.as<name##Node>());
    LATHE_EXPR_NODES(LATHE_KIND)
#undef LATHE_KIND
  }
}

LATHE_DECL void Visitor::descend(const Stmt& s) {
  switch (s.kind()) {
#define LATHE_KIND(name) \
  case StmtKind::name:   \
    return detail::visit_children(*this, *s.as<name##Node>());
    LATHE_STMT_NODES(LATHE_KIND)
#undef LATHE_KIND
  }
}

}  // namespace lathe

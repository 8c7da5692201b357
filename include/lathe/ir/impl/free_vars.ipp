#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

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
    // Of a size that nothing else names, the code below needs the value all the same.
    if (const auto* a = s.as<AllocNode>())
      for (const auto& extent : a->buffer->shape) expr(extent);
    descend(s);
  }
  Vec<VarRef> free() const {
    Vec<VarRef> out;
    for (const auto& v : used) {
      bool is_bound = false;
      for (const auto& b : bound) is_bound |= b == v;
      if (!is_bound) out.push_back(v);
    }
    return out;
  }
  std::size_t nodes = 0;
  Vec<VarRef> used, bound;

 private:
  static void add(Vec<VarRef>& set, VarRef v) {
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

LATHE_DECL bool uses_var(const AnyExpr& e, const VarRef& var) { return detail::occurs(e, var); }
LATHE_DECL bool uses_var(const Stmt& s, const VarRef& var) { return detail::occurs(s, var); }
LATHE_DECL Vec<VarRef> free_vars(const AnyExpr& e) { return detail::collect_vars(e).free(); }
LATHE_DECL Vec<VarRef> free_vars(const Stmt& s) { return detail::collect_vars(s).free(); }
LATHE_DECL std::size_t node_count(const AnyExpr& e) { return detail::collect_vars(e).nodes; }
LATHE_DECL std::size_t node_count(const Stmt& s) { return detail::collect_vars(s).nodes; }

}  // namespace lathe

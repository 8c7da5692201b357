#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

/// Variables, each once, in the order in which they came. Most expressions have few, where a search
/// is faster than a set.
class DistinctVars {
 public:
  void add(const VarRef& v) {
    if (has(v.get())) return;
    list_.push_back(v);
    if (list_.size() > kFew) index(list_.size() == kFew + 1 ? 0 : kFew);
  }
  bool has(const VarNode* v) const {
    if (list_.size() > kFew) return set_.contains(v);
    for (const auto& known : list_)
      if (known.get() == v) return true;
    return false;
  }
  const Vec<VarRef>& list() const { return list_; }

 private:
  static constexpr std::size_t kFew = 16;
  void index(std::size_t from) {
    if (from != 0) from = list_.size() - 1;
    for (; from < list_.size(); ++from) set_.insert(list_[from].get());
  }
  Vec<VarRef> list_;
  NodeSet set_;
};

// Free variables: what is used minus what is bound around the use. Bound variables are unique by
// identity, so it is enough to collect both sets and subtract.
class VarCollector : public Visitor {
 public:
  void expr(const AnyExpr& e) override {
    // What is large and held by several is met again: written out it may be without end.
    if (e->weight > kSmall && e->shared() && !seen_.insert(e.get()).second) return;
    if (const auto* v = e.as<VarNode>()) used.add(VarRef(v));
    if (const auto* let = e.as<LetNode>())
      for (const auto& b : let->bindings) bound.add(b.var);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) bound.add(f->var);
    if (const auto* let = s.as<LetStmtNode>()) bound.add(let->var);
    if (const auto* b = s.as<BlockNode>())
      for (const auto& it : b->iters) bound.add(it.var);
    // Of a size that nothing else names, the code below needs the value all the same.
    if (const auto* a = s.as<AllocNode>())
      for (const auto& extent : a->buffer->shape) expr(extent);
    descend(s);
  }
  Vec<VarRef> free() const {
    Vec<VarRef> out;
    for (const auto& v : used.list())
      if (!bound.has(v.get())) out.push_back(v);
    return out;
  }
  DistinctVars used, bound;
  static constexpr std::uint32_t kSmall = 64;  ///< nodes, written out

 private:
  NodeSet seen_;
};

class NodeCounter : public Visitor {
 public:
  void expr(const AnyExpr& e) override { nodes += e->weight; }
  void stmt(const Stmt& s) override {
    ++nodes;
    if (const auto* a = s.as<AllocNode>())
      for (const auto& extent : a->buffer->shape) expr(extent);
    descend(s);
  }
  std::size_t nodes = 0;
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

/// Of expressions that are small also when written out.
class FindVar : public Visitor {
 public:
  explicit FindVar(const VarNode* var) : var_(var) {}
  void expr(const AnyExpr& e) override {
    found = found || e.get() == var_;
    if (!found) descend(e);
  }
  bool found = false;

 private:
  const ExprNode* var_;
};

}  // namespace detail

LATHE_DECL bool uses_var(const AnyExpr& e, const VarRef& var) {
  if (e->weight > detail::VarCollector::kSmall) return detail::collect_vars(e).used.has(var.get());
  detail::FindVar find(var.get());
  find.expr(e);
  return find.found;
}
LATHE_DECL bool uses_var(const Stmt& s, const VarRef& var) {
  return detail::collect_vars(s).used.has(var.get());
}
LATHE_DECL Vec<VarRef> free_vars(const AnyExpr& e) { return detail::collect_vars(e).free(); }
LATHE_DECL Vec<VarRef> free_vars(const Stmt& s) { return detail::collect_vars(s).free(); }
LATHE_DECL bool names_one_of(const AnyExpr& e, const Vec<VarRef>& vars) {
  for (const auto& var : free_vars(e))
    if (contains(vars, var)) return true;
  return false;
}
LATHE_DECL bool names_only(const AnyExpr& e, const Vec<VarRef>& known) {
  for (const auto& var : free_vars(e))
    if (!contains(known, var)) return false;
  return true;
}

LATHE_DECL const LoadNode* find_load(const AnyExpr& e) {
  struct FindLoad : Visitor {
    const LoadNode* found = nullptr;
    void expr(const AnyExpr& x) override {
      if (found) return;
      found = x.as<LoadNode>();
      if (!found) descend(x);
    }
  } find;
  find.expr(e);
  return find.found;
}
LATHE_DECL std::size_t node_count(const AnyExpr& e) { return e->weight; }
LATHE_DECL std::size_t node_count(const Stmt& s) {
  detail::NodeCounter counter;
  counter.stmt(s);
  return counter.nodes;
}

}  // namespace lathe

#pragma once

#include <bit>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

/// Walks two trees at once. What is bound corresponds through a pair of maps; what is free equals
/// itself.
class Comparer {
 public:
  /// named: names count, and the elements of constants don't.
  explicit Comparer(bool named = false) : named_(named) {}
  bool program(const ProgramNode& a, const ProgramNode& b);
  bool stmt(const Stmt& a, const Stmt& b);
  bool expr(const AnyExpr& a, const AnyExpr& b);
  bool reducer(const ReducerRef& a, const ReducerRef& b);

 private:
  bool bind(const RefCounted* a, const RefCounted* b);
  bool names(const std::string& a, const std::string& b) const { return !named_ || a == b; }
  bool bind_var(const VarRef& a, const VarRef& b);
  bool bind_buffer(const Buffer& a, const Buffer& b);
  bool same(const RefCounted* a, const RefCounted* b) const;
  bool exprs(const Vec<AnyExpr>& a, const Vec<AnyExpr>& b);
  bool all(std::initializer_list<std::pair<const AnyExpr*, const AnyExpr*>> pairs);
  bool param(const Param& a, const Param& b);
  bool stride_vars(const BufferNode& a, const BufferNode& b);
  bool block(const BlockNode& a, const BlockNode& b);
  bool regions(const Vec<Region>& a, const Vec<Region>& b);
  bool node(const AnyExpr& a, const AnyExpr& b);

  bool named_;
  NodeMap<const RefCounted*> there_, back_;
  bool identity_ = true;  ///< whether everything bound so far corresponds to itself
};

inline bool Comparer::bind(const RefCounted* a, const RefCounted* b) {
  there_[a] = b, back_[b] = a;
  identity_ &= a == b;
  return true;
}
inline bool Comparer::bind_var(const VarRef& a, const VarRef& b) {
  return a->dtype == b->dtype && names(a->name, b->name) && bind(a.get(), b.get());
}
inline bool Comparer::bind_buffer(const Buffer& a, const Buffer& b) {
  return a->dtype == b->dtype && a->scope == b->scope && a->alignment == b->alignment &&
         a->tile == b->tile && a->aligned == b->aligned && exprs(a->shape, b->shape) &&
         exprs(a->strides, b->strides) && names(a->name, b->name) && bind(a.get(), b.get());
}
inline bool Comparer::same(const RefCounted* a, const RefCounted* b) const {
  const auto *there = there_.find(a), *back = back_.find(b);
  if (!there || !back) return !there && !back && a == b;
  return *there == b && *back == a;
}

inline bool Comparer::exprs(const Vec<AnyExpr>& a, const Vec<AnyExpr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!expr(a[k], b[k])) return false;
  return true;
}
inline bool Comparer::all(std::initializer_list<std::pair<const AnyExpr*, const AnyExpr*>> pairs) {
  for (const auto& [a, b] : pairs)
    if (!expr(*a, *b)) return false;
  return true;
}

inline bool Comparer::expr(const AnyExpr& a, const AnyExpr& b) {
  if (!a.get() || !b.get()) return a.get() == b.get();
  if (a.same_as(b) && identity_) return true;
  return a.kind() == b.kind() && a.dtype() == b.dtype() && node(a, b);
}

inline bool Comparer::node(const AnyExpr& a, const AnyExpr& b) {
  switch (a.kind()) {
    case ExprKind::Const: {
      const auto *x = a.as<ConstNode>(), *y = b.as<ConstNode>();
      return x->i == y->i &&
             std::bit_cast<std::uint64_t>(x->f) == std::bit_cast<std::uint64_t>(y->f);
    }
    case ExprKind::Var:
      return same(a.get(), b.get());
    case ExprKind::Load: {
      const auto *x = a.as<LoadNode>(), *y = b.as<LoadNode>();
      return same(x->buffer.get(), y->buffer.get()) && exprs(x->indices, y->indices) &&
             expr(x->mask, y->mask);
    }
    case ExprKind::Let: {
      const auto *x = a.as<LetNode>(), *y = b.as<LetNode>();
      if (x->bindings.size() != y->bindings.size()) return false;
      for (std::size_t k = 0; k < x->bindings.size(); ++k)
        if (!expr(x->bindings[k].value, y->bindings[k].value) ||
            !bind_var(x->bindings[k].var, y->bindings[k].var))
          return false;
      return expr(x->body, y->body);
    }
    case ExprKind::Binary: {
      const auto *x = a.as<BinaryNode>(), *y = b.as<BinaryNode>();
      return x->op == y->op && all({{&x->a, &y->a}, {&x->b, &y->b}});
    }
    case ExprKind::Unary: {
      const auto *x = a.as<UnaryNode>(), *y = b.as<UnaryNode>();
      return x->op == y->op && expr(x->a, y->a);
    }
    case ExprKind::Select: {
      const auto *x = a.as<SelectNode>(), *y = b.as<SelectNode>();
      return all({{&x->condition, &y->condition}, {&x->yes, &y->yes}, {&x->no, &y->no}});
    }
    case ExprKind::Cast:
      return expr(a.as<CastNode>()->value, b.as<CastNode>()->value);
    case ExprKind::Call:
      return a.as<CallNode>()->op == b.as<CallNode>()->op &&
             exprs(a.as<CallNode>()->args, b.as<CallNode>()->args);
    case ExprKind::Ramp: {
      const auto *x = a.as<RampNode>(), *y = b.as<RampNode>();
      return x->lanes == y->lanes && all({{&x->base, &y->base}, {&x->stride, &y->stride}});
    }
    case ExprKind::Broadcast: {
      const auto *x = a.as<BroadcastNode>(), *y = b.as<BroadcastNode>();
      return x->lanes == y->lanes && expr(x->value, y->value);
    }
    case ExprKind::Shuffle: {
      const auto *x = a.as<ShuffleNode>(), *y = b.as<ShuffleNode>();
      return x->lanes == y->lanes && exprs(x->vectors, y->vectors);
    }
  }
  unreachable("expression kind");
}

inline bool Comparer::reducer(const ReducerRef& a, const ReducerRef& b) {
  if (!a || !b) return !a && !b;
  if (a == b) return true;
  if (a->associative != b->associative || a->commutative != b->commutative ||
      a->lhs.size() != b->lhs.size() || a->rhs.size() != b->rhs.size() ||
      !names(a->name, b->name) || !exprs(a->identity, b->identity))
    return false;
  bool identity = identity_;
  for (std::size_t k = 0; k < a->lhs.size(); ++k)
    if (!bind_var(a->lhs[k], b->lhs[k])) return false;
  for (std::size_t k = 0; k < a->rhs.size(); ++k)
    if (!bind_var(a->rhs[k], b->rhs[k])) return false;
  bool equal = exprs(a->combine, b->combine);
  identity_ = identity;
  return equal;
}

inline bool Comparer::regions(const Vec<Region>& a, const Vec<Region>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!same(a[k].buffer.get(), b[k].buffer.get()) || a[k].ranges.size() != b[k].ranges.size())
      return false;
    for (std::size_t d = 0; d < a[k].ranges.size(); ++d)
      if (!expr(a[k].ranges[d].min, b[k].ranges[d].min) ||
          !expr(a[k].ranges[d].extent, b[k].ranges[d].extent))
        return false;
  }
  return true;
}

inline bool Comparer::block(const BlockNode& a, const BlockNode& b) {
  if (a.iters.size() != b.iters.size() || a.init != b.init || a.attributes != b.attributes ||
      !names(a.name(), b.name()) || !bind(a.tag.get(), b.tag.get()) ||
      !reducer(a.reducer, b.reducer))
    return false;
  for (std::size_t k = 0; k < a.iters.size(); ++k)
    if (!expr(a.iters[k].binding, b.iters[k].binding)) return false;
  for (std::size_t k = 0; k < a.iters.size(); ++k) {
    const IterVar &x = a.iters[k], &y = b.iters[k];
    if (x.kind != y.kind || !all({{&x.min, &y.min}, {&x.extent, &y.extent}}) ||
        !bind_var(x.var, y.var))
      return false;
  }
  return expr(a.predicate, b.predicate) && regions(a.reads, b.reads) &&
         regions(a.writes, b.writes) && stmt(a.body, b.body);
}

inline bool Comparer::stmt(const Stmt& a, const Stmt& b) {
  if (!a || !b) return !a && !b;
  if (a.same_as(b) && identity_) return true;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case StmtKind::For: {
      const auto *x = a.as<ForNode>(), *y = b.as<ForNode>();
      return x->loop_kind == y->loop_kind && x->attributes == y->attributes &&
             all({{&x->min, &y->min}, {&x->extent, &y->extent}}) && bind_var(x->var, y->var) &&
             stmt(x->body, y->body);
    }
    case StmtKind::Block:
      return block(*a.as<BlockNode>(), *b.as<BlockNode>());
    case StmtKind::Alloc:
      return bind_buffer(a.as<AllocNode>()->buffer, b.as<AllocNode>()->buffer) &&
             stmt(a.as<AllocNode>()->body, b.as<AllocNode>()->body);
    case StmtKind::Store: {
      const auto *x = a.as<StoreNode>(), *y = b.as<StoreNode>();
      return x->streaming == y->streaming && same(x->buffer.get(), y->buffer.get()) &&
             exprs(x->indices, y->indices) && all({{&x->mask, &y->mask}, {&x->value, &y->value}});
    }
    case StmtKind::Atomic: {
      const auto *x = a.as<AtomicNode>(), *y = b.as<AtomicNode>();
      return x->op == y->op && same(x->buffer.get(), y->buffer.get()) &&
             exprs(x->indices, y->indices) && expr(x->value, y->value);
    }
    case StmtKind::LetStmt: {
      const auto *x = a.as<LetStmtNode>(), *y = b.as<LetStmtNode>();
      return expr(x->value, y->value) && bind_var(x->var, y->var) && stmt(x->body, y->body);
    }
    case StmtKind::Seq: {
      const auto &x = a.as<SeqNode>()->stmts, &y = b.as<SeqNode>()->stmts;
      if (x.size() != y.size()) return false;
      for (std::size_t k = 0; k < x.size(); ++k)
        if (!stmt(x[k], y[k])) return false;
      return true;
    }
    case StmtKind::If: {
      const auto *x = a.as<IfNode>(), *y = b.as<IfNode>();
      return expr(x->condition, y->condition) && stmt(x->then_body, y->then_body) &&
             stmt(x->else_body, y->else_body);
    }
    case StmtKind::While:
      return expr(a.as<WhileNode>()->condition, b.as<WhileNode>()->condition) &&
             stmt(a.as<WhileNode>()->body, b.as<WhileNode>()->body);
    case StmtKind::Assert:
      return a.as<AssertNode>()->message == b.as<AssertNode>()->message &&
             expr(a.as<AssertNode>()->condition, b.as<AssertNode>()->condition) &&
             exprs(a.as<AssertNode>()->values, b.as<AssertNode>()->values);
    case StmtKind::Evaluate:
      return expr(a.as<EvaluateNode>()->call, b.as<EvaluateNode>()->call);
  }
  unreachable("statement kind");
}

// A variable that is itself a stride of a param, and bound nowhere before, is bound there.
inline bool Comparer::stride_vars(const BufferNode& a, const BufferNode& b) {
  if (a.strides.size() != b.strides.size()) return false;
  for (std::size_t k = 0; k < a.strides.size(); ++k) {
    const auto *x = a.strides[k].as<VarNode>(), *y = b.strides[k].as<VarNode>();
    if (!x || !y || there_.contains(x) || back_.contains(y)) continue;
    if (!bind_var(VarRef(x), VarRef(y))) return false;
  }
  return true;
}

inline bool Comparer::param(const Param& a, const Param& b) {
  if (a.access != b.access || bool(a.buffer) != bool(b.buffer) || a.constancy != b.constancy ||
      (!named_ && bool(a.content) != bool(b.content)))
    return false;
  if (!named_ && a.content && !(a.content->hash() == b.content->hash())) return false;
  return a.buffer ? stride_vars(*a.buffer, *b.buffer) && bind_buffer(a.buffer, b.buffer)
                  : bind_var(a.var, b.var);
}

inline bool Comparer::program(const ProgramNode& a, const ProgramNode& b) {
  if (a.stage != b.stage || a.scheduled != b.scheduled || a.params.size() != b.params.size() ||
      a.dims.size() != b.dims.size() || !names(a.name, b.name))
    return false;
  for (std::size_t k = 0; k < a.dims.size(); ++k) {
    const DimNode &x = *a.dims[k], &y = *b.dims[k];
    if (x.min != y.min || x.max != y.max || x.multiple_of != y.multiple_of ||
        !bind_var(x.var, y.var))
      return false;
  }
  for (std::size_t k = 0; k < a.params.size(); ++k)
    if (!param(a.params[k], b.params[k])) return false;
  return stmt(a.body, b.body);
}

}  // namespace detail

LATHE_DECL bool structurally_equal(const Program& a, const Program& b) {
  if (!a || !b || a == b) return a == b;
  return detail::Comparer().program(*a, *b);
}
LATHE_DECL bool equal_but_for_contents(const Program& a, const Program& b) {
  if (!a || !b || a == b) return a == b;
  return detail::Comparer(true).program(*a, *b);
}
LATHE_DECL bool structurally_equal(const Stmt& a, const Stmt& b) {
  return detail::Comparer().stmt(a, b);
}
LATHE_DECL bool structurally_equal(const AnyExpr& a, const AnyExpr& b) {
  return detail::Comparer().expr(a, b);
}
LATHE_DECL bool structurally_equal(const ReducerRef& a, const ReducerRef& b) {
  return detail::Comparer().reducer(a, b);
}

}  // namespace lathe

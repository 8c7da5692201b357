#pragma once

#include <bit>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

/// Numbers what is bound in the order of the walk and mixes numbers in place of names. The order of
/// the fields is that of Comparer.
class StructuralHasher {
 public:
  void program(const ProgramNode& p);
  void stmt(const Stmt& s);
  void expr(const AnyExpr& e);
  std::uint64_t result() const { return state_; }

 private:
  void add(std::uint64_t word) { state_ = mix(state_, word); }
  void add(std::string_view text);
  void add(DType t) { add(pack(t)); }
  static std::uint64_t mix(std::uint64_t state, std::uint64_t word);
  static std::uint64_t pack(DType t);
  void bind(const RefCounted* node) { numbers_[node] = ++count_; }
  void bind_var(const VarRef& v) { add(v->dtype), bind(v.get()); }
  void bind_buffer(const Buffer& b);
  std::uint64_t number(const RefCounted* node, std::string_view name);
  void exprs(const Vec<AnyExpr>& list);
  void attributes(const Attributes& all);
  void block(const BlockNode& n);
  void reducer(const ReducerNode& r);
  void regions(const Vec<Region>& list);
  void access(const Buffer& buffer, const Vec<AnyExpr>& indices);
  void node(const AnyExpr& e);

  std::uint64_t state_ = 0x6c61746865;
  std::uint64_t count_ = 0;
  NodeMap<std::uint64_t> numbers_;
};

inline std::uint64_t StructuralHasher::mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15;
  state ^= state >> 32;
  state *= 0xd6e8feb86659fd93;
  return state ^ (state >> 29);
}
inline std::uint64_t StructuralHasher::pack(DType t) {
  return static_cast<std::uint64_t>(t.code) << 40 | static_cast<std::uint64_t>(t.bits) << 24 |
         static_cast<std::uint64_t>(t.lanes) << 1 | static_cast<std::uint64_t>(t.scalable);
}
inline void StructuralHasher::add(std::string_view text) {
  add(text.size());
  for (char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
}
inline std::uint64_t StructuralHasher::number(const RefCounted* node, std::string_view name) {
  if (const auto* found = numbers_.find(node)) return *found;
  std::uint64_t hash = 0x66726565;
  for (char c : name) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}
inline void StructuralHasher::bind_buffer(const Buffer& b) {
  add(b->dtype), add(static_cast<std::uint64_t>(b->scope)),
      add(static_cast<std::uint64_t>(b->alignment));
  for (const auto& rule : b->aligned)
    add("aligned"), add(static_cast<std::uint64_t>(rule.dim)),
        add(static_cast<std::uint64_t>(rule.factor)), add(static_cast<std::uint64_t>(rule.offset));
  exprs(b->shape), exprs(b->strides), bind(b.get());
}

inline void StructuralHasher::exprs(const Vec<AnyExpr>& list) {
  add(list.size());
  for (const auto& e : list) expr(e);
}
inline void StructuralHasher::attributes(const Attributes& all) {
  add(all.size());
  for (const auto& a : all) add(to_text(a));
}
inline void StructuralHasher::access(const Buffer& buffer, const Vec<AnyExpr>& indices) {
  add(number(buffer.get(), buffer->name));
  exprs(indices);
}

inline void StructuralHasher::expr(const AnyExpr& e) {
  if (!e.get()) return add(0);
  add(static_cast<std::uint64_t>(e.kind()) + 1), add(e.dtype());
  node(e);
}

inline void StructuralHasher::node(const AnyExpr& e) {
  auto op = [this](auto value) { add(static_cast<std::uint64_t>(value)); };
  switch (e.kind()) {
    case ExprKind::Const:
      op(e.as<ConstNode>()->i), add(std::bit_cast<std::uint64_t>(e.as<ConstNode>()->f));
      return;
    case ExprKind::Var:
      return add(number(e.get(), e.as<VarNode>()->name));
    case ExprKind::Load:
      return access(e.as<LoadNode>()->buffer, e.as<LoadNode>()->indices),
             expr(e.as<LoadNode>()->mask);
    case ExprKind::Let: {
      const auto* n = e.as<LetNode>();
      for (const auto& b : n->bindings) expr(b.value), bind_var(b.var);
      return expr(n->body);
    }
    case ExprKind::Binary: {
      const auto* n = e.as<BinaryNode>();
      return op(n->op), expr(n->a), expr(n->b);
    }
    case ExprKind::Unary:
      return op(e.as<UnaryNode>()->op), expr(e.as<UnaryNode>()->a);
    case ExprKind::Select: {
      const auto* n = e.as<SelectNode>();
      return expr(n->condition), expr(n->yes), expr(n->no);
    }
    case ExprKind::Cast:
      return expr(e.as<CastNode>()->value);
    case ExprKind::Call:
      return op(e.as<CallNode>()->op), exprs(e.as<CallNode>()->args);
    case ExprKind::Ramp: {
      const auto* n = e.as<RampNode>();
      return expr(n->base), expr(n->stride), op(n->lanes);
    }
    case ExprKind::Broadcast:
      return expr(e.as<BroadcastNode>()->value), op(e.as<BroadcastNode>()->lanes);
    case ExprKind::Shuffle: {
      const auto* n = e.as<ShuffleNode>();
      exprs(n->vectors);
      for (int lane : n->lanes) op(lane);
      return;
    }
  }
}

inline void StructuralHasher::reducer(const ReducerNode& r) {
  add(std::uint64_t{r.associative} * 2 + r.commutative);
  exprs(r.identity);
  for (const auto* vars : {&r.lhs, &r.rhs}) {
    add(vars->size());
    for (const auto& v : *vars) bind_var(v);
  }
  exprs(r.combine);
}

inline void StructuralHasher::regions(const Vec<Region>& list) {
  add(list.size());
  for (const auto& region : list) {
    add(number(region.buffer.get(), region.buffer->name));
    add(region.ranges.size());
    for (const auto& range : region.ranges) expr(range.min), expr(range.extent);
  }
}

inline void StructuralHasher::block(const BlockNode& n) {
  add(n.iters.size()), add(std::uint64_t{n.init}), attributes(n.attributes);
  add(std::uint64_t{static_cast<bool>(n.reducer)});
  if (n.reducer) reducer(*n.reducer);
  for (const auto& it : n.iters) expr(it.binding);
  for (const auto& it : n.iters) {
    add(static_cast<std::uint64_t>(it.kind)), expr(it.min), expr(it.extent);
    bind_var(it.var);
  }
  expr(n.predicate), regions(n.reads), regions(n.writes), stmt(n.body);
}

inline void StructuralHasher::stmt(const Stmt& s) {
  if (!s) return add(0);
  add(static_cast<std::uint64_t>(s.kind()) + 101);
  switch (s.kind()) {
    case StmtKind::For: {
      const auto* n = s.as<ForNode>();
      add(static_cast<std::uint64_t>(n->loop_kind)), attributes(n->attributes);
      return expr(n->min), expr(n->extent), bind_var(n->var), stmt(n->body);
    }
    case StmtKind::Block:
      return block(*s.as<BlockNode>());
    case StmtKind::Alloc:
      return bind_buffer(s.as<AllocNode>()->buffer), stmt(s.as<AllocNode>()->body);
    case StmtKind::Store: {
      const auto* n = s.as<StoreNode>();
      add(static_cast<std::uint64_t>(n->streaming)), access(n->buffer, n->indices);
      return expr(n->mask), expr(n->value);
    }
    case StmtKind::Atomic: {
      const auto* n = s.as<AtomicNode>();
      add(static_cast<std::uint64_t>(n->op));
      return access(n->buffer, n->indices), expr(n->value);
    }
    case StmtKind::LetStmt: {
      const auto* n = s.as<LetStmtNode>();
      return expr(n->value), bind_var(n->var), stmt(n->body);
    }
    case StmtKind::Seq:
      add(s.as<SeqNode>()->stmts.size());
      for (const auto& child : s.as<SeqNode>()->stmts) stmt(child);
      return;
    case StmtKind::If: {
      const auto* n = s.as<IfNode>();
      return expr(n->condition), stmt(n->then_body), stmt(n->else_body);
    }
    case StmtKind::While:
      return expr(s.as<WhileNode>()->condition), stmt(s.as<WhileNode>()->body);
    case StmtKind::Assert:
      add(s.as<AssertNode>()->message), expr(s.as<AssertNode>()->condition);
      return exprs(s.as<AssertNode>()->values);
    case StmtKind::Evaluate:
      return expr(s.as<EvaluateNode>()->call);
  }
}

inline void StructuralHasher::program(const ProgramNode& p) {
  add(static_cast<std::uint64_t>(p.stage)), add(p.dims.size());
  if (p.scheduled) add("scheduled");
  for (const auto& d : p.dims) {
    for (std::int64_t field : {d->min, d->max, d->multiple_of})
      add(static_cast<std::uint64_t>(field));
    bind_var(d->var);
  }
  add(p.params.size());
  for (const auto& param : p.params) {
    add(static_cast<std::uint64_t>(param.access)),
        add(std::uint64_t{static_cast<bool>(param.buffer)});
    if (param.constancy != Constancy::none) add(static_cast<std::uint64_t>(param.constancy));
    if (!param.buffer) {
      bind_var(param.var);
      continue;
    }
    for (const auto& stride : param.buffer->strides)
      if (stride.as<VarNode>() && !numbers_.contains(stride.get())) bind(stride.get());
    bind_buffer(param.buffer);
  }
  stmt(p.body);
}

}  // namespace detail

LATHE_DECL std::uint64_t structural_hash(const Program& program) {
  detail::StructuralHasher hasher;
  if (program) hasher.program(*program);
  return hasher.result();
}
LATHE_DECL std::uint64_t structural_hash(const Stmt& stmt) {
  detail::StructuralHasher hasher;
  hasher.stmt(stmt);
  return hasher.result();
}
LATHE_DECL std::uint64_t structural_hash(const AnyExpr& expr) {
  detail::StructuralHasher hasher;
  hasher.expr(expr);
  return hasher.result();
}

}  // namespace lathe

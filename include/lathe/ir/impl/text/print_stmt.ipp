#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline void Printer::begin_line(int indent) {
  line_begin_ = out_.size();
  out_.append(static_cast<std::size_t>(indent) * 2, ' ');
}

inline void Printer::end_line() {
  out_ += '\n';
  ++line_;
}

/// What was written since `begin` stands for the node.
inline void Printer::mark(const RefCounted* node, std::size_t begin) {
  if (!marked_.insert(node).second) return;
  places_.push_back({node, line_, static_cast<int>(begin - line_begin_) + 1,
                     static_cast<int>(out_.size() - begin)});
}

inline void Printer::body(const Stmt& s, int indent) {
  if (const auto* n = s.as<SeqNode>()) {
    if (!n->stmts.empty()) return seq(n->stmts, indent);
    begin_line(indent), put("pass");
    mark(s.get(), line_begin_ + static_cast<std::size_t>(indent) * 2);
    return end_line();
  }
  stmt(s, indent, true);
}

inline void Printer::seq(const Vec<Stmt>& stmts, int indent) {
  for (std::size_t k = 0; k < stmts.size(); ++k) stmt(stmts[k], indent, k + 1 == stmts.size());
}

// A chain of lets and allocs, each the last of its body, is printed in one loop: `last` says that
// the body may follow on the same level.
inline void Printer::stmt(const Stmt& s, int indent, bool last) {
  begin_line(indent);
  std::size_t begin = out_.size();
  if (!s) return put("<none>"), end_line();
  switch (s.kind()) {
    case StmtKind::For:
      return for_loop(*s.as<ForNode>(), indent);
    case StmtKind::Block:
      return block(*s.as<BlockNode>(), indent);
    case StmtKind::Alloc:
      return alloc(*s.as<AllocNode>(), indent, last);
    case StmtKind::LetStmt:
      return let_stmt(*s.as<LetStmtNode>(), indent, last);
    case StmtKind::Seq:
      out_.resize(line_begin_);
      return body(s, indent);
    case StmtKind::If:
      return conditional(*s.as<IfNode>(), indent);
    case StmtKind::While: {
      const auto* n = s.as<WhileNode>();
      put("while "), expr(n->condition), mark(n, begin), put(':'), end_line();
      return body(n->body, indent + 1);
    }
    case StmtKind::Store:
      store(*s.as<StoreNode>());
      break;
    case StmtKind::Atomic: {
      const auto* n = s.as<AtomicNode>();
      put("atomic "), access(n->buffer, n->indices, {});
      put(' ', op_text(n->op), "= "), expr(n->value);
      break;
    }
    case StmtKind::Assert: {
      const auto* n = s.as<AssertNode>();
      put("assert "), expr(n->condition), put(", ", escape(n->message, '"'));
      if (!n->values.empty()) put(" % ("), exprs(n->values), put(')');
      break;
    }
    case StmtKind::Evaluate:
      put("eval "), expr(s.as<EvaluateNode>()->call);
      break;
  }
  mark(s.get(), begin);
  end_line();
}

inline void Printer::attributes(const Attributes& all) {
  for (const auto& a : all) put(' ', to_text(a));
}

inline void Printer::for_loop(const ForNode& n, int indent) {
  std::size_t begin = out_.size();
  if (n.loop_kind != ForKind::serial) put(to_text(n.loop_kind), ' ');
  put("for ");
  std::size_t name_begin = out_.size();
  // The bounds are outside the variable's scope, but a name that they use is taken anyway.
  put(names_.bind(n.var.get(), n.var->name, true));
  mark(n.var.get(), name_begin);
  put(" in "), range(n.min, n.extent), attributes(n.attributes);
  mark(&n, begin);
  put(':'), end_line();
  body(n.body, indent + 1);
  names_.release(n.var.get());
}

inline void Printer::block_iters(const BlockNode& n) {
  bool first = true;
  for (const auto& it : n.iters) {
    if (!std::exchange(first, false)) put(", ");
    if (it.kind != IterKind::spatial) put(to_text(it.kind), ' ');
    put(names_.bind(it.var.get(), it.var->name), " in "), range(it.min, it.extent), put(" = ");
    names_.leave_block();
    expr(it.binding);
    names_.enter_block();
  }
}

inline void Printer::regions(std::string_view word, const Vec<Region>& list) {
  bool first = true;
  for (const auto& region : list) {
    put(std::exchange(first, false) ? cat(' ', word, ' ') : ", ",
        names_.use(region.buffer.get(), region.buffer->name));
    put('[');
    for (std::size_t k = 0; k < region.ranges.size(); ++k) {
      if (k > 0) put(", ");
      range(region.ranges[k].min, region.ranges[k].extent);
    }
    put(']');
  }
}

inline void Printer::block_clauses(const BlockNode& n) {
  if (n.predicate) put(" where "), expr(n.predicate);
  if (n.reducer) put(" reduce ", reducers_[n.reducer.get()]);
  if (n.init) put(" init");
  regions("reads", n.reads);
  regions("writes", n.writes);
  attributes(n.attributes);
}

inline void Printer::block(const BlockNode& n, int indent) {
  std::size_t begin = out_.size();
  std::string name = n.name();
  for (std::size_t k = 1; !block_names_.insert(name).second; ++k) name = cat(n.name(), '_', k);
  put("block ");
  std::size_t name_begin = out_.size();
  put(quoted_name(name));
  mark(n.tag.get(), name_begin);
  put('(');
  names_.enter_block();
  block_iters(n), put(')'), block_clauses(n);
  mark(&n, begin);
  put(':'), end_line();
  std::string outer =
      std::exchange(store_word_, n.reducer ? reducers_[n.reducer.get()] : std::string());
  body(n.body, indent + 1);
  store_word_ = std::move(outer);
  for (const auto& it : reversed(n.iters)) names_.release(it.var.get());
  names_.leave_block();
}

inline void Printer::buffer_type(const BufferNode& b) {
  put(b.dtype.str(), '['), exprs(b.shape), put(']');
  if (!b.strides.empty()) put(" strides ["), exprs(b.strides), put(']');
  if (b.scope != Scope::global) put(" scope ", to_text(b.scope));
  if (b.tile >= 0) put(" tile ", b.tile);
  if (b.alignment != 0) put(" align ", b.alignment);
  for (const auto& rule : b.aligned)
    put(" aligned [", rule.dim, ", ", rule.factor, ", ", rule.offset, "]");
}

inline void Printer::alloc(const AllocNode& n, int indent, bool last) {
  std::size_t begin = out_.size();
  put("alloc ", names_.bind(n.buffer.get(), n.buffer->name), ": "), buffer_type(*n.buffer);
  mark(&n, begin);
  if (!last) put(':');
  end_line();
  body(n.body, last ? indent : indent + 1);
  names_.release(n.buffer.get());
}

inline void Printer::let_stmt(const LetStmtNode& n, int indent, bool last) {
  std::size_t begin = out_.size();
  put("let ", names_.bind(n.var.get(), n.var->name, true), " = "), expr(n.value);
  mark(&n, begin);
  if (!last) put(':');
  end_line();
  body(n.body, last ? indent : indent + 1);
  names_.release(n.var.get());
}

inline void Printer::store(const StoreNode& n) {
  if (n.streaming == Streaming::any) put("stream ");
  if (n.streaming == Streaming::lines) put("stream_lines ");
  access(n.buffer, n.indices, n.mask);
  put(' ');
  if (!store_word_.empty()) put(store_word_);
  put("= "), expr(n.value);
}

inline void Printer::conditional(const IfNode& n, int indent) {
  std::size_t begin = out_.size();
  put("if "), expr(n.condition), mark(&n, begin), put(':'), end_line();
  body(n.then_body, indent + 1);
  if (!n.else_body) return;
  begin_line(indent), put("else:"), end_line();
  body(n.else_body, indent + 1);
}

inline void Printer::reducer(const ReducerNode& r, int indent) {
  std::string name = r.name;
  for (std::size_t k = 1; !reducer_names_.insert(name).second; ++k) name = cat(r.name, '_', k);
  reducers_[&r] = quoted_name(name);
  begin_line(indent), put("reducer ");
  if (!r.associative) put("nonassociative ");
  if (!r.commutative) put("noncommutative ");
  put(quoted_name(name), '(');
  names_.enter_block();
  for (std::size_t k = 0; k < r.lhs.size(); ++k) {
    put(k > 0 ? ", " : "", names_.bind(r.lhs[k].get(), r.lhs[k]->name, true), ": ",
        r.lhs[k]->dtype.str(), " = ");
    expr(k < r.identity.size() ? r.identity[k] : AnyExpr());
  }
  for (std::size_t k = 0; k < r.rhs.size(); ++k)
    put(k > 0 ? ", " : "; ", names_.bind(r.rhs[k].get(), r.rhs[k]->name, true));
  put(") = "), exprs(r.combine), end_line();
  for (const auto* vars : {&r.rhs, &r.lhs})
    for (const auto& var : *vars) names_.release(var.get());
  names_.leave_block();
}

/// The reducers of the blocks, in order of first use.
class ReducerCollector : public Visitor {
 public:
  void stmt(const Stmt& s) override {
    if (!s) return;
    const auto* block = s.as<BlockNode>();
    if (block && block->reducer && seen_.insert(block->reducer.get()).second)
      found.push_back(block->reducer);
    descend(s);
  }
  void expr(const AnyExpr&) override {}

  Vec<ReducerRef> found;

 private:
  NodeSet seen_;
};

inline bool is_builtin(const ReducerRef& r) {
  Vec<DType> dtypes;
  for (const auto& e : r->identity) dtypes.push_back(e.dtype());
  return structurally_equal(r, builtin_reducer(r->name, dtypes));
}

// Built-in ones keep their names, so they are first.
inline void Printer::reducers_of(const Stmt& s, int indent) {
  ReducerCollector all;
  if (s) all.stmt(s);
  for (const auto& r : all.found)
    if (is_builtin(r)) reducers_[r.get()] = quoted_name(r->name), reducer_names_.insert(r->name);
  for (const auto& r : all.found)
    if (!reducers_.contains(r.get())) reducer(*r, indent);
}

}  // namespace detail
}  // namespace lathe

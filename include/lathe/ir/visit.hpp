// Visitors and mutators of programs: one switch over the nodes, and what is built on it.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <utility>

namespace lathe {

/// Walks everything. Override expr or stmt, look at the kind, and call descend to go on into the
/// children. Order is evaluation order: indices, mask, value; min, extent, body; bindings,
/// predicate, body.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void expr(const AnyExpr& e) { descend(e); }
  virtual void stmt(const Stmt& s) { descend(s); }
  virtual void buffer(const Buffer&) {
  }  ///< called for each use (load, store, alloc, region); shapes are not walked

 protected:
  void descend(const AnyExpr& e);
  void descend(const Stmt& s);
};

/// Whether f holds for a statement directly below s; they come in evaluation order, the first that
/// holds ends it. For questions about statements alone: no expression is visited.
template <class F>
bool any_child(const Stmt& s, const F& f) {
  switch (s.kind()) {
    case StmtKind::For:
      return f(s.as<ForNode>()->body);
    case StmtKind::Block:
      return f(s.as<BlockNode>()->body);
    case StmtKind::Alloc:
      return f(s.as<AllocNode>()->body);
    case StmtKind::LetStmt:
      return f(s.as<LetStmtNode>()->body);
    case StmtKind::While:
      return f(s.as<WhileNode>()->body);
    case StmtKind::If: {
      const auto* n = s.as<IfNode>();
      return f(n->then_body) || (n->else_body && f(n->else_body));
    }
    case StmtKind::Seq:
      for (const auto& child : s.as<SeqNode>()->stmts)
        if (f(child)) return true;
      return false;
    default:
      return false;
  }
}
/// Whether f holds for s or a statement anywhere below it, parents before their children.
template <class F>
bool any_statement(const Stmt& s, const F& f) {
  return f(s) || any_child(s, [&](const Stmt& child) { return any_statement(child, f); });
}
namespace detail {

void gather_contents(const Stmt& s);
/// Of a statement that holds others in its body; a sequence, an alloc or a simple statement has
/// none, and may hold anything.
inline bool has_contents(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::For:
    case StmtKind::Block:
    case StmtKind::LetStmt:
    case StmtKind::If:
    case StmtKind::While:
      return true;
    default:
      return false;
  }
}
inline const ContentsMemo& known_contents(const Stmt& s) {
  if (!s->contents.is_set()) gather_contents(s);
  return s->contents;
}
inline Contents contents_of(const Stmt& s) { return known_contents(s).get(); }

/// All that a search needs to ask: whether it has to enter a statement.
inline bool may_hold_block(const Stmt& s, std::uint64_t bit) {
  return !has_contents(s) || (known_contents(s).blocks() & bit) != 0;
}
inline bool may_hold_loop(const Stmt& s, std::uint64_t bit) {
  return !has_contents(s) || (known_contents(s).loops() & bit) != 0;
}
inline bool may_touch(const Stmt& s, std::uint64_t bits) {
  return !has_contents(s) || (known_contents(s).buffers() & bits) != 0;
}

}  // namespace detail

/// The same, without the statements that need not be entered (and what is below them).
template <class Enter, class F>
bool any_statement_in(const Stmt& s, const Enter& enter, const F& f) {
  if (!enter(s)) return false;
  return f(s) || any_child(s, [&](const Stmt& child) { return any_statement_in(child, enter, f); });
}
/// f for s and every statement below it, parents before their children.
template <class F>
void each_statement(const Stmt& s, const F& f) {
  any_statement(s, [&](const Stmt& below) { return f(below), false; });
}

/// Rebuilds what changed and shares what did not. Variables, buffers and blocks keep their identity
/// unless the override says otherwise. Reducers are closed and not entered.
class Mutator {
 public:
  virtual ~Mutator() = default;
  virtual AnyExpr expr(const AnyExpr& e) { return descend(e); }
  virtual Stmt stmt(const Stmt& s) { return descend(s); }
  virtual Buffer buffer(const Buffer& b) {
    return b;
  }  ///< each use: load, store, alloc, declared region

  AnyExpr optional(const AnyExpr& e) { return e ? expr(e) : e; }

 protected:
  AnyExpr descend(const AnyExpr& e);
  Stmt descend(const Stmt& s);
};

/// Turns every load, store and atomic update of one buffer to another, at places that follow from
/// the old ones; those are given with what they hold moved already.
class MoveAccesses : public Mutator {
 public:
  MoveAccesses(const Buffer& from, const Buffer& to) : from_(from), to_(to) {}
  LATHE_DECL AnyExpr expr(const AnyExpr& e) override;
  LATHE_DECL Stmt stmt(const Stmt& s) override;

 protected:
  virtual Vec<AnyExpr> place(const Vec<AnyExpr>& indices) = 0;
  Buffer from_, to_;

 private:
  Vec<AnyExpr> moved(const Vec<AnyExpr>& indices);
};

/// Replacement of variables by expressions, simultaneous; keyed by identity. Small: linear search.
using Substitution = Vec<std::pair<VarRef, AnyExpr>>;
AnyExpr substitute(const AnyExpr& e, const Substitution& map);
Stmt substitute(const Stmt& s, const Substitution& map);
/// A copy whose lets bind fresh variables, so that it may stand twice in one program.
AnyExpr fresh_lets(const AnyExpr& e);
Stmt fresh_lets(const Stmt& s);
/// Replacement of buffers, also in allocs and declared regions.
Stmt replace_buffer(const Stmt& s, const Buffer& from, const Buffer& to);

bool uses_var(const AnyExpr& e, const VarRef& var);
/// Whether all variables that occur free are among these.
bool names_only(const AnyExpr& e, const Vec<VarRef>& known);
/// Whether one of these variables occurs free.
bool names_one_of(const AnyExpr& e, const Vec<VarRef>& vars);
/// The first load that an expression holds; null: it reads no memory.
const LoadNode* find_load(const AnyExpr& e);
bool uses_var(const Stmt& s, const VarRef& var);
/// The parts of a conjunction in the order in which they are tested; none of no condition.
Vec<AnyExpr> conjuncts(const AnyExpr& condition);
/// Whether it names a reduce iterator of these: then an init, which has none, cannot ask it.
bool names_reduce(const Vec<IterVar>& iters, const AnyExpr& e);
/// Those of a block's predicate that its init shares: they name no reduce iterator.
Vec<AnyExpr> init_conjuncts(const BlockNode& block);
/// Variables that occur free, each once, in order of first occurrence.
Vec<VarRef> free_vars(const AnyExpr& e);
Vec<VarRef> free_vars(const Stmt& s);
/// Number of nodes, for budgets.
std::size_t node_count(const AnyExpr& e);
std::size_t node_count(const Stmt& s);

}  // namespace lathe

#pragma once

#include <algorithm>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// Whether a division by what is no constant stands in it.
inline bool has_quotient(const AnyExpr& e) {
  struct Quotients : Visitor {
    bool found = false;
    void expr(const AnyExpr& e) override {
      if (found || !seen.insert(e.get(), true)) return;
      const auto* n = e.as<BinaryNode>();
      found = n && is_quotient(*n);
      descend(e);
    }
    static bool is_quotient(const BinaryNode& n) {
      return (n.op == BinaryOp::div || n.op == BinaryOp::mod) && n.dtype.is_int() &&
             !as_const_int(n.b);
    }
    NodeMap<bool> seen;
  } visitor;
  visitor.expr(e);
  return visitor.found;
}

class HoistQuotients : public SharingMutator {
 public:
  explicit HoistQuotients(const ProgramNode& program) {
    for (const auto& dim : program.dims) bound_at_[dim->var.get()] = 0;
    for (const auto& param : program.params)
      if (param.var) bound_at_[param.var.get()] = 0;
  }

  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<ForNode>()) return loop(s, *n);
    if (const auto* n = s.as<LetStmtNode>()) bound_at_[n->var.get()] = loops_.size();
    return SharingMutator::stmt(s);
  }

 private:
  /// What is bound ahead of a loop, in this order.
  struct Loop {
    Vec<std::pair<VarRef, AnyExpr>> ahead;
    bool parallel = false;
  };

  Stmt loop(const Stmt& s, const ForNode& n) {
    forget(0);
    const AnyExpr min = expr(n.min), extent = expr(n.extent);
    loops_.push_back({{}, n.loop_kind == ForKind::parallel});
    bound_at_[n.var.get()] = loops_.size();
    const Stmt body = stmt(n.body);
    const Loop done = std::move(loops_.back());
    loops_.pop_back();
    forget(0);
    Stmt out = s;
    if (!min.same_as(n.min) || !extent.same_as(n.extent) || !body.same_as(n.body))
      out = make_for(n.var, min, extent, body, n.loop_kind, n.attributes);
    for (std::size_t k = done.ahead.size(); k-- > 0;)
      out = make_let_stmt(done.ahead[k].first, done.ahead[k].second, out);
    return out;
  }

  // The whole of a let, whose variables have no meaning outside of it.
  AnyExpr rewritten(const AnyExpr& e) override {
    const bool candidate = e.dtype().lanes == 1 && e.dtype().is_int() &&
                           (e.kind() == ExprKind::Let || e.kind() == ExprKind::Binary);
    if (!candidate || loops_.empty()) return descend(e);
    const auto* n = e.as<BinaryNode>();
    if (n && n->op != BinaryOp::div && n->op != BinaryOp::mod) return descend(e);
    if (!has_quotient(e) || !is_load_free(e)) return descend(e);
    const std::size_t level = level_of(e);
    return level < loops_.size() ? bound(loops_[level], e, level) : descend(e);
  }

  /// Inside of how many loops it can stand: of the innermost that runs in parallel, and of those
  /// that it depends on.
  std::size_t level_of(const AnyExpr& e) const {
    std::size_t level = 0;
    for (std::size_t k = 0; k < loops_.size(); ++k)
      if (loops_[k].parallel) level = k + 1;
    for (const VarRef& var : free_vars(e)) {
      const std::size_t* at = bound_at_.find(var.get());
      level = std::max(level, at ? *at : loops_.size());
    }
    return level;
  }

  AnyExpr bound(Loop& loop, const AnyExpr& e, std::size_t level) {
    for (const auto& [var, value] : loop.ahead)
      if (structurally_equal(value, e)) return AnyExpr(var);
    VarRef var = make_var("quotient", e.dtype());
    bound_at_[var.get()] = level;
    loop.ahead.emplace_back(var, e);
    return AnyExpr(var);
  }

  Vec<Loop> loops_;                ///< around the statement, the outermost first
  NodeMap<std::size_t> bound_at_;  ///< variables of statements: inside of how many loops
};

}  // namespace detail

LATHE_DECL Program hoist_quotients(const Program& program) {
  return program.with(detail::HoistQuotients(*program).stmt(program->body));
}

}  // namespace lathe

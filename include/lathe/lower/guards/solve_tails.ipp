#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/guards/at_least.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

class SolveTails : public Mutator {
 public:
  explicit SolveTails(const Program& program) : facts_(program) {}

  AnyExpr expr(const AnyExpr& e) override { return e; }
  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<IfNode>()) return branches(s, *n);
    const auto* loop = s.as<ForNode>();
    if (!loop) return descend(s);
    const Facts around = facts_;
    facts_.bind(*loop);
    // Lanes of a vector that are one are no vector.
    const bool solvable =
        loop->loop_kind == ForKind::serial || loop->loop_kind == ForKind::parallel;
    if (solvable) loops_.push_back(loop->var);
    Stmt out = descend(s);
    if (solvable) loops_.pop_back();
    facts_ = around;
    return out;
  }

 private:
  Stmt branches(const Stmt& s, const IfNode& n) {
    Stmt then_body = branch(n, true, n.then_body), else_body = n.else_body;
    if (else_body.get()) else_body = branch(n, false, else_body);
    if (then_body.same_as(n.then_body) && else_body.same_as(n.else_body)) return s;
    return make_if(n.condition, then_body, else_body);
  }

  Stmt branch(const IfNode& n, bool holds, Stmt body) {
    const Facts around = facts_;
    facts_.assume_before(holds ? n.condition : logical_not(n.condition));
    if (const auto known = AtLeast::of(n.condition, holds))
      if (prove_le(known->large, known->small, facts_)) body = solved(*known, std::move(body));
    body = stmt(body);
    facts_ = around;
    return body;
  }

  // One of the loops, from the innermost on, is what the others say.
  Stmt solved(const AtLeast& equal, Stmt body) const {
    const AnyExpr difference = equal.large - equal.small;
    for (std::size_t k = loops_.size(); k-- > 0;) {
      const auto sum = affine_of(difference, {loops_[k]});
      if (!sum || !sum->coef(0) || std::abs(*sum->coef(0)) != 1) continue;
      const AnyExpr value = simplify(*sum->coef(0) > 0 ? -sum->rest : sum->rest, facts_);
      return substitute(body, {{loops_[k], value}});
    }
    return body;
  }

  Facts facts_;
  Vec<VarRef> loops_;
};

}  // namespace detail

LATHE_DECL Program solve_tails(const Program& program) {
  return program.with(detail::SolveTails(program).stmt(program->body));
}

}  // namespace lathe

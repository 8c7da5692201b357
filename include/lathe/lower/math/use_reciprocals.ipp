#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

class UseReciprocals : public Mutator {
 public:
  bool changed = false;

  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<LetStmtNode>()) set_inside_.push_back(n->var);
    const auto* loop = s.as<ForNode>();
    if (!loop && s.kind() != StmtKind::While) return descend(s);
    const Stmt outer_loop = std::exchange(loop_, s);
    Vec<VarRef> outer = std::exchange(set_inside_, {});
    if (loop) set_inside_.push_back(loop->var);
    Stmt out = descend(s);
    set_inside_ = std::move(outer), loop_ = outer_loop;
    return out;
  }
  AnyExpr expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LetNode>())
      for (const auto& binding : n->bindings) set_inside_.push_back(binding.var);
    const auto* n = e.as<BinaryNode>();
    const DType t = e.dtype();
    if (!n || n->op != BinaryOp::div || !t.is_float() || t.bits < 32 || !stays(n->b) || stays(n->a))
      return descend(e);
    changed = true;
    return expr(n->a) * (make_float(t, 1) / expr(n->b));
  }

 private:
  // The same in all iterations of the innermost loop.
  bool stays(const AnyExpr& e) const {
    if (!loop_ || loads_written(e, loop_)) return false;
    for (const VarRef& var : free_vars(e))
      if (contains(set_inside_, var)) return false;
    return true;
  }

  Stmt loop_;  ///< the innermost one
  Vec<VarRef> set_inside_;
};

}  // namespace detail

LATHE_DECL Program use_reciprocals(const Program& program, std::vector<std::string>* changes) {
  detail::UseReciprocals pass;
  Program out = program.with(pass.stmt(program->body));
  if (changes && pass.changed)
    changes->push_back(
        "fast: x / s is x * (1 / s), up to 1 unit in the last place more, where s "
        "stays the same in a loop");
  return out;
}

}  // namespace lathe

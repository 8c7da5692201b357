#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

class ContractProducts : public Mutator {
 public:
  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<BinaryNode>();
    bool sum = n && (n->op == BinaryOp::add || n->op == BinaryOp::sub) && n->dtype.is_float();
    if (!sum) return descend(e);
    bool minus = n->op == BinaryOp::sub;
    AnyExpr a = expr(n->a), b = expr(n->b);
    // Of two products the left one is fused, so that the result does not depend on anything else.
    if (const auto* p = product(a)) return make_call(CallOp::fma, {p->a, p->b, minus ? -b : b});
    if (const auto* p = product(b)) return make_call(CallOp::fma, {minus ? -p->a : p->a, p->b, a});
    if (a.same_as(n->a) && b.same_as(n->b)) return e;
    return make_binary(n->op, std::move(a), std::move(b));
  }

 private:
  static const BinaryNode* product(const AnyExpr& e) {
    const auto* n = e.as<BinaryNode>();
    return n && n->op == BinaryOp::mul ? n : nullptr;
  }
};

}  // namespace detail

LATHE_DECL Program contract(const Program& program, const TargetCaps& caps) {
  if (!caps.fma) return program;
  return program.with(detail::ContractProducts().stmt(program->body));
}

}  // namespace lathe

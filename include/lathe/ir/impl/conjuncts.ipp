#pragma once

#include <algorithm>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

inline void split_conjuncts(const AnyExpr& condition, Vec<AnyExpr>& out) {
  const auto* n = condition.as<BinaryNode>();
  if (!n || n->op != BinaryOp::and_) return out.push_back(condition);
  split_conjuncts(n->a, out);
  split_conjuncts(n->b, out);
}

}  // namespace detail

LATHE_DECL Vec<AnyExpr> conjuncts(const AnyExpr& condition) {
  Vec<AnyExpr> out;
  if (condition) detail::split_conjuncts(condition, out);
  return out;
}

LATHE_DECL Vec<AnyExpr> init_conjuncts(const BlockNode& block) {
  Vec<AnyExpr> out = conjuncts(block.predicate);
  out.erase_if([&](const AnyExpr& part) {
    return std::any_of(block.iters.begin(), block.iters.end(), [&](const IterVar& it) {
      return it.kind == IterKind::reduce && uses_var(part, it.var);
    });
  });
  return out;
}

}  // namespace lathe

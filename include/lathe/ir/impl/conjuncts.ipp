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

LATHE_DECL bool names_reduce(const Vec<IterVar>& iters, const AnyExpr& e) {
  return std::any_of(iters.begin(), iters.end(), [&](const IterVar& it) {
    return it.kind == IterKind::reduce && uses_var(e, it.var);
  });
}

LATHE_DECL Vec<AnyExpr> init_conjuncts(const BlockNode& block) {
  Vec<AnyExpr> out = conjuncts(block.predicate);
  out.erase_if([&](const AnyExpr& part) { return names_reduce(block.iters, part); });
  return out;
}

}  // namespace lathe

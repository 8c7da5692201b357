#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe::detail {

// The parts of a conjunction.
inline void split_conjuncts(const AnyExpr& condition, Vec<AnyExpr>& out) {
  if (const auto* b = condition.as<BinaryNode>(); b && b->op == BinaryOp::and_) {
    split_conjuncts(b->a, out);
    split_conjuncts(b->b, out);
  } else {
    out.push_back(condition);
  }
}

}  // namespace lathe::detail

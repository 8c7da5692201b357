// Comparisons of indices in one form.
#pragma once

#include <lathe/arith/poly.hpp>
#include <optional>

namespace lathe::detail {

/// What a condition, or that it does not hold, says of two indices: that one is at least the other.
struct AtLeast {
  AnyExpr large, small;

  static std::optional<AtLeast> of(const AnyExpr& condition, bool holds) {
    const auto* n = condition.as<BinaryNode>();
    if (!n || n->a.dtype() != kIndex || !is_load_free(condition)) return {};
    switch (n->op) {
      case BinaryOp::lt:
        return holds ? AtLeast{n->b - 1, n->a} : AtLeast{n->a, n->b};
      case BinaryOp::le:
        return holds ? AtLeast{n->b, n->a} : AtLeast{n->a, n->b + 1};
      case BinaryOp::gt:
        return holds ? AtLeast{n->a - 1, n->b} : AtLeast{n->b, n->a};
      case BinaryOp::ge:
        return holds ? AtLeast{n->a, n->b} : AtLeast{n->b, n->a + 1};
      default:
        return {};
    }
  }
};

}  // namespace lathe::detail

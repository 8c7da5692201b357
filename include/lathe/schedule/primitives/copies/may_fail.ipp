// Values that are computed where the program asks for them only.
#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// A quotient by what may be 0, or a call that does something.
inline bool may_fail(const AnyExpr& e) {
  class FindFailure : public Visitor {
   public:
    bool found = false;
    void expr(const AnyExpr& part) override {
      const auto* n = part.as<BinaryNode>();
      const auto* call = part.as<CallNode>();
      const bool divides = n && (n->op == BinaryOp::div || n->op == BinaryOp::mod ||
                                 n->op == BinaryOp::floordiv || n->op == BinaryOp::floormod);
      if (divides && !n->a.dtype().is_float()) {
        const std::int64_t* by = as_const_int(n->b);
        found = found || !by || *by == 0;
      }
      found = found || (call && !op_pure(call->op));
      if (!found) descend(part);
    }
  } find;
  find.expr(e);
  return find.found;
}

}  // namespace lathe::detail

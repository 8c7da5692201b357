// The loads of index arithmetic.
#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe::detail {

class IndexLoads : public Visitor {
 public:
  using Visitor::stmt;
  void expr(const AnyExpr& e) override {
    if (e.kind() == ExprKind::Load && e.dtype() == kIndex) found.push_back(e);
    descend(e);
  }
  Vec<AnyExpr> found;
};

}  // namespace lathe::detail

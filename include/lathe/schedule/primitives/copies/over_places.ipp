// Expressions of a block's iterators, written over the place that they name.
#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// Writes what names iterators over a place; comparisons by the difference of their sides.
class OverPlaces : public Mutator {
 public:
  AnyExpr expr(const AnyExpr& e) override {
    if (!names_one_of(e, iters_)) return e;
    if (e.dtype() == kI64)
      if (AnyExpr moved = over_place(e); moved.get()) return moved;
    if (const auto* n = e.as<BinaryNode>(); n && is_comparison(n->op) && n->a.dtype() == kI64) {
      // A difference that may wrap is not ordered as its parts are.
      const AnyExpr difference = fold_sub(n->a, n->b);
      if (Simplifier(facts_).safe(difference))
        if (AnyExpr moved = over_place(difference); moved.get())
          return simplify(make_binary(n->op, moved, AnyExpr(0)));
    }
    return descend(e);
  }

 protected:
  /// `facts` has the ranges of the iterators.
  OverPlaces(const Vec<VarRef>& iters, const Facts& facts) : iters_(iters), facts_(facts) {}

  /// An integer over the place; empty where it is none of the place alone.
  virtual AnyExpr over_place(const AnyExpr& e) = 0;

  const Vec<VarRef>& iters_;
  const Facts& facts_;
};

}  // namespace lathe::detail

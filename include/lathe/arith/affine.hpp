// Index expressions that are linear in chosen variables, with their coefficients.
#pragma once

#include <lathe/arith/facts.hpp>

namespace lathe {

/// sum of coefs[k] * vars[k] + rest; coefs and rest are free of all vars.
struct Affine {
  Vec<AnyExpr> coefs;
  AnyExpr rest;

  /// The coefficient if it is a constant.
  std::optional<std::int64_t> coef(std::size_t k) const {
    const std::int64_t* v = as_const_int(coefs[k]);
    return v ? std::optional<std::int64_t>(*v) : std::nullopt;
  }
  /// All coefficients and the rest are constants.
  bool is_const() const;
};

/// None if e isn't linear in vars (after simplification), isn't i64, or is over budget.
std::optional<Affine> affine_of(const AnyExpr& e, const Vec<VarRef>& vars, const Facts& facts = {});

}  // namespace lathe

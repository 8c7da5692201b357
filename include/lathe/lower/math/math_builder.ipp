#pragma once

#include <lathe/lower/math/math_builder.hpp>

namespace lathe::detail {

LATHE_DECL AnyExpr MathBuilder::let(AnyExpr value) {
  if (value.kind() <= ExprKind::Var) return value;
  VarRef var = make_var("m" + std::to_string(lets_.size()), value.dtype());
  lets_.push_back({var, std::move(value)});
  return var;
}

LATHE_DECL AnyExpr MathBuilder::finish(AnyExpr result) {
  return make_let(std::exchange(lets_, {}), std::move(result));
}

LATHE_DECL AnyExpr MathBuilder::fma(const AnyExpr& a, const AnyExpr& b, const AnyExpr& d) const {
  return caps.fma ? make_call(CallOp::fma, {a, b, d}) : a * b + d;
}

LATHE_DECL AnyExpr MathBuilder::horner(const AnyExpr& x,
                                       std::initializer_list<double> coefficients) {
  const double* first = coefficients.begin();
  const double* at = coefficients.end() - 1;
  AnyExpr sum = c(*at);
  while (at != first) sum = fma(sum, x, c(*--at));
  return sum;
}

LATHE_DECL AnyExpr MathBuilder::horner(const AnyExpr& x, const AnyExpr& square,
                                       std::initializer_list<double> coefficients) {
  const double* first = coefficients.begin();
  AnyExpr chains[2];
  for (std::size_t k = coefficients.size(); k-- > 0;) {
    AnyExpr& chain = chains[k % 2];
    chain = chain ? fma(chain, square, c(first[k])) : c(first[k]);
  }
  return fma(chains[1], x, chains[0]);
}

LATHE_DECL MathBuilder::Rounded MathBuilder::rounded(const AnyExpr& x, double factor, double offset,
                                                     int added) {
  const double magic = (wide() ? 0x1.8p52 : 0x1.8p23) + added;
  AnyExpr sum;
  if (offset != 0)
    sum = fma(x, c(factor), c(offset)) + c(magic);
  else
    sum = factor == 1 ? x + c(magic) : fma(x, c(factor), c(magic));
  sum = let(sum);
  return {let(sum - c(magic)), bits(sum)};
}

LATHE_DECL MathBuilder::Rounded MathBuilder::round(const AnyExpr& x, double factor, double offset) {
  return rounded(x, factor, offset, 0);
}

LATHE_DECL MathBuilder::Rounded MathBuilder::round_power(const AnyExpr& x, double factor, int more,
                                                         int times) {
  return rounded(x, factor, 0, times * bias() + more);
}

LATHE_DECL AnyExpr MathBuilder::power_of_biased(const AnyExpr& its_bits) const {
  return of_bits(op(BinaryOp::shl, its_bits, i(mantissa_bits())));
}

LATHE_DECL AnyExpr MathBuilder::power_of_two(const AnyExpr& n) const {
  return power_of_biased(n + i(bias()));
}

LATHE_DECL AnyExpr MathBuilder::scale(const AnyExpr& p, const AnyExpr& x, double factor,
                                      const Rounded& n) {
  if (caps.scales) return make_call(CallOp::scalb, {p, n.number});
  // The first product is exact, as p is near 1 and the first power normal; where it is not, the
  // result is 0 or the least number, and the same.
  const AnyExpr first = let(round_power(x, factor * first_share()).raw);
  return p * power_of_biased(first) * power_of_biased(n.raw - first);
}

}  // namespace lathe::detail

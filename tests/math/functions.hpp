// The math functions with their exact values and the errors that they keep to.
#pragma once

#include <lathe/lathe.hpp>
#include <string_view>
#include <vector>

#include "ulp.hpp"

namespace test {

/// Largest errors in units in the last place, for each of lathe::Math.
struct Bounds {
  double accurate, normal, fast;
  double at(lathe::Math math) const {
    return math == lathe::Math::accurate ? accurate : math == lathe::Math::normal ? normal : fast;
  }
};
/// Of a function that has no such version, which lathe refuses.
inline constexpr double kNone = -1;

/// A function of one or two arguments of T.
template <class T>
struct MathFunction {
  std::string_view name;
  int arguments;
  lathe::Expr<T> (*body)(const lathe::Expr<T>& x, const lathe::Expr<T>& y);
  Wide<T> (*exact)(Wide<T> x, Wide<T> y);  ///< by the C library
  Bounds bounds;
  /// The unit is that of the argument: of x * p(x), p from 0 to 1, the absolute error counts.
  bool of_argument = false;

  double error(T got, T x, T y) const {
    const Wide<T> wanted = exact(x, y);
    return of_argument && std::isfinite(wanted) && std::isfinite(got)
               ? static_cast<double>(std::fabs(got - wanted) / last_place<T>(x))
               : ulp_error(got, wanted);
  }
};

/// All of them; the bounds are those of docs/math.md.
template <class T>
std::vector<MathFunction<T>> math_functions();

}  // namespace test

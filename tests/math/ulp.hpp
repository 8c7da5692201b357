// Errors of results in units in the last place.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace test {

/// What the results of T are compared with: 29 bits more for f32, 11 for f64.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// Of an error that no distance describes: NaN instead of a number, a zero of the wrong sign.
inline constexpr double kWrong = 1e30;

/// The distance between neighbours of T at `exact`; below the normal numbers, that of subnormals.
template <class T>
Wide<T> last_place(Wide<T> exact) {
  using Limits = std::numeric_limits<T>;
  int exponent = Limits::min_exponent;
  if constexpr (std::is_same_v<T, float>) {
    const int biased = static_cast<int>(std::bit_cast<std::uint64_t>(exact) >> 52 & 0x7FF);
    exponent = std::max(exponent, biased - 1022);
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent - Limits::digits + 1023)
                                 << 52);
  } else {
    int own = 0;
    std::frexp(exact, &own);
    return std::ldexp(1.0L, std::max(exponent, own) - Limits::digits);
  }
}

/// |got - exact| in units of the last place of T at `exact`. Infinity counts as the power of two
/// that would follow the largest number; a zero's sign counts where the exact result is a zero too,
/// or too small for T.
template <class T>
double ulp_error(T got, Wide<T> exact) {
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) && std::isnan(exact) ? 0 : kWrong;
  if (got == 0 && static_cast<T>(exact) == 0 && std::signbit(got) != std::signbit(exact))
    return kWrong;
  const Wide<T> end = std::ldexp(Wide<T>(1), std::numeric_limits<T>::max_exponent);
  const Wide<T> reached =
      std::isinf(got) ? std::copysign(end, static_cast<Wide<T>>(got)) : Wide<T>(got);
  if (std::isinf(exact) || std::fabs(exact) > end) exact = std::copysign(end, exact);
  if (reached == exact) return 0;
  return static_cast<double>(std::fabs(reached - exact) / last_place<T>(exact));
}

}  // namespace test

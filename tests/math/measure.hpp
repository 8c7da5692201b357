// The largest error of a function as users' kernels compute it, over given arguments.
#pragma once

#include <cstring>
#include <random>

#include "functions.hpp"

namespace test {

template <class T>
struct Worst {
  double ulp = 0;
  T x = 0, y = 0, got = 0;
  std::int64_t arguments = 0;
};

/// A function compiled for an array, under the default schedule.
template <class T>
class MeasuredFunction {
 public:
  static constexpr std::int64_t kChunk = 1 << 12;

  using Function =
      lathe::Kernel<lathe::View<const T, 1>, lathe::View<const T, 1>, lathe::View<T, 1>>;

  static Function compiled(const MathFunction<T>& function, lathe::JitOptions options = {}) {
    lathe::Dim n("n");
    lathe::Input<T, 1> X("X", {n}), Y("Y", {n});
    auto Z = lathe::compute("Z", {n}, [&](lathe::Var i) { return function.body(X(i), Y(i)); });
    options.unread_inputs = lathe::UnreadInputs::allow;
    options.require_compiled = true;
    return lathe::jit({Z, options}, X, Y, Z);
  }

  explicit MeasuredFunction(const MathFunction<T>& function, lathe::JitOptions options = {})
      : function_(function),
        kernel_(compiled(function, std::move(options))),
        x_(kChunk, T(1)),
        y_(x_),
        z_(x_) {}

  /// Adds argument(j) for j < n, each a pair, to what was measured before.
  template <class Argument>
  void measure(std::int64_t n, Argument&& argument) {
    for (std::int64_t first = 0; first < n; first += kChunk) {
      const std::int64_t count = std::min(kChunk, n - first);
      for (std::int64_t j = 0; j < count; ++j) {
        const auto [x, y] = argument(first + j);
        x_[at(j)] = x, y_[at(j)] = y;
      }
      kernel_(x_, y_, z_);
      for (std::int64_t j = 0; j < count; ++j) note(x_[at(j)], y_[at(j)], z_[at(j)]);
    }
    worst_.arguments += n;
  }
  const Worst<T>& worst() const { return worst_; }

 private:
  static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }
  void note(T x, T y, T got) {
    const double ulp = function_.error(got, x, y);
    if (ulp > worst_.ulp) worst_.ulp = ulp, worst_.x = x, worst_.y = y, worst_.got = got;
  }

  MathFunction<T> function_;
  Function kernel_;
  std::vector<T> x_, y_, z_;
  Worst<T> worst_;
};

/// The n-th of 2^bits numbers that are spread over all f32.
inline float spread_float(std::int64_t n, int bits) {
  const auto step = std::uint64_t{1} << (32 - bits);
  // Low bits vary too.
  const std::uint64_t low = static_cast<std::uint64_t>(n) * 0x9E3779B97F4A7C15 >> 40;
  return std::bit_cast<float>(
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) * step + low % step));
}

/// Numbers that functions have something to do with: any bits, even over [-20, 20], even over
/// exponents, and near 1.
template <class T>
class RandomArguments {
 public:
  explicit RandomArguments(std::uint64_t seed) : random_(seed) {}

  std::pair<T, T> operator()(std::int64_t n) {
    const T x = number(n % 4);
    return {x, number(n / 4 % 4)};
  }

 private:
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  double unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  T number(std::int64_t kind) {
    if (kind == 0) return std::bit_cast<T>(static_cast<Bits>(random_()));
    const double sign = random_() & 1 ? 1 : -1;
    if (kind == 1) return static_cast<T>(20 * sign * unit());
    if (kind == 2) return static_cast<T>(sign * std::exp2(40 * unit() - 28));
    return static_cast<T>(1 + sign * std::exp2(-24 * unit() - 1));
  }
  std::mt19937_64 random_;
};

}  // namespace test

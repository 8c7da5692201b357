// The numbers at which laws tend to fail.
#pragma once

#include <cmath>
#include <lathe/ir/scalar.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/random.hpp>
#include <limits>

namespace lathe::detail {

using Tuple = Vec<Scalar>;

/// The same numbers for every reducer and on every machine.
class LawRandom {
 public:
  std::uint64_t bits() { return random_bits(11, counter_++); }
  std::uint64_t below(std::size_t n) { return random_below(n, bits()); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }

 private:
  std::uint64_t counter_ = 0;
};

/// A constant as an integer and as a float: what is compared may be a cast of a value.
struct LawNumber {
  std::int64_t i;
  double f;
};

inline std::int64_t to_int(double f) {
  return std::fabs(f) < 0x1p62 ? static_cast<std::int64_t>(std::floor(f)) : 0;
}

struct LawScan : Visitor {
  bool bits = false;  ///< looks at the bits of floats: only the types' own rounding is right
  Vec<LawNumber> numbers;
  void expr(const AnyExpr& e) override {
    const auto* call = e.as<CallNode>();
    bits = bits || (call && call->op == CallOp::reinterpret);
    if (const auto* c = e.as<ConstNode>()) add(*c);
    descend(e);
  }

 private:
  void add(const ConstNode& c) {
    LawNumber number{c.i, c.f};
    if (c.dtype.is_float() && !std::isfinite(c.f)) return;
    if (c.dtype.is_float())
      number.i = to_int(c.f);
    else
      number.f = c.dtype.is_signed() ? static_cast<double>(c.i)
                                     : static_cast<double>(static_cast<std::uint64_t>(c.i));
    for (const LawNumber& known : numbers)
      if (known.i == number.i && known.f == number.f) return;
    numbers.push_back(number);
  }
};

/// What one value of a type may be.
class LawValues {
 public:
  /// special: also NaN, the infinities and -0.
  LawValues(DType t, DType held, const LawScan& scan, bool special);

  /// The plainest first, then the constants of the combine.
  const Vec<Scalar>& edges() const { return edges_; }
  Scalar draw(LawRandom& random) const;
  /// Where the combine may change its mind: a constant, the difference of two, a power of two, or
  /// next to one of those.
  Scalar target(LawRandom& random) const;
  /// What gives the target, or nearly so, when it is combined with x.
  Scalar partner(Scalar x, LawRandom& random) const;

 private:
  bool has(Scalar value) const;
  void add(LawNumber n);
  void add_float_edges(bool special);
  void add_int_edges();
  LawNumber random_number(LawRandom& random) const;
  LawNumber number(Scalar x) const;
  Scalar value(LawNumber n) const { return scalar_of(held_, wrap_int(type_, n.i), rounded(n.f)); }
  double rounded(double f) const;

  DType type_, held_;
  const LawScan& scan_;
  Vec<Scalar> edges_;
};

LATHE_DECL LawValues::LawValues(DType t, DType held, const LawScan& scan, bool special)
    : type_(t), held_(held), scan_(scan) {
  if (t.is_float())
    add_float_edges(special);
  else
    add_int_edges();
}

// Doubles stand for floats of all types, but have the numbers of the type: their sums are exact
// where those of its terms are.
LATHE_DECL double LawValues::rounded(double f) const {
  if (!type_.is_float() || type_.bits == 64) return f;
  return static_cast<double>(scalar_of(type_, 0, f).s);
}

LATHE_DECL bool LawValues::has(Scalar value) const {
  for (const Scalar& known : edges_)
    if (scalar_bits(held_, known) == scalar_bits(held_, value)) return true;
  return false;
}

LATHE_DECL void LawValues::add(LawNumber n) {
  if (type_.is_float() && std::isfinite(n.f) && !std::isfinite(rounded(n.f))) return;
  if (!has(value(n))) edges_.push_back(value(n));
}

LATHE_DECL void LawValues::add_float_edges(bool special) {
  const double inf = std::numeric_limits<double>::infinity();
  for (double f : {1.0, 2.0, 3.0, -1.0, 0.0}) add({0, f});
  for (double f : {std::nan(""), inf, -0.0, -inf})
    if (special) add({0, f});
  for (const LawNumber& c : scan_.numbers) add(c);
  for (const LawNumber& c : scan_.numbers)
    for (double f : {c.f + 1, c.f - 1, c.f * (1 + 0x1p-7), c.f * (1 - 0x1p-7), c.f / 2})
      add({0, f});
  for (double f : {0.5, -2.0, 4.0, 0.3, 1.0 / 7, 0.0007, 3.14159265358979, -8.0, 5.0, 64.0, 1e-3,
                   1e10, -1e10, -0.3, 1e-5, 12345.678})
    add({0, f});
}

LATHE_DECL void LawValues::add_int_edges() {
  const std::int64_t low = type_.is_signed() ? std::int64_t{1} << (type_.bits - 1) : 0, high = ~low;
  for (std::int64_t i : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{-1},
                         std::int64_t{0}, low, high})
    add({i, 0});
  for (const LawNumber& c : scan_.numbers) add(c);
  // As unsigned numbers: constants at the ends of i64 have neighbours as well.
  for (const LawNumber& c : scan_.numbers)
    for (std::uint64_t step : {std::uint64_t{1}, ~std::uint64_t{0}})
      add({static_cast<std::int64_t>(static_cast<std::uint64_t>(c.i) + step), 0});
  const auto alternating = static_cast<std::int64_t>(0x5555555555555555);
  for (std::int64_t i : {low + 1, high - 1, alternating, ~alternating, std::int64_t{-2},
                         std::int64_t{5}, std::int64_t{1} << (type_.bits / 2), std::int64_t{100}})
    add({i, 0});
  for (std::int64_t i = 0; type_.bits <= 4 && i < 16; ++i) add({i, 0});
}

LATHE_DECL LawNumber LawValues::number(Scalar x) const {
  if (!type_.is_float()) return {x.i, 0};
  return {0, held_.bits == 64 ? x.f : static_cast<double>(x.s)};
}

// Of all magnitudes alike, which meets thresholds that no constant tells. Floats have 24 bits: sums
// of a few are exact.
LATHE_DECL LawNumber LawValues::random_number(LawRandom& random) const {
  const std::uint64_t bits = random.bits();
  if (type_.is_float()) {
    const bool small = type_.bits < 32 && type_.code != TypeCode::bfloat;
    const int least = small ? -6 : -17, most = type_.bits == 8 ? 7 : small ? 14 : 34;
    const int exponent =
        least + static_cast<int>(random.below(static_cast<unsigned>(most - least)));
    const double digits = 1 + std::ldexp(static_cast<double>(bits >> 41), -23);
    return {0, std::ldexp(bits & 1 ? -digits : digits, exponent)};
  }
  const auto size = static_cast<std::int64_t>(bits >> random.below(64));
  return {random.chance(2) ? size : -(size & std::numeric_limits<std::int64_t>::max()), 0};
}

inline LawNumber difference(LawNumber a, LawNumber b) {
  const auto i = static_cast<std::uint64_t>(a.i) - static_cast<std::uint64_t>(b.i);
  return {static_cast<std::int64_t>(i), a.f - b.f};
}
inline LawNumber quotient(LawNumber a, LawNumber b) {
  if (b.i != 0 && b.i != -1) a.i /= b.i;
  if (b.f != 0) a.f /= b.f;
  return a;
}

LATHE_DECL Scalar LawValues::target(LawRandom& random) const {
  const std::uint64_t n = scan_.numbers.size();
  if (n == 0 || random.chance(4)) {
    const auto power = static_cast<int>(random.below(type_.is_float() ? 12 : type_.bits));
    const std::uint64_t i = (std::uint64_t{1} << power) + random.below(3) - 1;
    return value({static_cast<std::int64_t>(i), std::ldexp(1, power)});
  }
  LawNumber c = scan_.numbers[random.below(n)];
  // Where c * x + d is compared with e, or the square of x with c.
  if (random.chance(4)) c = difference(c, scan_.numbers[random.below(n)]);
  if (random.chance(4)) c = quotient(c, scan_.numbers[random.below(n)]);
  if (random.chance(8)) c.f = std::sqrt(std::fabs(c.f)), c.i = to_int(c.f);
  const std::uint64_t side = random.below(4);
  if (side < 2) return value(c);
  const double slope = random.chance(2) ? 0x1p-4 : 0x1p-10;
  c.i = static_cast<std::int64_t>(static_cast<std::uint64_t>(c.i) +
                                  (side == 2 ? std::uint64_t{1} : ~std::uint64_t{0}));
  return value({c.i, c.f * (side == 2 ? 1 + slope : 1 - slope)});
}

LATHE_DECL Scalar LawValues::partner(Scalar x, LawRandom& random) const {
  const LawNumber a = number(x), goal = number(target(random));
  const auto i = static_cast<std::uint64_t>(a.i), to = static_cast<std::uint64_t>(goal.i);
  LawNumber out{static_cast<std::int64_t>(to - i), goal.f - a.f};
  const std::uint64_t way = random.below(6);
  if (way == 0) out = {static_cast<std::int64_t>(to + i), goal.f + a.f};
  if (way == 1 && a.f != 0) out.f = goal.f / a.f;
  if (way == 1 && i != 0) out.i = static_cast<std::int64_t>(to / i);
  if (way == 2) out.i = static_cast<std::int64_t>(to ^ i);
  const Scalar made = value(out);
  return type_.is_float() && !std::isfinite(number(made).f) ? x : made;
}

LATHE_DECL Scalar LawValues::draw(LawRandom& random) const {
  const std::uint64_t how = random.below(8);
  if (how < 4) return edges_[random.below(edges_.size())];
  if (how == 4) return target(random);
  return value(random_number(random));
}

}  // namespace lathe::detail

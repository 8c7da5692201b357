// Building blocks for the expansions of exp, log, sin, …: expressions with named intermediate
// values.
#pragma once

#include <initializer_list>
#include <lathe/ir/expr.hpp>
#include <lathe/support/target_caps.hpp>
#include <lathe/support/vec.hpp>
#include <utility>

namespace lathe::detail {

/// Builds one expression of element type f32 or f64. Values that are used more than once are bound
/// by let(); finish() puts the bindings around the result.
class MathBuilder {
 public:
  /// full: nearly all digits of t. accurate: f32 to 1 unit in the last place. fast: Math::fast.
  /// rounded: f64 that is rounded to f32, where 35 bits are enough.
  enum class Digits : std::uint8_t { full, accurate, fast, rounded };

  MathBuilder(DType its_t, const TargetCaps& its_caps, Digits its_digits = Digits::full)
      : t(its_t), caps(its_caps), digits(its_digits) {}

  const DType t;
  const TargetCaps caps;  ///< every lane computes the same with them
  const Digits digits;

  bool wide() const { return t.bits == 64; }
  bool accurate() const { return digits == Digits::accurate && !wide(); }
  bool fast() const { return digits == Digits::fast && !wide(); }
  bool rounded() const { return digits == Digits::rounded && wide(); }
  DType bits_type() const { return (wide() ? kI64 : kI32).with_lanes(t.lanes); }

  AnyExpr let(AnyExpr value);
  AnyExpr finish(AnyExpr result);

  AnyExpr c(double value) const { return make_float(t, value); }
  AnyExpr i(std::int64_t value) const { return make_int(bits_type(), value); }
  /// a * b + d, with one rounding where the target can.
  AnyExpr fma(const AnyExpr& a, const AnyExpr& b, const AnyExpr& d) const;
  /// The polynomial of x with these coefficients, lowest first.
  AnyExpr horner(const AnyExpr& x, std::initializer_list<double> coefficients);
  /// The same, even and odd powers by themselves: no more operations where x * x is there, and half
  /// as many that wait for each other.
  AnyExpr horner(const AnyExpr& x, const AnyExpr& square,
                 std::initializer_list<double> coefficients);
  AnyExpr bits(const AnyExpr& x) const { return make_reinterpret(bits_type(), x); }
  AnyExpr of_bits(const AnyExpr& x) const { return make_reinterpret(t, x); }
  AnyExpr abs(const AnyExpr& x) const { return make_call(CallOp::abs, {x}); }
  AnyExpr op(BinaryOp op, const AnyExpr& a, const AnyExpr& b) const {
    return make_binary(op, a, b);
  }
  AnyExpr min(const AnyExpr& a, double b) const { return op(BinaryOp::min, a, c(b)); }
  AnyExpr max(const AnyExpr& a, double b) const { return op(BinaryOp::max, a, c(b)); }

  /// x rounded to an integer n, as a float and as bits: the low ones of x + 1.5 * 2^(mantissa
  /// bits).
  struct Rounded {
    AnyExpr number;  ///< t
    AnyExpr raw;     ///< the sum's bits: the low ones are n and what was added to it
  };
  /// Of x * factor + offset; the magnitude must be below 2^22 (f64: 2^51). NaN gives NaN and any
  /// integer.
  Rounded round(const AnyExpr& x, double factor, double offset = 0);
  /// Of x * factor, for `power_of_biased`: the bits hold n + more beside the exponent's bias,
  /// `times` times.
  Rounded round_power(const AnyExpr& x, double factor, int more = 0, int times = 1);
  /// 2^k of bits whose low ones are k and the exponent's bias; 0 where these are 0.
  AnyExpr power_of_biased(const AnyExpr& its_bits) const;
  /// p * 2^n for p of magnitude near 1, with one rounding; n is x * factor rounded by round_power
  /// with two biases. x * factor is at least -`zero_power()`, where a factor of the result is 0: no
  /// product leaves the normal numbers.
  AnyExpr scale(const AnyExpr& p, const AnyExpr& x, double factor, const Rounded& n);
  /// 2 to minus this, and what is less, rounds to 0.
  double zero_power() const { return bias() / first_share(); }
  /// 2^n where that is a normal number.
  AnyExpr power_of_two(const AnyExpr& n) const;

 private:
  int bias() const { return wide() ? 1023 : 127; }
  int mantissa_bits() const { return wide() ? 52 : 23; }
  // Of n, what the first of two factors of 2^n takes: it is normal for all n that give more than 0,
  // and 0 at -zero_power().
  double first_share() const { return wide() ? 0.95 : 0.84; }
  Rounded rounded(const AnyExpr& x, double factor, double offset, int added);

  Vec<LetBinding> lets_;
};

// Each of a value x (pow and atan2: and y) of type b.t, which is bound to a variable. The result
// still needs b.finish().
AnyExpr math_exp(MathBuilder& b, const AnyExpr& x);
AnyExpr math_exp2(MathBuilder& b, const AnyExpr& x);
AnyExpr math_expm1(MathBuilder& b, const AnyExpr& x);
AnyExpr math_tanh(MathBuilder& b, const AnyExpr& x);
AnyExpr math_log(MathBuilder& b, const AnyExpr& x);
AnyExpr math_log2(MathBuilder& b, const AnyExpr& x);
AnyExpr math_log1p(MathBuilder& b, const AnyExpr& x);
AnyExpr math_erf(MathBuilder& b, const AnyExpr& x);
AnyExpr math_sin(MathBuilder& b, const AnyExpr& x);
AnyExpr math_cos(MathBuilder& b, const AnyExpr& x);
AnyExpr math_tan(MathBuilder& b, const AnyExpr& x);
AnyExpr math_atan(MathBuilder& b, const AnyExpr& x);
AnyExpr math_atan2(MathBuilder& b, const AnyExpr& y, const AnyExpr& x);
AnyExpr math_cbrt(MathBuilder& b, const AnyExpr& x);
AnyExpr math_pow(MathBuilder& b, const AnyExpr& x, const AnyExpr& y);

}  // namespace lathe::detail

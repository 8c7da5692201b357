// What a reducer makes of numbers, and when two results are one but for rounding.
#pragma once

#include <cmath>
#include <lathe/ir/impl/law_values.ipp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/scalar_code.hpp>
#include <lathe/support/function.hpp>
#include <lathe/support/text.hpp>
#include <span>

namespace lathe::detail {

using Tuples = std::initializer_list<const Tuple*>;

/// Evaluates one reducer for tuples of numbers.
class LawTrial {
 public:
  explicit LawTrial(const ReducerNode& r);

  bool good() const { return good_; }
  const Tuple& identity() const { return identity_; }
  std::size_t width() const { return r_.lhs.size(); }
  DType dtype(std::size_t k) const { return r_.identity[k].dtype(); }
  /// The type that holds it here.
  DType type(std::size_t k) const { return combine_.type(dtype(k)); }
  const LawScan& scan() const { return scan_; }
  /// How many operations one combine has, and what else it costs.
  std::size_t cost() const { return combine_.size() + 4; }

  void combine(const Tuple& a, const Tuple& b, Tuple& out);
  Tuple combine(const Tuple& a, const Tuple& b) {
    Tuple out;
    combine(a, b, out);
    return out;
  }

  /// Whether x and y are what rounding makes of one value: of `from`, by way of `parts`.
  bool same(const Tuple& x, const Tuple& y, Tuples from, Tuples parts = {},
            bool signed_zero = false) const;
  /// Whether x and y, which `sides` gives by combining, move little towards each other, if at all,
  /// when rounding is worse.
  bool settled(FunctionRef<void(Tuple& x, Tuple& y)> sides, const Tuple& x, const Tuple& y);
  std::string text(const Tuple& x) const;

  static constexpr std::size_t kMostWidth = 32;

 private:
  struct Magnitudes {
    bool finite = true, nan = false;
    // Smaller ones have squares that no f64 holds.
    double scale = 1e-140;
    void look(double value) {
      finite = finite && std::isfinite(value);
      nan = nan || std::isnan(value);
      if (std::isfinite(value)) scale = std::fmax(scale, std::fabs(value));
    }
  };
  void look(const Tuple& t, Magnitudes& at) const {
    for (std::size_t k = 0; k < width(); ++k)
      if (type(k).is_float()) at.look(number(k, t));
  }
  bool same_float(double a, double b, const Magnitudes& from) const;
  bool near(const Tuple& moved, const Tuple& x, const Tuple& y) const;
  double number(std::size_t k, const Tuple& x) const {
    return type(k).bits == 64 ? x[k].f : static_cast<double>(x[k].s);
  }

  const ReducerNode& r_;
  LawScan scan_;
  ScalarCode combine_;
  bool good_ = false;
  std::uint64_t rounding_ = 0;  ///< of which seed it is worse now; 0: it is not
  Tuple identity_;
};

inline LawScan law_scan(std::span<const AnyExpr> values) {
  LawScan scan;
  for (const auto& e : values) scan.expr(e);
  return scan;
}

LATHE_DECL LawTrial::LawTrial(const ReducerNode& r)
    : r_(r), scan_(law_scan(r.combine)), combine_(scan_.bits) {
  for (const auto& v : r.lhs) combine_.input(v);
  for (const auto& v : r.rhs) combine_.input(v);
  for (const auto& e : r.combine) combine_.result(e);
  ScalarCode identity(scan_.bits);
  for (const auto& e : r.identity) identity.result(e);
  good_ = combine_.good() && identity.good() && identity.inputs() == 0 &&
          combine_.inputs() == 2 * width();
  identity_ = Tuple(width());
  if (good_) identity.run(nullptr, identity_.data());
}

LATHE_DECL void LawTrial::combine(const Tuple& a, const Tuple& b, Tuple& out) {
  Scalar in[2 * kMostWidth];
  for (std::size_t k = 0; k < width(); ++k) in[k] = a[k], in[width() + k] = b[k];
  out.resize(width());
  if (rounding_)
    combine_.run_rounding(in, out.data(), rounding_++);
  else
    combine_.run(in, out.data());
}

LATHE_DECL bool LawTrial::same(const Tuple& x, const Tuple& y, Tuples from, Tuples parts,
                               bool signed_zero) const {
  bool equal = true;
  for (std::size_t k = 0; k < width(); ++k) equal = equal && x[k].i == y[k].i;
  if (equal && !scan_.bits) return true;  // narrower floats do not fill a Scalar
  for (std::size_t k = 0; k < width(); ++k)
    if (!type(k).is_float() && x[k].i != y[k].i) return false;
  // Of all numbers that took part: what is lost to rounding is a part of the largest.
  Magnitudes inputs, all;
  for (const Tuple* t : from) look(*t, inputs);
  all.scale = inputs.scale;
  for (const Tuple* t : parts) look(*t, all);
  if (inputs.finite && !all.finite) return true;  // beyond the type on the way
  inputs.scale = all.scale;
  for (std::size_t k = 0; k < width(); ++k)
    if (type(k).is_float() && !same_float(number(k, x), number(k, y), inputs)) return false;
  if (!signed_zero || !type(0).is_float()) return true;
  const double a = number(0, x), b = number(0, y);
  return a != 0 || b != 0 || std::signbit(a) == std::signbit(b);
}

LATHE_DECL bool LawTrial::same_float(double a, double b, const Magnitudes& from) const {
  // Of numbers alone NaN comes from infinity - infinity and such, which regrouping may meet.
  if (std::isnan(a) || std::isnan(b)) return !from.nan || std::isnan(a) == std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return from.finite;  // beyond the type, one way only
  const double scale = std::fmax(from.scale, std::fmax(std::fabs(a), std::fabs(b)));
  return std::fabs(a - b) <= scale * (scan_.bits ? 0x1p-3 : 1e-9);
}

// No more than a part of what lies between them: else rounding may be all of it.
LATHE_DECL bool LawTrial::near(const Tuple& moved, const Tuple& x, const Tuple& y) const {
  for (std::size_t k = 0; k < width(); ++k) {
    if (moved[k].i == x[k].i) continue;
    if (!type(k).is_float()) return false;
    const double from = number(k, x), to = number(k, moved);
    if (std::isnan(from) && std::isnan(to)) continue;
    if (std::isinf(from)) return false;
    const double apart = std::fmax(std::fabs(from - number(k, y)), 1e-9 * std::fabs(from));
    if (!(std::fabs(to - from) <= apart / 8)) return false;
  }
  return true;
}

LATHE_DECL bool LawTrial::settled(FunctionRef<void(Tuple& x, Tuple& y)> sides, const Tuple& x,
                                  const Tuple& y) {
  Tuple worse_x, worse_y;
  bool stays = true;
  for (std::uint64_t seed = 1; seed <= 6 && stays; ++seed) {
    rounding_ = seed * 64;
    sides(worse_x, worse_y);
    stays = near(worse_x, x, y) && near(worse_y, y, x);
  }
  rounding_ = 0;
  return stays;
}

inline std::string number_text(DType t, DType held, Scalar x) {
  if (t.is_bool()) return x.i ? "true" : "false";
  if (t.is_unsigned()) return std::to_string(static_cast<std::uint64_t>(x.i));
  if (!t.is_float()) return std::to_string(x.i);
  const double value = held.bits == 64 ? x.f : static_cast<double>(x.s);
  if (std::isnan(value)) return "nan";
  return str(make_float(kF32, value));
}

LATHE_DECL std::string LawTrial::text(const Tuple& x) const {
  std::string out;
  for (std::size_t k = 0; k < width(); ++k)
    append(out, k ? ", " : "", number_text(dtype(k), type(k), x[k]));
  return width() == 1 ? out : cat("(", out, ")");
}

}  // namespace lathe::detail

#pragma once

#include <cmath>
#include <lathe/ir/print.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/reducer_law.hpp>
#include <lathe/ir/scalar_code.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/random.hpp>
#include <lathe/support/text.hpp>
#include <limits>

namespace lathe {
namespace detail {

using Tuple = Vec<Scalar>;

struct LawScan : Visitor {
  bool bits = false;  ///< looks at the bits of floats: only the types' own rounding is right
  Vec<const ConstNode*> numbers;
  void expr(const AnyExpr& e) override {
    const auto* call = e.as<CallNode>();
    bits = bits || (call && call->op == CallOp::reinterpret);
    if (const auto* c = e.as<ConstNode>(); c && numbers.size() < 6) numbers.push_back(c);
    descend(e);
  }
};

/// Values of one type at which laws tend to fail, the plainest first.
inline Vec<Scalar> edge_values(DType t, DType held, const LawScan& scan, bool special) {
  Vec<Scalar> out;
  auto add = [&](std::int64_t i, double f) {
    const Scalar value = scalar_of(held, wrap_int(t, i), f);
    for (const Scalar& known : out)
      if (scalar_bits(held, known) == scalar_bits(held, value)) return;
    out.push_back(value);
  };
  if (t.is_float()) {
    const double inf = std::numeric_limits<double>::infinity();
    for (double f : {1.0, 2.0, 3.0, -1.0, 0.0}) add(0, f);
    for (double f : {std::nan(""), inf, -0.0, -inf})
      if (special) add(0, f);
    for (const auto* c : scan.numbers)
      for (double f : {0.0, 1.0, -1.0})
        if (std::isfinite(c->f) && c->dtype.is_float()) add(0, c->f + f);
    for (double f : {0.5, -2.0, 4.0, -8.0, 5.0, 64.0}) add(0, f);
    return out;
  }
  const std::int64_t low = t.is_signed() ? std::int64_t{1} << (t.bits - 1) : 0, high = ~low;
  for (std::int64_t i : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{-1},
                         std::int64_t{0}, low, high})
    add(i, 0);
  for (const auto* c : scan.numbers)
    for (std::int64_t i : {0, 1, -1})
      if (!c->dtype.is_float()) add(wrap_int(kI64, c->i) + i, 0);
  const auto alternating = static_cast<std::int64_t>(0x5555555555555555);
  for (std::int64_t i : {low + 1, high - 1, alternating, ~alternating, std::int64_t{-2},
                         std::int64_t{5}, std::int64_t{1} << (t.bits / 2), std::int64_t{100}})
    add(i, 0);
  for (std::int64_t i = 0; t.bits <= 4 && i < 16; ++i) add(i, 0);
  return out;
}

/// Evaluates one reducer for tuples of numbers.
class LawTrial {
 public:
  explicit LawTrial(const ReducerNode& r) : r_(r), scan_(scan_of(r)), combine_(scan_.bits) {
    for (const auto& e : r.combine) floats_ = floats_ || e.dtype().is_float();
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

  bool good() const { return good_; }
  const Tuple& identity() const { return identity_; }
  /// What one component may hold. Not a number and the infinities only where there is one value:
  /// what parts of a tuple do to each other then is nobody's law.
  Vec<Scalar> edges(std::size_t k) const {
    return edge_values(r_.identity[k].dtype(), type(k), scan_, width() == 1);
  }
  Vec<Tuple> samples(std::span<const AnyExpr> terms) const;
  void combine(const Tuple& a, const Tuple& b, Tuple& out) {
    Scalar in[2 * kMostWidth];
    for (std::size_t k = 0; k < width(); ++k) in[k] = a[k], in[width() + k] = b[k];
    out.resize(width());
    combine_.run(in, out.data());
  }
  Tuple combine(const Tuple& a, const Tuple& b) {
    Tuple out;
    combine(a, b, out);
    return out;
  }
  /// How many triples may be tried: a reducer is made in about a millisecond.
  std::size_t budget() const { return (width() == 1 ? 30000 : 10000) / (combine_.size() + 2); }
  std::size_t width() const { return r_.lhs.size(); }

  /// Whether x and y are what rounding makes of one value: of `from`, by way of `parts`.
  bool same(const Tuple& x, const Tuple& y, std::initializer_list<const Tuple*> from,
            std::initializer_list<const Tuple*> parts = {}, bool signed_zero = false) const;
  bool same_float(double a, double b, bool finite, bool nan, double scale) const;
  std::string text(const Tuple& x) const;

  static constexpr std::size_t kMostWidth = 32;
  Tuple left, right;  ///< what is compared now: a vector less for each triple

 private:
  static LawScan scan_of(const ReducerNode& r) {
    LawScan scan;
    for (const auto& e : r.combine) scan.expr(e);
    return scan;
  }
  DType type(std::size_t k) const { return combine_.type(r_.identity[k].dtype()); }
  double number(std::size_t k, const Tuple& x) const {
    return type(k).bits == 64 ? x[k].f : static_cast<double>(x[k].s);
  }
  Vec<Tuple> samples_of_terms(std::span<const AnyExpr> terms, std::size_t most) const;
  Vec<Tuple> samples_alone() const;

  const ReducerNode& r_;
  LawScan scan_;
  ScalarCode combine_;
  bool good_ = false, floats_ = false;
  Tuple identity_;
};

// Of several values all alike: what else tuples may hold has laws of its own (sorted, a count that
// is 0 where the others are …).
LATHE_DECL Vec<Tuple> LawTrial::samples_alone() const {
  Vec<Tuple> out;
  if (width() == 1) {
    for (const Scalar& value : edges(0)) out.push_back({value});
    return out;
  }
  for (std::int64_t i : {1, 2, 3, 5, 8}) {
    Tuple alike(width());
    for (std::size_t k = 0; k < width(); ++k)
      alike[k] =
          scalar_of(type(k), r_.identity[k].dtype().is_bool() ? i & 1 : i, static_cast<double>(i));
    out.push_back(alike);
  }
  out.push_back(identity_);
  return out;
}

LATHE_DECL Vec<Tuple> LawTrial::samples_of_terms(std::span<const AnyExpr> terms,
                                                 std::size_t most) const {
  ScalarCode code(scan_.bits);
  for (const auto& e : terms) code.result(e);
  Vec<Tuple> out;
  if (!code.good()) return samples_alone();
  Vec<Vec<Scalar>> leaves;
  for (std::size_t k = 0; k < code.inputs(); ++k) {
    const AnyExpr& e = code.input_expr(k);
    leaves.push_back(edge_values(e.dtype(), code.type(e.dtype()), scan_, false));
    // Axes count from about 0.
    for (Scalar& value : leaves.back())
      if (e.kind() == ExprKind::Var && e.dtype() == kIndex) value.i &= 0xFFFF;
  }
  Tuple in(code.inputs()), term(width());
  for (std::size_t s = 0; s < most; ++s) {
    for (std::size_t k = 0; k < in.size(); ++k) {
      const std::uint64_t n = leaves[k].size();
      in[k] = leaves[k][s == 0 ? k % n : random_below(s < 4 ? 5 : n, random_bits(k + 1, s))];
    }
    code.run(in.data(), term.data());
    out.push_back(term);
  }
  return out;
}

LATHE_DECL Vec<Tuple> LawTrial::samples(std::span<const AnyExpr> terms) const {
  std::size_t most = 4;
  while ((most + 1) * (most + 1) * (most + 1) <= budget()) ++most;
  Vec<Tuple> out = width() == 1 || terms.empty() ? samples_alone() : samples_of_terms(terms, most);
  if (out.size() > most) out.resize(most);
  return out;
}

LATHE_DECL bool LawTrial::same(const Tuple& x, const Tuple& y,
                               std::initializer_list<const Tuple*> from,
                               std::initializer_list<const Tuple*> parts, bool signed_zero) const {
  bool equal = true;
  for (std::size_t k = 0; k < width(); ++k) equal = equal && x[k].i == y[k].i;
  if (equal && !scan_.bits) return true;  // narrower floats do not fill a Scalar
  // Of all numbers that took part: what is lost to rounding is a part of the largest.
  bool finite = true, nan = false;
  double scale = 0;
  auto look = [&](double value) {
    if (std::isfinite(value))
      scale = std::fmax(scale, std::fabs(value));
    else
      finite = false;
  };
  for (std::size_t k = 0; k < width(); ++k) {
    if (!type(k).is_float()) {
      if (x[k].i != y[k].i) return false;
      continue;
    }
    for (const Tuple* t : from) look(number(k, *t)), nan = nan || std::isnan(number(k, *t));
    for (const Tuple* t : parts) look(number(k, *t));
  }
  for (std::size_t k = 0; k < width(); ++k)
    if (type(k).is_float() && !same_float(number(k, x), number(k, y), finite, nan, scale))
      return false;
  return !signed_zero || !floats_ || std::signbit(number(0, x)) == std::signbit(number(0, y)) ||
         number(0, x) != 0;
}

LATHE_DECL bool LawTrial::same_float(double a, double b, bool finite, bool nan,
                                     double scale) const {
  // Of numbers alone NaN comes from infinity - infinity and such, which regrouping may meet.
  if (std::isnan(a) || std::isnan(b)) return !nan || std::isnan(a) == std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return finite;  // beyond the type, one way and not the other
  scale = std::fmax(scale, std::fmax(std::fabs(a), std::fabs(b)));
  return std::fabs(a - b) <= scale * (scan_.bits ? 0x1p-3 : 1e-9);
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
    append(out, k ? ", " : "", number_text(r_.identity[k].dtype(), type(k), x[k]));
  return width() == 1 ? out : cat("(", out, ")");
}

// The identity is tried on what folds give, not on terms: max(abs(a), abs(b)) from 0 changes the
// term -2, but no result.
inline std::string identity_counterexample(LawTrial& trial, const Vec<Tuple>& samples) {
  const Tuple& identity = trial.identity();
  auto changed = [&](const Tuple& fold) -> std::string {
    const Tuple left = trial.combine(identity, fold), right = trial.combine(fold, identity);
    if (!trial.same(left, fold, {&fold, &identity}))
      return cat("combine(identity, ", trial.text(fold), ") is ", trial.text(left));
    if (!trial.same(right, fold, {&fold, &identity}))
      return cat("combine(", trial.text(fold), ", identity) is ", trial.text(right));
    return {};
  };
  for (const Tuple& term : samples) {
    const Tuple one = trial.combine(identity, term);
    std::string found = changed(one);
    if (found.empty()) found = changed(trial.combine(one, samples[samples.size() / 2]));
    if (!found.empty()) return found;
  }
  return {};
}

inline std::string order_counterexample(LawTrial& trial, const Vec<Tuple>& samples) {
  for (const Tuple& a : samples)
    for (const Tuple& b : samples) {
      const Tuple x = trial.combine(a, b), y = trial.combine(b, a);
      if (!trial.same(x, y, {&a, &b}, {}, trial.width() == 1))
        return cat("combine(", trial.text(a), ", ", trial.text(b), ") is ", trial.text(x),
                   ", combine(", trial.text(b), ", ", trial.text(a), ") is ", trial.text(y));
    }
  return {};
}

inline std::string group_counterexample(LawTrial& trial, const Tuple& a, const Tuple& b,
                                        const Tuple& c, const Tuple& ab, const Tuple& bc) {
  Tuple &x = trial.left, &y = trial.right;
  trial.combine(ab, c, x), trial.combine(a, bc, y);
  if (trial.same(x, y, {&a, &b, &c}, {&ab, &bc}, trial.width() == 1)) return {};
  return cat("combine(combine(", trial.text(a), ", ", trial.text(b), "), ", trial.text(c), ") is ",
             trial.text(x), ", combine(", trial.text(a), ", combine(", trial.text(b), ", ",
             trial.text(c), ")) is ", trial.text(y));
}

inline std::string group_counterexample(LawTrial& trial, const Vec<Tuple>& samples) {
  const std::size_t n = samples.size();
  Vec<Tuple> pairs;
  for (const Tuple& a : samples)
    for (const Tuple& b : samples) pairs.push_back(trial.combine(a, b));
  auto at = [&](std::size_t i, std::size_t j, std::size_t k) {
    return group_counterexample(trial, samples[i], samples[j], samples[k], pairs[i * n + j],
                                pairs[j * n + k]);
  };
  // The plainest three make the plainest counterexample.
  if (std::string plain = n > 2 ? at(0, 1, 2) : std::string(); !plain.empty()) return plain;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        if (std::string found = at(i, j, k); !found.empty()) return found;
  return {};
}

/// Numbers of all bits of a wide integer.
inline std::string random_counterexample(LawTrial& trial, DType t) {
  for (std::uint64_t s = 0; s < 64; ++s) {
    Tuple abc[3];
    for (std::uint64_t k = 0; k < 3; ++k) abc[k] = {scalar_from_bits(t, random_bits(7, s * 3 + k))};
    std::string found =
        group_counterexample(trial, abc[0], abc[1], abc[2], trial.combine(abc[0], abc[1]),
                             trial.combine(abc[1], abc[2]));
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace detail

LATHE_DECL bool has_known_laws(const ReducerNode& r) {
  bool known = !r.combine.empty();
  for (std::size_t k = 0; k < r.combine.size(); ++k) {
    const auto* n = r.combine[k].as<BinaryNode>();
    const AnyExpr lhs(r.lhs[k]), rhs(r.rhs[k]);
    known = known && n &&
            ((n->a.same_as(lhs) && n->b.same_as(rhs)) || (n->a.same_as(rhs) && n->b.same_as(lhs)));
    const auto* row = known ? find_combiner(n->op) : nullptr;
    known = row && (n->a.dtype().is_float() ? row->floats : row->ints);
  }
  return known || is_arg_reducer(r);
}

LATHE_DECL std::string identity_problem(const ReducerNode& reducer) {
  if (reducer.lhs.size() > detail::LawTrial::kMostWidth) return {};
  detail::LawTrial trial(reducer);
  return trial.good() ? detail::identity_counterexample(trial, trial.samples({})) : std::string();
}

LATHE_DECL std::string law_problem(const ReducerNode& reducer, std::span<const AnyExpr> terms) {
  if (!reducer.associative && !reducer.commutative) return {};
  const bool known = has_known_laws(reducer);
  if (known && !reducer.associative) return {};
  const char *grouping = "is not associative: ", *order = "is not commutative: ";
  if (reducer.lhs.size() > detail::LawTrial::kMostWidth)
    return cat(grouping, "its ", reducer.lhs.size(), " values are more than can be tried");
  detail::LawTrial trial(reducer);
  if (!trial.good()) return cat(grouping, "it has operations that can't be tried on numbers");
  const Vec<detail::Tuple> samples = trial.samples(terms);
  std::string found;
  if (reducer.commutative && !known) found = detail::order_counterexample(trial, samples);
  if (!found.empty()) return order + found;
  if (!reducer.associative) return {};
  if (!known) found = detail::group_counterexample(trial, samples);
  const DType t = reducer.identity[0].dtype();
  if (!known && found.empty() && trial.width() == 1 && t.is_int() && t.bits > 16)
    found = detail::random_counterexample(trial, t);
  if (found.empty()) found = detail::identity_counterexample(trial, samples);
  return found.empty() ? found : grouping + found;
}

}  // namespace lathe

#pragma once

#include <cmath>
#include <lathe/arith/reducer_law.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <span>

namespace lathe {
namespace detail {

using Numbers = Vec<AnyExpr>;

/// combine(a, b) as numbers; empty if it does not fold to them, or to NaN.
inline Numbers combine_numbers(const ReducerNode& r, const Numbers& a, const Numbers& b) {
  Substitution map;
  for (std::size_t k = 0; k < r.lhs.size(); ++k) map.emplace_back(r.lhs[k], a[k]);
  for (std::size_t k = 0; k < r.rhs.size(); ++k) map.emplace_back(r.rhs[k], b[k]);
  Numbers out;
  for (const auto& e : r.combine) {
    out.push_back(simplify(substitute(e, map)));
    const auto* c = out.back().as<ConstNode>();
    if (!c || (c->dtype.is_float() && std::isnan(c->f))) return {};
  }
  return out;
}

/// Components take the constants in turn. Powers of two: what joins averages or products of them
/// does not round.
inline Numbers sample_term(const ReducerNode& r, std::size_t sample) {
  static constexpr double floats[] = {1, -2, 0.5, 4};
  static constexpr std::int64_t ints[] = {1, -2, 3, 5};
  Numbers out;
  for (std::size_t k = 0; k < r.identity.size(); ++k) {
    const DType t = r.identity[k].dtype();
    const std::size_t at = (sample + k) % 4;
    out.push_back(t.is_float()  ? make_float(t, floats[at])
                  : t.is_bool() ? make_bool(at % 2 == 0)
                                : make_int(t, t.is_unsigned() ? std::abs(ints[at]) : ints[at]));
  }
  return out;
}

inline bool same_numbers(const Numbers& a, const Numbers& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto *x = a[k].as<ConstNode>(), *y = b[k].as<ConstNode>();
    if (x->dtype.is_float() ? x->f != y->f : x->i != y->i) return false;
  }
  return true;
}

inline std::string list_numbers(const Numbers& all) {
  std::string out;
  for (const auto& e : all) out += (out.empty() ? "" : ", ") + str(e);
  return all.size() == 1 ? out : "(" + out + ")";
}

/// What is wrong with combine(identity, x), if anything is.
inline std::string changed_by_identity(const ReducerNode& r, const Numbers& identity,
                                       const Numbers& x) {
  if (x.empty()) return {};
  const Numbers again = combine_numbers(r, identity, x);
  if (again.empty() || same_numbers(again, x)) return {};
  return "combine(identity, " + list_numbers(x) + ") is " + list_numbers(again);
}

inline bool folds_floats(const ReducerNode& r) {
  for (const auto& e : r.identity)
    if (e.dtype().is_float()) return true;
  return false;
}

}  // namespace detail

// The identity is tried on what folds give, not on terms: max(abs(a), abs(b)) from 0 changes the
// term -2, but no result. Sums of floats are left alone: the folds of two terms may round.
LATHE_DECL std::string identity_problem(const ReducerNode& reducer) {
  detail::Numbers identity;
  for (const auto& e : reducer.identity) identity.push_back(simplify(e));
  for (std::size_t sample = 0; sample < 4; ++sample) {
    const detail::Numbers one =
        detail::combine_numbers(reducer, identity, detail::sample_term(reducer, sample));
    if (one.empty()) continue;
    std::string problem = detail::changed_by_identity(reducer, identity, one);
    if (!problem.empty()) return problem;
    if (detail::folds_floats(reducer)) continue;
    problem = detail::changed_by_identity(
        reducer, identity,
        detail::combine_numbers(reducer, one, detail::sample_term(reducer, sample + 1)));
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace lathe

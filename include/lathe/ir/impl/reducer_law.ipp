#pragma once

#include <lathe/ir/impl/law_samples.ipp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/reducer_law.hpp>

namespace lathe {
namespace detail {

constexpr const char *kGrouping = "is not associative: ", *kOrder = "is not commutative: ";

/// Tries laws of one reducer; each function gives the counterexample, or an empty string.
class LawJudge {
 public:
  LawJudge(const ReducerNode& r, std::span<const AnyExpr> terms)
      : trial_(r), samples_(trial_, terms) {}

  bool good() const { return trial_.good(); }
  std::string identity();
  /// Of the front in every way, then of triples at random.
  std::string laws(bool associative, bool commutative);

 private:
  std::string changed_by_identity(const Tuple& fold);
  std::string order(const Tuple& a, const Tuple& b);
  /// ab and bc: combined already.
  std::string grouping(const Tuple& a, const Tuple& b, const Tuple& c, const Tuple& ab,
                       const Tuple& bc);
  std::string order_of_front();
  std::string grouping_of_front();
  std::string drawn(bool associative, bool commutative);
  bool one_value() const { return trial_.width() == 1; }

  LawTrial trial_;
  LawSamples samples_;
  Tuple x_, y_;  ///< what is compared now: a vector less for each triple
};

LATHE_DECL std::string LawJudge::changed_by_identity(const Tuple& fold) {
  const Tuple& identity = trial_.identity();
  auto changes = [&](const Tuple& a, const Tuple& b) {
    auto sides = [&](Tuple& x, Tuple& y) { trial_.combine(a, b, x), y = fold; };
    sides(x_, y_);
    return !trial_.same(x_, fold, {&fold, &identity}) && trial_.settled(sides, x_, y_);
  };
  if (changes(identity, fold))
    return cat("combine(identity, ", trial_.text(fold), ") is ", trial_.text(x_));
  if (changes(fold, identity))
    return cat("combine(", trial_.text(fold), ", identity) is ", trial_.text(x_));
  return {};
}

// The identity is tried on what folds give, not on terms: max(abs(a), abs(b)) from 0 changes the
// term -2, but no result.
LATHE_DECL std::string LawJudge::identity() {
  const Vec<Tuple>& front = samples_.front();
  for (std::size_t k = 0; k < front.size(); ++k) {
    const Tuple one = trial_.combine(trial_.identity(), front[k]);
    std::string found = changed_by_identity(one);
    if (found.empty())
      found = changed_by_identity(trial_.combine(one, front[k * 7 % front.size()]));
    if (!found.empty()) return found;
  }
  return {};
}

LATHE_DECL std::string LawJudge::order(const Tuple& a, const Tuple& b) {
  auto sides = [&](Tuple& x, Tuple& y) { trial_.combine(a, b, x), trial_.combine(b, a, y); };
  sides(x_, y_);
  if (trial_.same(x_, y_, {&a, &b}, {}, one_value())) return {};
  if (!trial_.settled(sides, x_, y_)) return {};
  return cat(kOrder, "combine(", trial_.text(a), ", ", trial_.text(b), ") is ", trial_.text(x_),
             ", combine(", trial_.text(b), ", ", trial_.text(a), ") is ", trial_.text(y_));
}

LATHE_DECL std::string LawJudge::grouping(const Tuple& a, const Tuple& b, const Tuple& c,
                                          const Tuple& ab, const Tuple& bc) {
  trial_.combine(ab, c, x_), trial_.combine(a, bc, y_);
  if (trial_.same(x_, y_, {&a, &b, &c}, {&ab, &bc}, one_value())) return {};
  auto sides = [&](Tuple& x, Tuple& y) {
    trial_.combine(trial_.combine(a, b), c, x), trial_.combine(a, trial_.combine(b, c), y);
  };
  if (!trial_.settled(sides, x_, y_)) return {};
  return cat(kGrouping, "combine(combine(", trial_.text(a), ", ", trial_.text(b), "), ",
             trial_.text(c), ") is ", trial_.text(x_), ", combine(", trial_.text(a), ", combine(",
             trial_.text(b), ", ", trial_.text(c), ")) is ", trial_.text(y_));
}

LATHE_DECL std::string LawJudge::order_of_front() {
  for (const Tuple& a : samples_.front())
    for (const Tuple& b : samples_.front())
      if (std::string found = order(a, b); !found.empty()) return found;
  return {};
}

LATHE_DECL std::string LawJudge::grouping_of_front() {
  const Vec<Tuple>& front = samples_.front();
  const std::size_t n = front.size();
  Vec<Tuple> pairs;
  for (const Tuple& a : front)
    for (const Tuple& b : front) pairs.push_back(trial_.combine(a, b));
  auto at = [&](std::size_t i, std::size_t j, std::size_t k) {
    return grouping(front[i], front[j], front[k], pairs[i * n + j], pairs[j * n + k]);
  };
  // The plainest three make the plainest counterexample.
  if (std::string plain = n > 2 ? at(0, 1, 2) : std::string(); !plain.empty()) return plain;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        if (std::string found = at(i, j, k); !found.empty()) return found;
  return {};
}

LATHE_DECL std::string LawJudge::drawn(bool associative, bool commutative) {
  Tuple abc[3], ab, bc;
  for (std::size_t left = samples_.draws(); left > 0; --left) {
    samples_.draw(abc);
    std::string found;
    if (commutative) found = order(abc[0], abc[1]);
    if (!found.empty()) return found;
    if (!associative) continue;
    trial_.combine(abc[0], abc[1], ab), trial_.combine(abc[1], abc[2], bc);
    found = grouping(abc[0], abc[1], abc[2], ab, bc);
    if (!found.empty()) return found;
  }
  return {};
}

LATHE_DECL std::string LawJudge::laws(bool associative, bool commutative) {
  std::string found;
  if (commutative) found = order_of_front();
  if (found.empty() && associative) found = grouping_of_front();
  return found.empty() ? drawn(associative, commutative) : found;
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
  detail::LawJudge judge(reducer, {});
  return judge.good() ? judge.identity() : std::string();
}

LATHE_DECL std::string law_problem(const ReducerNode& reducer, std::span<const AnyExpr> terms) {
  if (!reducer.associative && !reducer.commutative) return {};
  const bool known = has_known_laws(reducer);
  if (known && !reducer.associative) return {};
  if (reducer.lhs.size() > detail::LawTrial::kMostWidth)
    return cat(detail::kGrouping, "its ", reducer.lhs.size(), " values are more than can be tried");
  detail::LawJudge judge(reducer, terms);
  if (!judge.good())
    return cat(detail::kGrouping, "it has operations that can't be tried on numbers");
  std::string found;
  if (!known) found = judge.laws(reducer.associative, reducer.commutative);
  if (!found.empty() || !reducer.associative) return found;
  found = judge.identity();
  return found.empty() ? found : detail::kGrouping + found;
}

}  // namespace lathe

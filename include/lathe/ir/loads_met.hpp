// The loads that the evaluation of an expression has met, for passes that mask the arms of selects.
#pragma once

#include <lathe/ir/compare.hpp>
#include <utility>

namespace lathe::detail {

/// Loads that are done in any case by the time that an arm is looked at: what follows may take
/// their elements without a mask. A pass adds them in the order of evaluation, and drops what an
/// arm, or a let whose variables they use, has added.
class LoadsMet {
 public:
  /// `as` stands for the load in what the pass makes.
  void add(const LoadNode& load, AnyExpr as) {
    met_.emplace_back(Ref<LoadNode>(&load), std::move(as));
  }
  /// What stands for a load of the same element; empty: none is met.
  AnyExpr find(const LoadNode& load) const {
    for (const auto& [met, as] : met_)
      if (met.get() && same(*met, load)) return as;
    return {};
  }
  /// A choice by one condition for all lanes, with what the arm that it takes loads: computed again
  /// it takes the same arm.
  void add_choice(AnyExpr choice) { met_.emplace_back(Ref<LoadNode>(), std::move(choice)); }
  bool has_choice(const AnyExpr& choice) const {
    for (const auto& [met, as] : met_)
      if (!met.get() && equal(as, choice)) return true;
    return false;
  }
  std::size_t mark() const { return met_.size(); }
  void drop(std::size_t mark) {
    while (met_.size() > mark) met_.pop_back();
  }

 private:
  static bool same(const LoadNode& a, const LoadNode& b) {
    const bool masked = a.mask.get() != nullptr;
    if (a.buffer != b.buffer || a.indices.size() != b.indices.size() ||
        masked != (b.mask.get() != nullptr))
      return false;
    for (std::size_t k = 0; k < a.indices.size(); ++k)
      if (!equal(a.indices[k], b.indices[k])) return false;
    return !masked || equal(a.mask, b.mask);
  }
  static bool equal(const AnyExpr& a, const AnyExpr& b) {
    return a.same_as(b) || structurally_equal(a, b);
  }

  Vec<std::pair<Ref<LoadNode>, AnyExpr>> met_;
};

}  // namespace lathe::detail

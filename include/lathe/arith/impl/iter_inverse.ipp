#pragma once

#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/simplify.hpp>

namespace lathe {
namespace detail {

class IterInverter {
 public:
  IterInverter(const IterMap& map, const Facts& facts)
      : map_(map), facts_(facts), values_(map.inputs.size() + map.fused.size()) {}
  Vec<AnyExpr> run(const Vec<AnyExpr>& targets, AnyExpr* valid);

 private:
  void require(const AnyExpr& condition) {
    if (valid_) *valid_ = fold_and(*valid_, simplify(condition, facts_));
  }
  // Adds to each source of the sum what the target says about it.
  void take_apart(const IterSum& sum, const AnyExpr& target);

  const IterMap& map_;
  const Facts& facts_;
  Vec<AnyExpr> values_;
  AnyExpr* valid_ = nullptr;
};

LATHE_DECL void IterInverter::take_apart(const IterSum& sum, const AnyExpr& target) {
  AnyExpr left = fold_sub(target, sum.min);  // in [0, extent); the digits above are gone
  if (valid_) require(logical_and(left >= 0, left < sum.extent));
  AnyExpr below = sum.extent;
  for (std::size_t k = 0; k < sum.splits.size(); ++k) {
    const IterSplit& s = sum.splits[k];
    AnyExpr digit;
    AnyExpr size = s.reversed ? simplify(-s.scale, facts_) : s.scale;
    if (is_const(s.extent, 1)) {
      digit = AnyExpr(0);
    } else {
      digit = fold_floordiv(left, size);
      left = fold_floormod(left, size);
      if (valid_ && !sum.dense) require(digit < s.extent);
      if (s.reversed) digit = fold_sub(fold_sub(s.extent, AnyExpr(1)), digit);
    }
    AnyExpr& value = values_[s.source];
    AnyExpr part = fold_mul(digit, s.lower);
    value = value.get() ? fold_add(value, part) : part;
  }
  if (valid_ && !sum.dense) require(eq(left, AnyExpr(0)));
}

LATHE_DECL Vec<AnyExpr> IterInverter::run(const Vec<AnyExpr>& targets, AnyExpr* valid) {
  valid_ = valid;
  for (std::size_t k = 0; k < map_.sums.size(); ++k) take_apart(map_.sums[k], targets[k]);
  for (std::size_t k = map_.fused.size(); k-- > 0;) {
    const AnyExpr value = values_[map_.inputs.size() + k];
    if (value) take_apart(map_.fused[k], value);
  }
  Vec<AnyExpr> out;
  for (std::size_t k = 0; k < map_.inputs.size(); ++k) {
    const IterDomain& d = map_.inputs[k];
    AnyExpr value = values_[k].get() ? values_[k] : AnyExpr(0);
    if (valid_) require(logical_and(value >= 0, value < d.extent));
    out.push_back(simplify(fold_add(value, d.min), facts_));
  }
  return out;
}

}  // namespace detail

LATHE_DECL Vec<AnyExpr> inverse(const IterMap& map, const Vec<AnyExpr>& targets,
                                const Facts& facts) {
  if (!map.bijective() || targets.size() != map.sums.size()) return {};
  return detail::IterInverter(map, facts).run(targets, nullptr);
}

LATHE_DECL Vec<AnyExpr> left_inverse(const IterMap& map, const Vec<AnyExpr>& targets,
                                     AnyExpr& valid, const Facts& facts) {
  valid = make_bool(true);
  if (map.sums.empty() || !map.injective || targets.size() != map.sums.size()) return {};
  // Each digit must come from one place, and each sum must stand by itself.
  if (detail::input_used_twice(map)) return {};
  Vec<const IterSplit*> digits;
  for (const auto& sum : map.sums) {
    if (!sum.injective) return {};
    for (const auto& s : sum.splits)
      if (!is_const(s.extent, 1)) digits.push_back(&s);
  }
  for (const IterSplit* s : digits) {
    bool continued = s->whole;
    for (const IterSplit* t : digits) {
      if (s == t) continue;
      if (t->source == s->source && !prove_le(fold_mul(s->lower, s->extent), t->lower, facts) &&
          !prove_le(fold_mul(t->lower, t->extent), s->lower, facts))
        return {};
      continued = continued || (t->source == s->source &&
                                prove_eq(t->lower, fold_mul(s->lower, s->extent), facts));
    }
    const bool input = s->source < map.inputs.size();
    const AnyExpr& all =
        input ? map.inputs[s->source].extent : map.fused[s->source - map.inputs.size()].extent;
    if (!continued && !prove_le(all, fold_mul(s->lower, s->extent), facts)) return {};
  }
  return detail::IterInverter(map, facts).run(targets, &valid);
}

}  // namespace lathe

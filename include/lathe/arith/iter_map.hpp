// Iterator maps: whether index expressions visit each point once (injective) or all points
// (covering), and their inverse.
#pragma once

#include <lathe/arith/facts.hpp>
#include <string_view>

namespace lathe {

/// A variable that runs over [min, min + extent).
struct IterDomain {
  VarRef var;
  AnyExpr min, extent;
};

/// scale * ((source / lower) % extent). The source is inputs[k].var - inputs[k].min for k <
/// inputs.size(), else the sum fused[k - inputs.size()], which runs over [0, its extent) without
/// gap or repetition. scale may be negative: a reversed iterator.
struct IterSplit {
  std::size_t source = 0;
  AnyExpr lower, extent, scale;
  bool whole = false;  ///< no % was written: the extent is the source's extent / lower, rounded up
  bool partial = false;   ///< not every value below extent is surely taken
  bool reversed = false;  ///< the scale is negative; of injective sums
};

/// The sum of its splits (largest scale first) + base. Its values lie in [min, min + extent).
struct IterSum {
  Vec<IterSplit> splits;
  AnyExpr base, min, extent;
  bool injective = false;  ///< different splits give different values
  bool dense = false;  ///< every value of [min, min + extent) is taken (if every split takes all of
                       ///< its values)
};

/// What detection found about (inputs) -> (sums). Unknown properties are false.
struct IterMap {
  Vec<IterDomain> inputs;
  Vec<IterSum> fused;      ///< sums that are split again
  Vec<IterSum> sums;       ///< one per index expression; empty if an expression has no such form
  Vec<bool> determined;    ///< per input: the targets tell its value
  bool injective = false;  ///< two points of the domain never give one target
  bool covering = false;   ///< every point of the box of the sums' [min, min + extent) is hit
  std::string_view why;    ///< the first reason for a missing property, "" if bijective

  bool known() const { return why.empty() || !sums.empty(); }
  bool bijective() const { return injective && covering; }
};

/// Writes each index over the inputs as an IterSum. Facts may hold ranges of the other (symbolic)
/// variables. condition (may be none) restricts the domain: then injective keeps its meaning on
/// what remains, and covering is claimed only if the condition is proven to hold everywhere.
IterMap iter_map(const Vec<AnyExpr>& indices, const Vec<IterDomain>& inputs,
                 const AnyExpr& condition = {}, const Facts& facts = {});

/// For a bijective map: each input's var as an expression over targets (one per index expression);
/// empty if the map isn't bijective.
Vec<AnyExpr> inverse(const IterMap& map, const Vec<AnyExpr>& targets, const Facts& facts = {});

/// For an injective map, also one that is not covering: a left inverse, and in `valid` the
/// condition under which a target (of the box) has a preimage; empty if none is known.
Vec<AnyExpr> left_inverse(const IterMap& map, const Vec<AnyExpr>& targets, AnyExpr& valid,
                          const Facts& facts = {});

}  // namespace lathe

// Instances of a block: how often the loops around it run each one, and where its init stands.
// Every step that counts, moves or repeats instances asks here.
#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/arith/iter_map.hpp>

namespace lathe {

/// The instances of a block are the values of its iterators (guards apart); a spatial point is
/// those of its spatial iterators. A loop repeats instances where no iterator tells its value:
/// because nothing is bound to it, or because bindings are not injective (i * 2 + j, floordiv(q,
/// 27)).
///
/// A reduction with init is a fold for each iteration of the loops outside `first()`, before which
/// its init stands: what repeats there starts anew, what repeats inside is folded again. So a step
/// may take the init past a loop only if no two iterations of the loop reach one point
/// (`repeats_point`), and may make the loops of a fold anew only if they run each instance once
/// (`repeats_instance`). Without init each iteration of each loop counts.
class Instances {
 public:
  /// facts: what holds around the path of the site.
  explicit Instances(const BlockSite& site, const Facts& facts = {});

  /// Position among the loops of the outermost one that feeds a reduce iterator; their number if
  /// none does.
  std::size_t first() const { return first_; }
  /// The first loop of one fold: first() with an init, else the outermost of all.
  std::size_t begin_of_fold() const { return site_.block->init ? first_ : 0; }
  /// A loop at position from … to - 1 of which two iterations may reach one spatial point, with the
  /// loops outside `from` fixed; none: proven that there is none.
  ForRef repeats_point(std::size_t from, std::size_t to) const;
  /// For each loop from position `from` inward whether the spatial point tells its iteration, with
  /// the loops outside `from` fixed: proven. The others decide in which order a point is updated.
  Vec<bool> told_by_point(std::size_t from) const { return determined(from, true); }
  /// A loop from position `from` inward of which two iterations may run one instance, with the
  /// loops outside `from` fixed; none: proven that there is none.
  ForRef repeats_instance(std::size_t from) const;
  /// A loop of one fold that updates an element with one term more than once, where the reducer
  /// counts them: sum does, max does not. None: proven that there is none, or that it is no matter.
  ForRef repeats_update() const;
  /// The most updates of one spatial point in one fold; none where there is no constant bound.
  std::optional<std::int64_t> most_updates() const;

 private:
  Vec<bool> determined(std::size_t from, bool by_point) const;

  BlockSite site_;
  Facts facts_;
  std::size_t first_ = 0;
};

/// The buffers that decide whether an init stores and where: read by domains and bindings of
/// spatial iterators, by indices of stores, by the conditions of the predicate that name no reduce
/// iterator, and, of the statements on the path from position `from` inward, by conditions, lets,
/// bounds of loops and blocks around. Empty without an init.
Vec<Buffer> init_inputs(const BlockSite& site, std::size_t from);

/// An init of which an input is written inside the loop before which it stands, so that it takes
/// what was there before.
struct StaleInit {
  BlockTag block;
  Buffer input;
  BlockTag writer;    ///< empty for a statement in no block
  Vec<VarRef> loops;  ///< around the block
};
/// Each of them once an input.
Vec<StaleInit> stale_inits(const Stmt& root);
/// Of these blocks, which have inits.
Vec<StaleInit> stale_inits(const Vec<BlockSite>& inits);

/// combine(combine(a, x), x) is combine(a, x), so that a repeated update is no matter.
bool is_idempotent(const ReducerInfo& reducer);

namespace detail {

/// What the own iterators of a block are bound to, over its guards where these stand for all loops
/// that they name. False if a guard does not, or if its loops leave out a part of its domain.
bool bindings_over_guards(const BlockNode& block, Vec<IterDomain>& loops, const Facts& facts,
                          Vec<AnyExpr>& bindings);

}  // namespace detail

}  // namespace lathe

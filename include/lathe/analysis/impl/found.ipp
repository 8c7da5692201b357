#pragma once

#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/ir/describe.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

// Makes a pattern over some variables equal to an expression; false if that can't be done.
inline bool unify(const AnyExpr& pattern, const AnyExpr& e, const Vec<IterVar>& iters,
                  Substitution& found) {
  if (const auto* v = pattern.as<VarNode>())
    for (const auto& it : iters) {
      if (it.var.get() != v) continue;
      for (const auto& [var, value] : found)
        if (var.get() == v) return same_expr(value, e);
      found.emplace_back(it.var, e);
      return true;
    }
  const auto *p = pattern.as<BinaryNode>(), *b = e.as<BinaryNode>();
  if (p && b && p->op == b->op)
    return unify(p->a, b->a, iters, found) && unify(p->b, b->b, iters, found);
  return same_expr(pattern, e);
}

/// Whether for every element that a consumer reads, the instance of the producer that stores it
/// runs before, in the same iteration of the loop. It compares instances where `covers` compares
/// boxes, so border tiles in a packed layout, whose elements are no box, are seen to be complete.
class InstanceCover {
 public:
  InstanceCover(const Stmt& root, const BlockTag& producer, const BlockTag& consumer,
                const Buffer& buffer, const Facts& facts)
      : writer_(find_block(root, producer)),
        reader_(find_block(root, consumer)),
        root_(root),
        buffer_(buffer),
        facts_(facts) {}

  bool holds(const VarRef& loop) {
    if (!writer_.block || !reader_.block || guard_count(*writer_.block) > 0 || leaves_out_some())
      return false;
    std::size_t shared = 0;
    while (shared < writer_.loops.size() && shared < reader_.loops.size() &&
           writer_.loops[shared]->var == reader_.loops[shared]->var)
      ++shared;
    if (loop &&
        !below({reader_.loops.begin(), reader_.loops.begin() + static_cast<std::ptrdiff_t>(shared)},
               loop))
      return false;
    if (shared > 0 && !final_at(root_, writer_.block->tag, writer_.loops[shared - 1]->var))
      return false;
    if (block_position(root_, writer_.block->tag) > block_position(root_, reader_.block->tag))
      return false;
    if (!is_open_path(writer_.path) || !only_writers() || !reach(shared)) return false;
    for (const auto& access : accesses(*reader_.block))
      if (access.buffer == buffer_ && access.reads() && !finds(access)) return false;
    return true;
  }

 private:
  // Conditions that the init shares; the others leave out terms, and no element.
  bool leaves_out_some() const {
    const BlockNode& writer = *writer_.block;
    return writer.init ? !init_conjuncts(writer).empty() : writer.predicate.get() != nullptr;
  }

  // Nobody else writes the buffer, except that the reader may be a reduction that updates what it
  // reads.
  bool only_writers() const {
    for (const auto& w : writers(root_, buffer_))
      if (w.block->tag != writer_.block->tag &&
          (w.block->tag != reader_.block->tag || !w.block->reducer))
        return false;
    return true;
  }

  // What holds around the loops that are not shared. Inside of them they run, which is no fact of
  // the place where they may not.
  Facts facts_around(std::size_t shared) const {
    Facts facts = facts_;
    for (std::size_t k = 0; k < shared; ++k) facts.bind(*writer_.loops[k]);
    return facts;
  }

  bool feeds_none(const ForNode& f) const {
    for (const auto& it : writer_.block->iters)
      if (uses_var(it.binding, f.var)) return false;
    return true;
  }

  // An instance stores only if the loops that no iterator names run, and those of a reduction,
  // unless its init stands before them. One that feeds a spatial iterator too runs around the init.
  bool other_loops_run(std::size_t shared) const {
    Facts around = facts_around(shared);
    for (std::size_t k = shared; k < writer_.loops.size(); ++k) {
      const ForNode& f = *writer_.loops[k];
      const bool reduces = feeds(f, *writer_.block, IterKind::reduce);
      if (reduces && writer_.block->init && !feeds(f, *writer_.block, IterKind::spatial))
        return true;
      if ((reduces || feeds_none(f)) && !prove(f.extent >= 1, around)) return false;
      around.bind(f);
    }
    return true;
  }

  // Which values each spatial iterator of the producer takes in one iteration: a box, all of it.
  bool reach(std::size_t shared) {
    if (!other_loops_run(shared)) return false;
    Vec<IterDomain> inner;
    Vec<AnyExpr> bindings;
    for (std::size_t k = shared; k < writer_.loops.size(); ++k) {
      const ForNode& f = *writer_.loops[k];
      if (feeds(f, *writer_.block, IterKind::reduce) || feeds_none(f)) continue;
      inner.push_back({f.var, f.min, f.extent});
    }
    for (const auto& it : writer_.block->iters)
      if (it.kind == IterKind::spatial)
        bindings.push_back(it.binding);
      else if (it.kind == IterKind::opaque)
        return false;
    reached_ = iter_map(bindings, inner, {}, facts_around(shared));
    return reached_.covering && reached_.sums.size() == bindings.size();
  }

  bool finds(const AccessSite& read) const {
    for (const auto* store : stores_of(*writer_.block)) {
      if (store->buffer != buffer_ || read.indices.size() != store->indices.size()) continue;
      Substitution instance;
      bool same = true;
      for (std::size_t d = 0; d < store->indices.size() && same; ++d)
        same = unify(store->indices[d], read.indices[d], writer_.block->iters, instance);
      return same && runs(instance, read.condition);
    }
    return false;
  }

  // The instance exists, and the loops of this iteration come by.
  bool runs(const Substitution& instance, const AnyExpr& condition) const {
    Facts facts = facts_on(reader_.path, facts_);
    Substitution bindings;
    for (const auto& it : reader_.block->iters) bindings.emplace_back(it.var, it.binding);
    for (const auto& it : reader_.block->iters) {
      facts.assume(it.binding >= substitute(it.min, bindings));
      facts.assume(it.binding < substitute(fold_add(it.min, it.extent), bindings));
    }
    if (condition) facts.assume(substitute(condition, bindings));
    std::size_t spatial = 0;
    for (const auto& it : writer_.block->iters) {
      if (it.kind != IterKind::spatial) continue;
      const IterSum& sum = reached_.sums[spatial++];
      AnyExpr value = is_const(it.extent, 1) ? it.min : AnyExpr();
      for (const auto& [var, e] : instance)
        if (var == it.var) value = substitute(e, bindings);
      if (!value) return false;
      if (!prove_le(it.min, value, facts) || !prove_lt(value, fold_add(it.min, it.extent), facts))
        return false;
      if (!prove_le(sum.min, value, facts) ||
          !prove_lt(value, fold_add(sum.min, sum.extent), facts))
        return false;
    }
    return true;
  }

  BlockSite writer_, reader_;
  const Stmt& root_;
  const Buffer& buffer_;
  Facts facts_;
  IterMap reached_;
};

LATHE_DECL std::string why_not_found(const Stmt& root, const Vec<BlockTag>& producers,
                                     const BlockTag& consumer, const Buffer& buffer,
                                     const VarRef& loop, const Facts& facts, KnownCovers* known) {
  if (BlockSite site = find_block(root, consumer); site.block)
    for (const auto& it : site.block->iters)  // a block that never runs reads nothing
      if (it.kind == IterKind::spatial && is_const(it.extent, 0)) return {};
  Cover cover = covers(root, producers, consumer, buffer, loop, facts, known);
  if (cover.covered) return {};
  for (const auto& p : producers)
    if (InstanceCover(root, p, consumer, buffer, facts).holds(loop)) return {};
  return cover.why.empty() ? "not proven" : cover.why;
}

}  // namespace lathe::detail

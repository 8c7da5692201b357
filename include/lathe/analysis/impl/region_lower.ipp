#pragma once

#include <lathe/analysis/impl/declared.ipp>
#include <lathe/analysis/region.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// The number of a block's guards if each of them does no more than guarded_interval says of another
// iterator; else 0.
inline std::size_t guards_of_one(const AccessSite& site, const Vec<VarRef>& relaxed,
                                 const Facts& facts) {
  const std::size_t guards = guard_count(*site.block), own = site.bindings.size() - guards;
  for (std::size_t g = own; g < site.bindings.size(); ++g) {
    const IterVar& guard = site.block->iters[g];
    if (uses_any(guard.min, relaxed) || uses_any(guard.extent, relaxed)) return 0;
    for (const auto& index : site.inner_indices)
      if (uses_var(index, guard.var)) return 0;
    bool found = false;
    for (std::size_t k = 0; k < own && !found; ++k)
      found = !uses_any(simplify(fold_sub(site.bindings[k], site.bindings[g]), facts), relaxed);
    if (!found) return 0;
  }
  return guards;
}

// A loop that nothing of the access names still decides whether it happens: it must run at least
// once, wherever the loops around it are.
inline bool unnamed_loops_run(const AccessSite& site, const Vec<VarRef>& relaxed,
                              const Facts& facts) {
  Facts around = facts;
  for (const auto& f : site.loops) {
    if (!contains_var(relaxed, f->var)) continue;
    bool named = false;
    for (const auto* list : {&site.bindings, &site.inner_indices})
      for (const auto& e : *list) named = named || uses_var(e, f->var);
    if (!named && !prove(f->extent >= 1, around)) return false;
    around.bind(*f);
  }
  return true;
}

// The box of iterator values that the relaxed loops reach, met with the domains; false if they
// leave gaps.
inline bool reached_iters(const AccessSite& site, const Vec<VarRef>& relaxed, const Facts& facts,
                          Vec<IterDomain>& out) {
  Vec<IterDomain> loops;
  for (const auto& f : site.loops)
    if (contains_var(relaxed, f->var)) loops.push_back({f->var, f->min, f->extent});
  if (!unnamed_loops_run(site, relaxed, facts)) return false;
  if (!site.block) {
    out = std::move(loops);
    return true;
  }
  Vec<VarRef> iters;
  for (const auto& it : site.block->iters) iters.push_back(it.var);
  // Loops inside the block are reached as they are; a loop is inside if an index names it there.
  Vec<IterDomain> outer, inner;
  for (auto& l : loops) {
    bool named = false, bound = false;
    for (const auto& i : site.inner_indices) named = named || uses_var(i, l.var);
    for (const auto& b : site.bindings) bound = bound || uses_var(b, l.var);
    if (named && (uses_any(l.min, relaxed) || uses_any(l.extent, relaxed))) return false;
    if (named || bound) (named ? inner : outer).push_back(std::move(l));
  }
  const std::size_t own = iters.size() - guards_of_one(site, relaxed, facts);
  Vec<AnyExpr> bindings = site.bindings;
  bindings.resize(own);
  IterMap map = iter_map(bindings, outer, {}, facts);
  if (!map.covering) return false;
  for (std::size_t k = 0; k < own; ++k) {
    const IterVar& it = site.block->iters[k];
    if (uses_any(it.min, iters) || uses_any(it.extent, iters)) return false;
    Range got{map.sums[k].min, map.sums[k].extent};
    Interval both{simplify(fold_max(got.min, it.min), facts),
                  simplify(fold_min(last_of(got), last_of({it.min, it.extent})), facts)};
    if (own < iters.size())
      both = interval_intersect(both, guarded_interval(site, k, relaxed, facts), facts);
    out.push_back({it.var, both.min, range_between(both.min, both.max, facts).extent});
  }
  for (auto& l : inner) out.push_back(std::move(l));
  return true;
}

// The usual store, whose domains may be empty too: each index is one iterator plus a constant, each
// iterator in one index at most, every iterator used. Then the box is written even as its extent
// goes to zero.
inline bool plain_box(const AccessSite& site, const Vec<IterDomain>& domain, const Facts& facts,
                      Region& out) {
  for (const auto& d : domain)
    for (const auto& other : domain)
      if (uses_var(d.min, other.var) || uses_var(d.extent, other.var)) return false;
  Vec<bool> used(domain.size(), false);
  for (const auto& i : site.inner_indices) {
    std::size_t at = domain.size();
    for (std::size_t k = 0; k < domain.size(); ++k) {
      if (!uses_var(i, domain[k].var)) continue;
      if (at != domain.size() || used[k]) return false;
      at = k;
    }
    if (at == domain.size()) {
      out.ranges.push_back(Range{i, AnyExpr(1)});
      continue;
    }
    used[at] = true;
    if (i.same_as(domain[at].var)) {
      out.ranges.push_back({domain[at].min, domain[at].extent});
      continue;
    }
    AnyExpr shift = simplify(fold_sub(i, AnyExpr(domain[at].var)), facts);
    if (uses_var(shift, domain[at].var)) return false;
    out.ranges.push_back({simplify(fold_add(domain[at].min, shift), facts), domain[at].extent});
  }
  for (std::size_t k = 0; k < domain.size(); ++k)
    if (!used[k] && !prove(domain[k].extent >= 1, facts)) return false;
  return true;
}

inline bool names_unknown(const AccessSite& site, const Region& box) {
  for (const auto& r : box.ranges)
    if (uses_any(r.min, site.unknown) || uses_any(r.extent, site.unknown)) return true;
  return false;
}

inline bool lower_box(const AccessSite& site, const Vec<VarRef>& relaxed, const Facts& facts,
                      Region& out) {
  Facts inside = facts_for(site, relaxed, facts);
  if (site.kind == AccessKind::opaque || !site.is_write || site.unsure) return false;
  if (site.outer_condition.get() && !prove(site.outer_condition, inside)) return false;
  Vec<IterDomain> domain;
  if (!reached_iters(site, relaxed, facts, domain)) return false;
  // A reduction without points doesn't store unless it has an init.
  Vec<IterDomain> kept;
  for (auto& d : domain) {
    bool reduce = false;
    if (site.block)
      for (const auto& it : site.block->iters)
        reduce = reduce || (it.kind == IterKind::reduce && it.var == d.var);
    if (!reduce)
      kept.push_back(std::move(d));
    else if (!site.block->init && !prove(d.extent >= 1, facts))
      return false;
  }
  Facts over = facts;
  for (const auto& d : kept) over.bind(d.var, d.min, d.extent);
  if (site.inner_condition.get() && !prove(site.inner_condition, over)) return false;
  out.buffer = site.buffer;
  if (plain_box(site, kept, facts, out)) return true;
  out.ranges.clear();
  // An iterator that may have no value at all is to leave an empty box then.
  Vec<AnyExpr> open;
  for (auto& d : kept)
    if (!prove(d.extent >= 1, facts)) open.push_back(d.extent);
  IterMap map = iter_map(site.inner_indices, kept, {}, facts);
  if (!map.covering) return false;
  for (const auto& s : map.sums) out.ranges.push_back({s.min, s.extent});
  for (const auto& extent : open)
    if (!region_empty(out, facts.with(extent <= 0))) return false;
  return true;
}

// Marks the elements of a region that a store of a block writes, by their offsets in it; false if
// its place there is not known.
inline bool mark_stored(const StoreNode& n, const Region& region, const Vec<std::int64_t>& extents,
                        Vec<bool>& stored) {
  const auto count = static_cast<std::size_t>(n.value.dtype().lanes);
  Vec<std::int64_t> at(count, 0);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const auto lanes = lane_offsets(n.indices[d]);
    const AnyExpr first = lanes ? simplify(fold_sub(lanes->base, region.ranges[d].min)) : AnyExpr();
    const std::int64_t* base = first.get() ? as_const_int(first) : nullptr;
    if (!base) return false;
    for (std::size_t l = 0; l < count; ++l) {
      const std::int64_t x = *base + lanes->offsets[lanes->offsets.size() == 1 ? 0 : l];
      if (x < 0 || x >= extents[d]) return false;
      at[l] = at[l] * extents[d] + x;
    }
  }
  for (std::int64_t element : at) stored[static_cast<std::size_t>(element)] = true;
  return true;
}

// Whether a block that declares what it writes stores all of the region each time that it runs, as
// one that was tensorized does: stores alone, whose lanes are numbers apart.
inline bool stores_all(const BlockNode& block, const Region& region) {
  constexpr std::int64_t kMost = 4096;
  std::int64_t count = 1;
  Vec<std::int64_t> extents;
  for (const auto& range : region.ranges) {
    const std::int64_t* extent = as_const_int(range.extent);
    if (!extent || *extent < 1 || count * *extent > kMost) return false;
    extents.push_back(*extent), count *= *extent;
  }
  Vec<bool> stored(static_cast<std::size_t>(count), false);
  for (const Stmt& s : seq_of(block.body)) {
    const auto* n = s.as<StoreNode>();
    if (!n || n->mask.get()) return false;
    if (n->buffer == region.buffer && !mark_stored(*n, region, extents, stored)) return false;
  }
  return std::find(stored.begin(), stored.end(), false) == stored.end();
}

// A declared write of all of a region as a store below a loop for each of its dimensions.
inline bool as_store(const AccessSite& site, AccessSite& out, Vec<VarRef>& relaxed) {
  if (site.kind != AccessKind::opaque || !site.is_write || !site.block) return false;
  const Region* declared = nullptr;
  std::size_t count = 0;
  for (const auto& region : site.block->writes)
    if (region.buffer == site.buffer) declared = &region, ++count;
  if (count != 1 || !stores_all(*site.block, *declared)) return false;
  if (!access_elements(site, out, &relaxed)) return false;
  out.block = {};
  return true;
}

// Two boxes that differ in one dimension, where they touch or overlap, are one.
inline bool join_boxes(Region& a, const Region& b, const Facts& facts) {
  std::size_t differ = a.ranges.size(), count = 0;
  for (std::size_t d = 0; d < a.ranges.size(); ++d) {
    if (prove_eq(a.ranges[d].min, b.ranges[d].min, facts) &&
        prove_eq(a.ranges[d].extent, b.ranges[d].extent, facts))
      continue;
    differ = d;
    ++count;
  }
  if (count == 0) return true;
  if (count > 1) return false;
  Range &x = a.ranges[differ], y = b.ranges[differ];
  AnyExpr end_x = fold_add(x.min, x.extent), end_y = fold_add(y.min, y.extent);
  if (!prove_le(x.min, end_y, facts) || !prove_le(y.min, end_x, facts)) return false;
  AnyExpr lo = simplify(fold_min(x.min, y.min), facts),
          end = simplify(fold_max(end_x, end_y), facts);
  x = {lo, simplify(fold_sub(end, lo), facts)};
  return true;
}
inline void join_all(Vec<Region>& boxes, const Facts& facts) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < boxes.size(); ++j) {
      if (i == j || !join_boxes(boxes[i], boxes[j], facts)) continue;
      boxes.erase_at(j);
      i = static_cast<std::size_t>(-1);
      break;
    }
  }
}

}  // namespace detail

LATHE_DECL Vec<Region> lower_boxes(const Buffer& buffer, const Vec<AccessSite>& all,
                                   const Vec<VarRef>& relaxed, const Facts& facts) {
  Vec<Region> boxes;
  for (const auto& site : all) {
    if (site.buffer != buffer) continue;
    Region box;
    AccessSite store;
    Vec<VarRef> steps = relaxed;
    const bool whole = detail::as_store(site, store, steps);
    if (detail::lower_box(whole ? store : site, steps, facts, box) &&
        !detail::names_unknown(site, box))
      boxes.push_back(std::move(box));
  }
  detail::join_all(boxes, facts);
  return boxes;
}

LATHE_DECL std::optional<Region> region_lower(const Buffer& buffer, const Vec<AccessSite>& all,
                                              const Vec<VarRef>& relaxed, const Facts& facts) {
  Vec<Region> boxes = lower_boxes(buffer, all, relaxed, facts);
  for (const auto& box : boxes) {
    bool best = true;
    for (const auto& other : boxes) best = best && region_contains(box, other, facts);
    if (best) return box;
  }
  return boxes.empty() ? std::nullopt : std::optional<Region>(boxes[0]);
}

}  // namespace lathe

#pragma once

#include <lathe/analysis/region.hpp>
#include <lathe/arith/index_loads.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

inline AnyExpr last_of(const Range& r) { return fold_sub(fold_add(r.min, r.extent), AnyExpr(1)); }
inline Range range_between(const AnyExpr& lo, const AnyExpr& hi, const Facts& facts) {
  return {lo, simplify(fold_add(fold_sub(hi, lo), AnyExpr(1)), facts)};
}
inline bool contains_var(const Vec<VarRef>& vars, const VarRef& v) {
  for (const auto& x : vars)
    if (x == v) return true;
  return false;
}
inline bool uses_any(const AnyExpr& e, const Vec<VarRef>& vars) {
  for (const auto& v : vars)
    if (uses_var(e, v)) return true;
  return false;
}

// The ranges of the access's relaxed loops, added to the facts.
inline Facts facts_for(const AccessSite& site, const Vec<VarRef>& relaxed, Facts facts) {
  for (const auto& f : site.loops)
    if (contains_var(relaxed, f->var)) facts.bind(*f);
  return facts;
}

// What the guards of a block leave of its iterator k: a guard that is bound to the same loops, up
// to what is fixed, keeps the iterator inside of a tile.
inline Interval guarded_interval(const AccessSite& site, std::size_t k, const Vec<VarRef>& relaxed,
                                 const Facts& facts) {
  Interval out;
  const std::size_t guards = guard_count(*site.block), all = site.block->iters.size();
  for (std::size_t g = all - guards; g < all; ++g) {
    const IterVar& guard = site.block->iters[g];
    if (g == k || uses_any(guard.min, relaxed) || uses_any(guard.extent, relaxed)) continue;
    const AnyExpr shift = simplify(fold_sub(site.bindings[k], site.bindings[g]), facts);
    if (uses_any(shift, relaxed)) continue;
    const Range tile{fold_add(guard.min, shift), guard.extent};
    out =
        interval_intersect(out, {simplify(tile.min, facts), simplify(last_of(tile), facts)}, facts);
  }
  return out;
}

// Of an extent that simplify gave.
inline bool runs_never(const AnyExpr& extent, const Facts& facts) {
  Simplifier engine(facts);
  Poly none = engine.poly_of_emitted(extent);
  return engine.safe(none) && poly_scale(none, -1) && engine.nonneg(none);
}

class UpperRegion {
 public:
  UpperRegion(const Buffer& buffer, const Vec<VarRef>& relaxed, const Facts& facts)
      : buffer_(buffer), relaxed_(relaxed), facts_(facts) {}

  void add(const AccessSite& site) {
    Facts facts = facts_for(site, relaxed_, facts_);
    if (site.condition) {
      if (is_const(simplify(site.condition, facts), 0)) return;
      facts.assume_before(site.condition);
    }
    Vec<Interval> box;
    const bool declared = site.kind == AccessKind::opaque;
    const std::size_t rank = static_cast<std::size_t>(buffer_->rank());
    for (std::size_t d = 0; d < rank; ++d) {
      if (declared && d >= site.declared.ranges.size())
        box.push_back({});
      else if (declared)
        box.push_back(ends(site.declared.ranges[d].min, last_of(site.declared.ranges[d]), facts));
      else
        box.push_back(ends(site.indices[d], site.indices[d], facts));
      drop_unknown(site, box.back());
    }
    plain_ = plain_ && count_ == 0 && !declared && !site.condition && plain(site);
    merge(std::move(box));
  }

  // Through the iterators: each runs over what the loops reach, met with its domain.
  void add_guarded(const AccessSite& site) {
    if (!site.block || site.kind == AccessKind::opaque ||
        site.block->iters.size() != site.bindings.size())
      return add(site);
    if (site.condition.get() &&
        is_const(simplify(site.condition, facts_for(site, relaxed_, facts_)), 0))
      return;
    if (!instance_.holds(site)) instance_ = reach(site);
    if (!instance_.bounded) return add(site);
    Facts facts = instance_.facts;
    const Vec<VarRef>& inner = instance_.inner;
    if (site.outer_condition) facts.assume_before(site.outer_condition);
    if (site.inner_condition) facts.assume_before(site.inner_condition);
    Vec<Interval> box;
    for (const auto& i : site.inner_indices) {
      Interval b = i.dtype() == kIndex ? bounds(i, inner, facts) : Interval();
      if (loads_data(b.min, facts)) b.min = {};
      if (loads_data(b.max, facts)) b.max = {};
      drop_unknown(site, b);
      box.push_back(std::move(b));
    }
    plain_ = false;
    merge(std::move(box));
  }

  RegionBound result() const {
    RegionBound out;
    out.region.buffer = buffer_;
    out.empty = count_ == 0;
    out.exact = plain_ && count_ > 0;
    for (std::size_t d = 0; d < buffer_->shape.size(); ++d) {
      if (count_ == 0) {
        out.region.ranges.push_back({AnyExpr(0), AnyExpr(0)});
        continue;
      }
      AnyExpr lo = box_[d].min, hi = box_[d].max;
      if (!lo.get() || !hi.get()) out.exact = false;
      if (!lo.get()) lo = AnyExpr(0);
      if (!hi.get()) hi = fold_sub(buffer_->shape[d], AnyExpr(1));
      Range r = range_between(lo, hi, facts_);
      out.empty = out.empty || runs_never(r.extent, facts_);
      out.region.ranges.push_back(std::move(r));
    }
    return out;
  }

 private:
  // What the iterators of a block take, over all accesses in one place of it.
  struct Instance {
    BlockRefNode block;
    Vec<AnyExpr> bindings;
    Vec<ForRef> loops;
    Facts facts;
    Vec<VarRef> inner;  ///< the relaxed loops and the iterators
    bool bounded = false;

    bool holds(const AccessSite& site) const {
      if (block != site.block || loops != site.loops) return false;
      for (std::size_t k = 0; k < bindings.size(); ++k)
        if (!bindings[k].same_as(site.bindings[k])) return false;
      return true;
    }
  };
  Instance reach(const AccessSite& site) const {
    Instance out{site.block, site.bindings, site.loops, facts_for(site, relaxed_, facts_),
                 relaxed_};
    for (std::size_t k = 0; k < site.bindings.size(); ++k) {
      const IterVar& it = site.block->iters[k];
      Interval reached = bounds(site.bindings[k], relaxed_, out.facts);
      Interval first = bounds(it.min, out.inner, out.facts),
               end = bounds(last_of({it.min, it.extent}), out.inner, out.facts);
      Interval got = interval_intersect(reached, {first.min, end.max}, out.facts);
      got = interval_intersect(got, guarded_interval(site, k, relaxed_, out.facts), out.facts);
      if (!got.bounded()) return out;
      out.facts.bind(it.var, got.min, range_between(got.min, got.max, out.facts).extent);
      out.inner.push_back(it.var);
    }
    out.bounded = true;
    return out;
  }
  static void drop_unknown(const AccessSite& site, Interval& ends) {
    for (auto* end : {&ends.min, &ends.max})
      if (end->get() && uses_any(*end, site.unknown)) *end = {};
  }
  void merge(Vec<Interval> box) {
    if (count_++ == 0) {
      box_ = std::move(box);
      return;
    }
    for (std::size_t d = 0; d < box_.size(); ++d) box_[d] = interval_hull(box_[d], box[d], facts_);
  }
  Interval ends(const AnyExpr& first, const AnyExpr& last, const Facts& facts) {
    if (first.dtype() != kIndex) return {};
    Interval lo = bounds(first, relaxed_, facts);
    Interval hi = last.same_as(first) ? lo : bounds(last, relaxed_, facts);
    if (loads_data(lo.min, facts)) lo.min = {};
    if (loads_data(hi.max, facts)) hi.max = {};
    return {lo.min, hi.max};
  }
  // A bound that reads memory is kept only if a loop is bounded by the same load: then it doesn't
  // change in between.
  static bool loads_data(const AnyExpr& e, const Facts& facts) {
    if (!e || e.kind() == ExprKind::Const) return false;
    LoadedBuffers loads;
    loads.expr(e);
    if (loads.found.empty()) return false;
    IndexLoads index;
    index.expr(e);
    bool known = loads.found.size() == index.found.size();
    for (const auto& load : index.found) {
      bool trusted = false;
      for (const auto* f = facts.newest(); f; f = f->next.get())
        trusted = trusted || (f->kind == Facts::Kind::index && same_expr(f->min, load));
      known = known && trusted;
    }
    return !known;
  }
  // Each index is one relaxed loop plus or minus something fixed, each loop in one index at most.
  bool plain(const AccessSite& site) const {
    Vec<VarRef> seen;
    for (const auto& i : site.indices) {
      VarRef used;
      for (const auto& v : relaxed_) {
        if (!uses_var(i, v)) continue;
        if (used || contains_var(seen, v)) return false;
        used = v;
      }
      if (!used) continue;
      seen.push_back(used);
      AnyExpr rest = simplify(fold_sub(i, AnyExpr(used)), facts_),
              flipped = simplify(fold_add(i, AnyExpr(used)), facts_);
      if (uses_var(rest, used) && uses_var(flipped, used)) return false;
    }
    return true;
  }

  const Buffer& buffer_;
  const Vec<VarRef>& relaxed_;
  const Facts& facts_;
  Vec<Interval> box_;
  std::size_t count_ = 0;
  bool plain_ = true;
  Instance instance_;  ///< of the block seen last
};

inline Vec<VarRef> loops_inside(const Vec<AccessSite>& all) {
  Vec<VarRef> out;
  for (const auto& a : all)
    for (const auto& f : a.loops)
      if (!contains_var(out, f->var)) out.push_back(f->var);
  return out;
}

inline Vec<AccessSite> only(Vec<AccessSite> all, const Buffer& buffer, bool write) {
  Vec<AccessSite> out;
  for (auto& a : all) {
    const bool own = a.kind == AccessKind::update && a.block && a.block->init;
    if (a.buffer == buffer && (write ? a.is_write : a.reads() && !own)) out.push_back(std::move(a));
  }
  return out;
}

}  // namespace detail

LATHE_DECL RegionBound region_upper(const Buffer& buffer, const Vec<AccessSite>& all,
                                    const Vec<VarRef>& relaxed, const Facts& facts) {
  detail::UpperRegion upper(buffer, relaxed, facts);
  for (const auto& site : all)
    if (site.buffer == buffer) upper.add(site);
  return upper.result();
}

LATHE_DECL RegionBound region_upper_guarded(const Buffer& buffer, const Vec<AccessSite>& all,
                                            const Vec<VarRef>& relaxed, const Facts& facts) {
  detail::UpperRegion upper(buffer, relaxed, facts);
  for (const auto& site : all)
    if (site.buffer == buffer) upper.add_guarded(site);
  return upper.result();
}

LATHE_DECL Vec<RegionBound> required_regions(const Stmt& s, const Facts& facts) {
  Vec<AccessSite> all = accesses(s, AccessTerms::loops, facts);
  Vec<VarRef> relaxed = detail::loops_inside(all);
  Vec<RegionBound> out;
  for (const auto& b : buffers_read(s))
    out.push_back(region_upper(b, detail::only(all, b, false), relaxed, facts));
  return out;
}
LATHE_DECL RegionBound required_region(const Stmt& s, const Buffer& buffer, const Facts& facts) {
  Vec<AccessSite> all = detail::only(accesses_to(buffer, s, facts), buffer, false);
  return region_upper(buffer, all, detail::loops_inside(all), facts);
}
LATHE_DECL RegionBound written_region_upper(const Stmt& s, const Buffer& buffer,
                                            const Facts& facts) {
  Vec<AccessSite> all = detail::only(accesses_to(buffer, s, facts), buffer, true);
  return region_upper(buffer, all, detail::loops_inside(all), facts);
}
LATHE_DECL std::optional<Region> written_region_lower(const Stmt& s, const Buffer& buffer,
                                                      const Facts& facts) {
  Vec<AccessSite> all = detail::only(accesses_to(buffer, s, facts), buffer, true);
  return region_lower(buffer, all, detail::loops_inside(all), facts);
}

LATHE_DECL Region whole_region(const Buffer& buffer) {
  Region out;
  out.buffer = buffer;
  for (const auto& e : buffer->shape) out.ranges.push_back({AnyExpr(0), e});
  return out;
}

namespace detail {

// By axis, from one of both firsts to one of both lasts.
template <class First, class Last>
Region combined(const Region& a, const Region& b, const Facts& facts, First first, Last last) {
  Region out = a;
  for (std::size_t d = 0; d < out.ranges.size(); ++d)
    out.ranges[d] =
        range_between(simplify(first(a.ranges[d].min, b.ranges[d].min), facts),
                      simplify(last(last_of(a.ranges[d]), last_of(b.ranges[d])), facts), facts);
  return out;
}

}  // namespace detail

LATHE_DECL Region region_hull(const Region& a, const Region& b, const Facts& facts) {
  return detail::combined(a, b, facts, fold_min, fold_max);
}
LATHE_DECL Region region_intersect(const Region& a, const Region& b, const Facts& facts) {
  return detail::combined(a, b, facts, fold_max, fold_min);
}

LATHE_DECL bool region_contains(const Region& outer, const Region& inner, const Facts& facts) {
  auto contains = [&](const Range& o, const Range& i) {
    return prove_le(o.min, i.min, facts) &&
           prove_le(fold_add(i.min, i.extent), fold_add(o.min, o.extent), facts);
  };
  bool all = true;
  for (std::size_t d = 0; all && d < outer.ranges.size(); ++d)
    all = contains(outer.ranges[d], inner.ranges[d]);
  return all || region_empty(inner, facts);
}

LATHE_DECL bool regions_disjoint(const Region& a, const Region& b, const Facts& facts) {
  if (region_empty(a, facts) || region_empty(b, facts)) return true;
  for (std::size_t d = 0; d < a.ranges.size(); ++d) {
    const Range &x = a.ranges[d], &y = b.ranges[d];
    if (prove_le(fold_add(x.min, x.extent), y.min, facts) ||
        prove_le(fold_add(y.min, y.extent), x.min, facts))
      return true;
  }
  return false;
}

LATHE_DECL bool region_empty(const Region& a, const Facts& facts) {
  for (const auto& r : a.ranges) {
    const auto* c = as_const_int(r.extent);
    if (c ? *c <= 0 : prove(r.extent <= 0, facts)) return true;
  }
  return false;
}

LATHE_DECL bool surely_inside(const BufferNode& buffer, const Vec<AnyExpr>& indices,
                              const Facts& facts) {
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (!prove(indices[d] >= AnyExpr(0), facts) || !prove(indices[d] < buffer.shape[d], facts))
      return false;
  return true;
}

LATHE_DECL Vec<VarRef> vars_of(const Vec<ForRef>& loops) {
  Vec<VarRef> out;
  for (const auto& f : loops) out.push_back(f->var);
  return out;
}

}  // namespace lathe

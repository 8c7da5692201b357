#pragma once

#include <algorithm>
#include <lathe/analysis/region.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline bool depends_on_iterators(const BlockNode& block, const IterVar& it) {
  for (const auto& other : block.iters)
    if (uses_var(it.min, other.var) || uses_var(it.extent, other.var)) return true;
  return false;
}

// Whether the domain of one iterator depends on another: it is no box.
inline bool ragged(const BlockNode& block) {
  for (const auto& it : block.iters)
    if (depends_on_iterators(block, it)) return true;
  return false;
}

// A buffer that an instance somewhere in a block's domain may touch beyond its ends; none: all are
// proved to stay inside.
inline Buffer touched_beyond(const Program& program, const BlockNode& block) {
  Facts domain = program_facts(program);
  for (const auto& it : block.iters) domain.bind(it);
  for (const auto& access : accesses(block)) {
    Facts here = domain;
    for (const auto& loop : access.loops) here.bind(*loop);
    if (access.inner_condition) here.assume(access.inner_condition);
    if (access.kind != AccessKind::opaque &&
        !surely_inside(*access.buffer, access.inner_indices, here))
      return access.buffer;
  }
  return {};
}

/// The value where the block has an instance, as far as its extents over Dims say: what is true of
/// these extents there, such as that they are above 0, need not be true of a copy's places.
inline AnyExpr value_of_instances(const Program& program, const BlockNode& block,
                                  const AnyExpr& value) {
  AnyExpr some;
  for (const auto& it : block.iters) {
    if (as_const_int(it.extent) || !over_dims(program, it.extent)) continue;
    const AnyExpr one = AnyExpr(0) < it.extent;
    const Vec<AnyExpr> known = conjuncts(some);
    if (std::none_of(known.begin(), known.end(),
                     [&](const AnyExpr& k) { return structurally_equal(k, one); }))
      some = fold_and(some, one);
  }
  return some ? make_select(some, value, make_const(value.dtype(), 0)) : value;
}

/// A block of values that another reads at places of its own choice: of the values as they are, or
/// as far as the reader has instances, if only these are proved to stay inside of buffers.
struct InsideBlock {
  template <class Make>
  InsideBlock(const Program& program, const BlockNode& reader, const Vec<AnyExpr>& values,
              const Make& make)
      : block(make(values)), beyond(touched_beyond(program, *block)) {
    if (!beyond) return;
    Vec<AnyExpr> fewer;
    for (const auto& value : values) fewer.push_back(value_of_instances(program, reader, value));
    block.emplace(make(fewer));
    beyond = touched_beyond(program, *block);
  }

  std::optional<BlockNode> block;
  Buffer beyond;  ///< that it may touch beyond its ends; none as a rule
};

inline bool constant_box(const Region& region) {
  for (const auto& r : region.ranges)
    if (!as_const_int(r.extent)) return false;
  return true;
}

inline void simplify_extents(Region& region, const Facts& facts) {
  for (auto& r : region.ranges) r = {simplify(r.min, facts), simplify(r.extent, facts)};
}

// The box of the chosen accesses below a statement, with all its loops free. Conditions are left
// out if the box has constant extents without them, so that border tiles keep the form of the
// others; the implied guard trims what lies outside.
template <class Choose>
Region region_of(const Stmt& s, const Buffer& buffer, const Facts& facts, Choose&& choose) {
  Vec<AccessSite> chosen;
  Vec<VarRef> relaxed;
  for (auto& access : accesses_to(buffer, s, facts)) {
    if (!choose(access)) continue;
    for (const auto& loop : access.loops) relaxed.push_back(loop->var);
    chosen.push_back(std::move(access));
  }
  Vec<AccessSite> plain = chosen;
  for (auto& access : plain) access.condition = {};
  Region region = region_upper(buffer, plain, relaxed, facts).region;
  simplify_extents(region, facts);
  if (constant_box(region)) return region;
  Region narrow = region_upper(buffer, chosen, relaxed, facts).region;
  simplify_extents(narrow, facts);
  return narrow;
}

inline Region region_read(const Stmt& s, const Buffer& buffer, const Facts& facts,
                          const BlockTag& only = {}) {
  return region_of(s, buffer, facts, [&](const AccessSite& a) {
    return a.reads() && (!only || (a.block && a.block->tag == only));
  });
}
inline Region region_written(const Stmt& s, const Buffer& buffer, const Facts& facts) {
  return region_of(s, buffer, facts, [](const AccessSite& a) { return a.is_write; });
}

}  // namespace lathe::detail

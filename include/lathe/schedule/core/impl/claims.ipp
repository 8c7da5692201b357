#pragma once

#include <algorithm>
#include <lathe/analysis/open_blocks.hpp>
#include <lathe/analysis/region.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

/// Whether a program says of itself what no analysis has found: a program that was written as
/// tensors never does, so nothing else is asked of it.
struct Claims {
  bool loops = false, regions = false, streams = false, storage = false;

  explicit Claims(const Program& program) {
    each_statement(program->body, [&](const Stmt& s) {
      if (const auto* f = s.as<ForNode>()) loops |= f->loop_kind != ForKind::serial;
      if (const auto* n = s.as<StoreNode>()) streams |= n->streaming != Streaming::none;
      if (const auto* a = s.as<AllocNode>())
        storage |= a->buffer->scope != Scope::global || !a->buffer->strides.empty();
      if (const auto* b = s.as<BlockNode>())
        regions |= !b->reads.empty() || !b->writes.empty(),
            streams |= b->attributes.has<StreamAttr>();
    });
  }
};

inline Verdict check_claimed_loops(const Program& program) {
  Verdict no;
  any_statement(program->body, [&](const Stmt& s) {
    const auto* f = s.as<ForNode>();
    if (f && f->loop_kind != ForKind::serial) no = check_kind(program, *f);
    return no.has_value();
  });
  return no ? no : check_bound_loops(program);
}

/// A vector access as those of its first and last element along each axis: what holds them both
/// holds the others. A vector whose lanes are not known numbers apart stays one.
inline Vec<AccessSite> ends_of_lanes(const AccessSite& a) {
  AccessSite low = a, high = a;
  for (std::size_t d = 0; d < a.indices.size(); ++d) {
    const auto lanes = lane_offsets(a.indices[d]);
    if (!lanes) return {a};
    const auto [least, most] = std::minmax_element(lanes->offsets.begin(), lanes->offsets.end());
    low.indices[d] = fold_add(lanes->base, AnyExpr(*least));
    high.indices[d] = fold_add(lanes->base, AnyExpr(*most));
  }
  return {low, high};
}

/// One access of a block's body lies in one of the regions that the block declares for it.
inline bool is_declared(const AccessSite& a, const Vec<Region>& declared, const Facts& facts) {
  const RegionBound touched =
      region_upper_guarded(a.buffer, ends_of_lanes(a), vars_of(a.loops), facts);
  if (touched.empty) return true;
  for (const auto& region : declared) {
    if (region.buffer != a.buffer) continue;
    const Region whole = whole_region(a.buffer);
    bool inside = true;
    for (std::size_t d = 0; inside && d < region.ranges.size(); ++d) {
      const auto part = [&](const Region& r) { return Region{a.buffer, {r.ranges[d]}}; };
      inside = region_contains(part(region), part(whole), facts) ||
               region_contains(part(region), part(touched.region), facts);
    }
    if (inside) return true;
  }
  return false;
}

/// What a block declares is all that analyses see of it.
inline Verdict check_declared(const Program& program, const BlockSite& site) {
  BlockNode body = *site.block;
  const Vec<Region> reads = std::exchange(body.reads, {}), writes = std::exchange(body.writes, {});
  Facts facts = facts_on(site.path, program_facts(program));
  for (const auto& it : body.iters) facts.bind(it);
  const Stmt shared = make_block(std::move(body));
  const BlockNode& block = *shared.as<BlockNode>();
  for (const auto& a : accesses(block)) {
    if (is_private(block.body, a.buffer)) continue;
    for (const bool write : {false, true}) {
      if (write ? !a.is_write : !a.reads()) continue;
      if (is_declared(a, write ? writes : reads, facts)) continue;
      return refusal_at(site.block->tag, "L0130",
                        "block " + in_quotes(block.name()) +
                            " declares what it touches, but it is not found that what it " +
                            (write ? "writes of " : "reads of ") + in_quotes(a.buffer->name) +
                            " lies in there",
                        "declare all of it, or nothing: then the statements are looked at");
    }
  }
  return {};
}

inline Verdict check_declared_regions(const Program& program) {
  for (const auto& site : blocks_below(program->body))
    if (!site.block->reads.empty() || !site.block->writes.empty())
      if (auto no = check_declared(program, site)) return no;
  return {};
}

inline bool streams(const BlockNode* b) {
  const auto* stream = b ? b->attributes.find<StreamAttr>() : nullptr;
  return stream && stream->how != Streaming::none;
}

/// A streaming store may not be seen before a fence, but by the thread that makes it: a reduction
/// folds what it has stored itself.
inline Verdict check_streams(const Program& program) {
  Vec<Buffer> streamed;
  each_statement(program->body, [&](const Stmt& s) {
    if (const auto* n = s.as<StoreNode>(); n && n->streaming != Streaming::none)
      streamed.push_back(n->buffer);
    if (const auto* b = s.as<BlockNode>(); streams(b)) streamed.append(buffers_written(b->body));
  });
  Verdict no;
  for (const auto& buffer : streamed)
    if (any_use(program->body, [&](const BufferUse& use) {
          return use.buffer == buffer && use.reads() &&
                 !(use.kind == AccessKind::update && streams(use.block));
        }))
      no = refusal("L0223", in_quotes(buffer->name) +
                                " is read in the program, and its stores go past the caches");
  return no;
}

/// Elements of a temporary are apart: its dimensions, by ascending stride, each step over all that
/// lies inside.
inline bool strides_keep_apart(const BufferNode& b) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 56;
  Vec<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t d = 0; d < b.strides.size(); ++d) {
    const std::int64_t *stride = as_const_int(b.strides[d]), *extent = as_const_int(b.shape[d]);
    if (!stride || !extent || *stride < 1 || *extent > kMostElements || *stride > kMostElements)
      return false;
    axes.emplace_back(*stride, *extent);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t inside = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride < inside) return false;
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(extent, 1), &inside)) return false;
  }
  return true;
}

inline Verdict check_storage(const Program& program) {
  Verdict no;
  any_statement(program->body, [&](const Stmt& s) {
    const auto* a = s.as<AllocNode>();
    if (!a) return false;
    if (!a->buffer->strides.empty() && !strides_keep_apart(*a->buffer))
      no = refusal("L0221",
                   "elements of " + in_quotes(a->buffer->name) +
                       " may share memory: its strides are no numbers that keep them apart");
    else if (a->buffer->scope != Scope::global)
      no = check_lifetime(program, a->buffer);
    return no.has_value();
  });
  return no;
}

LATHE_DECL Verdict check_claims(const Program& program) {
  const Claims claims(program);
  if (auto no = check_claimed_marks(program)) return no;
  if (claims.loops)
    if (auto no = check_claimed_loops(program)) return no;
  if (claims.regions)
    if (auto no = check_declared_regions(program)) return no;
  if (claims.streams)
    if (auto no = check_streams(program)) return no;
  return claims.storage ? check_storage(program) : Verdict();
}

}  // namespace lathe::detail

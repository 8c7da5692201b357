#pragma once

#include <algorithm>
#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/instances.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

inline bool has_tag(const Vec<BlockTag>& tags, const AccessSite& a) {
  for (const auto& t : tags)
    if (a.block && a.block->tag == t) return true;
  return false;
}

LATHE_DECL const Vec<AccessSite>& KnownCovers::accesses_below(const Stmt& body,
                                                              const Buffer& buffer,
                                                              const Facts& facts) {
  if (!body_.same_as(body)) {
    body_ = body;
    accesses_ = accesses_to(buffer, body, facts);
  }
  return accesses_;
}

LATHE_DECL const Cover* KnownCovers::find(const Stmt& body, const Vec<BlockTag>& producers,
                                          const BlockTag& consumer) {
  for (const auto& a : answers_)
    if (a.body.same_as(body) && a.consumer == consumer && a.producers == producers) return &a.cover;
  return nullptr;
}

LATHE_DECL const Cover& KnownCovers::keep(const Stmt& body, const Vec<BlockTag>& producers,
                                          const BlockTag& consumer, Cover cover) {
  answers_.push_back({body, producers, consumer, std::move(cover)});
  return answers_.back().cover;
}

/// Whether a write happens, for each point of a read, at the point with the same values of loops
/// alike, and names the same element there: tiles whose tails are under one condition.
class SamePoints {
 public:
  SamePoints(const AccessSite& read, const AccessSite& write, const Facts& facts)
      : read_(read), write_(write), facts_(facts) {}

  bool run() const {
    const auto plain = [](const AccessSite& a) {
      bool known = a.unknown.empty() && !a.atomic && a.kind != AccessKind::opaque;
      for (const auto& index : a.indices) known = known && is_load_free(index);
      return known && (!a.condition || is_load_free(a.condition));
    };
    return plain(read_) && plain(write_) && !write_.unsure && matches(0, {});
  }

 private:
  /// With the write's loops before `depth` as `at` says.
  bool matches(std::size_t depth, const Substitution& at) const {
    if (depth == write_.loops.size()) return same_element(at);
    const ForNode& loop = *write_.loops[depth];
    const AnyExpr min = substitute(loop.min, at), extent = substitute(loop.extent, at);
    for (const auto& other : read_.loops)
      if (same_expr(other->min, min) && same_expr(other->extent, extent) &&
          matches(depth + 1, with(at, loop.var, AnyExpr(other->var))))
        return true;
    // Any iteration will do, if there is one.
    const std::int64_t* trips = as_const_int(extent);
    return trips && *trips >= 1 && matches(depth + 1, with(at, loop.var, min));
  }
  static Substitution with(Substitution at, const VarRef& var, const AnyExpr& value) {
    at.emplace_back(var, value);
    return at;
  }

  bool same_element(const Substitution& at) const {
    for (std::size_t d = 0; d < read_.indices.size(); ++d)
      if (!same_expr(read_.indices[d], substitute(write_.indices[d], at))) return false;
    if (!write_.condition) return true;
    Facts here = facts_;
    for (const auto& loop : read_.loops) here.bind(*loop);
    if (read_.condition) here.assume(read_.condition);
    return prove(substitute(write_.condition, at), here);
  }

  const AccessSite &read_, &write_;
  const Facts& facts_;
};

/// One question of cover: gathers the accesses below the deepest loop that producers and consumer
/// share.
class CoverTest {
 public:
  CoverTest(const Stmt& root, const Vec<BlockTag>& producers, const BlockTag& consumer,
            const Buffer& buffer, KnownCovers& known)
      : root_(root), producers_(producers), consumer_(consumer), buffer_(buffer), known_(known) {}

  Cover run(const VarRef& loop, const Facts& facts) {
    BlockSite reader = find_block(root_, consumer_);
    if (!reader.block) return fail("the consumer isn't below the root");
    std::size_t depth = reader.loops.size();
    for (const auto& t : producers_) {
      BlockSite p = find_block(root_, t);
      if (!p.block) return fail("a producer isn't below the root");
      std::size_t shared = 0;
      while (shared < depth && shared < p.loops.size() &&
             p.loops[shared]->var == reader.loops[shared]->var)
        ++shared;
      depth = shared;
    }
    if (loop) {
      std::size_t wanted = 0;
      while (wanted < depth && reader.loops[wanted]->var != loop) ++wanted;
      if (wanted == depth) return fail("loop '" + loop->name + "' isn't above both");
    }
    VarRef at;
    if (depth > 0) at = reader.loops[depth - 1]->var;
    for (const auto& t : producers_)
      if (!final_at(root_, t, at))
        return fail("block '" + t->name + "' is not finished in one iteration");
    Stmt body = root_;
    Facts inside = facts;
    if (at) {
      LoopSite site = find_loop(root_, at);
      inside = facts_on(site.path, facts);
      inside.bind(*site.loop);
      body = site.loop->body;
    }
    if (const Cover* known = known_.find(body, producers_, consumer_)) return *known;
    return known_.keep(body, producers_, consumer_, in_body(body, inside));
  }

 private:
  static Cover fail(std::string why) { return {false, std::move(why)}; }

  Cover in_body(const Stmt& body, const Facts& facts) {
    Vec<AccessSite> reads, writes, others;
    for (const auto& a : known_.accesses_below(body, buffer_, facts)) {
      const bool mine = a.block && a.block->tag == consumer_;
      if (mine && a.is_write)
        return fail("block '" + consumer_->name + "' writes '" + buffer_->name + "' itself");
      if (mine && a.reads())
        reads.push_back(a);
      else if (a.is_write && has_tag(producers_, a))
        writes.push_back(a);
      else if (a.is_write)
        others.push_back(a);
    }
    if (reads.empty()) return {true, {}};
    if (writes.empty()) return fail("nothing writes '" + buffer_->name + "' there");
    for (const auto& w : writes)
      if (w.order > reads.front().order)
        return fail("block '" + w.block->name() + "' comes after the read");
    const Vec<VarRef> in_reads = loops_inside(reads), in_writes = loops_inside(writes);
    Region need = region_upper_guarded(buffer_, reads, in_reads, facts).region;
    for (const auto& o : others) {
      if (o.order < writes.front().order || o.order > reads.back().order) continue;
      Vec<AccessSite> one{o};
      if (!regions_disjoint(region_upper(buffer_, one, loops_inside(one), facts).region, need,
                            facts))
        return fail("'" + buffer_->name + "' may be written again before it is read");
    }
    for (const auto& box : lower_boxes(buffer_, writes, in_writes, facts))
      if (region_contains(box, need, facts)) return {true, {}};
    if (std::all_of(reads.begin(), reads.end(), [&](const AccessSite& read) {
          return std::any_of(writes.begin(), writes.end(), [&](const AccessSite& write) {
            return SamePoints(read, write, facts).run();
          });
        }))
      return {true, {}};
    return fail("not all elements of '" + buffer_->name +
                "' that are read are surely written before");
  }

  const Stmt& root_;
  const Vec<BlockTag>& producers_;
  const BlockTag& consumer_;
  const Buffer& buffer_;
  KnownCovers& known_;
};

}  // namespace detail

LATHE_DECL bool final_at(const Stmt& root, const BlockTag& block, const VarRef& loop) {
  if (!loop) return true;
  BlockSite site = find_block(root, block);
  if (!site.block) return false;
  std::size_t at = 0;
  for (; at < site.loops.size(); ++at) {
    if (feeds(*site.loops[at], *site.block, IterKind::reduce)) return false;
    if (site.loops[at]->var == loop) break;
  }
  // Without an init later iterations go on with what this one left, where they reach it again.
  const bool goes_on = site.block->reducer && !site.block->init;
  return !goes_on || at == site.loops.size() || !Instances(site).repeats_point(0, at + 1);
}

LATHE_DECL Cover covers(const Stmt& root, const Vec<BlockTag>& producers, const BlockTag& consumer,
                        const Buffer& buffer, const VarRef& loop, const Facts& facts,
                        detail::KnownCovers* known) {
  detail::KnownCovers own;
  return detail::CoverTest(root, producers, consumer, buffer, known ? *known : own)
      .run(loop, facts);
}

LATHE_DECL Cover covers(const Stmt& root, const BlockTag& producer, const BlockTag& consumer,
                        const Buffer& buffer, const Facts& facts) {
  return covers(root, Vec<BlockTag>{producer}, consumer, buffer, {}, facts);
}

}  // namespace lathe

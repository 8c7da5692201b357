#pragma once

#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/schedule/core/records.hpp>

namespace lathe {
namespace detail {

// Copies, with their borders, of images that are read again and again under conditions of the
// place, or at clamped places: a padded convolution reads memory without a condition then. Blocks
// that are no reductions ask once for a whole vector: only where masks are long is a copy less.
class PadReads : NestSteps {
 public:
  using NestSteps::NestSteps;

  /// The blocks that copy.
  Vec<BlockRef> run(const BlockRef& block, const DefaultNest& nest) {
    Vec<BlockRef> copies;
    Vec<Buffer> seen;
    for (const auto& read : nest.reads) {
      if (!is_padded(nest, read) || contains(seen, read.buffer)) continue;
      seen.push_back(read.buffer);
      const bool narrow = ends_in_narrow_masks(block, nest, read.buffer);
      if (!narrow && !site(block).block->reducer) continue;
      const Args args{block, Arg::of_buffer(read.buffer->name)};
      if (s_.check(primitive_cache_padded(), args)) continue;
      const Schedule before = s_;
      const BlockRef copy = s_.cache_padded(block, read.buffer->name);
      if (volume(nest.all) * times_read(nest, read.buffer) <=
          (narrow ? kNarrowReads : kReads) * volume(site(copy).loops))
        s_ = before;
      else
        copies.push_back(copy);
    }
    return copies;
  }

  static bool is_padded(const DefaultNest& nest) {
    return std::any_of(nest.reads.begin(), nest.reads.end(),
                       [&](const AccessSite& read) { return is_padded(nest, read); });
  }

  // Whether a read has a condition, and is not only clamped.
  static bool has_conditions(const DefaultNest& nest) {
    return std::any_of(nest.reads.begin(), nest.reads.end(), [](const AccessSite& read) {
      return read.inner_condition.get() != nullptr;
    });
  }

 private:
  // Of each place: a copy loads and stores it once, a condition is asked at each read.
  static constexpr double kReads = 16;
  // Where masks of bytes take some forty instructions, and only a call tells where they end.
  static constexpr double kNarrowReads = 4;

  static double times_read(const DefaultNest& nest, const Buffer& buffer) {
    return static_cast<double>(
        std::count_if(nest.reads.begin(), nest.reads.end(),
                      [&](const AccessSite& read) { return read.buffer == buffer; }));
  }

  // Whether lanes have a border that a call tells, and no mask of an instruction. What the program
  // itself computes by rows is in the first cache.
  bool ends_in_narrow_masks(const BlockRef& block, const DefaultNest& nest,
                            const Buffer& buffer) const {
    if (!TargetCaps(target_).narrow_masks_by_words || buffer->dtype.element_bytes() >= 4 ||
        is_private(s_.program()->body, buffer) || !nest.unit.var.get() ||
        has_const_trip(nest, nest.unit))
      return false;
    const BlockSite at = site(block);
    const Facts facts = facts_on(at.path);
    const auto reads = over_loops(reads_of(*at.block), *at.block, facts);
    return std::any_of(reads.begin(), reads.end(), [&](const AccessSite& read) {
      return read.buffer == buffer && ends_along(read, nest.unit.var, facts);
    });
  }
  static bool ends_along(const AccessSite& read, const VarRef& unit, const Facts& facts) {
    if (read.inner_condition.get() && uses_var(read.inner_condition, unit)) return true;
    return std::any_of(read.indices.begin(), read.indices.end(), [&](const AnyExpr& index) {
      return uses_var(index, unit) && !same_expr(away_from_borders(index, facts), index);
    });
  }

  static bool is_padded(const DefaultNest& nest, const AccessSite& read) {
    return read.inner_condition.get() || contains(nest.clamped, read.buffer);
  }
};

}  // namespace detail
}  // namespace lathe

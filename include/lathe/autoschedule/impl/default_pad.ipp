#pragma once

#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/schedule/core/records.hpp>

namespace lathe {
namespace detail {

// Copies, with their borders, of images that a reduction reads again and again under conditions of
// the place, or at clamped places: a padded convolution reads memory without a condition then.
class PadReads : NestSteps {
 public:
  using NestSteps::NestSteps;

  /// The blocks that copy.
  Vec<BlockRef> run(const BlockRef& reduction, const DefaultNest& nest) {
    Vec<BlockRef> copies;
    Vec<Buffer> seen;
    for (const auto& read : nest.reads) {
      if (!is_padded(nest, read) || contains(seen, read.buffer)) continue;
      seen.push_back(read.buffer);
      const Args args{reduction, Arg::of_buffer(read.buffer->name)};
      if (s_.check(primitive_cache_padded(), args)) continue;
      const Schedule before = s_;
      const BlockRef copy = s_.cache_padded(reduction, read.buffer->name);
      if (volume(nest.all) < reads_for(nest, read) * volume(site(copy).loops))
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

  double reads_for(const DefaultNest& nest, const AccessSite& read) const {
    const bool narrow = TargetCaps(target_).narrow_masks_by_words &&
                        read.buffer->dtype.element_bytes() < 4 && nest.unit.var.get() &&
                        !has_const_trip(nest, nest.unit);
    return narrow ? kNarrowReads : kReads;
  }

  static bool is_padded(const DefaultNest& nest, const AccessSite& read) {
    return read.inner_condition.get() || contains(nest.clamped, read.buffer);
  }
};

}  // namespace detail
}  // namespace lathe

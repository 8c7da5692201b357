#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Where few rows meet what lies along the lanes, memory is read as it lies: a few terms at a time,
// whole rows of each, which hardware fetches ahead, and the sums wait in a cache. Vectors by
// matrices of 4096, Zen 3: 6 Gflop/s in columns of a tile, 14 by rows, 8 in runs of 2 KB.
class StreamedTerms : protected CacheBlocks {
 public:
  using CacheBlocks::CacheBlocks;

 protected:
  // `tile`: what would be taken otherwise.
  TermBlocks streams_of_terms(const DefaultNest& nest, const RegisterTile& tile,
                              std::int64_t lanes) const {
    const double rows = rows_that_meet(nest),
                 columns = static_cast<double>(trip_of(nest, nest.unit));
    if (nest.reduce.size() != 1 || nest.writes.size() != 1 || !nest.unit.var.get() ||
        !has_const_trip(nest, nest.unit) || trip_of(nest, nest.reduce[0]) < 2 * kStreamedTerms ||
        rows > (is_short(tile) ? kPackReuse - 1 : kStreamedRows))
      return {};
    const double sums = rows * columns * nest.writes[0].buffer->dtype.element_bytes();
    if (lane_bytes(nest) * columns <= 2 * static_cast<double>(target_.l1_bytes) ||
        sums > static_cast<double>(second_cache_share()) || !streams_along(nest))
      return {};
    double tasks = 1;
    for (const auto& l : nest.spatial)
      if (!(l == nest.unit) && !meets_again(nest, l))
        tasks *= static_cast<double>(trip_of(nest, l));
    const std::int64_t all = tiles_along(nest, streamed_tile(nest, tile).vectors * lanes);
    return {0, kStreamedTerms,
            tasks < target_.cores ? balanced(all, (all + target_.cores - 1) / target_.cores) : all,
            true};
  }
  // Tiles of them: two vectors side by side, or four of one row.
  RegisterTile streamed_tile(const DefaultNest& nest, const RegisterTile& tile) const {
    if (!tile.rows.var.get()) return {{}, 1, kStreamedVectors};
    return {tile.rows, balanced(trip_of(nest, tile.rows), kStreamedRows), 2};
  }

 private:
  static constexpr std::int64_t kStreamedTerms = 8, kStreamedRows = 4, kStreamedVectors = 4;

  // Whether terms follow each other in rows that are worth a stream.
  bool streams_along(const DefaultNest& nest) const {
    bool any = false;
    for (const auto& read : nest.reads) {
      const Step step = step_of(read.indices, nest.unit.var);
      if (step == Step::none) continue;
      constexpr std::int64_t kLeastRun = 1024;
      if (step != Step::unit || step_of(read.indices, nest.reduce[0].var) == Step::none ||
          trip_of(nest, nest.unit) * read.buffer->dtype.element_bytes() < kLeastRun)
        return false;
      any = true;
    }
    return any;
  }
};

}  // namespace detail
}  // namespace lathe

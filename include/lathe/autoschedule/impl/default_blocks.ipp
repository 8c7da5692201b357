#pragma once

#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Which parts of a reduction's operands caches hold: what is laid out in panels, and which loops
// stand around the rest.
class CacheBlocks : protected ReductionCosts {
 public:
  using ReductionCosts::ReductionCosts;

 protected:
  // Rows of a constant are laid out once, for all calls. Of few rows in blocks of terms a copy is
  // most of the work, where the second cache is fast enough for what lies apart: by 768x768 and
  // eleven other sizes 16 rows in place took 0.6 to 0.85 of the time, 32 rows 0.6 to 1.05, 40 rows
  // 0.8 to 1.15 (Emerald Rapids, AVX-512). Zen 3 was slower from 16 rows on. Windows have no such
  // blocks.
  static constexpr double kPackReuse = 16, kLongReuse = 40, kConstantReuse = 2;
  // Pages whose places a core has at hand: 64 to 96 entries (Zen 4, Golden Cove).
  static constexpr double kPages = 96;

  // Tiles of so few rows come back to what lies along the lanes after so few cycles that they wait
  // for the second cache: 16 bytes a cycle at 4 rows of AVX2, half of what Zen 3 delivers.
  static bool is_short(const RegisterTile& tile) { return tile.height <= kShortTile; }

  // How often a tile comes back to what it read.
  static double reuse(const DefaultNest& nest, const AccessSite& read) {
    double times = 1;
    for (const auto& l : nest.spatial)
      if (step_of(read.indices, l.var) == Step::none)
        times *= static_cast<double>(trip_of(nest, l));
    return times;
  }
  // Whether what jumps along the lanes is worth a copy in which it doesn't.
  static bool packs_jumps(const DefaultNest& nest) {
    for (const auto& read : nest.reads)
      if (jumps(nest, read) &&
          !(PackPanels::has_panels(nest, read, nest.unit) && reuse(nest, read) >= kPackReuse))
        return false;
    return true;
  }
  // What a tile along the lanes reads lies on one page a term, or jumps.
  bool worth_panels(const DefaultNest& nest, const RegisterTile& tile, const AccessSite& read,
                    std::int64_t lanes) const {
    if (!PackPanels::has_panels(nest, read, nest.unit) ||
        !PackPanels::fits_panels(nest, read, tile.vectors * lanes))
      return false;
    const bool pays = panels_pay(nest, tile, read, lanes);
    if (!job_.plan) return pays;
    return decided(
        nest.block, cat("panels(", read.buffer->name, ')'), pays, [&] { return Vec<bool>{!pays}; },
        [](bool copy) {
          return PlanOption{"copy", {copy}, 0};
        });
  }
  bool panels_pay(const DefaultNest& nest, const RegisterTile& tile, const AccessSite& read,
                  std::int64_t lanes) const {
    if (jumps(nest, read)) return reuse(nest, read) >= kPackReuse;
    if (!moves_by_terms(nest, read)) return false;
    const std::int64_t columns = trip_of(nest, nest.unit);
    const double bytes = term_bytes(nest, read) * static_cast<double>(columns);
    const bool stays = is_short(tile) ? fits_first_cache(nest, read, tile.vectors * lanes)
                                      : bytes <= kPages * kPage;
    const bool early = is_short(tile) && (target_.vector_registers < 32 || nest.reduce.size() > 1);
    return columns > tile.vectors * lanes && !stays &&
           reuse(nest, read) >= (is_constant(read.buffer) ? kConstantReuse
                                 : early                  ? kPackReuse
                                                          : kLongReuse);
  }
  // Whether what a tile reads along the lanes, in all terms, stays in its sets of the first cache,
  // half of it.
  bool fits_first_cache(const DefaultNest& nest, const AccessSite& read, std::int64_t width) const {
    const std::int64_t element = read.buffer->dtype.element_bytes(),
                       lines = width * element + target_.line_bytes;  // that a term meets, in bytes
    const double terms = term_bytes(nest, read) / static_cast<double>(element);
    return terms <=
               static_cast<double>(cache_sets(apart_along(read, nest.reduce)) * cache_ways()) &&
           2 * terms * static_cast<double>(lines) <= static_cast<double>(target_.l1_bytes);
  }
  // Whether rows of a tile lie side by side, and terms so far apart that they push each other out
  // of the first cache: of a product A' B those of A.
  bool worth_row_panels(const DefaultNest& nest, const RegisterTile& tile,
                        const AccessSite& read) const {
    return tile.height > 1 && step_of(read.indices, tile.rows.var) == Step::unit &&
           step_of(read.indices, nest.unit.var) == Step::none &&
           PackPanels::has_panels(nest, read, tile.rows) && reuse(nest, read) >= kPackReuse &&
           !fits_first_cache(nest, read, tile.height);
  }
  static bool moves_by_terms(const DefaultNest& nest, const AccessSite& read) {
    return std::any_of(nest.reduce.begin(), nest.reduce.end(), [&](const LoopRef& loop) {
      return step_of(read.indices, loop.var) != Step::none;
    });
  }
  // Of one iteration of the unit loop.
  static double term_bytes(const DefaultNest& nest, const AccessSite& read) {
    double bytes = read.buffer->dtype.element_bytes();
    for (const auto& l : nest.reduce)
      if (step_of(read.indices, l.var) != Step::none)
        bytes *= static_cast<double>(trip_of(nest, l));
    return bytes;
  }

  // Of all that lies along the lanes.
  double lane_bytes(const DefaultNest& nest) const {
    double bytes = 0;
    for (const auto& read : nest.reads)
      if (step_of(read.indices, nest.unit.var) != Step::none)
        bytes += term_bytes(nest, read) / read.buffer->dtype.element_bytes() *
                 type_held(nest, read).element_bytes();
    return bytes;
  }
  static bool is_converted(const DefaultNest& nest, const AccessSite& read) {
    return nest.type_read(read.buffer) != read.buffer->dtype;
  }
  // Of panels: tiles convert whole vectors, which for few rows is less work than to write panels of
  // twice the size. Those that come from memory take longer still. Zen 3, bf16: 16x4096x4096 took
  // 14 ms, 18.6 with panels of f32; 64x512x512 0.73 and 0.65.
  DType type_held(const DefaultNest& nest, const AccessSite& read) const {
    const DType wide = nest.type_read(read.buffer);
    const double bytes = elements(*read.buffer) * wide.element_bytes();
    const bool far = is_constant(read.buffer) && bytes > static_cast<double>(target_.l3_bytes);
    return reuse(nest, read) >= (far ? kFarReadsConverted : kReadsConverted) ? wide
                                                                             : read.buffer->dtype;
  }
  // Extents that only a call tells count as one.
  static double elements(const BufferNode& buffer) {
    double all = 1;
    for (const auto& extent : buffer.shape)
      if (const std::int64_t* size = as_const_int(extent)) all *= static_cast<double>(*size);
    return all;
  }
  static std::int64_t tiles_along(const DefaultNest& nest, std::int64_t width) {
    return (trip_of(nest, nest.unit) + width - 1) / width;
  }
  // What comes back to the second cache may fill half of it; the other operands pass by.
  std::int64_t second_cache_share() const { return target_.l2_bytes / 2; }

  // Whether iterations of a loop read the same along the lanes.
  static bool meets_again(const DefaultNest& nest, const LoopRef& loop) {
    if (loop == nest.unit || trip_of(nest, loop) < 2) return false;
    for (const auto& read : nest.reads)
      if (step_of(read.indices, nest.unit.var) != Step::none &&
          step_of(read.indices, loop.var) != Step::none)
        return false;
    return true;
  }

  static double rows_that_meet(const DefaultNest& nest) {
    double rows = 1;
    for (const auto& l : nest.spatial)
      if (meets_again(nest, l)) rows *= static_cast<double>(trip_of(nest, l));
    return rows;
  }

  // The spatial loops, those that meet the same along the lanes inside of the others where all that
  // lies along the lanes does not fit the second cache: groups one after the other.
  Vec<LoopRef> shared_inside(const DefaultNest& nest) const {
    double bytes = lane_bytes(nest);
    Vec<LoopRef> outer, inner;
    for (const auto& l : nest.spatial) {
      const bool shared = l == nest.unit || meets_again(nest, l);
      if (!shared || l == nest.unit) bytes *= static_cast<double>(trip_of(nest, l));
      (shared ? inner : outer).push_back(l);
    }
    if (bytes <= static_cast<double>(second_cache_share())) return nest.spatial;
    outer.append(inner);
    return outer;
  }

  // Tiles along the lanes that share half of a cache, if rows come back to them and all do not fit.
  std::int64_t tiles_in_block(const DefaultNest& nest, const RegisterTile& tile,
                              std::int64_t lanes) const {
    const std::int64_t width = tile.vectors * lanes, all = tiles_along(nest, width);
    const double bytes = lane_bytes(nest) * static_cast<double>(width);
    if (bytes == 0 || rows_that_meet(nest) < 2 * static_cast<double>(tile.height)) return 0;
    // Short tiles come back so soon that the first cache pays, if its half holds two, and not all.
    const std::int64_t near = is_short(tile) ? tiles_in(target_.l1_bytes / 2, bytes) : 0,
                       most = near >= 2 && 2 * near < all ? near
                                                          : tiles_in(second_cache_share(), bytes);
    return most < all ? balanced(all, std::max<std::int64_t>(most, 1)) : 0;
  }

  // Tiles of rows whose operands stay in a quarter of the last cache while what lies along the
  // lanes passes by; 0: all, as they fit or as rows are those of several loops. Zen 3, 32 MB,
  // products of 2048x2048x2048: f64 took 0.82 of the time with blocks of 512 rows, f32 0.9. Where
  // the last cache is far nobody measured them.
  std::int64_t rows_in_block(const DefaultNest& nest, const RegisterTile& tile) const {
    if (!tile.rows.var.get() || !has_const_trip(nest, tile.rows) || target_.far_last_cache ||
        rows_that_meet(nest) > static_cast<double>(trip_of(nest, tile.rows)))
      return 0;
    double bytes = 0;  // of a tile
    for (const auto& read : nest.reads)
      if (step_of(read.indices, nest.unit.var) == Step::none &&
          step_of(read.indices, tile.rows.var) != Step::none)
        bytes += term_bytes(nest, read) / read.buffer->dtype.element_bytes() *
                 nest.type_read(read.buffer).element_bytes() * static_cast<double>(tile.height);
    const std::int64_t all = (trip_of(nest, tile.rows) + tile.height - 1) / tile.height,
                       most = std::max(tiles_in(target_.l3_bytes / 4, std::max(bytes, 1.0)),
                                       std::max<std::int64_t>(kLeastRows / tile.height, 1));
    return most < all ? balanced(all, most) : 0;
  }

  static std::int64_t tiles_in(std::int64_t share, double bytes) {
    return static_cast<std::int64_t>(static_cast<double>(share) / bytes);
  }

  // Terms of a block, and tiles along the lanes that share it: rows of a tile take a quarter of the
  // first cache, columns half of the second.
  struct TermBlocks {
    std::size_t whole = 0;   ///< reduce loops around a block
    std::int64_t terms = 0;  ///< of the next one, in a block; 0: all
    std::int64_t tiles = 0;  ///< 0: no blocks
    bool streams = false;    ///< through memory as it lies
    bool near = false;       ///< its rows stay in the first cache, while columns pass by
  };
  TermBlocks blocks_of_terms(const DefaultNest& nest, const RegisterTile& tile,
                             std::int64_t lanes) const {
    if (tile.height < 2) return {};
    for (const auto& read : nest.reads)
      if (jumps(nest, read) && !worth_panels(nest, tile, read, lanes)) return {};
    if (nest.reduce.size() > 1)
      return nest.leaves_out ? TermBlocks() : loops_around_blocks(nest, tile, lanes);
    return has_const_trip(nest, nest.reduce[0]) ? blocks_of_loop(nest, tile, lanes) : TermBlocks();
  }

 private:
  // Reads of a number from which on it is converted when it is copied.
  static constexpr double kReadsConverted = 48, kFarReadsConverted = 96;
  static constexpr std::int64_t kShortTile = 6, kTermsOfFewRows = 64;
  static constexpr double kRowsOfLongBlocks = 64;
  // That share a copy of what lies along the lanes.
  static constexpr std::int64_t kLeastRows = 128;

  // Loops of windows around as many of the inner ones as the second cache holds.
  TermBlocks loops_around_blocks(const DefaultNest& nest, const RegisterTile& tile,
                                 std::int64_t lanes) const {
    const std::int64_t width = tile.vectors * lanes;
    double bytes = lane_bytes(nest) * static_cast<double>(width);
    const double share = static_cast<double>(second_cache_share());
    TermBlocks out;
    for (; out.whole + 1 < nest.reduce.size() && bytes > share; ++out.whole)
      bytes /= static_cast<double>(trip_of(nest, nest.reduce[out.whole]));
    if (out.whole == 0 || bytes > share) return {};
    out.tiles = balanced(tiles_along(nest, width), static_cast<std::int64_t>(share / bytes));
    return out;
  }

  // Whether all that lies along the lanes is in panels before a call.
  bool panels_are_ahead(const DefaultNest& nest, const RegisterTile& tile,
                        std::int64_t lanes) const {
    for (const auto& read : nest.reads)
      if (step_of(read.indices, nest.unit.var) != Step::none &&
          !(is_constant(read.buffer) && worth_panels(nest, tile, read, lanes)))
        return false;
    return true;
  }
  // The last cache that is near enough for what tiles come back to.
  std::int64_t near_cache() const {
    return target_.far_last_cache ? target_.l2_bytes : target_.l3_bytes;
  }

  TermBlocks blocks_of_loop(const DefaultNest& nest, const RegisterTile& tile,
                            std::int64_t lanes) const {
    const std::int64_t width = tile.vectors * lanes;
    std::int64_t bytes = 1;
    for (const auto& read : nest.reads)
      bytes = std::max<std::int64_t>(bytes, type_held(nest, read).element_bytes());
    const double rows = rows_that_meet(nest);
    const std::int64_t all = trip_of(nest, nest.reduce[0]),
                       fit = target_.l1_bytes / 4 / (tile.height * bytes);
    const bool ahead = panels_are_ahead(nest, tile, lanes);
    // Tiles run through such panels as they lie, and sums stay in registers over all terms.
    if (ahead && (rows + static_cast<double>(width)) * static_cast<double>(all * bytes) <=
                     static_cast<double>(near_cache()))
      return {};
    // Of few rows a copy takes most of the time, and reads long rows faster than short ones.
    const bool few = !ahead && rows < kRowsOfLongBlocks;
    const std::int64_t most = few ? std::min(fit, kTermsOfFewRows) : fit;
    // Sums that wait in memory cost short tiles more than rows that the first cache does not hold:
    // Zen 3, products of 1500 terms of f32 took 0.88 to 0.97 of the time, of 4096 1.14.
    const std::int64_t least = is_short(tile) && !few ? 4 : 2;
    if (most < 1 || all <= least * most) return {};
    TermBlocks out;
    // Columns then come from the second cache once, not once for each tile of rows.
    out.near = few && 2 * rows * static_cast<double>(most * bytes) <=
                          static_cast<double>(target_.l1_bytes);
    // Whole parts of a copy: what these cover is proved, and all of it need not be kept.
    out.terms =
        (balanced(all, most) + PackPanels::kRows - 1) / PackPanels::kRows * PackPanels::kRows;
    const std::int64_t tiles = tiles_along(nest, width),
                       side_by_side = second_cache_share() / (out.terms * bytes * width),
                       a_thread = target_.cores > 1 ? tiles / (2 * target_.cores) : tiles;
    if (side_by_side < 1 || a_thread < 1) return {};
    out.tiles = balanced(tiles, std::min(side_by_side, a_thread));
    return out;
  }
};

}  // namespace detail
}  // namespace lathe

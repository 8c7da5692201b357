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
  // Rows of a constant are laid out once, for all calls.
  static constexpr double kPackReuse = 16, kLongReuse = 64, kConstantReuse = 2;
  // Pages whose places a core has at hand: 64 to 96 entries (Zen 4, Golden Cove).
  static constexpr double kPages = 96, kPage = 4096;

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
          !(PackPanels::has_panels(nest, read) && reuse(nest, read) >= kPackReuse))
        return false;
    return true;
  }
  // What a tile along the lanes reads lies on one page a term, or jumps.
  bool worth_panels(const DefaultNest& nest, const RegisterTile& tile, const AccessSite& read,
                    std::int64_t lanes) const {
    if (!PackPanels::has_panels(nest, read) ||
        !PackPanels::fits_panels(nest, read, tile.vectors * lanes))
      return false;
    if (jumps(nest, read)) return reuse(nest, read) >= kPackReuse;
    const std::int64_t columns = trip_of(nest, nest.unit);
    const double bytes = term_bytes(nest, read) * static_cast<double>(columns);
    return columns > tile.vectors * lanes && bytes > kPages * kPage &&
           reuse(nest, read) >= (is_constant(read.buffer) ? kConstantReuse : kLongReuse);
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
  static double lane_bytes(const DefaultNest& nest) {
    double bytes = 0;
    for (const auto& read : nest.reads)
      if (step_of(read.indices, nest.unit.var) != Step::none) bytes += term_bytes(nest, read);
    return bytes;
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

  // Tiles along the lanes that share half of the second cache, if rows come back to them and all do
  // not fit.
  std::int64_t tiles_in_block(const DefaultNest& nest, const RegisterTile& tile,
                              std::int64_t lanes) const {
    const std::int64_t width = tile.vectors * lanes, all = tiles_along(nest, width);
    const double bytes = lane_bytes(nest) * static_cast<double>(width),
                 share = static_cast<double>(second_cache_share());
    double rows = 1;
    for (const auto& l : nest.spatial)
      if (meets_again(nest, l)) rows *= static_cast<double>(trip_of(nest, l));
    if (bytes * static_cast<double>(all) <= share || rows < 2 * static_cast<double>(tile.height))
      return 0;
    const auto most = static_cast<std::int64_t>(share / bytes);
    return most < all ? balanced(all, std::max<std::int64_t>(most, 1)) : 0;
  }

  // Terms of a block, and tiles along the lanes that share it: rows of a tile take a quarter of the
  // first cache, columns half of the second.
  struct TermBlocks {
    std::size_t whole = 0;   ///< reduce loops around a block
    std::int64_t terms = 0;  ///< of the next one, in a block; 0: all
    std::int64_t tiles = 0;  ///< 0: no blocks
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

  TermBlocks blocks_of_loop(const DefaultNest& nest, const RegisterTile& tile,
                            std::int64_t lanes) const {
    const std::int64_t width = tile.vectors * lanes;
    std::int64_t bytes = 1;
    for (const auto& read : nest.reads)
      bytes = std::max<std::int64_t>(bytes, read.buffer->dtype.element_bytes());
    const std::int64_t all = trip_of(nest, nest.reduce[0]),
                       most = target_.l1_bytes / 4 / (tile.height * bytes);
    if (most < 1 || all <= 2 * most) return {};
    TermBlocks out;
    out.terms = balanced(all, most);
    const std::int64_t tiles = tiles_along(nest, width),
                       fit = second_cache_share() / (out.terms * bytes * width),
                       a_thread = target_.cores > 1 ? tiles / (2 * target_.cores) : tiles;
    if (fit < 1 || a_thread < 1) return {};
    out.tiles = balanced(tiles, std::min(fit, a_thread));
    return out;
  }
};

}  // namespace detail
}  // namespace lathe

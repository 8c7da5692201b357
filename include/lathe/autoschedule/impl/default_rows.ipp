#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Rows of one nest that are computed together.
class RowSteps : protected NestSteps {
 public:
  using NestSteps::NestSteps;

 protected:
  // The innermost loop, other than the lanes', of whose reads a neighbouring iteration has more
  // than a share `least` too.
  static LoopRef window_rows(const DefaultNest& nest, double least) {
    return innermost(nest, [&](const LoopRef& loop) {
      return !(loop == nest.unit) && share_read_again(nest.reads, loop.var) > least;
    });
  }

  // `height` rows together, a vector of each in turn. Gives the loop over such groups.
  LoopRef tile_rows(const DefaultNest& nest, const LoopRef& rows, std::int64_t height,
                    std::int64_t lanes) {
    auto vectors = s_.split_any(nest.unit, {infer, lanes});
    auto groups = s_.split_any(rows, {infer, height});
    Vec<LoopRef> order;
    for (const auto& l : others(nest)) order.push_back(l == rows ? groups[0] : l);
    order.append({vectors[0], groups[1], vectors[1]});
    s_.reorder(order);
    s_.unroll(groups[1]);
    s_.vectorize(vectors[1]);
    return groups[0];
  }

  // From one row to the next of a row-major view; 0: not a number, or not one axis.
  static std::int64_t row_bytes(const AccessSite& access, const LoopRef& rows) {
    std::int64_t bytes = access.buffer->dtype.element_bytes();
    for (std::size_t axis = access.indices.size(); axis-- > 0;) {
      if (uses_var(access.indices[axis], rows.var)) return bytes;
      const auto* extent = as_const_int(access.buffer->shape[axis]);
      if (!extent || __builtin_mul_overflow(bytes, *extent, &bytes)) return 0;
    }
    return 0;
  }

  bool shares_sets(std::int64_t row_bytes) const {
    const std::int64_t rest = row_bytes % kCacheWay, line = target_.line_bytes;
    return row_bytes >= kCacheWay - line && (rest < line || rest > kCacheWay - line);
  }

  void stream(const BlockNode& block, Streaming how) {
    s_.annotate(BlockRef(block.tag), "stream", static_cast<std::int64_t>(how));
  }

  // Whether the block writes an output of the program that is larger than the caches and that
  // nothing here reads.
  bool goes_past_caches(const DefaultNest& nest) const {
    bool large = false;
    for (const auto& write : nest.writes) {
      large |= bytes_of(*write.buffer) > static_cast<double>(target_.l3_bytes) &&
               !is_private(s_.program()->body, write.buffer);
    }
    return large && std::all_of(nest.writes.begin(), nest.writes.end(), [&](const auto& write) {
             return readers(s_.program()->body, write.buffer).empty();
           });
  }

  // Whether the block waits for a last cache that is far away.
  bool past_second_caches(const DefaultNest& nest) const {
    if (!target_.far_last_cache) return false;
    Vec<Buffer> buffers;
    double bytes = 0;
    for (const auto* accesses : {&nest.reads, &nest.writes})
      for (const auto& access : *accesses)
        if (!contains(buffers, access.buffer)) {
          buffers.push_back(access.buffer);
          bytes += bytes_of(*access.buffer);
        }
    return bytes > static_cast<double>(target_.l2_bytes) * target_.cores;
  }
};

}  // namespace detail
}  // namespace lathe

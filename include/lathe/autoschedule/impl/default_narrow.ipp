#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/held.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/reducer.hpp>

namespace lathe {
namespace detail {

// Integers wider than the values that they come from: sums of bytes, positions, counts. Where what
// a block stores is proven to fit a narrower type, a vector has more of it.
class NarrowStages : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run() {
    for (const auto& block : s_.blocks()) {
      const BlockSite at = site(block);
      if (!at.block || kept(block) || !may_narrow(*at.block)) continue;
      const AccessSite write = result_of(*at.block);
      const HeldIntegers held = held_integers(s_.program(), write.buffer);
      for (DType t : exchangeable_types())
        if (t.bits < write.buffer->dtype.bits && t.element_bytes() >= bytes_beside(*at.block) &&
            can_hold(t, held) && narrow(block, write, t))
          break;
    }
  }

 private:
  // Of an arg-reduction the positions.
  static AccessSite result_of(const BlockNode& block) { return writes_of(block).back(); }

  bool may_narrow(const BlockNode& block) const {
    const bool arg = block.reducer && is_arg_reducer(*block.reducer);
    if (writes_of(block).size() != (arg ? 2u : 1u)) return false;
    const AccessSite write = result_of(block);
    if (!is_exchangeable(write.buffer->dtype)) return false;
    const BlockInfo info = classify(s_.program()->body, block.tag);
    const bool own = is_private(s_.program()->body, write.buffer);
    return info.sole_writer && !has_typed_uses(s_.program(), write.buffer) &&
           (own ? info.is_complete() || info.is_reduction()
                : info.is_reduction() && info.injective && is_plain(write));
  }
  // Of the widest element that a term reads, or that stands beside a position: results narrower
  // than it fill no lanes.
  static int bytes_beside(const BlockNode& block) {
    const Vec<AccessSite> writes = writes_of(block);
    const Vec<Buffer> written = buffers_written(block.body);
    int bytes = writes.size() > 1 ? writes[0].buffer->dtype.element_bytes() : 1;
    for (const auto& read : reads_of(block))
      if (!contains(written, read.buffer))
        bytes = std::max(bytes, read.buffer->dtype.element_bytes());
    return bytes;
  }

  // Undone where the terms need the wide type themselves. A parameter is written from a copy.
  bool narrow(const BlockRef& block, const AccessSite& write, DType t) {
    const int before = body_cost(*site(block).block).widest;
    return attempt([&] {
      if (!is_private(s_.program()->body, write.buffer)) s_.cache_write(block, Scope::global);
      s_.change_type(result_of(*site(block).block).buffer->name, t);
      return body_cost(*site(block).block).widest < before;
    });
  }
};

}  // namespace detail
}  // namespace lathe

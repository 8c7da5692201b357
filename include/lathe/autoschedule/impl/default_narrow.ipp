#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/held.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

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
      const AccessSite write = writes_of(*at.block)[0];
      const HeldIntegers held = held_integers(s_.program(), write.buffer);
      for (DType t : exchangeable_types())
        if (t.bits < write.buffer->dtype.bits && can_hold(t, held) && narrow(block, write, t))
          break;
    }
  }

 private:
  bool may_narrow(const BlockNode& block) const {
    const Vec<AccessSite> writes = writes_of(block);
    if (writes.size() != 1 || !is_exchangeable(writes[0].buffer->dtype)) return false;
    const BlockInfo info = classify(s_.program()->body, block.tag);
    const bool own = is_private(s_.program()->body, writes[0].buffer);
    return info.sole_writer && !has_typed_uses(s_.program(), writes[0].buffer) &&
           (own ? info.is_complete() || info.is_reduction()
                : info.is_reduction() && info.injective && is_plain(writes[0]));
  }
  static bool is_plain(const AccessSite& write) {
    return std::all_of(write.indices.begin(), write.indices.end(),
                       [](const auto& e) { return e.kind() == ExprKind::Var || as_const_int(e); });
  }

  // Undone where the terms need the wide type themselves. A parameter is written from a copy.
  bool narrow(const BlockRef& block, const AccessSite& write, DType t) {
    const int before = body_cost(*site(block).block).widest;
    return attempt([&] {
      if (!is_private(s_.program()->body, write.buffer)) s_.cache_write(block, Scope::global);
      s_.change_type(writes_of(*site(block).block)[0].buffer->name, t);
      return body_cost(*site(block).block).widest < before;
    });
  }
};

}  // namespace detail
}  // namespace lathe

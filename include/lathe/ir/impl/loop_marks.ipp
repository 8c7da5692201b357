#pragma once

#include <lathe/ir/loop_marks.hpp>

namespace lathe {

LATHE_DECL std::string_view to_text(Tail tail) {
  static constexpr std::string_view texts[] = {"exact", "guard", "mask",
                                               "peel",  "shift", "round_up"};
  return texts[static_cast<int>(tail)];
}

LATHE_DECL bool parse_tail(std::string_view text, Tail& out) {
  for (int k = 0; k <= static_cast<int>(Tail::round_up); ++k) {
    if (to_text(static_cast<Tail>(k)) != text) continue;
    out = static_cast<Tail>(k);
    return true;
  }
  return false;
}

LATHE_DECL std::string_view to_text(Partition policy) {
  static constexpr std::string_view texts[] = {"automatic", "never", "always"};
  return texts[static_cast<int>(policy)];
}

LATHE_DECL bool parse_partition(std::string_view text, Partition& out) {
  for (Partition policy : {Partition::automatic, Partition::never, Partition::always})
    if (to_text(policy) == text) return out = policy, true;
  return false;
}

}  // namespace lathe

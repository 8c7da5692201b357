// The share of a cache that one of its processors can count on.
#pragma once

#include <cstdint>
#include <lathe/support/text.hpp>
#include <string_view>

namespace lathe {
namespace detail {

/// How many processors a list such as "0-3,8-11" names.
inline std::int64_t count_processors(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(range.size() + (range.size() < list.size()));
    const std::size_t dash = range.find('-');
    std::int64_t first = 0, last = 0;
    if (!parse_int(range.substr(0, dash), first)) return 0;
    if (dash == range.npos || !parse_int(range.substr(dash + 1), last)) last = first;
    count += last - first + 1;
  }
  return count;
}

/// A virtual machine of few processors reports the last cache of the whole socket, most of which
/// its neighbours fill: no processor made has more than 12 MiB of it a core.
inline std::int64_t reachable_cache(std::int64_t bytes, std::string_view sharing) {
  constexpr std::int64_t kLargestShare = std::int64_t{12} << 20;
  const std::int64_t processors = count_processors(sharing);
  return processors > 0 && bytes / processors > kLargestShare ? processors * kLargestShare : bytes;
}

}  // namespace detail
}  // namespace lathe

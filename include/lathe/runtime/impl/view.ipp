#pragma once

#include <lathe/runtime/view.hpp>

namespace lathe {

LATHE_DECL void detail::check_view_fits(const std::int64_t* extents, int rank, std::int64_t held,
                                        Location where) {
  std::int64_t wanted = 1;
  bool empty = false, overflow = false;
  for (int d = 0; d < rank; ++d) {
    if (extents[d] < 0)
      throw UserError("L0401",
                      "view: extent " + std::to_string(d) + " is " + std::to_string(extents[d]),
                      where, {}, "extents are 0 or more");
    empty = empty || extents[d] == 0;
    overflow = __builtin_mul_overflow(wanted, extents[d], &wanted) || overflow;
  }
  if (empty || (!overflow && wanted <= held)) return;
  throw UserError("L0401",
                  "view: the extents ask for " +
                      (overflow ? "more than 2^63 - 1" : std::to_string(wanted)) +
                      " elements, the container holds " + std::to_string(held),
                  where, {}, "give extents whose product is at most the container's size");
}

}  // namespace lathe

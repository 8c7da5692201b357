#pragma once

#include <lathe/runtime/view.hpp>

namespace lathe {

LATHE_DECL void detail::check_view_fits(std::int64_t wanted, std::int64_t held, Location where) {
  if (wanted <= held && wanted >= 0) return;
  throw UserError("L0401",
                  "view: the extents ask for " + std::to_string(wanted) +
                      " elements, the container holds " + std::to_string(held),
                  where, {}, "give extents whose product is at most the container's size");
}

}  // namespace lathe

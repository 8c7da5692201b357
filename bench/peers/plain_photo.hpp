// The photo pipeline in plain C++, twice.
#pragma once

#include "core/case.hpp"

namespace bench {

/// Each stage a loop over the whole picture.
std::function<void()> plain_photo_stages(const Photo& photo, const Job& job);
/// Strips of rows, with what two stages share kept in cache.
std::function<void()> plain_photo_strips(const Photo& photo, const Job& job);

}  // namespace bench

// The photo pipeline as it is often written: one loop nest per stage, each over the whole picture.
#pragma once

#include "../common/picture.hpp"

namespace peers {

example::Picture photo_by_stages(const example::Picture& image);

}  // namespace peers

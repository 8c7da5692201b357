// oneDNN's operators of neural networks.
#pragma once

#include "core/case.hpp"

namespace bench {

/// With images in the layout that they come in, "onednn", and in one of oneDNN's own choice,
/// "onednn_own", where that is another: it gets and leaves images in it, as in the middle of a
/// network. Throws std::runtime_error where it has no primitive.
std::vector<Competitor> onednn_operators(const OperatorJob& job);

}  // namespace bench

// Which libraries this program knows; those that were not found when it was built say so.
#pragma once

#include "core/case.hpp"

namespace bench {

Peer plain_peer();
Peer eigen_peer();
Peer openblas_peer();
/// Kernels that it generates for small products.
Peer libxsmm_peer();
Peer onednn_peer();
/// A newer oneDNN, whose interface differs.
Peer onednn3_peer();
Peer halide_peer();
/// Of functions of images alone.
Peer opencv_peer();
/// Lathe itself, which competes under the same rules.
Peer lathe_peer();

/// Lathe is not among them.
std::vector<Peer> all_peers();

}  // namespace bench

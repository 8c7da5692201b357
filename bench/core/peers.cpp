#include "core/peers.hpp"

namespace bench {

#ifndef BENCH_EIGEN
Peer eigen_peer() { return {"eigen", "Eigen 3 was not found when this program was built"}; }
#endif
#ifndef BENCH_OPENBLAS
Peer openblas_peer() { return {"openblas", "OpenBLAS was not found when this program was built"}; }
#endif
#ifndef BENCH_LIBXSMM
Peer libxsmm_peer() { return {"libxsmm", "libxsmm was not found when this program was built"}; }
#endif
#ifndef BENCH_ONEDNN
Peer onednn_peer() { return {"onednn", "oneDNN was not found when this program was built"}; }
#endif
#ifndef BENCH_ONEDNN3
Peer onednn3_peer() { return {"onednn3", "oneDNN 3 was not found when this program was built"}; }
#endif
#ifndef BENCH_HALIDE
Peer halide_peer() { return {"halide", "Halide was not found when this program was built"}; }
#endif
#ifndef BENCH_OPENCV
Peer opencv_peer() { return {"opencv", "OpenCV was not found when this program was built"}; }
#endif

std::vector<Peer> all_peers() {
  return {plain_peer(),  eigen_peer(),   openblas_peer(), libxsmm_peer(),
          onednn_peer(), onednn3_peer(), halide_peer(),   opencv_peer()};
}

}  // namespace bench

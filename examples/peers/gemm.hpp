// What 07_gemm is measured against, on one thread: C = A * B by a library, then gelu(C + bias) in a
// vectorised second pass.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace peers {

struct Gemm {
  int m, n, k;
  const float *a, *b, *bias;
  float* c;
};

struct Peer {
  std::string name;
  std::function<void(const Gemm&)> run;
};

/// Eigen; OpenBLAS once for each of its core types, if it is installed: it does not always choose
/// the fastest.
std::vector<Peer> gemm_peers();

}  // namespace peers

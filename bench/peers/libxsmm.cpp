// libxsmm: kernels generated for one size of small products, dispatched ahead.
#include <libxsmm.h>

#include "core/peers.hpp"

namespace bench {

namespace {

// Larger products are not what its kernels are for.
bool is_small(const Gemm& p) { return p.m * p.n * p.k <= LIBXSMM_MAX_MNK; }

std::vector<Competitor> make(const Job& job) {
  const auto* p = std::get_if<Gemm>(&job.what.problem);
  if (!p || p->epilogue || p->transposed() || !is_small(*p)) return {};
  const auto m = static_cast<int>(p->m), n = static_cast<int>(p->n), k = static_cast<int>(p->k);
  const float alpha = 1, beta = 0;
  // Its matrices are column-major, so it computes the transposed product.
  const libxsmm_smmfunction kernel =
      libxsmm_smmdispatch(n, m, k, &n, &k, &n, &alpha, &beta, nullptr, nullptr);
  if (!kernel) return {};
  return {{"libxsmm", [kernel, a = job.in[0].data(), b = job.in[1].data(), c = job.out.data()] {
             kernel(b, a, c);
           }}};
}

}  // namespace

Peer libxsmm_peer() { return {.name = "libxsmm", .missing = "", .make = make}; }

}  // namespace bench

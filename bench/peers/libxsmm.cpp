// libxsmm: kernels generated for one size of small products, dispatched ahead.
#include <libxsmm.h>

#include "core/peers.hpp"

namespace bench {

namespace {

/// What libxsmm generates unrolled code for; beyond it is another library's field.
constexpr std::int64_t most_multiplications = 64 * 64 * 64;

std::vector<Competitor> make(const Job& job) {
  const auto* p = std::get_if<Gemm>(&job.what.problem);
  if (!p || p->epilogue || p->transposed() || p->m * p->n * p->k > most_multiplications) return {};
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

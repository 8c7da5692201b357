// The matrix products of a BERT-base layer with bias and GELU in one kernel, scheduled by hand,
// beside OpenBLAS and Eigen.
#include <lathe/lathe.hpp>

#include "common/check.hpp"
#include "peers/gemm.hpp"

namespace lt = lathe;

struct Layer {
  lt::Input<float, 2> A, B;
  lt::Input<float, 1> bias;
  lt::Tensor<float, 2> C, D;
};

static Layer describe(int m, int n, int k) {
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Input<float, 1> bias("bias", {n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D =
      lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) { return lt::gelu(C(i, j) + bias(j)); });
  return {A, B, bias, C, D};
}

// [gemm schedule]
// 8 rows x 3 vectors of C stay in 24 of 32 vector registers while k runs, or 4 x 3 in 12 of 16; A
// and B are read where they are, B in chunks of 4 tiles that stay in cache
// (docs/notes/gemm-study.md measures this against packing, other tiles and other orders).
static lt::Schedule by_hand(const Layer& layer) {
  const lt::Target& machine = lt::host();
  const int rows = machine.vector_registers >= 32 ? 8 : 4;
  const int columns = 3 * machine.lanes(sizeof(float));
  lt::Schedule s(layer.D);
  auto [i, j, k] = s.loops<3>(layer.C);
  auto [io, ii] = s.split<2>(i, {lt::infer, rows});
  auto [chunk, jo, ji] = s.split<3>(j, {lt::infer, 4, columns});
  s.reorder({chunk, io, jo, k, ii, ji});
  lt::BlockRef store = s.cache_write(layer.C, lt::Scope::local);
  s.reverse_compute_at(store, jo);
  s.reverse_compute_at(layer.D, jo);  // bias and GELU while the tile is in the nearest cache
  lt::BlockRef zero = s.decompose_reduction(layer.C, k);
  for (const lt::BlockRef& block : {zero, store}) {
    s.unroll(s.loops(block).rbegin()[1]);
    s.vectorize(s.loops(block).back());
  }
  s.vectorize(s.loops(layer.D).back());
  s.vectorize(ji);
  s.unroll(ii);
  s.annotate(k, "unroll_explicit", 4);
  s.parallel(chunk);
  return s;
}
// [gemm schedule]

static void compare(int m, int n, int k) {
  const Layer layer = describe(m, n, k);
  const lt::Schedule schedule = by_hand(layer);
  lt::Context one_thread({.threads = 1});
  auto f = lt::jit({schedule, {.context = &one_thread}}, layer.A, layer.B, layer.bias, layer.D);
  auto on_all_threads = lt::jit(schedule, layer.A, layer.B, layer.bias, layer.D);

  const auto a = example::random_values(m * k, 1), b = example::random_values(k * n, 2);
  const auto bias = example::random_values(n, 3);
  std::vector<float> d(m * n), wanted(m * n);
  const auto A = lt::view(a, {m, k}), B = lt::view(b, {k, n});
  std::vector<std::function<void()>> all = {[&] {
                                              f(A, B, bias, lt::view(d, {m, n}));
                                            },
                                            [&] {
                                              on_all_threads(A, B, bias, lt::view(d, {m, n}));
                                            }};
  static const std::vector<peers::Peer> peers = peers::gemm_peers();
  for (const peers::Peer& peer : peers)
    all.push_back([&] { peer.run({m, n, k, a.data(), b.data(), bias.data(), wanted.data()}); });

  const std::vector<double> ms = example::best_ms(all);
  const double work = 2.0 * m * n * k / 1e6;
  std::printf("%d x %d x %d: %.0f GFLOP/s on one thread, %.0f GFLOP/s on all\n", m, n, k,
              work / ms[0], work / ms[1]);
  for (const char* name : {"OpenBLAS", "Eigen"}) {
    double best = 1e30;  // of OpenBLAS's core types
    for (std::size_t p = 0; p < peers.size(); ++p)
      if (peers[p].name == name) best = std::min(best, ms[p + 2]);
    if (best < 1e30)
      std::printf("  %.2fx the speed of %s and a second pass, on one thread\n", best / ms[0], name);
  }
  example::expect_close("  against their result", d, wanted, 1e-3);
}

int main() {
  for (auto [n, k] : {std::pair{768, 768}, {3072, 768}, {768, 3072}}) compare(128, n, k);
}

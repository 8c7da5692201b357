// The same matrix product scheduled by hand: each step leaves a valid program, which can be printed
// and run.
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

int main() {
  const int m = 96, n = 128, k = 200;
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Input<float, 1> bias("bias", {n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {m, n},
                       [&](lt::Var i, lt::Var j) { return lt::max(C(i, j) + bias(j), 0.0f); });

  // [schedule]
  // [tiles]
  lt::Schedule s(D);
  auto [i, j, q] = s.loops<3>(C);
  auto [io, ii] = s.split<2>(i, {lt::infer, 8});
  auto [jo, ji] = s.split<2>(j, {lt::infer, 32});
  s.reorder({io, jo, q, ii, ji});
  // [tiles]
  std::printf("C in tiles of 8 x 32, D still apart:\n\n%s\n", s.str().c_str());

  lt::BlockRef tile = s.cache_write(C, lt::Scope::local);  // sums stay in registers
  s.reverse_compute_at(tile, jo);
  s.reverse_compute_inline(D);  // bias and ReLU as they are stored
  lt::BlockRef zero = s.decompose_reduction(C, q);
  s.vectorize(ji);
  s.unroll(ii);
  // Zeroing and storing run over the same tile: rows, then columns.
  for (const lt::BlockRef& block : {zero, tile}) {
    s.unroll(s.loops(block).rbegin()[1]);
    s.vectorize(s.loops(block).back());
  }
  s.parallel(io);
  std::printf("One pass, ready to compile:\n\n%s\n", s.str().c_str());
  // [schedule]

  auto plain = lt::evaluate(D, A, B, bias, D);
  auto f = lt::jit(s, A, B, bias, D);
  const auto a = example::random_values(m * k, 1), b = example::random_values(k * n, 2);
  const auto shift = example::random_values(n, 3);
  std::vector<float> d(m * n), wanted(m * n);
  plain(lt::view(a, {m, k}), lt::view(b, {k, n}), shift, lt::view(wanted, {m, n}));
  f(lt::view(a, {m, k}), lt::view(b, {k, n}), shift, lt::view(d, {m, n}));
  example::expect_close("scheduled against unscheduled", d, wanted, 1e-4);

  const double ms = example::best_ms({[&] {
    f(lt::view(a, {m, k}), lt::view(b, {k, n}), shift, lt::view(d, {m, n}));
  }})[0];
  std::printf("%.1f us, %.1f GFLOP/s\n", ms * 1e3, 2.0 * m * n * k / ms / 1e6);
}

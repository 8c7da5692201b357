// Stencils as a user of Lathe writes them.
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <optional>

namespace bench {

namespace {

lt::Tensor<float, 2> describe(const Stencil& p, const lt::Input<float, 2>& X) {
  return lt::compute("Y", {p.h, p.w}, [&](lt::Var i, lt::Var j) -> lt::Expr<float> {
    const auto edges = X(i, j + 1) + X(i + 1, j) + X(i + 1, j + 2) + X(i + 2, j + 1);
    if (p.op == Stencil::Op::jacobi) return edges * 0.25f;
    const auto corners = X(i, j) + X(i, j + 2) + X(i + 2, j) + X(i + 2, j + 2);
    return corners * (1 / 16.0f) + edges * (2 / 16.0f) + X(i + 1, j + 1) * (4 / 16.0f);
  });
}

// Four rows at once: neighbouring rows share two of their three input rows.
lt::Schedule hand_schedule(const lt::Tensor<float, 2>& Y) {
  lt::Schedule s(Y);
  auto [i, j] = s.loops<2>(Y);
  auto [io, ii] = s.split(i, {lt::infer, 4});
  auto [jo, ji] = s.split(j, {lt::infer, 16});
  s.reorder({io, jo, ii, ji});
  s.unroll(ii);
  s.vectorize(ji);
  s.parallel(io);
  return s;
}

}  // namespace

Run lathe_stencil(const Stencil& p, const Job& job, lt::Context& context) {
  lt::Input<float, 2> X("X", {p.h + 2, p.w + 2});
  const lt::Tensor<float, 2> Y = describe(p, X);
  std::optional<lt::Schedule> schedule;
  if (job.hand) schedule = hand_schedule(Y);
  const auto x = lt::view(job.in[0], {p.h + 2, p.w + 2});
  const auto y = lt::view(job.out, {p.h, p.w});
  return [=, f = compile(Y, schedule, context, X, Y)] { f(x, y); };
}

}  // namespace bench
#endif

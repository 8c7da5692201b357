// Element-wise operations as a user of Lathe writes them.
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <optional>

namespace bench {

namespace {

lt::Tensor<float, 1> describe(const Elementwise& p, const lt::Input<float, 1>& A,
                              const lt::Input<float, 1>& B) {
  return lt::compute("Y", {p.n}, [&](lt::Var i) -> lt::Expr<float> {
    switch (p.op) {
      case Elementwise::Op::copy:
        return A(i);
      case Elementwise::Op::triad:
        return A(i) + B(i) * 0.5f;
      case Elementwise::Op::exp:
        return lt::exp(A(i));
      case Elementwise::Op::gelu:
        return lt::gelu(A(i));
    }
    return A(i);
  });
}

// Equal shares for the threads, four vectors at once; past the caches, stores that do not read
// first.
lt::Schedule hand_schedule(const Elementwise& p, const lt::Tensor<float, 1>& Y, int threads) {
  constexpr std::int64_t lanes = 16, cached_elements = 4 << 20;
  lt::Schedule s(Y);
  lt::LoopRef loop = s.loops(Y).front();
  if (threads > 1) {
    auto [share, rest] = s.split(loop, {threads, lt::infer});
    s.parallel(share);
    loop = rest;
  }
  auto [outer, inner] = s.split(loop, {lt::infer, lanes});
  s.vectorize(inner);
  s.unroll(outer, 4);
  if (p.n > cached_elements) s.annotate(lt::BlockName(Y), "stream", true);
  return s;
}

}  // namespace

Run lathe_elementwise(const Elementwise& p, const Job& job, lt::Context& context) {
  lt::Input<float, 1> A("A", {p.n}), B("B", {p.n});
  const lt::Tensor<float, 1> Y = describe(p, A, B);
  std::optional<lt::Schedule> schedule;
  if (job.hand) schedule = hand_schedule(p, Y, job.threads);
  const auto a = lt::view(job.in[0], {p.n});
  const auto y = lt::view(job.out, {p.n});
  if (p.op == Elementwise::Op::triad) {
    const auto b = lt::view(job.in[1], {p.n});
    return [=, f = compile(Y, schedule, context, A, B, Y)] { f(a, b, y); };
  }
  return [=, f = compile(Y, schedule, context, A, Y)] { f(a, y); };
}

}  // namespace bench
#endif

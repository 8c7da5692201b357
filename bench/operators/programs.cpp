#include "operators/programs.hpp"

#include "operators/transformer_programs.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

using lt::Var;

lt::Program program(const Convolution& p, int batch) { return convolution_program(p, batch); }

lt::Program program(const BatchedProduct& p, int batch) {
  lt::Input<float, 3> A("A", {batch, p.n, p.k}), B("B", {batch, p.k, p.m});
  lt::Reduce r("r", p.k);
  return lt::program_of(lt::compute("C", {batch, p.n, p.m}, [&](Var b, Var i, Var j) {
    return lt::sum(A(b, i, r) * B(b, r, j), r);
  }));
}

lt::Program program(const Norm& p, int batch) {
  lt::Input<float, 3> A("A", {batch, p.n, p.m});
  lt::Reduce i("i", p.n), j("j", p.m);
  auto S = lt::compute("S", {batch}, [&](Var b) {
    return lt::sum(A(b, i, j) * A(b, i, j), {i, j});
  });
  return lt::program_of(lt::compute("Y", {batch}, [&](Var b) { return lt::sqrt(S(b)); }));
}

lt::Program program(const Softmax& p, int batch) {
  const int n = batch * p.n;
  lt::Input<float, 2> X("X", {n, p.m});
  lt::Reduce r("r", p.m), q("q", p.m);
  auto M = lt::compute("M", {n}, [&](Var i) { return lt::reduce_max(X(i, r), r); });
  auto E = lt::compute("E", {n, p.m}, [&](Var i, Var j) { return lt::exp(X(i, j) - M(i)); });
  auto S = lt::compute("S", {n}, [&](Var i) { return lt::sum(E(i, q), q); });
  return lt::program_of(lt::compute("Y", {n, p.m}, [&](Var i, Var j) { return E(i, j) / S(i); }));
}

lt::Program program(const Scores& p, int batch) {
  const int n = p.length;
  lt::Input<float, 4> Q("Q", {batch, n, p.heads, p.width}), K("K", {batch, n, p.heads, p.width});
  lt::Reduce r("r", p.width), k("k", n), q("q", n);
  auto C = lt::compute("C", {batch, p.heads, n, n}, [&](Var b, Var h, Var i, Var j) {
    return lt::sum(Q(b, i, h, r) * K(b, j, h, r), r);
  });
  if (!p.softmax) return lt::program_of(C);
  auto M = lt::compute("M", {batch, p.heads, n},
                       [&](Var b, Var h, Var i) { return lt::reduce_max(C(b, h, i, k), k); });
  auto E = lt::compute("E", {batch, p.heads, n, n}, [&](Var b, Var h, Var i, Var j) {
    return lt::exp(C(b, h, i, j) - M(b, h, i));
  });
  auto S = lt::compute("S", {batch, p.heads, n},
                       [&](Var b, Var h, Var i) { return lt::sum(E(b, h, i, q), q); });
  return lt::program_of(lt::compute("Y", {batch, p.heads, n, n}, [&](Var b, Var h, Var i, Var j) {
    return E(b, h, i, j) / S(b, h, i);
  }));
}

}  // namespace

lt::Program program_of(const Operator& what) {
  return std::visit([&](const auto& p) { return program(p, what.batch); }, what.problem);
}

}  // namespace bench
#endif

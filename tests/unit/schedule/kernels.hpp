// The small programs that schedule tests work on.
#pragma once

#include "run.hpp"

namespace test {

/// D = max(A·B, 0) over m × n × k.
struct Gemm {
  lt::Input<float, 2> A, B;
  lt::Reduce r;
  lt::Tensor<float, 2> C, D;

  Gemm(lt::Extent m, lt::Extent n, lt::Extent k)
      : A("A", {m, k}),
        B("B", {k, n}),
        r("r", k),
        C(lt::compute("C", {m, n},
                      [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); })),
        D(lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) { return lt::max(C(i, j), 0.0f); })) {}
};

/// C[x] = P[x - radius] + … + P[x + radius] inside, where P[x] = A[x] * 2.
struct Blur {
  lt::Input<float, 1> A;
  lt::Tensor<float, 1> P, C;

  explicit Blur(std::int64_t n)
      : A("A", {n + 2}),
        P(lt::compute("P", {n + 2}, [&](lt::Var x) { return A(x) * 2.0f; })),
        C(lt::compute("C", {n}, [&](lt::Var x) { return P(x) + P(x + 1) + P(x + 2); })) {}
};

/// Y = X + 1 over n.
struct Add {
  lt::Input<float, 1> X;
  lt::Tensor<float, 1> Y;
  explicit Add(lt::Extent n)
      : X("X", {n}), Y(lt::compute("Y", {n}, [&](lt::Var i) { return X(i) + 1.0f; })) {}
};

/// S[i] = sum over r of X[i, r].
struct RowSum {
  lt::Input<float, 2> X;
  lt::Reduce r;
  lt::Tensor<float, 1> S;
  RowSum(lt::Extent n, lt::Extent k)
      : X("X", {n, k}),
        r("r", k),
        S(lt::compute("S", {n}, [&](lt::Var i) { return lt::sum(X(i, r), r); })) {}
};

/// Of each row of 12 twice the largest, and its position; the largest is a temporary.
inline lt::Schedule doubled_argmax() {
  lt::Input<float, 2> X("X", {3, 12});
  lt::Reduce r("r", 12);
  auto best = lt::compute("best", {3}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  auto twice = lt::compute("twice", {3}, [&](lt::Var i) { return best.get<0>()(i) * 2.0f; });
  return lt::Schedule(lt::outputs(twice, best.get<1>()));
}

}  // namespace test

#include "operators/transformer_programs.hpp"

#include <cmath>

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

using lt::Var;

constexpr lt::InputOptions constant{.constant = true};

/// Rows over their deviation, or the root of their mean square.
template <class X>
auto normed(const X& x, int rows, int width, bool centred) {
  lt::Reduce r("r", width), q("q", width);
  const float share = 1.0f / static_cast<float>(width);
  auto mean = lt::compute("mean", {rows}, [&](Var i) { return lt::sum(x(i, r) * share, r); });
  const auto off = [&](Var i, auto k) {
    return centred ? lt::Expr<float>(x(i, k) - mean(i)) : lt::Expr<float>(x(i, k));
  };
  auto square = lt::compute("square", {rows},
                            [&](Var i) { return lt::sum(off(i, q) * off(i, q) * share, q); });
  return lt::compute("normed", {rows, width},
                     [&](Var i, Var k) { return off(i, k) * lt::rsqrt(square(i) + norm_epsilon); });
}

}  // namespace

lt::Program program(const Attention& p, int batch) {
  const int m = p.queries, n = p.length, shared = p.heads / p.groups;
  lt::Input<float, 4> Q("Q", {batch, m, p.heads, p.width}), K("K", {batch, n, p.groups, p.width}),
      V("V", {batch, n, p.groups, p.width});
  lt::Reduce r("r", p.width), k("k", n), q("q", n), t("t", n);
  const float scale = 1.0f / std::sqrt(static_cast<float>(p.width));
  auto C = lt::compute("C", {batch, p.heads, m, n}, [&](Var b, Var h, Var i, Var j) {
    return lt::sum(Q(b, i, h, r) * K(b, j, h / shared, r), r);
  });
  auto scores = lt::compute("scores", {batch, p.heads, m, n}, [&](Var b, Var h, Var i, Var j) {
    const lt::Expr<float> score = C(b, h, i, j) * scale;
    return p.causal ? lt::Expr<float>(lt::select(j <= i + (n - m), score, -1e30f)) : score;
  });
  auto M = lt::compute("M", {batch, p.heads, m},
                       [&](Var b, Var h, Var i) { return lt::reduce_max(scores(b, h, i, k), k); });
  auto E = lt::compute("E", {batch, p.heads, m, n}, [&](Var b, Var h, Var i, Var j) {
    return lt::exp(scores(b, h, i, j) - M(b, h, i));
  });
  auto S = lt::compute("S", {batch, p.heads, m},
                       [&](Var b, Var h, Var i) { return lt::sum(E(b, h, i, q), q); });
  auto O = lt::compute("O", {batch, m, p.heads, p.width}, [&](Var b, Var i, Var h, Var c) {
    return lt::sum(E(b, h, i, t) * V(b, t, h / shared, c), t);
  });
  return lt::program_of(
      lt::compute("Y", {batch, m, p.heads, p.width},
                  [&](Var b, Var i, Var h, Var c) { return O(b, i, h, c) / S(b, h, i); }));
}

lt::Program program(const Linear& p, int batch) {
  const int rows = batch * p.rows;
  lt::Input<float, 2> X("X", {rows, p.inputs}), W("W", {p.inputs, p.outputs}, constant);
  lt::Input<float, 1> bias("bias", {p.outputs}), gain("gain", {p.inputs}),
      shift("shift", {p.inputs});
  lt::Reduce r("r", p.inputs);
  const auto product = [&](const auto& x) {
    return lt::compute("P", {rows, p.outputs},
                       [&](Var i, Var j) { return lt::sum(x(i, r) * W(r, j), r); });
  };
  const auto result = [&](const auto& P) {
    return lt::program_of(lt::compute("Y", {rows, p.outputs}, [&](Var i, Var j) {
      const lt::Expr<float> y = P(i, j) + bias(j);
      return p.gelu ? lt::Expr<float>(y * 0.5f * (lt::erf(y * std::sqrt(0.5f)) + 1.0f)) : y;
    }));
  };
  if (!p.norm) return result(product(X));
  auto N = normed(X, rows, p.inputs, true);
  auto scaled = lt::compute("scaled", {rows, p.inputs},
                            [&](Var i, Var k) { return N(i, k) * gain(k) + shift(k); });
  return result(product(scaled));
}

lt::Program program(const GatedUnit& p, int batch) {
  const int rows = batch * p.rows;
  lt::Input<float, 2> X("X", {rows, p.width}), A("A", {p.width, p.inner}, constant),
      B("B", {p.width, p.inner}, constant), C("C", {p.inner, p.width}, constant);
  lt::Reduce r("r", p.width), q("q", p.width), t("t", p.inner);
  auto gate = lt::compute("gate", {rows, p.inner},
                          [&](Var i, Var j) { return lt::sum(X(i, r) * A(r, j), r); });
  auto up = lt::compute("up", {rows, p.inner},
                        [&](Var i, Var j) { return lt::sum(X(i, q) * B(q, j), q); });
  auto G = lt::compute("G", {rows, p.inner}, [&](Var i, Var j) {
    const lt::Expr<float> x = gate(i, j);
    return x / (lt::exp(-x) + 1.0f) * up(i, j);
  });
  return lt::program_of(lt::compute("Y", {rows, p.width},
                                    [&](Var i, Var j) { return lt::sum(G(i, t) * C(t, j), t); }));
}

lt::Program program(const RowNorm& p, int batch) {
  const int rows = batch * p.rows;
  lt::Input<float, 2> X("X", {rows, p.width});
  lt::Input<float, 1> gain("gain", {p.width}), shift("shift", {p.width});
  auto N = normed(X, rows, p.width, p.centred);
  return lt::program_of(lt::compute("Y", {rows, p.width}, [&](Var i, Var k) {
    const lt::Expr<float> scaled = N(i, k) * gain(k);
    return p.centred ? lt::Expr<float>(scaled + shift(k)) : scaled;
  }));
}

lt::Program program(const Rotation& p, int batch) {
  const int half = p.width / 2;
  lt::Input<float, 4> X("X", {batch, p.length, p.heads, p.width});
  lt::Input<float, 2> cosines("cosines", {p.length, half}), sines("sines", {p.length, half});
  return lt::program_of(
      lt::compute("Y", {batch, p.length, p.heads, p.width}, [&](Var b, Var i, Var h, Var k) {
        const auto angle = k % half;
        const auto turned = lt::select(k < half, -X(b, i, h, k + half), X(b, i, h, k - half));
        return X(b, i, h, k) * cosines(i, angle) + turned * sines(i, angle);
      }));
}

}  // namespace bench
#endif

// Products of dense matrices: gemm, 2mm, 3mm, symm, doitgen.
#include "tiles.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;

/// Block `name`: out = sum over k of left(i, k) * right(k, j).
template <class Left, class Right>
void product(lt::Script& p, const std::string& name, const Matrix& out, const Size& depth,
             const Left& left, const Right& right) {
  p.for_("i", out.extent(0), [&](lt::Var i) {
    p.for_("j", out.extent(1), [&](lt::Var j) {
      p.for_("k", depth, [&](lt::Var k) {
        p.block(name, {i, j, k}, [&](lt::Var vi, lt::Var vj, lt::Var vk) {
          p.reduce(lt::Fold::sum, out(vi, vj), left(vi, vk) * right(vk, vj));
        });
      });
    });
  });
}

/// Block `name`: out = value(i, j).
template <class F>
void each(lt::Script& p, const std::string& name, const Matrix& out, const F& value) {
  p.for_("i", out.extent(0), [&](lt::Var i) {
    p.for_("j", out.extent(1), [&](lt::Var j) {
      p.block(name, {i, j}, [&](lt::Var vi, lt::Var vj) { p.store(out(vi, vj), value(vi, vj)); });
    });
  });
}

// C = alpha A B + beta C

lt::Program gemm(const Sizes& n) {
  return lt::script("gemm", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto beta = p.input<double>("beta", {});
    auto A = p.input<double>("A", {n[0], n[2]});
    auto B = p.input<double>("B", {n[2], n[1]});
    auto C = p.inout<double>("C", {n[0], n[1]});
    auto T = p.local<double>("T", {n[0], n[1]});
    product(p, "T", T, n[2], A, B);
    each(p, "C", C, [&](auto i, auto j) { return alpha() * T(i, j) + beta() * C(i, j); });
  });
}

// t[0..n] = row of A times B
void row_times(Index n, Index depth, const double* __restrict row, const double* __restrict B,
               double* __restrict t) {
  for (Index j = 0; j < n; ++j) t[j] = 0;
  for (Index k = 0; k < depth; ++k)
    for (Index j = 0; j < n; ++j) t[j] += row[k] * B[k * n + j];
}

void gemm_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0), beta = a.scalar(1), *A = a.doubles(2), *B = a.doubles(3);
  double* __restrict C = a.doubles(4);
  std::vector<double> row(static_cast<std::size_t>(n[1]));
  double* __restrict t = row.data();
  for (Index i = 0; i < n[0]; ++i) {
    row_times(n[1], n[2], A + i * n[2], B, t);
    for (Index j = 0; j < n[1]; ++j) C[i * n[1] + j] = alpha * t[j] + beta * C[i * n[1] + j];
  }
}

void gemm_schedule(lt::Schedule& s) { tile(s, "T", "C"); }

// D = alpha A B C + beta D

lt::Program mm2(const Sizes& n) {
  return lt::script("mm2", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto beta = p.input<double>("beta", {});
    auto A = p.input<double>("A", {n[0], n[2]});
    auto B = p.input<double>("B", {n[2], n[1]});
    auto C = p.input<double>("C", {n[1], n[3]});
    auto D = p.inout<double>("D", {n[0], n[3]});
    auto AB = p.local<double>("AB", {n[0], n[1]});
    auto ABC = p.local<double>("ABC", {n[0], n[3]});
    product(p, "AB", AB, n[2], A, B);
    product(p, "ABC", ABC, n[1], AB, C);
    each(p, "D", D, [&](auto i, auto j) { return alpha() * ABC(i, j) + beta() * D(i, j); });
  });
}

void mm2_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0), beta = a.scalar(1);
  double* __restrict D = a.doubles(5);
  std::vector<double> ab(static_cast<std::size_t>(n[1])), abc(static_cast<std::size_t>(n[3]));
  const double* __restrict t = abc.data();
  for (Index i = 0; i < n[0]; ++i) {
    row_times(n[1], n[2], a.doubles(2) + i * n[2], a.doubles(3), ab.data());
    row_times(n[3], n[1], ab.data(), a.doubles(4), abc.data());
    for (Index j = 0; j < n[3]; ++j) D[i * n[3] + j] = alpha * t[j] + beta * D[i * n[3] + j];
  }
}

void mm2_schedule(lt::Schedule& s) {
  tile(s, "AB");
  tile(s, "ABC", "D");
}

// G = (A B) (C D)

lt::Program mm3(const Sizes& n) {
  return lt::script("mm3", [&](lt::Script& p) {
    auto A = p.input<double>("A", {n[0], n[2]});
    auto B = p.input<double>("B", {n[2], n[1]});
    auto C = p.input<double>("C", {n[1], n[4]});
    auto D = p.input<double>("D", {n[4], n[3]});
    auto G = p.output<double>("G", {n[0], n[3]});
    auto E = p.local<double>("E", {n[0], n[1]});
    auto F = p.local<double>("F", {n[1], n[3]});
    product(p, "E", E, n[2], A, B);
    product(p, "F", F, n[4], C, D);
    product(p, "G", G, n[1], E, F);
  });
}

void mm3_loops(const Counts& n, const Arrays& a) {
  std::vector<double> E(static_cast<std::size_t>(n[1])), F(static_cast<std::size_t>(n[1] * n[3]));
  for (Index k = 0; k < n[1]; ++k)
    row_times(n[3], n[4], a.doubles(2) + k * n[4], a.doubles(3), F.data() + k * n[3]);
  for (Index i = 0; i < n[0]; ++i) {
    row_times(n[1], n[2], a.doubles(0) + i * n[2], a.doubles(1), E.data());
    row_times(n[3], n[1], E.data(), F.data(), a.doubles(4) + i * n[3]);
  }
}

void mm3_schedule(lt::Schedule& s) {
  for (const char* name : {"E", "F", "G"}) tile(s, name);
}

// C = alpha A B + beta C, where the lower half of A stands for the symmetric matrix

lt::Program symm(const Sizes& n) {
  return lt::script("symm", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto beta = p.input<double>("beta", {});
    auto A = p.input<double>("A", {n[0], n[0]});
    auto B = p.input<double>("B", {n[0], n[1]});
    auto C = p.inout<double>("C", {n[0], n[1]});
    auto S = p.local<double>("S", {n[0], n[0]});
    auto T = p.local<double>("T", {n[0], n[1]});
    each(p, "S", S, [&](auto i, auto k) { return lt::select(k <= i, A(i, k), A(k, i)); });
    product(p, "T", T, n[0], S, B);
    each(p, "C", C, [&](auto i, auto j) { return alpha() * T(i, j) + beta() * C(i, j); });
  });
}

void symm_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0), beta = a.scalar(1), *A = a.doubles(2), *B = a.doubles(3);
  double* __restrict C = a.doubles(4);
  std::vector<double> row(static_cast<std::size_t>(n[1]));
  double* __restrict t = row.data();
  for (Index i = 0; i < n[0]; ++i) {
    for (Index j = 0; j < n[1]; ++j) t[j] = 0;
    for (Index k = 0; k <= i; ++k)
      for (Index j = 0; j < n[1]; ++j) t[j] += A[i * n[0] + k] * B[k * n[1] + j];
    for (Index k = i + 1; k < n[0]; ++k)
      for (Index j = 0; j < n[1]; ++j) t[j] += A[k * n[0] + i] * B[k * n[1] + j];
    for (Index j = 0; j < n[1]; ++j) C[i * n[1] + j] = alpha * t[j] + beta * C[i * n[1] + j];
  }
}

void symm_schedule(lt::Schedule& s) {
  s.parallel(s.loops("S")[0]);
  tile(s, "T", "C");
}

// A[r, q, p] = sum over s of A[r, q, s] C[s, p], in place

lt::Program doitgen(const Sizes& n) {
  return lt::script("doitgen", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[0], n[1], n[2]});
    auto C = p.input<double>("C", {n[2], n[2]});
    auto T = p.local<double>("T", {n[0], n[1], n[2]});
    p.for_("r", n[0], [&](lt::Var r) {
      p.for_("q", n[1], [&](lt::Var q) {
        p.for_("p", n[2], [&](lt::Var j) {
          p.for_("s", n[2], [&](lt::Var k) {
            p.block("T", {r, q, j, k}, [&](lt::Var vr, lt::Var vq, lt::Var vp, lt::Var vs) {
              p.reduce(lt::Fold::sum, T(vr, vq, vp), A(vr, vq, vs) * C(vs, vp));
            });
          });
        });
      });
    });
    p.for_("r2", n[0], [&](lt::Var r) {
      p.for_("q2", n[1], [&](lt::Var q) {
        p.for_("p2", n[2], [&](lt::Var j) {
          p.block("A", {r, q, j}, [&](lt::Var vr, lt::Var vq, lt::Var vp) {
            p.store(A(vr, vq, vp), T(vr, vq, vp));
          });
        });
      });
    });
  });
}

void doitgen_loops(const Counts& n, const Arrays& a) {
  std::vector<double> row(static_cast<std::size_t>(n[2]));
  for (Index rq = 0; rq < n[0] * n[1]; ++rq) {
    double* A = a.doubles(0) + rq * n[2];
    row_times(n[2], n[2], A, a.doubles(1), row.data());
    for (Index p = 0; p < n[2]; ++p) A[p] = row[static_cast<std::size_t>(p)];
  }
}

/// Tiles of 8 x 24 sums in registers; eight rows are copied back before the next.
void doitgen_schedule(lt::Schedule& s) {
  auto [r, q, p, k] = s.loops<4>("T");
  auto [qo, qi] = s.split<2>(q, {lt::infer, 8});
  auto [po, pi] = s.split<2>(p, {lt::infer, 24});
  s.reorder({qo, po, k, qi, pi});
  const lt::BlockRef store = s.cache_write("T", lt::Scope::local);
  auto [sr, sq, sp] = s.loops<3>(store);
  auto [sqo, sqi] = s.split<2>(sq, {lt::infer, 8});
  auto [spo, spi] = s.split<2>(sp, {lt::infer, 24});
  s.reorder({sqo, spo, sqi, spi});
  auto [q2o, q2i] = s.split<2>(s.loop("q2"), {lt::infer, 8});
  const lt::LoopRef each = s.merge({r, sr, s.loop("r2")});
  s.merge({qo, sqo, q2o});
  s.merge({po, spo});
  const lt::BlockRef zero = s.decompose_reduction("T", k);
  for (const lt::BlockRef& block : {zero, store}) {
    s.unroll(s.loops(block).rbegin()[1]);
    s.vectorize(s.loops(block).back());
  }
  s.vectorize(pi);
  s.unroll(qi);
  vectorize_by(s, s.loops("A").back(), 32);
  s.parallel(each);
}

}  // namespace

std::vector<Kernel> products() {
  return {
      {"gemm",
       {{5, 7, 3}, {1, 1, 1}, {17, 29, 13}},
       {1000, 1100, 1200},
       gemm,
       gemm_loops,
       {{"vectorize k",
         [](lt::Schedule& s) { s.vectorize(s.loops("T")[2]); },
         "L0208",
         {"loop 'k'", "feeds the reduction of block 'T'"}}},
       gemm_schedule},
      {"2mm",
       {{5, 7, 3, 4}, {1, 1, 1, 1}, {17, 29, 13, 11}},
       {800, 900, 1100, 1200},
       mm2,
       mm2_loops,
       {{"no memory for A B",
         [](lt::Schedule& s) { s.compute_inline("AB"); },
         "L0214",
         {"'AB'", "reduction"}}},
       mm2_schedule},
      {"3mm",
       {{5, 7, 3, 4, 2}, {1, 1, 1, 1, 1}, {17, 29, 13, 11, 9}},
       {800, 900, 1000, 1100, 1200},
       mm3,
       mm3_loops,
       {{"G as soon as columns of F are there",
         [](lt::Schedule& s) { s.reverse_compute_at("G", s.loops("F")[1]); },
         "L0213",
         {"'F'"}}},
       mm3_schedule},
      {"symm",
       {{5, 7}, {1, 1}, {17, 29}},
       {1000, 1200},
       symm,
       symm_loops,
       {{"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loops("T")[2]); },
         "L0208",
         {"'k'", "feeds the reduction of block 'T'"}}},
       symm_schedule},
      {"doitgen",
       {{3, 2, 5}, {1, 1, 1}, {4, 9, 13}},
       {150, 140, 160},
       doitgen,
       doitgen_loops,
       {{"merge rows, then columns",
         [](lt::Schedule& s) { s.merge(s.loop("p"), s.loop("p2")); },
         "L0207",
         {"A[", "T"},
         [](lt::Schedule& s) {
           s.merge(s.loop("r"), s.loop("r2"));
           s.merge(s.loop("q"), s.loop("q2"));
         }}},
       doitgen_schedule},
  };
}

}  // namespace polybench

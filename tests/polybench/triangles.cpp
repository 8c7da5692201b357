// Products with triangular matrices and into them: syrk, syr2k, trmm.
#include "tiles.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;

/// Blocks T (a sum over k, of the whole square) and C (C = alpha T + beta C, of the lower half).
template <class Term>
void into_lower_half(lt::Script& p, const Matrix& C, const Size& depth, const Term& term,
                     const lt::Expr<double>& alpha, const lt::Expr<double>& beta) {
  auto T = p.local<double>("T", {C.extent(0), C.extent(1)});
  p.for_("i", C.extent(0), [&](lt::Var i) {
    p.for_("j", C.extent(1), [&](lt::Var j) {
      p.for_("k", depth, [&](lt::Var k) {
        p.block("T", {i, j, k}, [&](lt::Var vi, lt::Var vj, lt::Var vk) {
          p.reduce(lt::Fold::sum, T(vi, vj), term(vi, vj, vk));
        });
      });
    });
  });
  p.for_("i2", C.extent(0), [&](lt::Var i) {
    p.for_("j2", i + 1, [&](lt::Var j) {
      p.block("C", {i, j}, [&](lt::Var vi, lt::Var vj) {
        p.store(C(vi, vj), alpha * T(vi, vj) + beta * C(vi, vj));
      });
    });
  });
}

/// The operands by columns, tiles of sums in registers.
void tiles(lt::Schedule& s, const std::vector<const char*>& operands) {
  for (const char* operand : operands) {
    const lt::BlockRef copy = s.cache_read("T", operand, lt::Scope::global);
    s.transform_layout(copy, [](lt::Index i, lt::Index k) { return lt::layout(k, i); });
    s.parallel(s.loops(copy)[0]);
  }
  tile(s, "T");
  vectorize_by(s, s.loops("C").back(), 8);
  s.parallel(s.loops("C")[0]);
}

// C = alpha A Aᵀ + beta C, lower half

lt::Program syrk(const Sizes& n) {
  return lt::script("syrk", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto beta = p.input<double>("beta", {});
    auto A = p.input<double>("A", {n[0], n[1]});
    auto C = p.inout<double>("C", {n[0], n[0]});
    into_lower_half(
        p, C, n[1], [&](auto i, auto j, auto k) { return A(i, k) * A(j, k); }, alpha(), beta());
  });
}

void syrk_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0), beta = a.scalar(1), *A = a.doubles(2);
  double* __restrict C = a.doubles(3);
  for (Index i = 0; i < n[0]; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k < n[1]; ++k) sum += A[i * n[1] + k] * A[j * n[1] + k];
      C[i * n[0] + j] = alpha * sum + beta * C[i * n[0] + j];
    }
}

// C = alpha (A Bᵀ + B Aᵀ) + beta C, lower half

lt::Program syr2k(const Sizes& n) {
  return lt::script("syr2k", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto beta = p.input<double>("beta", {});
    auto A = p.input<double>("A", {n[0], n[1]});
    auto B = p.input<double>("B", {n[0], n[1]});
    auto C = p.inout<double>("C", {n[0], n[0]});
    into_lower_half(
        p, C, n[1], [&](auto i, auto j, auto k) { return A(i, k) * B(j, k) + B(i, k) * A(j, k); },
        alpha(), beta());
  });
}

void syr2k_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0), beta = a.scalar(1), *A = a.doubles(2), *B = a.doubles(3);
  double* __restrict C = a.doubles(4);
  for (Index i = 0; i < n[0]; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k < n[1]; ++k)
        sum += A[i * n[1] + k] * B[j * n[1] + k] + B[i * n[1] + k] * A[j * n[1] + k];
      C[i * n[0] + j] = alpha * sum + beta * C[i * n[0] + j];
    }
}

// B = alpha Aᵀ B, A lower triangular with ones on its diagonal, in place: row i needs the rows
// below it as they were

lt::Program trmm(const Sizes& n) {
  return lt::script("trmm", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto A = p.input<double>("A", {n[0], n[0]});
    auto B = p.inout<double>("B", {n[0], n[1]});
    p.for_("i", n[0], [&](lt::Var i) {
      p.for_("j", n[1], [&](lt::Var j) {
        p.for_("k", i + 1, n[0], [&](lt::Var k) { p.store(B(i, j), B(i, j) + A(k, i) * B(k, j)); });
        p.store(B(i, j), alpha() * B(i, j));
      });
    });
  });
}

void trmm_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0);
  const double* __restrict A = a.doubles(1);
  double* __restrict B = a.doubles(2);
  for (Index i = 0; i < n[0]; ++i)
    for (Index j = 0; j < n[1]; ++j) {
      for (Index k = i + 1; k < n[0]; ++k) B[i * n[1] + j] += A[k * n[0] + i] * B[k * n[1] + j];
      B[i * n[1] + j] = alpha * B[i * n[1] + j];
    }
}

void trmm_schedule(lt::Schedule& s) {
  const lt::LoopRef i = s.loop("i");
  auto [strip, jo, ji] = s.split<3>(s.loop("j"), {lt::infer, 4, 32});
  s.reorder({strip, i, jo});
  s.vectorize(ji);
  s.parallel(strip);
}

}  // namespace

std::vector<Kernel> triangles() {
  return {
      {"syrk",
       {{5, 7}, {1, 1}, {37, 13}},
       {1200, 1000},
       syrk,
       syrk_loops,
       {{"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0208",
         {"loop 'k'", "feeds the reduction of block 'T'"}}},
       [](lt::Schedule& s) { tiles(s, {"A"}); }},
      {"syr2k",
       {{5, 7}, {1, 1}, {37, 13}},
       {1200, 1000},
       syr2k,
       syr2k_loops,
       {{"j2 outside i2",
         [](lt::Schedule& s) {
           s.reorder({s.loop("j2"), s.loop("i2")});
         },
         "L0206",
         {"'j2'", "'i2'"}}},
       [](lt::Schedule& s) {
         tiles(s, {"A", "B"});
       }},
      {"trmm",
       {{5, 7}, {2, 1}, {13, 37}},
       {1000, 1200},
       trmm,
       trmm_loops,
       {{"parallel i",
         [](lt::Schedule& s) { s.parallel(s.loop("i")); },
         "L0207",
         {"reads B[k, j]", "writes B[i, j]", "different iterations of 'i'"}},
        {"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0207",
         {"B[i, j]", "different iterations of 'k'"}}},
       trmm_schedule},
  };
}

}  // namespace polybench

// Factors of matrices, and a system solved by them: cholesky, gramschmidt, lu, ludcmp.
#include <cmath>

#include "kernel.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;

// A = L Lᵀ: L in the place of the lower half of A

lt::Program cholesky(const Sizes& n) {
  return lt::script("cholesky", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[0], n[0]});
    auto column = p.local<double>("column", {n[0]});
    p.for_("k", n[0], [&](lt::Var k) {
      p.store(A(k, k), lt::sqrt(A(k, k)));
      p.for_("i", k + 1, n[0], [&](lt::Var i) {
        p.store(A(i, k), A(i, k) / A(k, k));
        p.store(column(i), A(i, k));
      });
      p.for_("row", k + 1, n[0], [&](lt::Var i) {
        p.for_("j", k + 1, i + 1,
               [&](lt::Var j) { p.store(A(i, j), A(i, j) - column(i) * column(j)); });
      });
    });
  });
}

/// All steps of eight rows while these are near, then of the next. Columns of L are kept as rows.
lt::Program cholesky_in_parts(const Sizes& n) {
  return lt::script("cholesky", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[0], n[0]});
    auto columns = p.local<double>("columns", {n[0], n[0]});
    const Index rows = 8;
    p.for_("part", lt::floordiv(n[0] + (rows - 1), Size(rows)), [&](lt::Var part) {
      const Size begin = part * rows, end = lt::min(begin + rows, n[0]);
      p.for_("k", end, [&](lt::Var k) {
        p.if_(k >= begin, [&] { p.store(A(k, k), lt::sqrt(A(k, k))); });
        p.for_("i", lt::max(begin, k + 1), end, [&](lt::Var i) {
          p.store(A(i, k), A(i, k) / A(k, k));
          p.store(columns(k, i), A(i, k));
        });
        p.for_("row", lt::max(begin, k + 1), end, [&](lt::Var i) {
          p.for_("j", k + 1, i + 1,
                 [&](lt::Var j) { p.store(A(i, j), A(i, j) - columns(k, i) * columns(k, j)); });
        });
      });
    });
  });
}

void cholesky_loops(const Counts& n, const Arrays& a) {
  const Index size = n[0];
  double* __restrict A = a.doubles(0);
  std::vector<double> memory(static_cast<std::size_t>(size));
  double* __restrict column = memory.data();
  for (Index k = 0; k < size; ++k) {
    A[k * size + k] = std::sqrt(A[k * size + k]);
    for (Index i = k + 1; i < size; ++i)
      column[i] = A[i * size + k] = A[i * size + k] / A[k * size + k];
    for (Index i = k + 1; i < size; ++i)
      for (Index j = k + 1; j <= i; ++j) A[i * size + j] -= column[i] * column[j];
  }
}

void cholesky_prepare(const Counts& n, const Arrays& a) {
  double* A = a.doubles(0);
  for (Index i = 0; i < n[0]; ++i)
    for (Index j = 0; j < i; ++j) A[j * n[0] + i] = A[i * n[0] + j];
  dominant(n[0], A);
}

void cholesky_schedule(lt::Schedule& s) { vectorize_by(s, s.loop("j"), 8, 4); }

// A = L U in the place of A, L with ones on its diagonal

template <class A>
void lu_factors(lt::Script& p, const A& a, const Size& n) {
  p.for_("k", n, [&](lt::Var k) {
    p.for_("i", k + 1, n, [&](lt::Var i) { p.store(a(i, k), a(i, k) / a(k, k)); });
    p.for_("row", k + 1, n, [&](lt::Var i) {
      p.for_("j", k + 1, n, [&](lt::Var j) {
        p.block("rest", {k, i, j}, [&](lt::Var vk, lt::Var vi, lt::Var vj) {
          p.store(a(vi, vj), a(vi, vj) - a(vi, vk) * a(vk, vj));
        });
      });
    });
  });
}

void lu_factors(Index n, double* __restrict A) {
  for (Index k = 0; k < n; ++k) {
    for (Index i = k + 1; i < n; ++i) A[i * n + k] /= A[k * n + k];
    for (Index i = k + 1; i < n; ++i)
      for (Index j = k + 1; j < n; ++j) A[i * n + j] -= A[i * n + k] * A[k * n + j];
  }
}

/// All steps of eight rows while these are near, then of the next.
template <class A>
void lu_factors_in_parts(lt::Script& p, const A& a, const Size& n) {
  const Index rows = 8;
  p.for_("part", lt::floordiv(n + (rows - 1), Size(rows)), [&](lt::Var part) {
    const Size end = lt::min(part * rows + rows, n);
    p.for_("k", end, [&](lt::Var k) {
      p.for_("i", lt::max(part * rows, k + 1), end, [&](lt::Var i) {
        auto factor = p.let("factor", a(i, k) / a(k, k));
        p.store(a(i, k), factor);
        p.for_("j", k + 1, n, [&](lt::Var j) { p.store(a(i, j), a(i, j) - factor * a(k, j)); });
      });
    });
  });
}

void lu_factors(lt::Schedule& s) { vectorize_by(s, s.loop("j"), 8, 4); }

lt::Program lu(const Sizes& n) {
  return lt::script("lu", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[0], n[0]});
    lu_factors(p, A, n[0]);
  });
}

lt::Program lu_in_parts(const Sizes& n) {
  return lt::script("lu", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[0], n[0]});
    lu_factors_in_parts(p, A, n[0]);
  });
}

void lu_loops(const Counts& n, const Arrays& a) { lu_factors(n[0], a.doubles(0)); }

// A x = b by way of L U

lt::Program ludcmp(const Sizes& n) {
  return lt::script("ludcmp", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[0], n[0]});
    auto b = p.input<double>("b", {n[0]});
    auto x = p.output<double>("x", {n[0]});
    auto y = p.local<double>("y", {n[0]});
    lu_factors_in_parts(p, A, n[0]);
    p.for_("forward", n[0], [&](lt::Var i) {
      p.store(y(i), b(i));
      p.for_("j1", i, [&](lt::Var j) { p.store(y(i), y(i) - A(i, j) * y(j)); });
    });
    p.for_("backward", n[0], [&](lt::Var up) {
      auto i = n[0] - 1 - up;
      p.store(x(i), y(i));
      p.for_("j2", i + 1, n[0], [&](lt::Var j) { p.store(x(i), x(i) - A(i, j) * x(j)); });
      p.store(x(i), x(i) / A(i, i));
    });
  });
}

void ludcmp_loops(const Counts& n, const Arrays& a) {
  const Index size = n[0];
  double* A = a.doubles(0);
  const double* b = a.doubles(1);
  double* x = a.doubles(2);
  std::vector<double> memory(static_cast<std::size_t>(size));
  double* y = memory.data();
  lu_factors(size, A);
  for (Index i = 0; i < size; ++i) {
    y[i] = b[i];
    for (Index j = 0; j < i; ++j) y[i] -= A[i * size + j] * y[j];
  }
  for (Index i = size - 1; i >= 0; --i) {
    x[i] = y[i];
    for (Index j = i + 1; j < size; ++j) x[i] -= A[i * size + j] * x[j];
    x[i] /= A[i * size + i];
  }
}

// A = Q R: Q with orthonormal columns, R upper triangular

lt::Program gramschmidt(const Sizes& n) {
  return lt::script("gramschmidt", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[0], n[1]});
    auto R = p.inout<double>("R", {n[1], n[1]});
    auto Q = p.output<double>("Q", {n[0], n[1]});
    auto norm = p.local<double>("norm", {});
    p.for_("k", n[1], [&](lt::Var k) {
      p.store(norm(), 0.0);
      p.for_("s", n[0], [&](lt::Var i) { p.store(norm(), norm() + A(i, k) * A(i, k)); });
      p.store(R(k, k), lt::sqrt(norm()));
      p.for_("q", n[0], [&](lt::Var i) { p.store(Q(i, k), A(i, k) / R(k, k)); });
      p.for_("j", k + 1, n[1], [&](lt::Var j) {
        p.store(R(k, j), 0.0);
        p.for_("i1", n[0], [&](lt::Var i) { p.store(R(k, j), R(k, j) + Q(i, k) * A(i, j)); });
        p.for_("i2", n[0], [&](lt::Var i) { p.store(A(i, j), A(i, j) - Q(i, k) * R(k, j)); });
      });
    });
  });
}

void gramschmidt_loops(const Counts& n, const Arrays& a) {
  const Index rows = n[0], columns = n[1];
  double* __restrict A = a.doubles(0);
  double* __restrict R = a.doubles(1);
  double* __restrict Q = a.doubles(2);
  for (Index k = 0; k < columns; ++k) {
    double norm = 0;
    for (Index i = 0; i < rows; ++i) norm += A[i * columns + k] * A[i * columns + k];
    R[k * columns + k] = std::sqrt(norm);
    for (Index i = 0; i < rows; ++i) Q[i * columns + k] = A[i * columns + k] / R[k * columns + k];
    for (Index j = k + 1; j < columns; ++j) {
      R[k * columns + j] = 0;
      for (Index i = 0; i < rows; ++i)
        R[k * columns + j] += Q[i * columns + k] * A[i * columns + j];
      for (Index i = 0; i < rows; ++i)
        A[i * columns + j] -= Q[i * columns + k] * R[k * columns + j];
    }
  }
}

void gramschmidt_prepare(const Counts& n, const Arrays& a) {
  for (Index i = 0; i < n[0] && i < n[1]; ++i) a.doubles(0)[i * n[1] + i] += 5;
}

}  // namespace

std::vector<Kernel> factors() {
  return {
      {"cholesky",
       {{7}, {1}, {37}},
       {1200},
       cholesky,
       cholesky_loops,
       {{"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0207",
         {"A[k, k]", "different iterations of 'k'"}}},
       cholesky_schedule,
       cholesky_prepare,
       false,
       cholesky_in_parts},
      {"gramschmidt",
       {{7, 5}, {1, 1}, {37, 29}},
       {600, 500},
       gramschmidt,
       gramschmidt_loops,
       {{"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0207",
         {"different iterations of 'k'"}},
        {"merge i",
         [](lt::Schedule& s) { s.merge(s.loop("i1"), s.loop("i2")); },
         "L0207",
         {"R[k, j]"}}},
       [](lt::Schedule& s) {
         auto [jo, ji] = s.split<2>(s.loop("j"), {lt::infer, 16});
         s.vectorize(ji);
         s.parallel(jo);
       },
       gramschmidt_prepare},
      {"lu",
       {{7}, {1}, {37}},
       {1200},
       lu,
       lu_loops,
       {{"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0207",
         {"reads A[i, k]", "block 'rest' writes A[row, j]", "different iterations of 'k'"}}},
       [](lt::Schedule& s) { lu_factors(s); },
       [](const Counts& n, const Arrays& a) { dominant(n[0], a.doubles(0)); },
       false,
       lu_in_parts},
      {"ludcmp",
       {{7}, {1}, {37}},
       {1200},
       ludcmp,
       ludcmp_loops,
       {{"parallel forward",
         [](lt::Schedule& s) { s.parallel(s.loop("forward")); },
         "L0207",
         {"reads y[j1]", "writes y[forward]", "different iterations of 'forward'"}}},
       [](lt::Schedule& s) { lu_factors(s); },
       [](const Counts& n, const Arrays& a) { dominant(n[0], a.doubles(0)); }},
  };
}

}  // namespace polybench

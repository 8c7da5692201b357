// Each point of a grid from its neighbours, step by step in time: heat-3d, jacobi-1d, jacobi-2d,
// seidel-2d.
#include "kernel.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;
using Cube = lt::ScriptBuffer<double, 3>;

// Two grids in turns, each point from its neighbours on a line

lt::Program jacobi1(const Sizes& n) {
  return lt::script("jacobi_1d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1]}), B = p.inout<double>("B", {n[1]});
    auto mean = [](auto& X, auto& i) { return 0.33333 * (X(i - 1) + X(i) + X(i + 1)); };
    p.for_("t", n[0], [&](lt::Var) {
      p.for_("i", 1, n[1] - 1, [&](lt::Var i) { p.store(B(i), mean(A, i)); });
      p.for_("x", 1, n[1] - 1, [&](lt::Var i) { p.store(A(i), mean(B, i)); });
    });
  });
}

void jacobi1_step(Index n, const double* __restrict A, double* __restrict B) {
  for (Index i = 1; i < n - 1; ++i) B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
}

void jacobi1_loops(const Counts& n, const Arrays& a) {
  for (Index t = 0; t < n[0]; ++t) {
    jacobi1_step(n[1], a.doubles(0), a.doubles(1));
    jacobi1_step(n[1], a.doubles(1), a.doubles(0));
  }
}

/// All steps of a part of the line while it is near; each half step, the part moves one to the
/// left, so that its right end has what it needs of the step before.
lt::Program jacobi1_in_parts(const Sizes& n) {
  return lt::script("jacobi_1d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1]}), B = p.inout<double>("B", {n[1]});
    const Index size = 1024;
    auto half_step = [&](std::string name, const Size& begin, auto& from, auto& to) {
      p.for_(name, size, [&](lt::Var at) {
        const Size i = begin + at;
        p.if_(i >= 1 && i < n[1] - 1,
              [&] { p.store(to(i), 0.33333 * (from(i - 1) + from(i) + from(i + 1))); });
      });
    };
    p.for_("part", lt::floordiv(n[1] + 2 * n[0], Size(size)) + 1, [&](lt::Var part) {
      p.for_("t", n[0], [&](lt::Var t) {
        half_step("i", part * size - 2 * t, A, B);
        half_step("x", part * size - 2 * t - 1, B, A);
      });
    });
  });
}

void jacobi1_schedule(lt::Schedule& s) {
  for (const char* i : {"i", "x"}) vectorize_by(s, s.loop(i), 8, 4);
}

// The same on a plane

lt::Program jacobi2(const Sizes& n) {
  return lt::script("jacobi_2d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1], n[1]}), B = p.inout<double>("B", {n[1], n[1]});
    auto mean = [](auto& X, auto& i, auto& j) {
      return 0.2 * (X(i, j) + X(i, j - 1) + X(i, j + 1) + X(i + 1, j) + X(i - 1, j));
    };
    p.for_("t", n[0], [&](lt::Var) {
      p.for_("i", 1, n[1] - 1, [&](lt::Var i) {
        p.for_("j", 1, n[1] - 1, [&](lt::Var j) {
          p.block("B", {i, j},
                  [&](lt::Var vi, lt::Var vj) { p.store(B(vi, vj), mean(A, vi, vj)); });
        });
      });
      p.for_("y", 1, n[1] - 1, [&](lt::Var i) {
        p.for_("x", 1, n[1] - 1, [&](lt::Var j) {
          p.block("A", {i, j},
                  [&](lt::Var vi, lt::Var vj) { p.store(A(vi, vj), mean(B, vi, vj)); });
        });
      });
    });
  });
}

void jacobi2_step(Index n, const double* __restrict A, double* __restrict B) {
  for (Index i = 1; i < n - 1; ++i)
    for (Index j = 1; j < n - 1; ++j)
      B[i * n + j] = 0.2 * (A[i * n + j] + A[i * n + j - 1] + A[i * n + j + 1] +
                            A[(i + 1) * n + j] + A[(i - 1) * n + j]);
}

void jacobi2_loops(const Counts& n, const Arrays& a) {
  for (Index t = 0; t < n[0]; ++t) {
    jacobi2_step(n[1], a.doubles(0), a.doubles(1));
    jacobi2_step(n[1], a.doubles(1), a.doubles(0));
  }
}

/// Row i of block `to`.
void jacobi2_row(lt::Script& p, std::string name, const Size& i, const Matrix& from,
                 const Matrix& to) {
  p.for_(name, 1, from.extent(1) - 1, [&](lt::Var j) {
    p.store(to(i, j),
            0.2 * (from(i, j) + from(i, j - 1) + from(i, j + 1) + from(i + 1, j) + from(i - 1, j)));
  });
}

/// A row of the second half step as soon as the first has the three rows that it needs.
lt::Program jacobi2_in_rows(const Sizes& n) {
  return lt::script("jacobi_2d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1], n[1]}), B = p.inout<double>("B", {n[1], n[1]});
    p.for_("t", n[0], [&](lt::Var) {
      p.for_("i", 1, n[1], [&](lt::Var i) {
        p.if_(i < n[1] - 1, [&] { jacobi2_row(p, "j", i, A, B); });
        p.if_(i > 1, [&] { jacobi2_row(p, "x", i - 1, B, A); });
      });
    });
  });
}

// Heat in a cube

/// Plane i of block `to`.
void heat_plane(lt::Script& p, std::string j_name, std::string k_name, const Size& i,
                const Cube& from, const Cube& to) {
  auto flow = [](auto& X, auto& i, auto& j, auto& k) {
    return 0.125 * (X(i + 1, j, k) - 2.0 * X(i, j, k) + X(i - 1, j, k)) +
           0.125 * (X(i, j + 1, k) - 2.0 * X(i, j, k) + X(i, j - 1, k)) +
           0.125 * (X(i, j, k + 1) - 2.0 * X(i, j, k) + X(i, j, k - 1)) + X(i, j, k);
  };
  const Size end = from.extent(0) - 1;
  p.for_(j_name, 1, end, [&](lt::Var j) {
    p.for_(k_name, 1, end, [&](lt::Var k) { p.store(to(i, j, k), flow(from, i, j, k)); });
  });
}

lt::Program heat(const Sizes& n) {
  return lt::script("heat_3d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1], n[1], n[1]});
    auto B = p.inout<double>("B", {n[1], n[1], n[1]});
    p.for_("t", n[0], [&](lt::Var) {
      p.for_("i", 1, n[1] - 1, [&](lt::Var i) { heat_plane(p, "j", "k", i, A, B); });
      p.for_("z", 1, n[1] - 1, [&](lt::Var i) { heat_plane(p, "y", "x", i, B, A); });
    });
  });
}

/// A plane of the second half step as soon as the first has the three planes that it needs.
lt::Program heat_in_planes(const Sizes& n) {
  return lt::script("heat_3d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1], n[1], n[1]});
    auto B = p.inout<double>("B", {n[1], n[1], n[1]});
    p.for_("t", n[0], [&](lt::Var) {
      p.for_("i", 1, n[1], [&](lt::Var i) {
        p.if_(i < n[1] - 1, [&] { heat_plane(p, "j", "k", i, A, B); });
        p.if_(i > 1, [&] { heat_plane(p, "y", "x", i - 1, B, A); });
      });
    });
  });
}

void heat_step(Index n, const double* __restrict A, double* __restrict B) {
  const Index row = n, plane = n * n;
  for (Index i = 1; i < n - 1; ++i)
    for (Index j = 1; j < n - 1; ++j)
      for (Index k = 1; k < n - 1; ++k) {
        const Index at = i * plane + j * row + k;
        B[at] = 0.125 * (A[at + plane] - 2 * A[at] + A[at - plane]) +
                0.125 * (A[at + row] - 2 * A[at] + A[at - row]) +
                0.125 * (A[at + 1] - 2 * A[at] + A[at - 1]) + A[at];
      }
}

void heat_loops(const Counts& n, const Arrays& a) {
  for (Index t = 0; t < n[0]; ++t) {
    heat_step(n[1], a.doubles(0), a.doubles(1));
    heat_step(n[1], a.doubles(1), a.doubles(0));
  }
}

void heat_schedule(lt::Schedule& s) {
  for (const auto& [j, k] : {std::pair{"j", "k"}, {"y", "x"}}) {
    vectorize_by(s, s.loop(k), 32);
    s.parallel(s.loop(j));
  }
}

// Gauss-Seidel: each point from its eight neighbours, four of them new

lt::Expr<double> mean(const Matrix& A, const Size& i, const Size& j) {
  return (A(i - 1, j - 1) + A(i - 1, j) + A(i - 1, j + 1) + A(i, j - 1) + A(i, j) + A(i, j + 1) +
          A(i + 1, j - 1) + A(i + 1, j) + A(i + 1, j + 1)) /
         9.0;
}

lt::Program seidel(const Sizes& n) {
  return lt::script("seidel_2d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1], n[1]});
    p.for_("t", n[0], [&](lt::Var) {
      p.for_("i", 1, n[1] - 1, [&](lt::Var i) {
        p.for_("j", 1, n[1] - 1, [&](lt::Var j) { p.store(A(i, j), mean(A, i, j)); });
      });
    });
  });
}

/// Four rows at once, each two columns behind the one above it, whose results it needs.
lt::Program seidel_in_steps(const Sizes& n) {
  return lt::script("seidel_2d", [&](lt::Script& p) {
    auto A = p.inout<double>("A", {n[1], n[1]});
    const Index rows = 4;
    p.for_("t", n[0], [&](lt::Var) {
      p.for_("io", lt::floordiv(n[1] - 2 + (rows - 1), Size(rows)), [&](lt::Var io) {
        p.for_("step", 1, n[1] - 1 + 2 * (rows - 1), [&](lt::Var step) {
          p.for_("ii", rows, [&](lt::Var ii) {
            const Size i = io * rows + ii + 1, j = step - 2 * ii;
            p.if_(i < n[1] - 1 && j >= 1 && j < n[1] - 1, [&] { p.store(A(i, j), mean(A, i, j)); });
          });
        });
      });
    });
  });
}

void seidel_loops(const Counts& n, const Arrays& a) {
  const Index size = n[1];
  double* A = a.doubles(0);
  for (Index t = 0; t < n[0]; ++t)
    for (Index i = 1; i < size - 1; ++i)
      for (Index j = 1; j < size - 1; ++j) {
        const double *above = A + (i - 1) * size + j, *below = A + (i + 1) * size + j;
        double* here = A + i * size + j;
        *here = (above[-1] + above[0] + above[1] + here[-1] + here[0] + here[1] + below[-1] +
                 below[0] + below[1]) /
                9.0;
      }
}

}  // namespace

std::vector<Kernel> stencils() {
  return {
      {"heat-3d",
       {{2, 5}, {2, 3}, {2, 13}},
       {20, 120},
       heat,
       heat_loops,
       {{"parallel t",
         [](lt::Schedule& s) { s.parallel(s.loop("t")); },
         "L0207",
         {"A[", "different iterations of 't'"}},
        {"merge i",
         [](lt::Schedule& s) { s.merge(s.loop("i"), s.loop("z")); },
         "L0207",
         {"writes A[i, y, x] 1 iteration before", "reads A[i - 1, j, k]"}}},
       heat_schedule,
       nullptr,
       true,
       heat_in_planes},
      {"jacobi-1d",
       {{2, 7}, {2, 3}, {2, 1031}},
       {100, 400000},
       jacobi1,
       jacobi1_loops,
       {{"parallel t",
         [](lt::Schedule& s) { s.parallel(s.loop("t")); },
         "L0207",
         {"A[", "different iterations of 't'"}},
        {"merge i",
         [](lt::Schedule& s) { s.merge(s.loop("i"), s.loop("x")); },
         "L0207",
         {"writes A[i] 1 iteration before", "reads A[i - 1]"}}},
       jacobi1_schedule,
       nullptr,
       true,
       jacobi1_in_parts},
      {"jacobi-2d",
       {{2, 7}, {2, 3}, {2, 37}},
       {50, 1300},
       jacobi2,
       jacobi2_loops,
       {{"parallel t",
         [](lt::Schedule& s) { s.parallel(s.loop("t")); },
         "L0207",
         {"A[", "different iterations of 't'"}},
        {"t inside i",
         [](lt::Schedule& s) {
           s.reorder({s.loop("i"), s.loop("t")});
         },
         "L0205",
         {"'t'", "'i'"}}},
       [](lt::Schedule& s) {
         for (const char* j : {"j", "x"}) vectorize_by(s, s.loop(j), 4, 8);
       },
       nullptr,
       true,
       jacobi2_in_rows},
      {"seidel-2d",
       {{2, 7}, {2, 3}, {2, 37}},
       {20, 1000},
       seidel,
       seidel_loops,
       {{"parallel i",
         [](lt::Schedule& s) { s.parallel(s.loop("i")); },
         "L0207",
         {"A[i", "different iterations of 'i'"}},
        {"vectorize j",
         [](lt::Schedule& s) { s.vectorize(s.loop("ji")); },
         "L0207",
         {"A["},
         [](lt::Schedule& s) {
           s.split<2>(s.loop("j"), {lt::infer, 8});
         }},
        {"j outside i",
         [](lt::Schedule& s) {
           s.reorder({s.loop("j"), s.loop("i")});
         },
         "L0207",
         {"A[", "different iterations of 'i', 'j'"}}},
       [](lt::Schedule& s) { s.unroll(s.loop("ii")); },
       nullptr,
       true,
       seidel_in_steps},
  };
}

}  // namespace polybench

// Fields on grids, step by step in time: adi, fdtd-2d.
#include "kernel.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;

// Electric and magnetic fields on staggered grids

lt::Program fdtd(const Sizes& n) {
  return lt::script("fdtd_2d", [&](lt::Script& p) {
    auto ex = p.inout<double>("ex", {n[1], n[2]}), ey = p.inout<double>("ey", {n[1], n[2]});
    auto hz = p.inout<double>("hz", {n[1], n[2]});
    auto source = p.input<double>("source", {n[0]});
    p.for_("t", n[0], [&](lt::Var t) {
      p.for_("j", n[2], [&](lt::Var j) { p.store(ey(0, j), source(t)); });
      p.for_("i1", n[1], [&](lt::Var i) {
        p.for_("j1", 1, n[2],
               [&](lt::Var j) { p.store(ex(i, j), ex(i, j) - 0.5 * (hz(i, j) - hz(i, j - 1))); });
      });
      p.for_("i2", n[1] - 1, [&](lt::Var above) {
        auto i = above + 1;
        p.for_("j2", n[2],
               [&](lt::Var j) { p.store(ey(i, j), ey(i, j) - 0.5 * (hz(i, j) - hz(i - 1, j))); });
      });
      p.for_("i3", n[1] - 1, [&](lt::Var i) {
        p.for_("j3", n[2] - 1, [&](lt::Var j) {
          p.store(hz(i, j), hz(i, j) - 0.7 * (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j)));
        });
      });
    });
  });
}

void fdtd_loops(const Counts& n, const Arrays& a) {
  const Index rows = n[1], columns = n[2];
  double* __restrict ex = a.doubles(0);
  double* __restrict ey = a.doubles(1);
  double* __restrict hz = a.doubles(2);
  for (Index t = 0; t < n[0]; ++t) {
    for (Index j = 0; j < columns; ++j) ey[j] = a.doubles(3)[t];
    for (Index i = 1; i < rows; ++i)
      for (Index j = 0; j < columns; ++j)
        ey[i * columns + j] -= 0.5 * (hz[i * columns + j] - hz[(i - 1) * columns + j]);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 1; j < columns; ++j)
        ex[i * columns + j] -= 0.5 * (hz[i * columns + j] - hz[i * columns + j - 1]);
    for (Index i = 0; i < rows - 1; ++i)
      for (Index j = 0; j < columns - 1; ++j)
        hz[i * columns + j] -= 0.7 * (ex[i * columns + j + 1] - ex[i * columns + j] +
                                      ey[(i + 1) * columns + j] - ey[i * columns + j]);
  }
}

/// A row of the three fields at once: hz is one row behind, as it needs the next row of ey.
void fdtd_schedule(lt::Schedule& s) {
  for (const char* j : {"j", "j1", "j2", "j3"}) vectorize_by(s, s.loop(j), 16);
  const auto rows = s.loop_partition(s.loop("i1"), {1});
  s.merge({rows[1], s.loop("i2"), s.loop("i3")});
}

// Alternating directions: implicit in the columns, then in the rows. Scalars a to f come from the
// steps in time and space.

lt::Program adi(const Sizes& n) {
  return lt::script("adi", [&](lt::Script& s) {
    auto a = s.input<double>("a", {}), b = s.input<double>("b", {}), d = s.input<double>("d", {});
    auto e = s.input<double>("e", {});
    auto u = s.inout<double>("u", {n[1], n[1]}), v = s.inout<double>("v", {n[1], n[1]});
    // Solves (lower, middle, lower) x = right(j) along a line, whose ends are 1.
    auto line = [&](std::string down, std::string up, const auto& lower, const auto& middle,
                    const auto& right, const auto& x) {
      auto p = s.local<double>("p_" + down, {n[1]}), q = s.local<double>("q_" + down, {n[1]});
      s.store(x(Size(0)), 1.0);
      s.store(p(0), 0.0);
      s.store(q(0), 1.0);
      s.for_(down, 1, n[1] - 1, [&](lt::Var j) {
        s.store(p(j), -lower / (lower * p(j - 1) + middle));
        s.store(q(j), (right(j) - lower * q(j - 1)) / (lower * p(j - 1) + middle));
      });
      s.store(x(n[1] - 1), 1.0);
      s.for_(up, 1, n[1] - 1, [&](lt::Var step) {
        auto j = n[1] - 1 - step;
        s.store(x(j), p(j) * x(j + 1) + q(j));
      });
    };
    s.for_("t", n[0], [&](lt::Var) {
      s.for_("column", 1, n[1] - 1, [&](lt::Var i) {
        line(
            "j1", "j2", a(), b(),
            [&](auto j) {
              return -d() * u(j, i - 1) + (1.0 + 2.0 * d()) * u(j, i) - d() * u(j, i + 1);
            },
            [&](auto j) { return v(j, i); });
      });
      s.for_("row", 1, n[1] - 1, [&](lt::Var i) {
        line(
            "j3", "j4", d(), e(),
            [&](auto j) {
              return -a() * v(i - 1, j) + (1.0 + 2.0 * a()) * v(i, j) - a() * v(i + 1, j);
            },
            [&](auto j) { return u(i, j); });
      });
    });
  });
}

/// x has elements `step` apart; right holds the right-hand sides.
void adi_line(Index n, Index step, double lower, double middle, const auto& right, double* x,
              double* __restrict p, double* __restrict q) {
  x[0] = 1;
  p[0] = 0;
  q[0] = 1;
  for (Index j = 1; j < n - 1; ++j) {
    p[j] = -lower / (lower * p[j - 1] + middle);
    q[j] = (right(j) - lower * q[j - 1]) / (lower * p[j - 1] + middle);
  }
  x[(n - 1) * step] = 1;
  for (Index j = n - 2; j >= 1; --j) x[j * step] = p[j] * x[(j + 1) * step] + q[j];
}

void adi_loops(const Counts& n, const Arrays& arrays) {
  const double a = arrays.scalar(0), b = arrays.scalar(1), d = arrays.scalar(2);
  const double e = arrays.scalar(3);
  double *u = arrays.doubles(4), *v = arrays.doubles(5);
  const Index size = n[1];
  std::vector<double> p(static_cast<std::size_t>(size)), q(p.size());
  for (Index t = 0; t < n[0]; ++t) {
    for (Index i = 1; i < size - 1; ++i) {
      auto right = [&](Index j) {
        const double* at = u + j * size + i;
        return -d * at[-1] + (1 + 2 * d) * at[0] - d * at[1];
      };
      adi_line(size, size, a, b, right, v + i, p.data(), q.data());
    }
    for (Index i = 1; i < size - 1; ++i) {
      auto right = [&](Index j) {
        const double* at = v + i * size + j;
        return -a * at[-size] + (1 + 2 * a) * at[0] - a * at[size];
      };
      adi_line(size, 1, d, e, right, u + i * size, p.data(), q.data());
    }
  }
}

void adi_prepare(const Counts& n, const Arrays& arrays) {
  const double size = static_cast<double>(n[1]);
  const double step = size * size / static_cast<double>(n[0]);
  *arrays.doubles(0) = -step;
  *arrays.doubles(1) = 1 + 2 * step;
  *arrays.doubles(2) = -step / 2;
  *arrays.doubles(3) = 1 + step;
}

void adi_schedule(lt::Schedule& s) {
  auto [io, ii] = s.split<2>(s.loop("column"), {lt::infer, 16});
  s.vectorize(ii);
  s.parallel(io);
  auto [ro, ri] = s.split<2>(s.loop("row"), {lt::infer, 8});
  s.vectorize(ri);
  s.parallel(ro);
}

}  // namespace

std::vector<Kernel> fields() {
  return {
      {"adi",
       {{2, 7}, {2, 3}, {2, 37}},
       {20, 1000},
       adi,
       adi_loops,
       {{"parallel j",
         [](lt::Schedule& s) { s.parallel(s.loop("j1")); },
         "L0207",
         {"p_j1[j1 - 1]", "p_j1[j1]", "different iterations of 'j1'"}}},
       adi_schedule,
       adi_prepare,
       true},
      {"fdtd-2d",
       {{2, 5, 7}, {1, 2, 2}, {3, 17, 37}},
       {50, 1000, 1200},
       fdtd,
       fdtd_loops,
       {{"parallel t",
         [](lt::Schedule& s) { s.parallel(s.loop("t")); },
         "L0207",
         {"ey[", "different iterations of 't'"}}},
       fdtd_schedule},
  };
}

}  // namespace polybench

// A filter of edges and dynamic programming: deriche, floyd-warshall, nussinov.
#include <algorithm>
#include <cmath>

#include "kernel.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;

// A recursive filter along lines, from both ends, over rows and then over columns of a picture

struct Coefficients {
  lt::Expr<double> a1, a2, a3, a4, b1, b2;
};

/// In one direction along a line, from(k) to to(k), k from 0 to length - 1 or back: each element
/// from those before it.
void deriche_line(lt::Script& p, const std::string& name, const Size& length, const Coefficients& c,
                  bool ahead, const auto& from, const auto& to) {
  auto x1 = p.local<double>("x1_" + name, {}), x2 = p.local<double>("x2_" + name, {});
  auto y1 = p.local<double>("y1_" + name, {}), y2 = p.local<double>("y2_" + name, {});
  for (const auto& state : {x1, x2, y1, y2}) p.store(state(), 0.0);
  p.for_(name, length, [&](lt::Var step) {
    const Size k = ahead ? Size(step) : length - 1 - step;
    auto y = p.let("y_" + name, ahead ? c.a1 * from(k) + c.a2 * x1() + c.b1 * y1() + c.b2 * y2()
                                      : c.a3 * x1() + c.a4 * x2() + c.b1 * y1() + c.b2 * y2());
    p.store(to(k), y);
    p.store(x2(), x1());
    p.store(x1(), from(k));
    p.store(y2(), y1());
    p.store(y1(), y);
  });
}

lt::Program deriche(const Sizes& n) {
  return lt::script("deriche", [&](lt::Script& p) {
    auto a1 = p.input<double>("a1", {}), a2 = p.input<double>("a2", {});
    auto a3 = p.input<double>("a3", {}), a4 = p.input<double>("a4", {});
    auto b1 = p.input<double>("b1", {}), b2 = p.input<double>("b2", {});
    auto in = p.input<double>("in", {n[0], n[1]});
    auto out = p.output<double>("out", {n[0], n[1]});
    auto up = p.local<double>("up", {n[0], n[1]}), down = p.local<double>("down", {n[0], n[1]});
    const Coefficients c{a1(), a2(), a3(), a4(), b1(), b2()};
    auto add = [&](std::string i_name, std::string j_name) {
      p.for_(i_name, n[0], [&](lt::Var i) {
        p.for_(j_name, n[1], [&](lt::Var j) { p.store(out(i, j), up(i, j) + down(i, j)); });
      });
    };
    for (const bool ahead : {true, false}) {
      auto& to = ahead ? up : down;
      p.for_(ahead ? "i1" : "i2", n[0], [&](lt::Var i) {
        deriche_line(
            p, ahead ? "j1" : "j2", n[1], c, ahead, [&](auto k) { return in(i, k); },
            [&](auto k) { return to(i, k); });
      });
    }
    add("i3", "j3");
    for (const bool ahead : {true, false}) {
      auto& to = ahead ? up : down;
      p.for_(ahead ? "j4" : "j5", n[1], [&](lt::Var j) {
        deriche_line(
            p, ahead ? "i4" : "i5", n[0], c, ahead, [&](auto k) { return out(k, j); },
            [&](auto k) { return to(k, j); });
      });
    }
    add("i6", "j6");
  });
}

/// Of `lines` lines, whose elements are `step` apart.
void deriche_lines(Index lines, Index next, Index length, Index step, const Arrays& s,
                   const double* __restrict in, double* __restrict up, double* __restrict down) {
  const double a1 = s.scalar(0), a2 = s.scalar(1), a3 = s.scalar(2), a4 = s.scalar(3);
  const double b1 = s.scalar(4), b2 = s.scalar(5);
  for (Index line = 0; line < lines; ++line) {
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (Index k = 0; k < length; ++k) {
      const Index at = line * next + k * step;
      const double y = a1 * in[at] + a2 * x1 + b1 * y1 + b2 * y2;
      up[at] = y;
      x1 = in[at];
      y2 = y1;
      y1 = y;
    }
    x1 = x2 = y1 = y2 = 0;
    for (Index k = length - 1; k >= 0; --k) {
      const Index at = line * next + k * step;
      const double y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
      down[at] = y;
      x2 = x1;
      x1 = in[at];
      y2 = y1;
      y1 = y;
    }
  }
}

void deriche_loops(const Counts& n, const Arrays& a) {
  const Index w = n[0], h = n[1];
  double* __restrict out = a.doubles(7);
  std::vector<double> up(static_cast<std::size_t>(w * h)), down(up.size());
  deriche_lines(w, h, h, 1, a, a.doubles(6), up.data(), down.data());
  for (Index k = 0; k < w * h; ++k)
    out[k] = up[static_cast<std::size_t>(k)] + down[static_cast<std::size_t>(k)];
  deriche_lines(h, 1, w, h, a, out, up.data(), down.data());
  for (Index k = 0; k < w * h; ++k)
    out[k] = up[static_cast<std::size_t>(k)] + down[static_cast<std::size_t>(k)];
}

// The coefficients of Deriche's smoothing for alpha = 1/4.
void deriche_prepare(const Counts&, const Arrays& a) {
  const double alpha = 0.25, e = std::exp(-alpha);
  const double k = (1 - e) * (1 - e) / (1 + 2 * alpha * e - e * e);
  *a.doubles(0) = k;
  *a.doubles(1) = k * e * (alpha - 1);
  *a.doubles(2) = k * e * (alpha + 1);
  *a.doubles(3) = -k * e * e;
  *a.doubles(4) = 2 * e;
  *a.doubles(5) = -e * e;
}

void deriche_schedule(lt::Schedule& s) {
  for (const char* i : {"i1", "i2"}) s.parallel(s.loop(i));
  for (const char* j : {"j4", "j5"}) {
    auto [jo, ji] = s.split<2>(s.loop(j), {lt::infer, 32});
    s.vectorize(ji);
    s.parallel(jo);
  }
  for (const auto& [i, j] : {std::pair{"i3", "j3"}, {"i6", "j6"}}) {
    vectorize_by(s, s.loop(j), 32);
    s.parallel(s.loop(i));
  }
}

// All shortest paths: round k allows ways through k. Its row and its column are read as they were
// before the round.

lt::Program floyd_warshall(const Sizes& n) {
  return lt::script("floyd_warshall", [&](lt::Script& p) {
    auto path = p.inout<int>("path", {n[0], n[0]});
    auto to = p.local<int>("to", {n[0]}), from = p.local<int>("from", {n[0]});
    p.for_("k", n[0], [&](lt::Var k) {
      p.for_("c", n[0], [&](lt::Var c) {
        p.store(to(c), path(c, k));
        p.store(from(c), path(k, c));
      });
      p.for_("i", n[0], [&](lt::Var i) {
        p.for_("j", n[0],
               [&](lt::Var j) { p.store(path(i, j), lt::min(path(i, j), to(i) + from(j))); });
      });
    });
  });
}

void floyd_warshall_loops(const Counts& n, const Arrays& a) {
  const Index size = n[0];
  int* __restrict path = a.ints(0);
  for (Index k = 0; k < size; ++k)
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j)
        path[i * size + j] = std::min(path[i * size + j], path[i * size + k] + path[k * size + j]);
}

// The most pairs of bases of a strand that fold onto each other: row by row, from the last one up.
// An element of the row that is complete goes into all those after it.

lt::Program nussinov(const Sizes& n) {
  return lt::script("nussinov", [&](lt::Script& p) {
    auto seq = p.input<int>("seq", {n[0]});
    auto best = p.output<int>("best", {n[0], n[0]});
    p.for_("zi", n[0],
           [&](lt::Var i) { p.for_("zj", n[0], [&](lt::Var j) { p.store(best(i, j), 0); }); });
    p.for_("up", n[0], [&](lt::Var up) {
      const Size i = n[0] - 1 - up;
      p.for_("end", i + 1, n[0], [&](lt::Var j) {
        auto pair = lt::select(j > i + 1 && seq(i) + seq(j) == 3, lt::Expr<int>(1), 0);
        p.store(best(i, j), best(i + 1, j - 1) + pair);
      });
      p.for_("k", i, n[0], [&](lt::Var k) {
        p.for_("j", k + 1, n[0], [&](lt::Var j) {
          p.store(best(i, j), lt::max(best(i, j), best(i, k) + best(k + 1, j)));
        });
      });
    });
  });
}

// An element after the other, as the strand's end grows.
void nussinov_loops(const Counts& n, const Arrays& a) {
  const Index size = n[0];
  const int* seq = a.ints(0);
  int* best = a.ints(1);
  std::fill(best, best + size * size, 0);
  for (Index i = size - 1; i >= 0; --i)
    for (Index j = i + 1; j < size; ++j) {
      const int pair = j > i + 1 && seq[i] + seq[j] == 3 ? 1 : 0;
      int top = std::max(best[i * size + j - 1], best[(i + 1) * size + j]);
      top = std::max(top, best[(i + 1) * size + j - 1] + pair);
      for (Index k = i + 1; k < j; ++k)
        top = std::max(top, best[i * size + k] + best[(k + 1) * size + j]);
      best[i * size + j] = top;
    }
}

void nussinov_prepare(const Counts& n, const Arrays& a) {
  for (Index i = 0; i < n[0]; ++i) a.ints(0)[i] %= 4;
}

}  // namespace

std::vector<Kernel> others() {
  return {
      {"deriche",
       {{5, 7}, {1, 1}, {17, 37}},
       {1500, 1600},
       deriche,
       deriche_loops,
       {{"parallel along a row",
         [](lt::Schedule& s) { s.parallel(s.loop("j1")); },
         "L0207",
         {"x1", "different iterations of 'j1'"}}},
       deriche_schedule,
       deriche_prepare},
      {"floyd-warshall",
       {{7}, {1}, {37}},
       {1200},
       floyd_warshall,
       floyd_warshall_loops,
       {{"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0207",
         {"path[", "different iterations of 'k'"}}},
       [](lt::Schedule& s) {
         vectorize_by(s, s.loop("j"), 64);
         s.parallel(s.loop("i"));
       }},
      {"nussinov",
       {{7}, {1}, {37}},
       {1200},
       nussinov,
       nussinov_loops,
       {{"parallel rows",
         [](lt::Schedule& s) { s.parallel(s.loop("up")); },
         "L0207",
         {"best[", "different iterations of 'up'"}},
        {"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0207",
         {"best[", "different iterations of 'k'"}}},
       [](lt::Schedule& s) {
         for (const char* j : {"zj", "end", "j"}) vectorize_by(s, s.loop(j), 64);
       },
       nussinov_prepare},
  };
}

}  // namespace polybench

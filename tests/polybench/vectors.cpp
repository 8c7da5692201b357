// Products of a matrix and vectors: atax, bicg, mvt, gemver, gesummv.
#include "kernel.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;
using Vector = lt::ScriptBuffer<double, 1>;

/// Block `name`: out[i] = (out[i] +) sum over j of term(i, j), in rows.
template <class F>
void sum_rows(lt::Script& p, const std::string& name, const Vector& out, const Size& n, bool init,
              const F& term) {
  p.for_("i", out.extent(0), [&](lt::Var i) {
    p.for_("j", n, [&](lt::Var j) {
      p.block(name, {i, j}, [&](lt::Var vi, lt::Var vj) {
        if (init)
          p.reduce(lt::Fold::sum, out(vi), term(vi, vj));
        else
          p.update(lt::Fold::sum, out(vi), term(vi, vj));
      });
    });
  });
}

/// Block `name`: out[j] = (out[j] +) sum over i of term(i, j), in rows too.
template <class F>
void sum_columns(lt::Script& p, const std::string& name, const Vector& out, const Size& m,
                 bool init, const F& term) {
  p.for_("i", m, [&](lt::Var i) {
    p.for_("j", out.extent(0), [&](lt::Var j) {
      p.block(name, {i, j}, [&](lt::Var vi, lt::Var vj) {
        if (init)
          p.reduce(lt::Fold::sum, out(vj), term(vi, vj));
        else
          p.update(lt::Fold::sum, out(vj), term(vi, vj));
      });
    });
  });
}

/// Eight rows at once, so that their sums don't wait for each other. The loop over such groups.
lt::LoopRef eight_rows(lt::Schedule& s, const char* name, bool init) {
  auto [i, j] = s.loops<2>(name);
  auto [io, ii] = s.split<2>(i, {lt::infer, 8});
  s.reorder({io, j, ii});
  if (init) {
    const lt::BlockRef store = s.cache_write(name, lt::Scope::local);
    s.reverse_compute_at(store, io);
    const lt::BlockRef zero = s.decompose_reduction(name, j);
    for (const lt::BlockRef& block : {store, zero}) s.unroll(s.loops(block).back());
  }
  s.unroll(ii);
  return io;
}

/// Eight rows at once, added to a result of many columns.
lt::LoopRef eight_rows_down(lt::Schedule& s, const char* name) {
  auto [i, j] = s.loops<2>(name);
  auto [io, ii] = s.split<2>(i, {lt::infer, 8});
  auto [jo, ji] = s.split<2>(j, {lt::infer, 16});
  s.reorder({io, jo, ii, ji});
  s.unroll(ii);
  s.vectorize(ji);
  return io;
}

/// Both products read eight rows of the matrix while these are near.
void one_pass(lt::Schedule& s, const char* along, const char* down, bool init) {
  const lt::LoopRef first = eight_rows(s, along, init), second = eight_rows_down(s, down);
  const lt::LoopRef rows = s.merge(first, second);
  if (init) s.decompose_reduction(down, rows);
}

/// Strips of columns on many threads, four rows at once.
void strips(lt::Schedule& s, const char* name, bool init) {
  auto [i, j] = s.loops<2>(name);
  auto [io, ii] = s.split<2>(i, {lt::infer, 4});
  auto [strip, jo, ji] = s.split<3>(j, {lt::infer, 16, 32});
  s.reorder({strip, io, jo, ii, ji});
  if (init) {
    const lt::BlockRef zero = s.decompose_reduction(name, io);
    s.vectorize(s.loops(zero).back());
  }
  s.unroll(ii);
  s.vectorize(ji);
  s.parallel(strip);
}

void each(lt::Script& p, const std::string& name, const Vector& out, const auto& value) {
  p.for_("i", out.extent(0),
         [&](lt::Var i) { p.block(name, {i}, [&](lt::Var vi) { p.store(out(vi), value(vi)); }); });
}

// y = Aᵀ (A x)

lt::Program atax(const Sizes& n) {
  return lt::script("atax", [&](lt::Script& p) {
    auto A = p.input<double>("A", {n[0], n[1]});
    auto x = p.input<double>("x", {n[1]});
    auto y = p.output<double>("y", {n[1]});
    auto t = p.local<double>("t", {n[0]});
    sum_rows(p, "t", t, n[1], true, [&](auto i, auto j) { return A(i, j) * x(j); });
    sum_columns(p, "y", y, n[0], true, [&](auto i, auto j) { return A(i, j) * t(i); });
  });
}

void atax_loops(const Counts& n, const Arrays& a) {
  const double* __restrict A = a.doubles(0);
  const double* __restrict x = a.doubles(1);
  double* __restrict y = a.doubles(2);
  for (Index j = 0; j < n[1]; ++j) y[j] = 0;
  for (Index i = 0; i < n[0]; ++i) {
    double t = 0;
    for (Index j = 0; j < n[1]; ++j) t += A[i * n[1] + j] * x[j];
    for (Index j = 0; j < n[1]; ++j) y[j] += A[i * n[1] + j] * t;
  }
}

// s = Aᵀ r, q = A p

lt::Program bicg(const Sizes& n) {
  return lt::script("bicg", [&](lt::Script& script) {
    auto A = script.input<double>("A", {n[0], n[1]});
    auto p = script.input<double>("p", {n[1]});
    auto r = script.input<double>("r", {n[0]});
    auto s = script.output<double>("s", {n[1]});
    auto q = script.output<double>("q", {n[0]});
    sum_columns(script, "s", s, n[0], true, [&](auto i, auto j) { return A(i, j) * r(i); });
    sum_rows(script, "q", q, n[1], true, [&](auto i, auto j) { return A(i, j) * p(j); });
  });
}

void bicg_loops(const Counts& n, const Arrays& a) {
  const double* __restrict A = a.doubles(0);
  const double* __restrict p = a.doubles(1);
  const double* __restrict r = a.doubles(2);
  double* __restrict s = a.doubles(3);
  double* __restrict q = a.doubles(4);
  for (Index j = 0; j < n[1]; ++j) s[j] = 0;
  for (Index i = 0; i < n[0]; ++i) {
    q[i] = 0;
    for (Index j = 0; j < n[1]; ++j) {
      s[j] += A[i * n[1] + j] * r[i];
      q[i] += A[i * n[1] + j] * p[j];
    }
  }
}

// x1 += A y1, x2 += Aᵀ y2

lt::Program mvt(const Sizes& n) {
  return lt::script("mvt", [&](lt::Script& p) {
    auto A = p.input<double>("A", {n[0], n[0]});
    auto y1 = p.input<double>("y1", {n[0]});
    auto y2 = p.input<double>("y2", {n[0]});
    auto x1 = p.inout<double>("x1", {n[0]});
    auto x2 = p.inout<double>("x2", {n[0]});
    sum_rows(p, "x1", x1, n[0], false, [&](auto i, auto j) { return A(i, j) * y1(j); });
    sum_columns(p, "x2", x2, n[0], false, [&](auto i, auto j) { return A(i, j) * y2(i); });
  });
}

void mvt_loops(const Counts& n, const Arrays& a) {
  const double* __restrict A = a.doubles(0);
  const double* __restrict y1 = a.doubles(1);
  const double* __restrict y2 = a.doubles(2);
  double* __restrict x1 = a.doubles(3);
  double* __restrict x2 = a.doubles(4);
  for (Index i = 0; i < n[0]; ++i)
    for (Index j = 0; j < n[0]; ++j) x1[i] += A[i * n[0] + j] * y1[j];
  for (Index i = 0; i < n[0]; ++i)
    for (Index j = 0; j < n[0]; ++j) x2[j] += A[i * n[0] + j] * y2[i];
}

// A += u1 v1ᵀ + u2 v2ᵀ, x += beta Aᵀ y + z, w += alpha A x

lt::Program gemver(const Sizes& n) {
  return lt::script("gemver", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto beta = p.input<double>("beta", {});
    auto A = p.inout<double>("A", {n[0], n[0]});
    auto u1 = p.input<double>("u1", {n[0]}), v1 = p.input<double>("v1", {n[0]});
    auto u2 = p.input<double>("u2", {n[0]}), v2 = p.input<double>("v2", {n[0]});
    auto y = p.input<double>("y", {n[0]}), z = p.input<double>("z", {n[0]});
    auto x = p.inout<double>("x", {n[0]}), w = p.inout<double>("w", {n[0]});
    p.for_("i", n[0], [&](lt::Var i) {
      p.for_("j", n[0], [&](lt::Var j) {
        p.block("A", {i, j}, [&](lt::Var vi, lt::Var vj) {
          p.store(A(vi, vj), A(vi, vj) + u1(vi) * v1(vj) + u2(vi) * v2(vj));
        });
      });
    });
    sum_columns(p, "x", x, n[0], false, [&](auto i, auto j) { return beta() * A(i, j) * y(i); });
    each(p, "z", x, [&](auto i) { return x(i) + z(i); });
    sum_rows(p, "w", w, n[0], false, [&](auto i, auto j) { return alpha() * A(i, j) * x(j); });
  });
}

void gemver_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0), beta = a.scalar(1);
  double* __restrict A = a.doubles(2);
  const double *u1 = a.doubles(3), *v1 = a.doubles(4), *u2 = a.doubles(5), *v2 = a.doubles(6);
  const double *y = a.doubles(7), *z = a.doubles(8);
  double* __restrict x = a.doubles(9);
  double* __restrict w = a.doubles(10);
  const Index size = n[0];
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j)
      A[i * size + j] = A[i * size + j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) x[j] += beta * A[i * size + j] * y[i];
  for (Index i = 0; i < size; ++i) x[i] += z[i];
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) w[i] += alpha * A[i * size + j] * x[j];
}

void gemver_schedule(lt::Schedule& s) {
  s.merge(eight_rows_down(s, "A"), eight_rows_down(s, "x"));
  vectorize_by(s, s.loops("z").back(), 8);
  s.parallel(eight_rows(s, "w", false));
}

// y = alpha A x + beta B x

lt::Program gesummv(const Sizes& n) {
  return lt::script("gesummv", [&](lt::Script& p) {
    auto alpha = p.input<double>("alpha", {});
    auto beta = p.input<double>("beta", {});
    auto A = p.input<double>("A", {n[0], n[0]});
    auto B = p.input<double>("B", {n[0], n[0]});
    auto x = p.input<double>("x", {n[0]});
    auto y = p.output<double>("y", {n[0]});
    auto t = p.local<double>("t", {n[0]}), u = p.local<double>("u", {n[0]});
    sum_rows(p, "t", t, n[0], true, [&](auto i, auto j) { return A(i, j) * x(j); });
    sum_rows(p, "u", u, n[0], true, [&](auto i, auto j) { return B(i, j) * x(j); });
    each(p, "y", y, [&](auto i) { return alpha() * t(i) + beta() * u(i); });
  });
}

void gesummv_loops(const Counts& n, const Arrays& a) {
  const double alpha = a.scalar(0), beta = a.scalar(1);
  const double *A = a.doubles(2), *B = a.doubles(3), *x = a.doubles(4);
  double* __restrict y = a.doubles(5);
  for (Index i = 0; i < n[0]; ++i) {
    double t = 0, u = 0;
    for (Index j = 0; j < n[0]; ++j) {
      t += A[i * n[0] + j] * x[j];
      u += B[i * n[0] + j] * x[j];
    }
    y[i] = alpha * t + beta * u;
  }
}

}  // namespace

std::vector<Kernel> vectors() {
  return {
      {"atax",
       {{5, 7}, {1, 1}, {17, 37}},
       {1900, 2100},
       atax,
       atax_loops,
       {{"merge rows",
         [](lt::Schedule& s) { s.merge(s.loops("t")[1], s.loops("y")[1]); },
         "L0230",
         {"'j'"}},
        {"parallel rows of y",
         [](lt::Schedule& s) { s.parallel(s.loops("y")[0]); },
         "L0208",
         {"loop 'i'", "feeds the reduction of block 'y'"}}},
       [](lt::Schedule& s) { one_pass(s, "t", "y", true); }},
      {"bicg",
       {{5, 7}, {1, 1}, {17, 37}},
       {1900, 2100},
       bicg,
       bicg_loops,
       {{"vectorize j of q",
         [](lt::Schedule& s) { s.vectorize(s.loops("q")[1]); },
         "L0208",
         {"loop 'j'", "feeds the reduction of block 'q'"}}},
       [](lt::Schedule& s) {
         strips(s, "s", true);
         s.parallel(eight_rows(s, "q", true));
       }},
      {"mvt",
       {{5}, {1}, {37}},
       {2000},
       mvt,
       mvt_loops,
       {{"parallel rows of x2",
         [](lt::Schedule& s) { s.parallel(s.loops("x2")[0]); },
         "L0208",
         {"loop 'i'", "feeds the reduction of block 'x2'"}}},
       [](lt::Schedule& s) { one_pass(s, "x1", "x2", false); }},
      {"gemver",
       {{5}, {1}, {37}},
       {2000},
       gemver,
       gemver_loops,
       {{"z before its sum",
         [](lt::Schedule& s) { s.merge(s.loops("z")[0], s.loops("w")[0]); },
         "L0207",
         {"x[", "'z'"}}},
       gemver_schedule},
      {"gesummv",
       {{5}, {1}, {37}},
       {1300},
       gesummv,
       gesummv_loops,
       {{"y inside j",
         [](lt::Schedule& s) { s.reverse_compute_at("y", s.loops("u")[1]); },
         "L0213",
         {"'u'"}}},
       [](lt::Schedule& s) {
         s.parallel(eight_rows(s, "t", true));
         s.parallel(eight_rows(s, "u", true));
         s.parallel(s.loops("y")[0]);
       }},
  };
}

}  // namespace polybench

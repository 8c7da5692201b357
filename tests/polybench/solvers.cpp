// Systems of equations: durbin, trisolv.

#include "kernel.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;

// L x = b

lt::Program trisolv(const Sizes& n) {
  return lt::script("trisolv", [&](lt::Script& p) {
    auto L = p.input<double>("L", {n[0], n[0]});
    auto b = p.input<double>("b", {n[0]});
    auto x = p.output<double>("x", {n[0]});
    p.for_("i", n[0], [&](lt::Var i) {
      p.store(x(i), b(i));
      p.for_("j", i, [&](lt::Var j) { p.store(x(i), x(i) - L(i, j) * x(j)); });
      p.store(x(i), x(i) / L(i, i));
    });
  });
}

/// Eight rows at once, so that their sums don't wait for each other.
lt::Program trisolv_in_parts(const Sizes& n) {
  return lt::script("trisolv", [&](lt::Script& p) {
    auto L = p.input<double>("L", {n[0], n[0]});
    auto b = p.input<double>("b", {n[0]});
    auto x = p.output<double>("x", {n[0]});
    const Index rows = 8;
    p.for_("part", lt::floordiv(n[0] + (rows - 1), Size(rows)), [&](lt::Var part) {
      auto sum = p.local<double>("sum", {rows});
      const Size begin = part * rows;
      auto each = [&](std::string name, const auto& body) {
        p.for_(name, rows, [&](lt::Var row) {
          const Size i = begin + row;
          p.if_(i < n[0], [&] { body(row, i); });
        });
      };
      each("first", [&](auto row, auto i) { p.store(sum(row), b(i)); });
      p.for_("j", begin, [&](lt::Var j) {
        each("next", [&](auto row, auto i) { p.store(sum(row), sum(row) - L(i, j) * x(j)); });
      });
      each("last", [&](auto row, auto i) {
        p.for_("j2", begin, i, [&](lt::Var j) { p.store(sum(row), sum(row) - L(i, j) * x(j)); });
        p.store(x(i), sum(row) / L(i, i));
      });
    });
  });
}

void trisolv_loops(const Counts& n, const Arrays& a) {
  const double *L = a.doubles(0), *b = a.doubles(1);
  double* x = a.doubles(2);
  for (Index i = 0; i < n[0]; ++i) {
    x[i] = b[i];
    for (Index j = 0; j < i; ++j) x[i] -= L[i * n[0] + j] * x[j];
    x[i] /= L[i * n[0] + i];
  }
}

// The Yule-Walker system of a Toeplitz matrix with ones on its diagonal: T y = -r

/// Its steps, after the first element.
template <class Steps>
lt::Program durbin_of(const Sizes& n, Steps steps) {
  return lt::script("durbin", [&](lt::Script& p) {
    auto r = p.input<double>("r", {n[0]});
    auto y = p.output<double>("y", {n[0]});
    auto z = p.local<double>("z", {n[0]});
    auto alpha = p.local<double>("alpha", {}), beta = p.local<double>("beta", {});
    auto sum = p.local<double>("sum", {});
    p.store(y(0), -r(0));
    p.store(beta(), 1.0);
    p.store(alpha(), -r(0));
    steps(p, r, y, z, alpha, beta, sum);
  });
}

lt::Program durbin(const Sizes& n) {
  return durbin_of(n, [&](lt::Script& p, auto r, auto y, auto z, auto alpha, auto beta, auto sum) {
    p.for_("k", 1, n[0], [&](lt::Var k) {
      p.store(beta(), (1.0 - alpha() * alpha()) * beta());
      p.store(sum(), 0.0);
      p.for_("s", k, [&](lt::Var i) { p.store(sum(), sum() + r(k - i - 1) * y(i)); });
      p.store(alpha(), -(r(k) + sum()) / beta());
      p.for_("i", k, [&](lt::Var i) { p.store(z(i), y(i) + alpha() * y(k - i - 1)); });
      p.for_("copy", k, [&](lt::Var i) { p.store(y(i), z(i)); });
      p.store(y(k), alpha());
    });
  });
}

/// The next step's sum as soon as there are elements for it. Two steps at a time, from y to z and
/// back: nothing is copied.
lt::Program durbin_in_one_pass(const Sizes& n) {
  return durbin_of(n, [&](lt::Script& p, auto r, auto y, auto z, auto alpha, auto beta, auto sum) {
    p.store(sum(), 0.0);
    p.store(sum(), sum() + r(0) * y(0));
    auto step = [&](std::string name, const Size& k, const auto& from, const auto& to) {
      auto term = p.local<double>("term_" + name, {n[0]});
      p.store(beta(), (1.0 - alpha() * alpha()) * beta());
      p.store(alpha(), -(r(k) + sum()) / beta());
      p.store(sum(), 0.0);
      p.for_("i_" + name, k,
             [&](lt::Var i) { p.store(to(i), from(i) + alpha() * from(k - i - 1)); });
      p.for_("s_" + name, k, [&](lt::Var i) { p.store(term(i), r(k - i) * to(i)); });
      p.for_("add_" + name, k, [&](lt::Var i) { p.store(sum(), sum() + term(i)); });
      p.store(to(k), alpha());
      p.store(sum(), sum() + r(0) * alpha());
    };
    p.for_("two", lt::floordiv(n[0], Size(2)), [&](lt::Var two) {
      const Size k = two * 2 + 1;
      step("odd", k, y, z);
      p.if_(k + 1 < n[0], [&] { step("even", k + 1, z, y); });
    });
    p.if_(lt::floormod(n[0], Size(2)) == 0,
          [&] { p.for_("copy", n[0], [&](lt::Var i) { p.store(y(i), z(i)); }); });
  });
}

void durbin_schedule(lt::Schedule& s) {
  for (const std::string name : {"odd", "even"}) {
    std::vector<lt::LoopRef> outer;
    for (const char* part : {"i_", "s_", "add_"}) {
      auto [io, ii] = s.split<2>(s.loop(part + name), {lt::infer, 8});
      outer.push_back(io);
      if (part[0] == 'a')
        s.unroll(ii);
      else
        s.vectorize(ii);
    }
    s.merge(outer);
  }
}

void durbin_loops(const Counts& n, const Arrays& a) {
  const double* __restrict r = a.doubles(0);
  double* __restrict y = a.doubles(1);
  std::vector<double> memory(static_cast<std::size_t>(n[0]));
  double* __restrict z = memory.data();
  double alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (Index k = 1; k < n[0]; ++k) {
    beta = (1 - alpha * alpha) * beta;
    double sum = 0;
    for (Index i = 0; i < k; ++i) sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (Index i = 0; i < k; ++i) z[i] = y[i] + alpha * y[k - i - 1];
    for (Index i = 0; i < k; ++i) y[i] = z[i];
    y[k] = alpha;
  }
}

// Correlations that fall fast enough for a solution.
void durbin_prepare(const Counts& n, const Arrays& a) {
  double* r = a.doubles(0);
  for (Index k = 0; k < n[0]; ++k) r[k] *= 1 / static_cast<double>((k + 2) * (k + 2));
}

}  // namespace

std::vector<Kernel> solvers() {
  return {
      {"durbin",
       {{7}, {1}, {37}},
       {2000},
       durbin,
       durbin_loops,
       {{"parallel k",
         [](lt::Schedule& s) { s.parallel(s.loop("k")); },
         "L0207",
         {"alpha", "different iterations of 'k'"}},
        {"merge the copy",
         [](lt::Schedule& s) { s.merge(s.loop("i"), s.loop("copy")); },
         "L0207",
         {"y["}}},
       durbin_schedule,
       durbin_prepare,
       false,
       durbin_in_one_pass},
      {"trisolv",
       {{7}, {1}, {37}},
       {2000},
       trisolv,
       trisolv_loops,
       {{"parallel i",
         [](lt::Schedule& s) { s.parallel(s.loop("i")); },
         "L0207",
         {"reads x[j]", "writes x[i]", "different iterations of 'i'"}},
        {"vectorize j",
         [](lt::Schedule& s) { s.vectorize(s.loop("ji")); },
         "L0207",
         {"x"},
         [](lt::Schedule& s) {
           s.split<2>(s.loop("j"), {lt::infer, 8});
         }}},
       [](lt::Schedule& s) {
         for (const char* rows : {"first", "next", "last"}) s.unroll(s.loop(rows));
       },
       [](const Counts& n, const Arrays& a) { dominant(n[0], a.doubles(0)); },
       false,
       trisolv_in_parts},
  };
}

}  // namespace polybench

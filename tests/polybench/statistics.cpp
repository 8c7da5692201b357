// Statistics of columns: correlation, covariance.
#include <cmath>

#include "kernel.hpp"

namespace polybench {

namespace {

using Index = std::int64_t;
using Vector = lt::ScriptBuffer<double, 1>;

/// Block `name`: out[j] = sum over i of term(i, j), a column after the other.
void sum_columns(lt::Script& p, const std::string& name, const Vector& out, const Size& rows,
                 const auto& term) {
  p.for_("j", out.extent(0), [&](lt::Var j) {
    p.for_("i", rows, [&](lt::Var i) {
      p.block(name, {i, j},
              [&](lt::Var vi, lt::Var vj) { p.reduce(lt::Fold::sum, out(vj), term(vi, vj)); });
    });
  });
}

/// Block `name`: out[j] = value(j).
void each(lt::Script& p, const std::string& name, const Vector& out, const auto& value) {
  p.for_("j", out.extent(0),
         [&](lt::Var j) { p.block(name, {j}, [&](lt::Var vj) { p.store(out(vj), value(vj)); }); });
}

/// Blocks `sum` and `finish`, then `mirror`: out[i, j] = out[j, i] = value(sum over the rows k of
/// data[k, i] data[k, j]), for j from i + first on.
void products_of_columns(lt::Script& p, const Matrix& out, const Size& rows, const Matrix& data,
                         int first, const auto& value) {
  const Size m = out.extent(0);
  p.for_("i", m, [&](lt::Var i) {
    if (first > 0) p.block("one", {i}, [&](lt::Var vi) { p.store(out(vi, vi), 1.0); });
    p.for_("j", i + first, m, [&](lt::Var j) {
      p.for_("k", rows, [&](lt::Var k) {
        p.block("sum", {i, j, k}, [&](lt::Var vi, lt::Var vj, lt::Var vk) {
          p.reduce(lt::Fold::sum, out(vi, vj), data(vk, vi) * data(vk, vj));
        });
      });
    });
    p.for_("j2", i + first, m, [&](lt::Var j) {
      p.block("mirror", {i, j}, [&](lt::Var vi, lt::Var vj) {
        p.store(out(vi, vj), value(out(vi, vj)));
        p.store(out(vj, vi), out(vi, vj));
      });
    });
  });
}

void columns_in_lanes(lt::Schedule& s, const std::vector<const char*>& sums) {
  for (const char* name : sums) {
    auto [j, i] = s.loops<2>(name);
    auto [jo, ji] = s.split<2>(j, {lt::infer, 32});
    s.reorder({jo, i, ji});
    s.vectorize(ji);
    s.parallel(jo);
  }
  auto [i, j, k] = s.loops<3>("sum");
  auto [jo, ji] = s.split<2>(j, {lt::infer, 32});
  s.reorder({jo, k, ji});
  s.vectorize(ji);
}

lt::Program covariance(const Sizes& n) {
  return lt::script("covariance", [&](lt::Script& p) {
    auto count = p.input<double>("count", {});
    auto data = p.inout<double>("data", {n[0], n[1]});
    auto cov = p.output<double>("cov", {n[1], n[1]});
    auto mean = p.local<double>("mean", {n[1]});
    sum_columns(p, "total", mean, n[0], [&](auto i, auto j) { return data(i, j); });
    each(p, "mean", mean, [&](auto j) { return mean(j) / count(); });
    p.for_("i", n[0], [&](lt::Var i) {
      p.for_("j", n[1], [&](lt::Var j) {
        p.block("centre", {i, j},
                [&](lt::Var vi, lt::Var vj) { p.store(data(vi, vj), data(vi, vj) - mean(vj)); });
      });
    });
    products_of_columns(p, cov, n[0], data, 0, [&](auto sum) { return sum / (count() - 1.0); });
  });
}

void covariance_loops(const Counts& n, const Arrays& a) {
  const Index rows = n[0], m = n[1];
  const double count = a.scalar(0);
  double* __restrict data = a.doubles(1);
  double* __restrict cov = a.doubles(2);
  for (Index j = 0; j < m; ++j) {
    double mean = 0;
    for (Index i = 0; i < rows; ++i) mean += data[i * m + j];
    mean = mean / count;
    for (Index i = 0; i < rows; ++i) data[i * m + j] -= mean;
  }
  for (Index i = 0; i < m; ++i)
    for (Index j = i; j < m; ++j) {
      double sum = 0;
      for (Index k = 0; k < rows; ++k) sum += data[k * m + i] * data[k * m + j];
      cov[i * m + j] = cov[j * m + i] = sum / (count - 1);
    }
}

void covariance_schedule(lt::Schedule& s) {
  columns_in_lanes(s, {"total"});
  vectorize_by(s, s.loops("centre").back(), 32);
  s.parallel(s.loops("centre")[0]);
  s.parallel(s.loops("sum")[0]);
}

lt::Program correlation(const Sizes& n) {
  return lt::script("correlation", [&](lt::Script& p) {
    auto count = p.input<double>("count", {});
    auto data = p.inout<double>("data", {n[0], n[1]});
    auto corr = p.output<double>("corr", {n[1], n[1]});
    auto mean = p.local<double>("mean", {n[1]}), deviation = p.local<double>("deviation", {n[1]});
    sum_columns(p, "total", mean, n[0], [&](auto i, auto j) { return data(i, j); });
    each(p, "mean", mean, [&](auto j) { return mean(j) / count(); });
    sum_columns(p, "squares", deviation, n[0],
                [&](auto i, auto j) { return (data(i, j) - mean(j)) * (data(i, j) - mean(j)); });
    each(p, "deviation", deviation, [&](auto j) {
      auto root = lt::sqrt(deviation(j) / count());
      return lt::select(root <= 0.1, 1.0, root);  // hardly any deviation: no division by it
    });
    p.for_("i", n[0], [&](lt::Var i) {
      p.for_("j", n[1], [&](lt::Var j) {
        p.block("centre", {i, j}, [&](lt::Var vi, lt::Var vj) {
          p.store(data(vi, vj), (data(vi, vj) - mean(vj)) / (lt::sqrt(count()) * deviation(vj)));
        });
      });
    });
    products_of_columns(p, corr, n[0], data, 1, [](auto sum) { return sum + 0.0; });
  });
}

void correlation_loops(const Counts& n, const Arrays& a) {
  const Index rows = n[0], m = n[1];
  const double count = a.scalar(0);
  double* __restrict data = a.doubles(1);
  double* __restrict corr = a.doubles(2);
  for (Index j = 0; j < m; ++j) {
    double mean = 0, squares = 0;
    for (Index i = 0; i < rows; ++i) mean += data[i * m + j];
    mean = mean / count;
    for (Index i = 0; i < rows; ++i) squares += (data[i * m + j] - mean) * (data[i * m + j] - mean);
    const double root = std::sqrt(squares / count), deviation = root <= 0.1 ? 1.0 : root;
    for (Index i = 0; i < rows; ++i)
      data[i * m + j] = (data[i * m + j] - mean) / (std::sqrt(count) * deviation);
  }
  for (Index i = 0; i < m; ++i) {
    corr[i * m + i] = 1;
    for (Index j = i + 1; j < m; ++j) {
      double sum = 0;
      for (Index k = 0; k < rows; ++k) sum += data[k * m + i] * data[k * m + j];
      corr[i * m + j] = corr[j * m + i] = sum;
    }
  }
}

void count_rows(const Counts& n, const Arrays& a) { *a.doubles(0) = static_cast<double>(n[0]); }

void correlation_schedule(lt::Schedule& s) {
  columns_in_lanes(s, {"total", "squares"});
  vectorize_by(s, s.loops("centre").back(), 16);
  s.parallel(s.loops("centre")[0]);
  s.parallel(s.loops("sum")[0]);
}

}  // namespace

std::vector<Kernel> statistics() {
  return {
      {"correlation",
       {{7, 5}, {2, 1}, {19, 37}},
       {1400, 1200},
       correlation,
       correlation_loops,
       {{"parallel rows of the squares",
         [](lt::Schedule& s) { s.parallel(s.loops("squares")[1]); },
         "L0208",
         {"loop 'i'", "feeds the reduction of block 'squares'"}}},
       correlation_schedule,
       count_rows},
      {"covariance",
       {{7, 5}, {2, 1}, {19, 37}},
       {1400, 1200},
       covariance,
       covariance_loops,
       {{"parallel rows of the mean",
         [](lt::Schedule& s) { s.parallel(s.loops("total")[1]); },
         "L0208",
         {"loop 'i'", "feeds the reduction of block 'total'"}}},
       covariance_schedule,
       count_rows},
  };
}

}  // namespace polybench

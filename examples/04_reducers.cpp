// A reducer of one's own: softmax's maximum and sum in one pass over each row, kept as a pair.
#include <lathe/lathe.hpp>
#include <limits>
#include <tuple>

#include "common/check.hpp"

namespace lt = lathe;

static std::vector<float> plain_softmax(const std::vector<float>& x, int m, int n) {
  std::vector<float> p(x.size());
  for (int i = 0; i < m; ++i) {
    const float* row = x.data() + i * n;
    float top = row[0];
    for (int j = 1; j < n; ++j) top = std::max(top, row[j]);
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += std::exp(static_cast<double>(row[j] - top));
    for (int j = 0; j < n; ++j)
      p[i * n + j] = static_cast<float>(std::exp(static_cast<double>(row[j] - top)) / sum);
  }
  return p;
}

int main() {
  const int m = 64, n = 1000;
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);

  // [reducer]
  // (top, sum) stands for sum * exp(top): two of them join without a second pass over the row, in
  // any order. That is said, as the order of a fold is kept else, and tried on numbers.
  using Pair = std::tuple<lt::Expr<float>, lt::Expr<float>>;
  auto online =
      lt::reducer("online", Pair{std::numeric_limits<float>::lowest(), 0.0f},
                  [](Pair a, Pair b) {
                    auto [top_a, sum_a] = a;
                    auto [top_b, sum_b] = b;
                    auto top = lt::max(top_a, top_b);
                    return Pair{top, sum_a * lt::exp(top_a - top) + sum_b * lt::exp(top_b - top)};
                  },
                  {.associative = true, .commutative = true});
  auto row = lt::compute("row", {m}, [&](lt::Var i) { return online(Pair{X(i, r), 1.0f}, r); });
  auto P = lt::compute("P", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::exp(X(i, j) - row.get<0>()(i)) / row.get<1>()(i);
  });
  // [reducer]
  auto best = lt::compute("best", {m}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  auto softmax = lt::jit(lt::outputs(P, best.get<1>()), X, P, best.get<1>());

  std::vector<float> x = example::random_values(m * n), p(m * n);
  for (float& v : x) v *= 20;
  std::vector<std::int64_t> where(m);
  softmax(lt::view(x, {m, n}), lt::view(p, {m, n}), where);
  example::expect_close("softmax", p, plain_softmax(x, m, n), 1e-6);

  std::vector<std::int64_t> wanted(m);
  for (int i = 0; i < m; ++i)
    for (int j = 1; j < n; ++j)
      if (x[i * n + j] > x[i * n + wanted[i]]) wanted[i] = j;
  example::expect_close("argmax", where, wanted, 0);
}

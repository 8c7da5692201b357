// Folds over tuples, as written, split by rfactor, and with their parts in parallel: all give what
// plain loops give; integers and positions exactly, floats within a stated bound.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <lathe/lathe.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <support/errors.hpp>

namespace lt = lathe;

namespace {

constexpr std::int64_t kRows = 5;
const std::vector<std::int64_t> kLengths = {0, 1, 2, 7, 64, 193};
const float kInf = std::numeric_limits<float>::infinity();

std::vector<float> values(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> some(-3, 5);
  std::vector<float> out(static_cast<std::size_t>(kRows * n));
  for (float& x : out) x = std::round(some(random) * 4) / 4;  // with ties
  return out;
}

struct Ways {
  std::vector<lt::Schedule> all;

  // As it is; with eight partial results, each a thread's; with lanes of their own.
  explicit Ways(const lt::OutputList& outputs, const char* block) {
    all.emplace_back(outputs);
    for (bool outer : {true, false}) {
      lt::Schedule s(outputs);
      auto [ro, ri] = s.split<2>(s.loops(block).back(), {lt::infer, 8});
      lt::BlockRef part = s.rfactor(outer ? ro : ri);
      const auto loops = s.loops(part);
      if (outer) s.parallel(loops[0]);
      all.push_back(s);
    }
  }
};

}  // namespace

TEST_CASE("welford: count, mean and variance in one pass, however it is split") {
  for (std::int64_t n : kLengths) {
    lt::Input<float, 2> X("X", {kRows, n});
    lt::Reduce r("r", n);
    auto w = lt::compute("w", {kRows}, [&](lt::Var i) { return lt::welford(X(i, r), r); });
    const std::vector<float> x = values(n, 1);
    for (const lt::Schedule& s : Ways(w, "w").all) {
      INFO(s.str());
      std::vector<float> count(kRows), mean(kRows), m2(kRows);
      lt::jit(s, X, w.get<0>(), w.get<1>(), w.get<2>())(lt::view(x, {kRows, n}), count, mean, m2);
      for (std::size_t i = 0; i < kRows; ++i) {
        const float* row = x.data() + static_cast<std::int64_t>(i) * n;
        double sum = std::accumulate(row, row + n, 0.0), squares = 0;
        const double average = n > 0 ? sum / static_cast<double>(n) : 0;
        for (std::int64_t k = 0; k < n; ++k) squares += (row[k] - average) * (row[k] - average);
        CHECK(count[i] == static_cast<float>(n));
        CHECK(std::fabs(mean[i] - average) <= 1e-6 * 5);
        CHECK(std::fabs(m2[i] - squares) <= 1e-5 * (1 + squares));
      }
    }
  }
}

TEST_CASE("welford: a mean far from zero does not eat the variance") {
  const std::int64_t n = 4096;
  lt::Input<float, 1> X("X", {n});
  lt::Reduce r("r", n);
  auto w = lt::compute("w", {}, [&] { return lt::welford(X(r), r); });
  std::vector<float> x(n);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 4096.0f + static_cast<float>(k % 2);
  float count = 0, mean = 0, m2 = 0;
  lt::jit(w, X, w.get<0>(), w.get<1>(), w.get<2>())(x, count, mean, m2);
  CHECK(mean == doctest::Approx(4096.5));
  CHECK(m2 / count == doctest::Approx(0.25).epsilon(0.01));
}

TEST_CASE("log_sum_exp: one pass, no overflow, infinities as such") {
  for (std::int64_t n : kLengths) {
    lt::Input<float, 2> X("X", {kRows, n});
    lt::Reduce r("r", n);
    auto e = lt::compute("e", {kRows}, [&](lt::Var i) { return lt::log_sum_exp(X(i, r), r); });
    std::vector<float> x = values(n, 2);
    if (n > 2) {
      x[0] = 300, x[1] = -300;                                 // row 0
      x[static_cast<std::size_t>(n)] = kInf;                   // row 1
      x[static_cast<std::size_t>(2 * n + 1)] = -kInf;          // row 2
      std::fill_n(x.begin() + 3 * n, n, -kInf);                // row 3
      x[static_cast<std::size_t>(4 * n + 1)] = std::nanf("");  // row 4
    }
    for (const lt::Schedule& s : Ways(e, "e").all) {
      INFO(s.str());
      std::vector<float> top(kRows), sum(kRows);
      lt::jit(s, X, e.get<0>(), e.get<1>())(lt::view(x, {kRows, n}), top, sum);
      for (std::size_t i = 0; i < kRows; ++i) {
        const float* row = x.data() + static_cast<std::int64_t>(i) * n;
        const double largest = n > 0 ? *std::max_element(row, row + n) : -kInf;
        double exact = 0;
        for (std::int64_t k = 0; k < n; ++k)
          exact += row[k] == largest ? 1 : std::exp(row[k] - largest);
        const double got = top[i] + std::log(static_cast<double>(sum[i]));
        if (n > 2 && i == 4)
          CHECK(std::isnan(got));
        else if (n == 0)
          CHECK((top[i] == -kInf && sum[i] == 0));
        else if (std::isinf(largest))
          CHECK(got == largest);
        else
          CHECK(got == doctest::Approx(largest + std::log(exact)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("argmin and argmax: the first of equal values, however the fold is split") {
  for (std::int64_t n : kLengths) {
    if (n == 0) continue;
    lt::Input<float, 2> X("X", {kRows, n});
    lt::Reduce r("r", n), q("q", n);
    auto least = lt::compute("least", {kRows}, [&](lt::Var i) { return lt::argmin(X(i, r), r); });
    auto most = lt::compute("most", {kRows}, [&](lt::Var i) { return lt::argmax(X(i, q), q); });
    const std::vector<float> x = values(n, 3);
    Ways lows(least, "least"), highs(most, "most");
    for (std::size_t way = 0; way < lows.all.size(); ++way) {
      std::vector<float> low(kRows), high(kRows);
      std::vector<std::int64_t> low_at(kRows), high_at(kRows);
      lt::jit(lows.all[way], X, least.get<0>(), least.get<1>())(lt::view(x, {kRows, n}), low,
                                                                low_at);
      lt::jit(highs.all[way], X, most.get<0>(), most.get<1>())(lt::view(x, {kRows, n}), high,
                                                               high_at);
      for (std::size_t i = 0; i < kRows; ++i) {
        const float* row = x.data() + static_cast<std::int64_t>(i) * n;
        CHECK(low_at[i] == std::min_element(row, row + n) - row);
        CHECK(high_at[i] == std::max_element(row, row + n) - row);
        CHECK(low[i] == row[low_at[i]]);
        CHECK(high[i] == row[high_at[i]]);
      }
    }
  }
}

TEST_CASE("top 3 by a reducer of one's own") {
  using Value = lt::Expr<float>;
  using Three = std::tuple<Value, Value, Value>;
  // Both sides are in descending order.
  auto top3 = lt::reducer(
      "top3", Three{-kInf, -kInf, -kInf},
      [](Three a, Three b) {
        auto [a1, a2, a3] = a;
        auto [b1, b2, b3] = b;
        return Three{lt::max(a1, b1), lt::max(lt::min(a1, b1), lt::max(a2, b2)),
                     lt::max(lt::max(a3, b3), lt::max(lt::min(a1, b2), lt::min(a2, b1)))};
      },
      {.associative = true, .commutative = true});
  for (std::int64_t n : kLengths) {
    lt::Input<float, 2> X("X", {kRows, n});
    lt::Reduce r("r", n);
    auto t = lt::compute("t", {kRows}, [&](lt::Var i) {
      return top3(Three{X(i, r), -kInf, -kInf}, r);
    });
    const std::vector<float> x = values(n, 4);
    for (const lt::Schedule& s : Ways(t, "t").all) {
      std::vector<float> got[3];
      for (auto& g : got) g.resize(kRows);
      lt::jit(s, X, t.get<0>(), t.get<1>(), t.get<2>())(lt::view(x, {kRows, n}), got[0], got[1],
                                                        got[2]);
      for (std::size_t i = 0; i < kRows; ++i) {
        std::vector<float> row(x.begin() + static_cast<std::int64_t>(i) * n,
                               x.begin() + static_cast<std::int64_t>(i + 1) * n);
        row.resize(row.size() + 3, -kInf);
        std::sort(row.rbegin(), row.rend());
        for (std::size_t k = 0; k < 3; ++k) CHECK(got[k][i] == row[k]);
      }
    }
  }
}

TEST_CASE("strict schedules keep the order of floating-point folds, not that of positions") {
  lt::Input<float, 1> X("X", {64});
  lt::Reduce r("r", 64);
  auto factored = [](const lt::OutputList& outputs, const char* block) {
    return test::error_of([&] {
             lt::Schedule s(outputs, {.strict = true});
             s.rfactor(s.split<2>(s.loops(block)[0], {lt::infer, 8})[0]);
           })
        .substr(0, 5);
  };
  auto w = lt::compute("w", {}, [&] { return lt::welford(X(r), r); });
  auto e = lt::compute("e", {}, [&] { return lt::log_sum_exp(X(r), r); });
  auto most = lt::compute("most", {}, [&] { return lt::argmax(X(r), r); });
  CHECK(factored(w, "w") == "L0226");
  CHECK(factored(e, "e") == "L0226");
  CHECK(factored(most, "most") == "none");
}

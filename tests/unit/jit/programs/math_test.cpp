// JitOptions::math: what each level changes, what is listed, and what is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <lathe/jit/code_cache.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <random>
#include <support/errors.hpp>
#include <support/skip.hpp>

namespace lt = lathe;
using test::error_of;

namespace {

constexpr lt::Math kLevels[] = {lt::Math::accurate, lt::Math::normal, lt::Math::fast};

struct Shares {
  lt::Dim m{"m"}, n{"n"};
  lt::Input<float, 2> E{"E", {m, n}};
  lt::Reduce r{"r", n};
  lt::Tensor<float, 1> S = lt::compute("S", {m}, [this](lt::Var i) { return lt::sum(E(i, r), r); });
  lt::Tensor<float, 2> Y =
      lt::compute("Y", {m, n}, [this](lt::Var i, lt::Var j) { return E(i, j) / S(i); });
};

struct Unary {
  lt::Dim n{"n"};
  lt::Input<float, 1> X{"X", {n}};
  lt::Tensor<float, 1> of(const std::function<lt::Expr<float>(const lt::Expr<float>&)>& f) {
    return lt::compute("Y", {n}, [&](lt::Var i) { return f(X(i)); });
  }
};

}  // namespace

TEST_CASE("fast divides by a sum of a row once, and says so") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Shares p;
  auto exact = lt::jit(p.Y, p.E, p.Y), fast = lt::jit({p.Y, {.math = lt::Math::fast}}, p.E, p.Y);
  CHECK(exact.numerics().empty());
  REQUIRE(fast.numerics().size() == 1);
  CHECK(fast.numerics()[0].find("fast: x / s is x * (1 / s)") == 0);
  std::vector<float> e(3 * 50), x(e.size()), y(e.size());
  for (std::size_t k = 0; k < e.size(); ++k) e[k] = 1 + static_cast<float>(k % 7);
  exact(lt::view(e, {3, 50}), lt::view(x, {3, 50}));
  fast(lt::view(e, {3, 50}), lt::view(y, {3, 50}));
  for (std::size_t k = 0; k < e.size(); ++k) CHECK(std::fabs(x[k] - y[k]) <= 0x1p-23f * x[k]);
}

TEST_CASE("levels are kernels of their own in the cache of code") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Unary p;
  auto Y = p.of([](auto x) { return lt::tanh(x); });
  lt::Context context{lt::ContextOptions{}};
  std::vector<lt::Program> lowered;
  for (lt::Math math : kLevels)
    lowered.push_back(lt::jit({Y, {.context = &context, .math = math}}, p.X, Y).lowered());
  CHECK(lt::CodeCache::of(context).size() == 3);
  CHECK(lowered[0].str() != lowered[1].str());
  CHECK(lowered[1].str() != lowered[2].str());
  lt::jit({Y, {.context = &context, .math = lt::Math::fast}}, p.X, Y);
  CHECK(lt::CodeCache::of(context).size() == 3);
}

TEST_CASE("fast lists the functions that it has less exact") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Unary p;
  auto Y = p.of([](auto x) { return lt::tanh(x) + lt::gelu(x) + lt::exp(x); });
  auto f = lt::jit({Y, {.math = lt::Math::fast}}, p.X, Y);
  CHECK(f.numerics() == std::vector<std::string>{"fast: tanh of f32 to 12 units in the last place",
                                                 "fast: erf of f32 to 12 units in the last place"});
}

namespace {

/// x / y, sqrt(x), x / sqrt(y) and sqrt(x * x) for each x and y, by fast.
struct Divided {
  std::vector<float> quotient, root, by_root, size;
};
Divided divided_fast(const std::vector<float>& x, const std::vector<float>& y) {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n}), Y("Y", {n});
  const auto make = [&](const std::function<lt::Expr<float>(lt::Var)>& f) {
    auto Z = lt::compute("Z", {n}, f);
    auto kernel = lt::jit({Z,
                           {.math = lt::Math::fast,
                            .require_compiled = true,
                            .unread_inputs = lt::UnreadInputs::allow}},
                          X, Y, Z);
    std::vector<float> z(x.size());
    kernel(x, y, z);
    return z;
  };
  return {make([&](lt::Var i) { return X(i) / Y(i); }),
          make([&](lt::Var i) { return lt::sqrt(X(i)); }),
          make([&](lt::Var i) { return X(i) / lt::sqrt(Y(i)); }),
          make([&](lt::Var i) { return lt::sqrt(X(i) * X(i)); })};
}

}  // namespace

TEST_CASE("quotients and roots of fast are right to 2 units in the last place") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  std::vector<float> x, y;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> exponents(-60, 60);
  for (int k = 0; k < 1 << 16; ++k)
    x.push_back(std::exp2(exponents(random))), y.push_back(std::exp2(exponents(random)));
  const Divided got = divided_fast(x, y);
  const auto units = [](float value, double wanted) {
    int exponent = 0;
    std::frexp(wanted, &exponent);
    return std::fabs(value - wanted) / std::ldexp(1.0, exponent - 24);
  };
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double a = x[k], b = y[k];
    most = std::max({most, units(got.quotient[k], a / b), units(got.root[k], std::sqrt(a)),
                     units(got.by_root[k], a / std::sqrt(b)), units(got.size[k], a)});
  }
  CHECK(most <= 2);
}

TEST_CASE("quotients and roots of fast have the signs, zeros and infinities of exact ones") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const float inf = HUGE_VALF;
  const float some[] = {0.f, -0.f, 1.f, -1.f, inf, -inf, NAN, 1e30f, -1e30f, 1e-30f, 1e-37f, 2.5f};
  std::vector<float> x, y;
  for (const float a : some)
    for (const float b : some) x.push_back(a), y.push_back(b);
  const Divided got = divided_fast(x, y);
  const auto same = [](float a, float b) {
    return std::isnan(b)             ? std::isnan(a)
           : b == 0 || std::isinf(b) ? a == b && std::signbit(a) == std::signbit(b)
                                     : std::fabs(a - b) <= 0x1p-22f * std::fabs(b);
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    CAPTURE(x[k]);
    CAPTURE(y[k]);
    CHECK(same(got.quotient[k], x[k] / y[k]));
    CHECK(same(got.root[k], std::sqrt(x[k])));
    CHECK(same(got.by_root[k], x[k] / std::sqrt(y[k])));
    CHECK(same(got.size[k], std::sqrt(x[k] * x[k])));
  }
}

TEST_CASE("fast and strict exclude each other") {
  Unary p;
  auto Y = p.of([](auto x) { return lt::tanh(x); });
  const std::string text = error_of([&] {
    lt::jit({Y, {.strict = true, .math = lt::Math::fast}}, p.X, Y);
  });
  CHECK(text.find("L0604 math = fast changes the rounding of functions and divisions") == 0);
  CHECK(error_of([&] {
          lt::to_c({Y, {.strict = true, .math = lt::Math::fast}});
        }).find("L0604") == 0);
  CHECK(error_of([&] {
          lt::jit({Y, {.strict = true, .math = lt::Math::accurate}}, p.X, Y);
        }) == "none");
}

TEST_CASE("accurate refuses functions that have no such version") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Dim n("n");
  lt::Input<double, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return lt::sin(X(i)); });
  const std::string text = error_of([&] { lt::jit({Y, {.math = lt::Math::accurate}}, X, Y); });
  CHECK(text.find("L0605 math = accurate: there is no sin of f64 to 1 unit in the last place") ==
        0);
}

TEST_CASE("machine code and evaluator agree bit for bit at each level") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Unary p;
  auto Y =
      p.of([](auto x) { return lt::tanh(x) + lt::erf(x) / 3 + lt::log(lt::abs(x)) * lt::atan(x); });
  std::vector<float> x(333), y(x.size()), z(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k) * 0.037f - 6;
  for (lt::Math math : kLevels) {
    CAPTURE(static_cast<int>(math));
    auto f = lt::jit({Y, {.math = math}}, p.X, Y);
    f(x, y);
    const std::uint64_t slots[] = {lt::to_slot(x.data()), lt::to_slot(z.data()),
                                   lt::to_slot(std::int64_t{333})};
    lt::Evaluator(f.lowered()).run(slots);
    CHECK(y == z);
  }
}

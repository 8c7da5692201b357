// Math functions over 4096 numbers in the first cache beside SLEEF's and Eigen's: the table of
// docs/math.md. Medians of turns in one process, on one thread.
//     lathe_math [names…]
#include <immintrin.h>
#include <sleef.h>

#include <Eigen/Core>
#include <cstdio>
#include <lathe/lathe.hpp>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <unsupported/Eigen/SpecialFunctions>

#include "core/measure.hpp"

namespace {

namespace lt = lathe;

constexpr std::int64_t kCount = 4096;

using Body = lt::Expr<float> (*)(const lt::Expr<float>& x, const lt::Expr<float>& y);
using Loop = void (*)(const float* x, const float* y, float* z);

struct Contest {
  const char* name;
  float low, high;  ///< of the arguments
  Body body;
  Loop accurate, normal;  ///< SLEEF's to 1.0 and to 3.5 units in the last place; null: none
  Loop eigen;
};

// Vectors of the machine that compiles it.
#ifdef __AVX512F__
constexpr std::int64_t kLanes = 16;
__m512 load(const float* x) { return _mm512_loadu_ps(x); }
void store(float* z, __m512 v) { _mm512_storeu_ps(z, v); }
#define SLEEF_NAME(NAME, UNITS) Sleef_##NAME##f16_##UNITS##avx512f
#else
constexpr std::int64_t kLanes = 8;
__m256 load(const float* x) { return _mm256_loadu_ps(x); }
void store(float* z, __m256 v) { _mm256_storeu_ps(z, v); }
#define SLEEF_NAME(NAME, UNITS) Sleef_##NAME##f8_##UNITS##avx2
#endif

template <auto F>
void sleef(const float* x, const float*, float* z) {
  for (std::int64_t j = 0; j < kCount; j += kLanes) store(z + j, F(load(x + j)));
}
template <auto F>
void sleef2(const float* x, const float* y, float* z) {
  for (std::int64_t j = 0; j < kCount; j += kLanes) store(z + j, F(load(x + j), load(y + j)));
}
template <class F>
void eigen(const float* x, float* z, F f) {
  Eigen::Map<Eigen::ArrayXf>(z, kCount) = f(Eigen::Map<const Eigen::ArrayXf>(x, kCount));
}

#define SLEEF(NAME, UNITS) sleef<SLEEF_NAME(NAME, UNITS)>
#define SLEEF2(NAME, UNITS) sleef2<SLEEF_NAME(NAME, UNITS)>
#define BODY(NAME) \
  [](const lt::Expr<float>& x, const lt::Expr<float>&) { return lt::Expr<float>(lt::NAME(x)); }
#define BODY2(NAME) \
  [](const lt::Expr<float>& x, const lt::Expr<float>& y) { return lt::Expr<float>(lt::NAME(x, y)); }
#define EIGEN(EXPRESSION)                                   \
  [](const float* in, const float*, float* z) {             \
    eigen(in, z, [](const auto& x) { return EXPRESSION; }); \
  }

const Contest kContests[] = {
    {"exp", -20, 20, BODY(exp), SLEEF(exp, u10), nullptr, EIGEN(x.exp())},
    {"exp2", -20, 20, BODY(exp2), SLEEF(exp2, u10), SLEEF(exp2, u35), nullptr},
    {"expm1", -5, 5, BODY(expm1), SLEEF(expm1, u10), nullptr, EIGEN(x.expm1())},
    {"log", 0.01f, 100, BODY(log), SLEEF(log, u10), SLEEF(log, u35), EIGEN(x.log())},
    {"log2", 0.01f, 100, BODY(log2), SLEEF(log2, u10), SLEEF(log2, u35), nullptr},
    {"log1p", -0.5f, 10, BODY(log1p), SLEEF(log1p, u10), nullptr, EIGEN(x.log1p())},
    {"sin", -30, 30, BODY(sin), SLEEF(sin, u10), SLEEF(sin, u35), EIGEN(x.sin())},
    {"cos", -30, 30, BODY(cos), SLEEF(cos, u10), SLEEF(cos, u35), EIGEN(x.cos())},
    {"tan", -30, 30, BODY(tan), SLEEF(tan, u10), SLEEF(tan, u35), nullptr},
    {"atan", -5, 5, BODY(atan), SLEEF(atan, u10), SLEEF(atan, u35), nullptr},
    {"tanh", -5, 5, BODY(tanh), SLEEF(tanh, u10), SLEEF(tanh, u35), EIGEN(x.tanh())},
    {"erf", -4, 4, BODY(erf), SLEEF(erf, u10), nullptr, EIGEN(x.erf())},
    {"cbrt", -100, 100, BODY(cbrt), SLEEF(cbrt, u10), SLEEF(cbrt, u35), nullptr},
    {"pow", 0.1f, 4, BODY2(pow), SLEEF2(pow, u10), nullptr, nullptr},
    {"atan2", -4, 4, BODY2(atan2), SLEEF2(atan2, u10), SLEEF2(atan2, u35), nullptr},
    {"rsqrt", 0.1f, 4, BODY(rsqrt), nullptr, nullptr, EIGEN(x.rsqrt())},
    {"sigmoid", -5, 5, BODY(sigmoid), nullptr, nullptr, EIGEN(x.logistic())},
    {"gelu", -4, 4, BODY(gelu), nullptr, nullptr, EIGEN(0.5f * x * (1 + (x * 0.70710678f).erf()))},
    {"gelu_tanh", -4, 4, BODY(gelu_tanh), nullptr, nullptr,
     EIGEN(0.5f * x * (1 + (0.797884561f * (x + 0.044715f * x * x * x)).tanh()))},
};

struct Operands {
  Eigen::ArrayXf x{kCount}, y{kCount}, z{kCount};
  explicit Operands(const Contest& c) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(c.low, c.high);
    for (auto* list : {&x, &y})
      for (float& v : *list) v = uniform(random);
  }
};

bench::Competitor lathe_side(const Contest& c, lt::Math math, Operands& o) {
  static lt::Context one_thread({.threads = 1});
  lt::Input<float, 1> X("X", {kCount}), Y("Y", {kCount});
  auto Z = lt::compute("Z", {kCount}, [&](lt::Var i) { return c.body(X(i), Y(i)); });
  const lt::JitOptions options{.context = &one_thread,
                               .math = math,
                               .require_compiled = true,
                               .unread_inputs = lt::UnreadInputs::allow};
  auto f = lt::jit({Z, options}, X, Y, Z);
  constexpr auto count = static_cast<std::size_t>(kCount);
  const auto in = [](const Eigen::ArrayXf& list) {
    return lt::view(std::span<const float>(list.data(), count), {kCount});
  };
  const auto z = lt::view(std::span<float>(o.z.data(), count), {kCount});
  return {"lathe", [f, z, x = in(o.x), y = in(o.y)] { f(x, y, z); }};
}

void print_row(const Contest& c) {
  Operands o(c);
  std::vector<bench::Competitor> all;
  for (lt::Math math : {lt::Math::accurate, lt::Math::normal, lt::Math::fast})
    all.push_back(lathe_side(c, math, o));
  const Loop loops[] = {c.accurate, c.normal, c.eigen};
  for (Loop loop : loops)
    if (loop) all.push_back({"peer", [&o, loop] { loop(o.x.data(), o.y.data(), o.z.data()); }});
  const std::vector<bench::Timing> times = bench::measure(all, {.seconds = 1});
  const auto ns = [](const bench::Timing& t) { return t.median / kCount * 1e9; };
  std::printf("| %s | %.3f | %.3f | %.3f |", c.name, ns(times[0]), ns(times[1]), ns(times[2]));
  std::size_t next = 3;
  for (std::size_t level = 0; level < 3; ++level)
    if (loops[level])
      std::printf(" %.3f |", ns(times[next++]));
    else
      std::printf(" |");
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  std::printf(
      "| ns | accurate | normal | fast | SLEEF 1.0 | SLEEF 3.5 | Eigen "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const Contest& c : kContests) {
    bool wanted = count == 1;
    for (int k = 1; k < count; ++k) wanted |= std::string_view(words[k]) == c.name;
    if (wanted) print_row(c);
  }
}

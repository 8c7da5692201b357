// Accuracy of the expanded functions on this machine, special values, and that each lane is on its
// own.
#include <lathe/support/text.hpp>

#include "math_check.hpp"
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/jit/impl/layer.ipp>
#endif
#include <random>

using namespace lathe;
using namespace test;

namespace {

struct Bound {
  CallOp op;
  double f32, f64;
};
// The same numbers as in tests/math/functions.cpp.
constexpr Bound kBounds[] = {
    {CallOp::exp, 1.0, 1.0},  {CallOp::exp2, 1.0, 1.0},  {CallOp::log, 1.9, 1.0},
    {CallOp::log2, 2.0, 1.0}, {CallOp::sin, 2.2, 1.8},   {CallOp::cos, 2.2, 1.8},
    {CallOp::tan, 4.0, 4.0},  {CallOp::tanh, 2.7, 2.7},  {CallOp::erf, 1.7, 1.5},
    {CallOp::pow, 0.6, 1.4},  {CallOp::expm1, 2, 2},     {CallOp::log1p, 2, 2},
    {CallOp::atan, 1.6, 2.2}, {CallOp::atan2, 2.2, 2.2}, {CallOp::cbrt, 1, 1}};

/// Every `step`-th f32, and around each power of two.
std::vector<float> patterns(std::uint64_t step) {
  std::vector<float> x;
  for (std::uint64_t b = 0; b < (std::uint64_t{1} << 32); b += step)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(b)));
  for (std::uint32_t e = 0; e < 512; ++e)
    for (std::uint32_t d = 0; d < 4; ++d) x.push_back(std::bit_cast<float>((e << 23) + d - 2));
  return x;
}

/// Neighbours of the multiples of pi / 2, and angles too large for the short reduction.
void add_angles(std::vector<float>& x) {
  for (int k = 1; k < 4000; ++k) {
    float at = static_cast<float>(k * 1.5707963267948966);
    for (int d = -2; d <= 2; ++d)
      x.push_back(std::bit_cast<float>(std::bit_cast<std::int32_t>(at) + d));
  }
  for (float large : {59999.f, 60000.f, 60001.f, 1e6f, 16367173.f, 1e10f, 1.7e19f, 3e38f, 6.0e37f})
    x.push_back(large), x.push_back(-large);
}

std::vector<double> doubles(std::size_t n) {
  std::mt19937_64 random(7);
  auto unit = [&] { return static_cast<double>(random() >> 11) / 9007199254740992.0 - 0.5; };
  std::vector<double> x;
  for (std::size_t j = 0; j < n; ++j) {
    double scale = j % 5 == 0 ? 1500 : j % 5 == 1 ? 20 : j % 5 == 2 ? 2 : 2e9;
    x.push_back(j % 5 == 4 ? std::bit_cast<double>(random()) : unit() * scale);
    if (std::isnan(x.back())) x.back() = 1 + unit() / 64;
  }
  return x;
}

/// Exponents that make x^z neither overflow nor vanish, and whole and half ones.
template <class T>
std::vector<T> exponents(const std::vector<T>& x) {
  std::mt19937_64 random(11);
  std::vector<T> z;
  for (std::size_t j = 0; j < x.size(); ++j) {
    double u = static_cast<double>(random() >> 11) / 9007199254740992.0 * 2 - 1;
    double reach = (sizeof(T) == 8 ? 709 : 87) / std::log(std::fabs(static_cast<double>(x[j])));
    z.push_back(j % 3 == 0 ? T(static_cast<int>(random() % 40) - 20) / 2
                           : static_cast<T>(u * (j % 3 == 1 ? 100 : reach)));
  }
  return z;
}

const Llvm& newest() { return Llvm::get(); }

}  // namespace

TEST_CASE("f32 functions keep their bounds") {
  std::vector<float> x = patterns(65521);
  add_angles(x);
  for (const auto& bound : kBounds) {
    CAPTURE(op_text(bound.op));
    MathKernel<float> k(bound.op, 16, newest());
    WorstCase<float> worst;
    k.measure(x, op_arity(bound.op) == 2 ? exponents(x) : std::vector<float>(), worst);
    CAPTURE(worst.x);
    CAPTURE(worst.z);
    CAPTURE(worst.got);
    CHECK(worst.ulp <= bound.f32);
  }
}

TEST_CASE("f64 functions keep their bounds") {
  std::vector<double> x = doubles(60000);
  for (int k = 1; k < 2000; ++k) x.push_back(k * 1.5707963267948966);
  for (double large : {1e9, 1.000001e9, 1e15, 6381956970095103.0 * 0x1p797, 1e22, 1e300})
    x.push_back(large);
  for (const auto& bound : kBounds) {
    CAPTURE(op_text(bound.op));
    MathKernel<double> k(bound.op, 8, newest());
    WorstCase<double> worst;
    k.measure(x, op_arity(bound.op) == 2 ? exponents(x) : std::vector<double>(), worst);
    CAPTURE(worst.x);
    CAPTURE(worst.z);
    CAPTURE(worst.got);
    CHECK(worst.ulp <= bound.f64);
  }
}

TEST_CASE("targets without fma or AVX-512 keep wider bounds") {
  std::vector<float> x = patterns(1000003);
  add_angles(x);
  std::vector<double> wide = doubles(6000);
  for (const char* name : {"x86-64", "x86-64-v2", "x86-64-v3"}) {
    Target target(name);
    if (!target.runs_on(host())) continue;
    for (const auto& bound : kBounds) {
      CAPTURE(std::string(name));
      CAPTURE(op_text(bound.op));
      MathKernel<float> k(bound.op, 8, newest(), target);
      WorstCase<float> worst;
      k.measure(x, op_arity(bound.op) == 2 ? exponents(x) : std::vector<float>(), worst);
      CAPTURE(worst.x);
      CAPTURE(worst.z);
      CAPTURE(worst.got);
      CHECK(worst.ulp <= bound.f32 + 1);
      MathKernel<double> k64(bound.op, 4, newest(), target);
      WorstCase<double> worst64;
      k64.measure(wide, op_arity(bound.op) == 2 ? exponents(wide) : std::vector<double>(), worst64);
      CAPTURE(worst64.x);
      CAPTURE(worst64.z);
      CAPTURE(worst64.got);
      CHECK(worst64.ulp <= bound.f64 + 1.5);
    }
  }
}

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

// Results that differ from the expected ones, as "op(x) = got".
template <class T>
std::string wrong_values(CallOp op, std::initializer_list<std::pair<double, double>> rows) {
  MathKernel<T> k(op, 1, newest());
  std::string wrong;
  for (auto [x, expected] : rows)
    if (const T got = k({static_cast<T>(x)})[0]; !same(got, static_cast<T>(expected)))
      wrong += lathe::cat(op_text(op), "(", x, ") = ", static_cast<double>(got), "; ");
  return wrong;
}

template <class T>
std::string wrong_special_values() {
  std::string wrong = wrong_values<T>(
      CallOp::exp, {{0, 1}, {-0.0, 1}, {inf, inf}, {-inf, 0}, {nan, nan}, {1e4, inf}, {-1e4, 0}});
  wrong += wrong_values<T>(
      CallOp::exp2,
      {{0, 1}, {10, 1024}, {-3, 0.125}, {inf, inf}, {-inf, 0}, {nan, nan}, {2000, inf}});
  wrong += wrong_values<T>(
      CallOp::log,
      {{1, 0}, {0, -inf}, {-0.0, -inf}, {inf, inf}, {-1, nan}, {-inf, nan}, {nan, nan}});
  wrong += wrong_values<T>(
      CallOp::log2, {{1, 0}, {8, 3}, {0.5, -1}, {0, -inf}, {inf, inf}, {-1, nan}, {nan, nan}});
  for (CallOp odd : {CallOp::sin, CallOp::tan, CallOp::tanh, CallOp::erf, CallOp::expm1,
                     CallOp::log1p, CallOp::atan, CallOp::cbrt})
    wrong += wrong_values<T>(odd, {{0, 0}, {-0.0, -0.0}, {nan, nan}});
  for (CallOp angle : {CallOp::sin, CallOp::cos, CallOp::tan})
    wrong += wrong_values<T>(angle, {{inf, nan}, {-inf, nan}});
  wrong += wrong_values<T>(CallOp::cos, {{0, 1}, {-0.0, 1}});
  for (CallOp limited : {CallOp::tanh, CallOp::erf})
    wrong += wrong_values<T>(limited, {{inf, 1}, {-inf, -1}, {1e6, 1}});
  wrong += wrong_values<T>(CallOp::expm1, {{inf, inf}, {-inf, -1}, {1e4, inf}, {-1e4, -1}});
  wrong += wrong_values<T>(CallOp::log1p, {{-1, -inf}, {-2, nan}, {-inf, nan}, {inf, inf}});
  wrong += wrong_values<T>(CallOp::cbrt, {{inf, inf}, {-inf, -inf}, {8, 2}, {-27, -3}});
  const double right = 1.57079632679489661923;
  wrong += wrong_values<T>(CallOp::atan, {{inf, right}, {-inf, -right}, {1e30, right}});
  const double least = std::numeric_limits<T>::denorm_min();
  for (CallOp same : {CallOp::expm1, CallOp::log1p, CallOp::atan, CallOp::tanh, CallOp::sin})
    wrong += wrong_values<T>(same, {{least, least}, {-least, -least}, {5 * least, 5 * least}});
  return wrong;
}

/// Results of pow or atan2 for all pairs of special values that are not the C library's.
template <class T>
std::string wrong_pairs(CallOp op) {
  MathKernel<T> k(op, 1, newest());
  std::string wrong;
  const double values[] = {0.0, -0.0, 1,    -1,  2,    -2,  0.5,  -0.5, 3,
                           -3,  2.5,  -2.5, inf, -inf, nan, 1e30, -1e30};
  for (double x : values)
    for (double z : values) {
      const T got = k({static_cast<T>(x)}, {static_cast<T>(z)})[0];
      const auto exact = exact_math(op, static_cast<long double>(static_cast<T>(x)),
                                    static_cast<long double>(static_cast<T>(z)));
      if (!(ulp_error(got, exact) <= 2))
        wrong += lathe::cat(op_text(op), "(", x, ", ", z, ") = ", static_cast<double>(got), "; ");
    }
  return wrong;
}

}  // namespace

TEST_CASE("special values are those of the C library") {
  CHECK(wrong_special_values<float>() == "");
  CHECK(wrong_special_values<double>() == "");
  for (CallOp op : {CallOp::pow, CallOp::atan2}) {
    CHECK(wrong_pairs<float>(op) == "");
    CHECK(wrong_pairs<double>(op) == "");
  }
}

TEST_CASE("a lane's result depends neither on its place nor on the vector's width") {
  std::vector<float> x = patterns(67108859);
  add_angles(x);
  x.resize(4096);
  std::vector<float> turned(x.rbegin(), x.rend());
  for (const auto& bound : kBounds) {
    CAPTURE(op_text(bound.op));
    MathKernel<float> wide(bound.op, 16, newest()), scalar(bound.op, 1, newest()),
        odd(bound.op, 32, newest());
    std::vector<float> z(x.size(), 1.25f), a = wide(x, z), b = scalar(x, z), c = odd(turned, z);
    int different = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      different += !same(a[j], b[j]) + !same(a[j], c[x.size() - 1 - j]);
    CHECK(different == 0);
  }
}

TEST_CASE("machine code and evaluator agree bit for bit, on every LLVM") {
  std::vector<float> x = patterns(67108859);
  add_angles(x);
  x.resize(512);
  std::vector<double> wide = doubles(256);
  for (const auto* llvm : llvms()) {
    for (const auto& bound : kBounds) {
      CAPTURE(op_text(bound.op));
      CAPTURE(llvm->major());
      MathKernel<float> k(bound.op, 8, *llvm);
      std::vector<float> z = exponents(x), got = k(x, z), wanted = k.evaluate(x, z);
      int different = 0;
      for (std::size_t j = 0; j < x.size(); ++j) different += !same(got[j], wanted[j]);
      CHECK(different == 0);
      MathKernel<double> k64(bound.op, 8, *llvm);
      std::vector<double> z64 = exponents(wide), got64 = k64(wide, z64),
                          wanted64 = k64.evaluate(wide, z64);
      for (std::size_t j = 0; j < wide.size(); ++j) different += !same(got64[j], wanted64[j]);
      CHECK(different == 0);
    }
  }
}

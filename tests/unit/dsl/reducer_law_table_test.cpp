// Claims of laws by type: the legal ones are taken, whatever rounding does; false ones are refuted.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <limits>
#include <support/errors.hpp>

namespace lt = lathe;

namespace {

constexpr lt::ReducerOptions kBoth{.associative = true, .commutative = true};
constexpr float kInf = std::numeric_limits<float>::infinity();

/// What a reducer with both laws is refused for.
template <class T, class Identity, class F>
std::string refused(Identity identity, F combine) {
  return test::error_of([&] { lt::reducer("r", lt::Expr<T>(identity), combine, kBoth); });
}

template <class T, class N>
lt::Expr<T> value(N x) {
  return lt::Expr<T>(x);
}

#define CHECK_LEGAL(type, identity, ...)                                                   \
  CHECK(refused<type>(identity, [](lt::Expr<type> a, lt::Expr<type> b) -> lt::Expr<type> { \
          return __VA_ARGS__;                                                              \
        }) == "none")
#define CHECK_REFUTED(type, identity, ...)                                                 \
  CHECK(refused<type>(identity, [](lt::Expr<type> a, lt::Expr<type> b) -> lt::Expr<type> { \
          return __VA_ARGS__;                                                              \
        }).find("L0131 reducer 'r' is not ") == 0)

}  // namespace

TEST_CASE("legal laws of integers are taken") {
  CHECK_LEGAL(bool, false, a != b);
  CHECK_LEGAL(bool, true, a == b);
  CHECK_LEGAL(bool, true, !(!a || !b));
  CHECK_LEGAL(std::int8_t, 0, lt::cast<std::int8_t>(lt::cast<int>(a) + lt::cast<int>(b)));
  CHECK_LEGAL(std::int8_t, -128, lt::select(a > b, a, b));
  CHECK_LEGAL(std::uint8_t, 0,
              lt::cast<std::uint8_t>(lt::min(lt::cast<int>(a) + lt::cast<int>(b), 255)));
  CHECK_LEGAL(std::uint8_t, 0,
              lt::select(a > value<std::uint8_t>(255) - b, value<std::uint8_t>(255), a + b));
  CHECK_LEGAL(std::uint8_t, 0, lt::cast<std::uint8_t>((lt::cast<int>(a) + lt::cast<int>(b)) % 251));
  CHECK_LEGAL(std::int16_t, 0, a + b - value<std::int16_t>(0));
  CHECK_LEGAL(int, 0, a + b + a * b);
  CHECK_LEGAL(int, 777, a + b - 777);
  CHECK_LEGAL(int, 1, lt::select(a == 1, b, lt::select(b == 1, a, a * b)));
  CHECK_LEGAL(int, 0, lt::select(a == 0, b, lt::select(b == 0, a, lt::max(a, b))));
  CHECK_LEGAL(int, 0, lt::max(lt::abs(a), lt::abs(b)));
  CHECK_LEGAL(int, -1, ~(~a | ~b));
  CHECK_LEGAL(std::uint32_t, 0u,
              lt::min(a, 777u) + lt::min(b, 777u) -
                  lt::max(lt::min(a, 777u) + lt::min(b, 777u), 777u) + 777u);
  CHECK_LEGAL(std::int64_t, 0, (a ^ b) + value<std::int64_t>(0));
  CHECK_LEGAL(std::int64_t, 0, lt::select(a >= b, a, b));
  CHECK_LEGAL(std::uint64_t, 1, lt::select(a == 0u || b == 0u, value<std::uint64_t>(0), a * b));
}

TEST_CASE("legal laws of floats are taken, however they round") {
  CHECK_LEGAL(float, 0.0f, a + b + 0.0f);
  CHECK_LEGAL(float, 1.0f, a* b * 1.0f);
  CHECK_LEGAL(double, 1.0, a* b * 1.0);
  CHECK_LEGAL(float, 0.0f, lt::sqrt(a * a + b * b));
  CHECK_LEGAL(double, 0.0, lt::sqrt(a * a + b * b));
  CHECK_LEGAL(float, 0.0f, a + b - a * b);
  CHECK_LEGAL(double, 0.0, a + b - a * b);
  CHECK_LEGAL(double, 0.0, a + b + a * b);
  CHECK_LEGAL(float, 0.0f, 1.0f - (1.0f - a) * (1.0f - b));
  CHECK_LEGAL(float, -kInf, lt::log(lt::exp(a) + lt::exp(b)));
  CHECK_LEGAL(double, 0.0, lt::log(lt::exp(a) + lt::exp(b) - 1.0));
  CHECK_LEGAL(float, -1e30f, lt::max(a, b) + lt::log(1.0f + lt::exp(-lt::abs(a - b))));
  CHECK_LEGAL(double, -1e300, lt::max(a, b) + lt::log(1.0 + lt::exp(-lt::abs(a - b))));
  CHECK_LEGAL(lt::f16, -kInf,
              lt::max(a, b) + lt::log(value<lt::f16>(1.0f) + lt::exp(-lt::abs(a - b))));
  CHECK_LEGAL(float, 0.0f, (a + b) / (1.0f + a * b) + 0.0f);
  CHECK_LEGAL(double, 0.0, (a + b) / (1.0 - a * b) + 0.0);
  CHECK_LEGAL(float, kInf, 1.0f / (1.0f / a + 1.0f / b));
  CHECK_LEGAL(float, 0.0f, lt::max(lt::abs(a), lt::abs(b)));
  CHECK_LEGAL(float, 0.0f,
              lt::select(a * lt::abs(a) + b * lt::abs(b) >= 0.0f,
                         lt::sqrt(lt::abs(a * lt::abs(a) + b * lt::abs(b))),
                         -lt::sqrt(lt::abs(a * lt::abs(a) + b * lt::abs(b)))));
  CHECK_LEGAL(float, -kInf, lt::select(lt::is_nan(a) || a > b, a, b) + 0.0f);
  CHECK_LEGAL(lt::f16, 0.0f, lt::sqrt(a * a + b * b));
  CHECK_LEGAL(float, 0.0f, lt::pow(lt::abs(a * a * a) + lt::abs(b * b * b), 1.0f / 3.0f));
  CHECK_LEGAL(float, 0.0f,
              lt::pow(lt::pow(lt::abs(a), 0.7f) + lt::pow(lt::abs(b), 0.7f), 1.0f / 0.7f));
  CHECK_LEGAL(lt::bf16, 0.0f, a + b - a * b);
  CHECK_LEGAL(double, 0.0, lt::cast<double>(lt::cast<float>(a + b)));
  CHECK_LEGAL(float, 37.5f, a + b - 37.5f);
}

TEST_CASE("false claims about integers are refuted") {
  CHECK_REFUTED(bool, false, a && !b);
  CHECK_REFUTED(std::int8_t, 0,
                lt::cast<std::int8_t>(lt::clip(lt::cast<int>(a) + lt::cast<int>(b), -100, 100)));
  CHECK_REFUTED(std::int8_t, 0,
                lt::select(a + b == value<std::int8_t>(37), value<std::int8_t>(0), a + b));
  CHECK_REFUTED(
      std::uint8_t, 0,
      lt::select(lt::cast<int>(a) + lt::cast<int>(b) > 200, value<std::uint8_t>(7), a + b));
  CHECK_REFUTED(std::int16_t, 0, lt::select(a + b == value<std::int16_t>(12345), a, a + b));
  CHECK_REFUTED(
      int, 0,
      lt::select(lt::cast<float>(a + b) >= 777.0f && lt::cast<float>(a + b) < 1.0e6f, 0, a + b));
  CHECK_REFUTED(int, 0, [&] {
    auto s = a + b;
    for (int c : {11, 22, 33, 44, 55, 66}) s = lt::select(s == c && a == c, s, s);
    return lt::select(s > 5000 && s < 100000, 0, s);
  }());
  CHECK_REFUTED(int, 0, [&] {
    auto s = a + b;
    for (int c : {11, 22, 33, 44, 55, 66}) s = lt::select(s == c && a == c, s, s);
    return lt::select(s == 5000, 0, s);
  }());
  CHECK_REFUTED(int, 0, [&] {
    auto s = a + b;
    for (int c = 0; c < 20; ++c) s = s + lt::min(a, b - c) - lt::min(b - c, a);
    return lt::clip(s, -100, 100);
  }());
  CHECK_REFUTED(int, 0, lt::select(a + b == 9000 - 77, 1, a + b));
  CHECK_REFUTED(int, 0, lt::select(a - b == 4321, a, a + b));
  CHECK_REFUTED(int, 0, lt::cast<int>(lt::cast<std::int16_t>(a)) + b);
  CHECK_REFUTED(int, 0, lt::cast<int>(lt::cast<std::int8_t>(lt::min(a, 100))) + b);
  CHECK_REFUTED(int, 0, lt::min(a * b, 1 << 20) + a + b);
  CHECK_REFUTED(int, 0, a + b + (a >> (b & 31)) * 0 + ((a & b) >> 30));
  CHECK_REFUTED(int, 0, lt::cast<int>(lt::cast<float>(a) + lt::cast<float>(b)));
  CHECK_REFUTED(std::int64_t, 0,
                lt::select(a + b > (std::int64_t{1} << 40), value<std::int64_t>(5), a + b));
  CHECK_REFUTED(std::int64_t, 0, lt::cast<std::int64_t>(lt::cast<int>(a)) + b);
  CHECK_REFUTED(std::int64_t, 0, lt::cast<std::int64_t>(lt::cast<double>(a) + lt::cast<double>(b)));
  CHECK_REFUTED(std::uint64_t, 0, lt::select(a + b == 1000003u, a, a + b));
}

TEST_CASE("false claims about floats are refuted") {
  CHECK_REFUTED(float, 0.0f, lt::floor((a + b) * 4.0f) / 4.0f);
  CHECK_REFUTED(float, 0.0f, lt::floor((a + b) * 1000.0f) / 1000.0f);
  CHECK_REFUTED(float, 0.0f, lt::floor((a + b) * 1024.0f) / 1024.0f);
  CHECK_REFUTED(double, 0.0, lt::round((a + b) * 100.0) / 100.0);
  CHECK_REFUTED(double, 0.0, lt::floor((a + b) * 1.0e6) / 1.0e6);
  CHECK_REFUTED(float, 0.0f, lt::cast<float>(lt::cast<int>((a + b) * 2.0f)) * 0.5f);
  CHECK_REFUTED(float, 0.0f, lt::select(lt::cast<int>(a + b) >= 777, 0.0f, a + b));
  CHECK_REFUTED(float, 0.0f, lt::select((a + b) * (a + b) > 1.0e6f, 0.0f, a + b));
  CHECK_REFUTED(float, 0.0f, lt::select(lt::abs(a + b) < 0.001f, 0.0f, a + b));
  CHECK_REFUTED(float, 0.0f, a + b + lt::sin(a * b * 3.14159265f) * 0.01f);
  CHECK_REFUTED(float, 0.0f, lt::select(a + b == 777.25f, 1.0f, a + b));
  CHECK_REFUTED(float, 0.0f, lt::select(a + b == 0.1f, 1.0f, a + b));
  CHECK_REFUTED(float, 0.0f, lt::select(lt::abs(a + b - 12.7f) < 0.0625f, 1.0f, a + b));
  CHECK_REFUTED(float, 0.0f, lt::min(a + b, 16777216.0f));
  CHECK_REFUTED(float, 1.0f, lt::min(a * b, 1.0e6f));
  CHECK_REFUTED(double, 1.0, lt::select(a * b > 1.0e6 && a * b < 2.0e6, 1.0, a * b));
  CHECK_REFUTED(float, 0.0f, a + b + a * b * 1.0e-4f * a);
  CHECK_REFUTED(float, 0.0f, lt::tanh(a) + lt::tanh(b));
  CHECK_REFUTED(float, 0.0f, (a + b) * 0.99999f);
  CHECK_REFUTED(double, 0.0, lt::sqrt(a * a + b * b + 1.0e-6));
  CHECK_REFUTED(lt::f16, 0.0f, lt::min(a + b, 2048.0f));
  CHECK_REFUTED(lt::f16, 0.0f, lt::floor(a + b));
  CHECK_REFUTED(lt::bf16, 0.0f, lt::select(lt::abs(a + b) < 0.01f, 0.0f, a + b));
  CHECK_REFUTED(float, 0.0f, lt::select(lt::abs(a) > lt::abs(b), a, b) + 0.0f);
}

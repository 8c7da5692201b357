// Arithmetic over i64 wraps, also where it starts from loop variables, dims and scalars: hashes and
// counters in user programs. Compared with C++ on both ways to run.
#include <doctest/doctest.h>

#include <cstdint>
#include <lathe/lathe.hpp>
#include <vector>

namespace lt = lathe;
using std::int64_t;

namespace {

constexpr int64_t kHash = 6364136223846793005, kMax = INT64_MAX;

int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
int64_t floor_mod(int64_t a, int64_t b) { return (a % b + b) % b; }

/// The kernel's and the evaluator's values of body(i) for i in 0..n against expected(i).
template <class Body, class Expected>
void check(const char* name, Body body, Expected expected, int64_t n = 100) {
  INFO(name);
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return lt::cast<int64_t>(body(i)); });
  std::vector<int64_t> compiled(static_cast<std::size_t>(n)), evaluated = compiled, wanted;
  lt::jit(Y, Y)(compiled);
  lt::evaluate(Y, Y)(evaluated);
  for (int64_t i = 0; i < n; ++i) wanted.push_back(expected(i));
  CHECK(compiled == wanted);
  CHECK(evaluated == wanted);
}

}  // namespace

TEST_CASE("a constant is not made to wrap by what is taken apart") {
  const auto quotient = [](int64_t a, int64_t b) { return a / b - (a % b < 0); };
  check(
      "quotient", [](auto i) { return lt::floordiv((i ^ 37) - 4, kMax) + 1; },
      [&](int64_t i) { return quotient((i ^ 37) - 4, kMax) + 1; });
  check(
      "remainder", [](auto i) { return lt::floormod((i ^ 37) - 4, kMax) + 1; },
      [](int64_t i) { return (i ^ 37) < 4 ? (i ^ 37) - 3 + kMax : (i ^ 37) - 3; });
  check(
      "quotient of a quotient",
      [](auto i) { return lt::floordiv(lt::floordiv(i ^ 37, 4) + kMax / 4, 3); },
      [](int64_t i) { return ((i ^ 37) / 4 + kMax / 4) / 3; });
}

TEST_CASE("what is computed from a loop variable wraps") {
  check(
      "remainder", [](auto i) { return (i * kHash + 1442695040888963407) % 1000; },
      [](int64_t i) { return plus(times(i, kHash), 1442695040888963407) % 1000; });
  check(
      "floormod", [](auto i) { return lt::floormod(i * kHash, 1000); },
      [](int64_t i) { return floor_mod(times(i, kHash), 1000); });
  check(
      "quotient", [](auto i) { return i * kHash / (int64_t{1} << 33); },
      [](int64_t i) { return times(i, kHash) / (int64_t{1} << 33); });
  check(
      "shift", [](auto i) { return (i * kHash) >> 33; },
      [](int64_t i) { return times(i, kHash) >> 33; });
  check(
      "shift back", [](auto i) { return (i << 62) / 4; },
      [](int64_t i) { return times(i, int64_t{1} << 62) / 4; });
  check(
      "order", [](auto i) { return i * kHash < 0; },
      [](int64_t i) { return int64_t{times(i, kHash) < 0}; });
  check(
      "sum that wraps", [](auto i) { return i + kMax > i; },
      [](int64_t i) { return int64_t{plus(i, kMax) > i}; }, 8);
  check(
      "product and back", [](auto i) { return i * (kMax / 2) / (kMax / 2); },
      [](int64_t i) { return times(i, kMax / 2) / (kMax / 2); });
  check(
      "maximum", [](auto i) { return lt::max(i * (int64_t{1} << 61), 0); },
      [](int64_t i) { return std::max<int64_t>(times(i, int64_t{1} << 61), 0); });
  check(
      "magnitude", [](auto i) { return lt::abs(i * (int64_t{1} << 61)) % 97; },
      [](int64_t i) {
        const int64_t v = times(i, int64_t{1} << 61);
        return (v < 0 ? times(v, -1) : v) % 97;
      });
  check(
      "nested quotients", [](auto i) { return (i * kHash / 8 + 5) / 4; },
      [](int64_t i) { return (times(i, kHash) / 8 + 5) / 4; });
  check(
      "remainder of a remainder", [](auto i) { return ((i * kHash) % 1000 * 7 + i) % 10; },
      [](int64_t i) { return (times(i, kHash) % 1000 * 7 + i) % 10; });
}

TEST_CASE("a guard on a hash stays") {
  lt::Input<float, 1> X("X", {8});
  auto Y = lt::compute("Y", {64}, [&](lt::Var i) {
    auto hash = (i * kHash) >> 60;
    return lt::select(hash >= 0, X(hash), -1.0f);
  });
  std::vector<float> memory(24, -77), y(64), z(64);
  for (std::size_t k = 0; k < 8; ++k) memory[8 + k] = static_cast<float>(k);
  lt::View<const float, 1> x(memory.data() + 8, {8});
  lt::jit(Y, X, Y)(x, y);
  lt::evaluate(Y, X, Y)(x, z);
  CHECK(y == z);
  for (float v : y) CHECK(v != -77);
}

TEST_CASE("data, scalars and dims wrap as well") {
  lt::Dim d("d");
  lt::Input<std::uint32_t, 1> X("X", {d});
  lt::Input<int64_t, 0> a("a");
  auto Y = lt::compute("Y", {d}, [&](lt::Var i) {
    auto v = lt::cast<int64_t>(X(i));
    return (v * kHash) % 1000 + lt::cast<int64_t>(v * v * v < 0) * 10000 + ((v << 33) >> 33) +
           lt::cast<int64_t>(a() + i < a()) * 100000 + (a() * i) % 7 + d * kHash % 13;
  });
  const std::size_t n = 40;
  std::vector<std::uint32_t> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(static_cast<std::uint32_t>(i * 777777777u));
  for (int64_t scalar : {kHash, kMax, INT64_MIN, int64_t{3037000500}}) {
    std::vector<int64_t> y(n), z(n), wanted;
    lt::jit(Y, X, a, Y)(x, scalar, y);
    lt::evaluate(Y, X, a, Y)(x, scalar, z);
    for (std::size_t k = 0; k < n; ++k) {
      const int64_t v = x[k], i = static_cast<int64_t>(k);
      wanted.push_back(times(v, kHash) % 1000 + (times(times(v, v), v) < 0 ? 10000 : 0) +
                       (times(v, int64_t{1} << 33) >> 33) +
                       (plus(scalar, i) < scalar ? 100000 : 0) + times(scalar, i) % 7 +
                       times(static_cast<int64_t>(n), kHash) % 13);
    }
    CHECK(y == wanted);
    CHECK(z == wanted);
  }
}

TEST_CASE("inlining a hash keeps its values") {
  auto T = lt::compute("T", {200}, [&](lt::Var i) { return i * kHash; });
  auto U = lt::compute("U", {200}, [&](lt::Var i) {
    return T(i) % 1000 + lt::select(T(i) < 0, lt::Expr<int64_t>(5000), lt::Expr<int64_t>(0));
  });
  lt::Schedule s(U);
  s.compute_inline(T);
  std::vector<int64_t> scheduled(200), plain(200);
  lt::evaluate(s, U)(scheduled);
  lt::evaluate(U, U)(plain);
  CHECK(scheduled == plain);
  lt::jit(s, U)(scheduled);
  CHECK(scheduled == plain);
}

// Functions and operators of typed expressions against plain C++.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <lathe/lathe.hpp>
#include <string>
#include <vector>

namespace lt = lathe;

namespace {

const std::vector<float> kX{-2.5f, -0.0f, 0.75f, 3}, kW{1, -4, 0.5f, 2};

/// What body(X(i), W(i), i) gives for kX and kW: interpreted and compiled, which must agree.
template <class Body>
auto values(Body body) {
  lt::Input<float, 1> X("X", {4}), W("W", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return body(X(i), W(i), i); });
  using T = typename decltype(Y)::element_type;
  auto run = [&](auto f) {
    std::vector<unsigned char> bytes(4 * sizeof(T));
    f(kX, kW, lt::View<T, 1>(reinterpret_cast<T*>(bytes.data()), {4}));
    std::vector<T> out(4);
    for (std::size_t k = 0; k < 4; ++k) out[k] = reinterpret_cast<const T*>(bytes.data())[k];
    return out;
  };
  // A body need not look at both.
  const lt::Source source(Y, {.strict = true, .unread_inputs = lt::UnreadInputs::allow});
  auto seen = run(lt::evaluate(source, X, W, Y));
  CHECK(seen == run(lt::jit(source, X, W, Y)));
  return seen;
}

using Floats = std::vector<float>;
using Ints = std::vector<int>;
using Longs = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("select of two numbers") {
  CHECK(values([](auto x, auto, auto) { return lt::select(x > 0, 1.0f, 0.0f); }) ==
        Floats{0, 0, 1, 1});
  CHECK(values([](auto x, auto, auto) { return lt::select(x > 0, 7, -7); }) == Ints{-7, -7, 7, 7});
  CHECK(values([](auto x, auto, auto) {
          return lt::select(lt::select(x > 0, true, false), x, 1);
        }) == Floats{1, 1, 0.75f, 3});
}

TEST_CASE("fma with a number in any place") {
  Floats expected;
  for (std::size_t k = 0; k < 4; ++k) expected.push_back(std::fma(2.0f, kX[k], kW[k]));
  CHECK(values([](auto x, auto w, auto) { return lt::fma(2.0f, x, w); }) == expected);
  CHECK(values([](auto x, auto w, auto) { return lt::fma(x, 2, w); }) == expected);
  CHECK(values([](auto, auto w, auto) { return lt::fma(2.0f, 3, w); }) == Floats{7, 2, 6.5f, 8});
  CHECK(values([](auto x, auto, auto) { return lt::fma(x, 2, 1.0); }) == Floats{-4, 1, 2.5f, 7});
}

TEST_CASE("clamp and clip, of values and of axes") {
  CHECK(values([](auto x, auto, auto) { return lt::clamp(x, -1, 1.0f); }) ==
        Floats{-1, 0, 0.75f, 1});
  const std::int64_t n = 3;
  CHECK(values([&](auto, auto, lt::Var i) { return lt::clip(i, 0, n - 1); }) == Longs{0, 1, 2, 2});
  CHECK(values([&](auto, auto, lt::Var i) { return lt::clamp(i, n - 2, 2); }) == Longs{1, 1, 2, 2});
}

TEST_CASE("expressions that are built up") {
  auto built = [](auto x, auto w, lt::Var i) {
    auto sum = x;
    for (int k = 1; k < 4; ++k) sum += w * k;
    sum -= lt::cast<float>(i);
    sum *= 2;
    sum /= w;
    return sum;
  };
  Floats expected;
  for (std::size_t k = 0; k < 4; ++k) {
    float sum = kX[k];
    for (int m = 1; m < 4; ++m) sum += kW[k] * static_cast<float>(m);
    sum -= static_cast<float>(k);
    expected.push_back(sum * 2 / kW[k]);
  }
  CHECK(values(built) == expected);
}

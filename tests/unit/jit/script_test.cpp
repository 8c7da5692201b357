// Programs written as loops, against the same loops in C++: interpreted, compiled, and scheduled.
#include <doctest/doctest.h>

#include <cmath>
#include <lathe/lathe.hpp>
#include <numeric>
#include <support/errors.hpp>
#include <support/scripts.hpp>

namespace lt = lathe;

namespace {

using In1 = lt::View<const float, 1>;
using Out1 = lt::View<float, 1>;
using In2 = lt::View<const float, 2>;
using Out2 = lt::View<float, 2>;
using IntIn1 = lt::View<const int, 1>;
using IntOut1 = lt::View<int, 1>;

const lt::JitOptions strict{.strict = true};

/// Kernels of one program: interpreted; compiled as it is and with the default schedule, by the
/// operations that it says.
template <class... P>
std::vector<lt::Kernel<P...>> kernels(const lt::Program& p) {
  CHECK(lt::structurally_equal(lt::parse(p.str()), p));
  return {lt::evaluate<P...>(p), lt::jit<P...>({lt::Schedule(p), strict}),
          lt::jit<P...>({p, strict})};
}

std::vector<float> numbers(std::size_t n, int seed = 1) {
  std::vector<float> out(n);
  for (std::size_t k = 0; k < n; ++k)
    out[k] = static_cast<float>((static_cast<int>(k) * 37 + seed * 11) % 101) / 16 - 3;
  return out;
}
std::vector<int> integers(std::size_t n, int below, unsigned seed = 1) {
  std::vector<int> out(n);
  for (auto& v : out) v = static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 8) % below;
  return out;
}

}  // namespace

TEST_CASE("a prefix sum, of each length") {
  lt::Dim size("n");
  for (int n : {0, 1, 7, 64}) {
    const std::vector<float> x = numbers(static_cast<std::size_t>(n));
    std::vector<float> wanted(x.size());
    std::partial_sum(x.begin(), x.end(), wanted.begin());
    for (const auto& program : {test::scan(n), test::scan(size)})
      for (const auto& f : kernels<In1, Out1>(program)) {
        std::vector<float> y(x.size(), -1);
        f(x, y);
        CHECK(y == wanted);
      }
  }
}

TEST_CASE("recursive filters, one thread for each") {
  const int m = 6, n = 50;
  lt::Program p = test::filter(m, n);
  lt::Schedule s(p);
  s.parallel(s.loop_at(0));
  auto all = kernels<In2, float, float, Out2>(p);
  all.push_back(lt::jit<In2, float, float, Out2>({s, strict}));
  const std::vector<float> x = numbers(m * n);
  std::vector<float> wanted(x.size());
  for (int c = 0; c < m; ++c) {
    float last = 0;
    for (int t = 0; t < n; ++t)
      wanted[static_cast<std::size_t>(c * n + t)] = last =
          0.5f * x[static_cast<std::size_t>(c * n + t)] + 0.75f * last;
  }
  for (const auto& f : all) {
    std::vector<float> y(x.size());
    f(lt::view(x, {m, n}), 0.75f, 0.5f, lt::view(y, {m, n}));
    CHECK(y == wanted);
  }
}

TEST_CASE("a recurrent cell over time") {
  const std::size_t steps = 5, n = 9;
  const std::vector<float> x = numbers(steps * n), W = numbers(n * n, 3);
  std::vector<float> h(n, 0.25f), c(n, -0.5f), g(n);
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < n; ++i) {
      g[i] = 0;
      for (std::size_t k = 0; k < n; ++k) g[i] += W[i * n + k] * h[k];
    }
    for (std::size_t j = 0; j < n; ++j) {
      const float gate = 1 / (1 + std::exp(-(g[j] + x[t * n + j])));
      c[j] = gate * c[j] + (1 - gate) * std::tanh(g[j]);
      h[j] = gate * std::tanh(c[j]);
    }
  }
  lt::Dim T("T"), N("N");
  for (const auto& p : {test::cell(5, 9), test::cell(T, N)})
    for (const auto& f : kernels<In2, In2, Out1, Out1>(p)) {
      std::vector<float> h1(n, 0.25f), c1(n, -0.5f);
      f(lt::view(x, {5, 9}), lt::view(W, {9, 9}), h1, c1);
      for (std::size_t j = 0; j < n; ++j) {
        CHECK(h1[j] == doctest::Approx(h[j]).epsilon(1e-5));
        CHECK(c1[j] == doctest::Approx(c[j]).epsilon(1e-5));
      }
    }
}

TEST_CASE("Gauss-Seidel in place") {
  const int n = 12;
  std::vector<float> wanted = numbers(n * n);
  auto at = [&](int i, int j) -> float& { return wanted[static_cast<std::size_t>(i * n + j)]; };
  for (int t = 0; t < 3; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        at(i, j) = (at(i - 1, j) + at(i, j - 1) + at(i, j) + at(i, j + 1) + at(i + 1, j)) * 0.2f;
  for (const auto& f : kernels<Out2>(test::seidel(3, n))) {
    std::vector<float> A = numbers(n * n);
    f(lt::view(A, {n, n}));
    CHECK(A == wanted);
  }
}

TEST_CASE("triangles: Cholesky, and a product with a triangular matrix") {
  const int n = 10, m = 7;
  std::vector<float> A(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      A[static_cast<std::size_t>(i * n + j)] =
          i == j ? 20.0f : 1.0f / static_cast<float>(1 + i + j);
  std::vector<float> L = A;
  auto l = [&](int i, int j) -> float& { return L[static_cast<std::size_t>(i * n + j)]; };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k) l(i, j) -= l(i, k) * l(j, k);
      l(i, j) /= l(j, j);
    }
    for (int k = 0; k < i; ++k) l(i, i) -= l(i, k) * l(i, k);
    l(i, i) = std::sqrt(l(i, i));
  }
  lt::Dim size("n");
  for (const auto& p : {test::cholesky(n), test::cholesky(size)})
    for (const auto& f : kernels<Out2>(p)) {
      std::vector<float> out = A;
      f(lt::view(out, {n, n}));
      CHECK(out == L);
    }
  const std::vector<float> start = numbers(n * m);
  std::vector<float> B = start;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = i + 1; k < n; ++k)
        B[static_cast<std::size_t>(i * m + j)] +=
            A[static_cast<std::size_t>(k * n + i)] * B[static_cast<std::size_t>(k * m + j)];
  lt::Program p = test::trmm(n, m);
  auto all = kernels<In2, Out2>(p);
  lt::Schedule s(p);
  s.vectorize(s.loop_at(1));
  all.push_back(lt::jit<In2, Out2>({s, strict}));
  for (const auto& f : all) {
    std::vector<float> out = start;
    f(lt::view(A, {n, n}), lt::view(out, {n, m}));
    CHECK(out == B);
  }
}

TEST_CASE("a histogram by many threads loses nothing") {
  const std::size_t n = 200000;
  const std::vector<int> x = integers(n, 7);
  std::vector<int> wanted(7);
  for (int v : x) ++wanted[static_cast<std::size_t>(v)];
  lt::Program p = test::histogram(static_cast<int>(n), 7);
  auto all = kernels<IntIn1, IntOut1>(p);
  lt::Schedule s(p);
  s.parallel(s.loop_at(1));
  all.push_back(lt::jit<IntIn1, IntOut1>(s));
  for (const auto& f : all) {
    std::vector<int> count(7);
    f(x, count);
    CHECK(count == wanted);
  }
}

TEST_CASE("whiles: the greatest common divisor, one thread for each pair") {
  const std::vector<int> x = integers(100, 5000), y = integers(100, 5000, 2);
  std::vector<int> wanted(100);
  for (std::size_t k = 0; k < 100; ++k) wanted[k] = std::gcd(x[k], y[k]);
  lt::Program p = test::gcd(100);
  auto all = kernels<IntIn1, IntIn1, IntOut1>(p);
  lt::Schedule s(p);
  s.parallel(s.loop_at(0));
  all.push_back(lt::jit<IntIn1, IntIn1, IntOut1>(s));
  for (const auto& f : all) {
    std::vector<int> z(100);
    f(x, y, z);
    CHECK(z == wanted);
  }
}

TEST_CASE("shortest ways") {
  const int n = 17;
  const std::vector<int> start = integers(n * n, 100);
  std::vector<int> d = start;
  auto at = [&](int i, int j) -> int& { return d[static_cast<std::size_t>(i * n + j)]; };
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) at(i, j) = std::min(at(i, j), at(i, k) + at(k, j));
  for (const auto& f : kernels<lt::View<int, 2>>(test::shortest(n))) {
    std::vector<int> out = start;
    f(lt::view(out, {n, n}));
    CHECK(out == d);
  }
}

TEST_CASE("branches, a swap through a let, and the same in lanes") {
  const std::vector<int> start = integers(32, 50);
  std::vector<int> wanted = start, swaps(16);
  for (std::size_t i = 0; i < 16; ++i)
    if ((swaps[i] = wanted[2 * i] > wanted[2 * i + 1])) std::swap(wanted[2 * i], wanted[2 * i + 1]);
  lt::Program p = test::sort_pairs(32);
  auto all = kernels<IntOut1, IntOut1>(p);
  lt::Schedule s(p);
  s.vectorize(s.split<2>(s.loop_at(0), {lt::infer, 8})[1]);
  all.push_back(lt::jit<IntOut1, IntOut1>(s));
  for (const auto& f : all) {
    std::vector<int> a = start, flags(16, -1);
    f(a, flags);
    CHECK(a == wanted);
    CHECK(flags == swaps);
  }
}

TEST_CASE("bounds that are data") {
  const std::vector<std::int64_t> length = {3, 0, 5, 1};
  const std::vector<float> x = numbers(20);
  std::vector<float> wanted(4);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(length[i]); ++j) wanted[i] += x[i * 5 + j];
  for (const auto& f : kernels<lt::View<const std::int64_t, 1>, In2, Out1>(test::ragged(4, 5))) {
    std::vector<float> s(4, -1);
    f(length, lt::view(x, {4, 5}), s);
    CHECK(s == wanted);
  }
}

TEST_CASE("handles of a script name the arguments of a kernel, in any order") {
  lt::Script p("axpy");
  auto a = p.input<float>("a", {});
  auto x = p.input<float>("x", {4});
  auto y = p.inout<float>("y", {4});
  p.for_("i", 4, [&](lt::Var i) { p.store(y(i), a() * x(i) + y(i)); });
  auto f = lt::jit(p.program(), y, x, a);
  auto g = lt::evaluate(p.program(), a, x, y);
  lt::Schedule s(p.program());
  s.vectorize(s.loop_at(0));
  auto h = lt::jit(s, x, y, a);
  const std::vector<float> in = {1, 2, 3, 4};
  std::vector<float> out(4, 1);
  f(out, in, 2);
  CHECK(out == std::vector<float>{3, 5, 7, 9});
  g(2, in, out);
  CHECK(out == std::vector<float>{5, 9, 13, 17});
  h(in, out, -4);
  CHECK(out == std::vector<float>{1, 1, 1, 1});
  CHECK(test::error_of([&] { lt::jit(p.program(), x, y); }) ==
        "L0310 parameter 'a' of program 'axpy' is not given");
  lt::Script other("other");
  auto z = other.input<float>("z", {4});
  CHECK(test::error_of([&] { lt::jit(p.program(), a, y, z); }) ==
        "L0310 'z' is no parameter of program 'axpy'");
  CHECK(test::error_of([&] { lt::jit<In1, float>(p.program()); }).substr(0, 5) == "L0301");
  CHECK(test::error_of([&] { lt::jit<float, In1, In1>(p.program()); }).substr(0, 5) == "L0301");
}

TEST_CASE("an assertion ends the kernel with its message") {
  auto p = lt::script("checked", [](lt::Script& p) {
    auto x = p.input<float>("x", {4});
    auto y = p.output<float>("y", {4});
    p.for_("i", 4, [&](lt::Var i) {
      p.assert_(x(i) >= 0, "negative");
      p.store(y(i), lt::sqrt(x(i)));
    });
  });
  for (const auto& f : kernels<In1, Out1>(p)) {
    std::vector<float> y(4);
    f(std::vector<float>{1, 4, 9, 16}, y);
    CHECK(y == std::vector<float>{1, 2, 3, 4});
    CHECK(test::error_of([&] { f(std::vector<float>{1, 4, -9, 16}, y); }).substr(0, 5) == "L0407");
  }
}

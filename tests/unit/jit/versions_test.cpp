// Several schedules behind one kernel.
#include <doctest/doctest.h>

#include <lathe/jit/kernel_code.hpp>
#include <lathe/lathe.hpp>
#include <numeric>
#include <support/errors.hpp>

namespace lt = lathe;

namespace {

struct Scale {
  lt::Dim m{"m"}, n{"n"};
  lt::Input<float, 2> X{"X", {m, n}};
  lt::Tensor<float, 2> Y = lt::compute(
      "Y", {m, n}, [this](lt::Var i, lt::Var j) { return X(i, j) * 2.0f + lt::cast<float>(i); });
};

}  // namespace

TEST_CASE("versions: the first one whose assumptions hold runs, and gives what every one gives") {
  Scale k;
  lt::Schedule any(k.Y), by_16(k.Y), exact(k.Y);
  by_16.assume(k.n % 16 == 0);
  by_16.vectorize(by_16.split<2>(by_16.loops<2>(k.Y)[1], {lt::infer, 16})[1]);
  exact.assume(k.n == 5 && k.m == 3);
  exact.unroll(exact.loops<2>(k.Y)[1]);
  any.parallel(any.loops<2>(k.Y)[0]);
  auto f = lt::jit(lt::versions({exact, by_16, any}), k.X, k.Y);
  auto want = lt::evaluate(k.Y, k.X, k.Y);
  const lt::AnyKernel kernel = lt::jit_any(lt::versions({exact, by_16, any}),
                                           {lt::ProgramParam(k.X), lt::ProgramParam(k.Y)});
  if (kernel.compiled())
    CHECK(kernel.lowered().str().find("if m == 3 && n == 5:") != std::string::npos);
  for (auto [m, n] :
       {std::array<std::int64_t, 2>{3, 5}, {3, 16}, {16, 32}, {7, 9}, {0, 16}, {2, 0}}) {
    std::vector<float> x(static_cast<std::size_t>(m * n)), y(x.size()), z(x.size());
    std::iota(x.begin(), x.end(), 1.0f);
    lt::View<const float, 2> in(x.data(), {m, n});
    f(in, lt::View<float, 2>(y.data(), {m, n}));
    want(in, lt::View<float, 2>(z.data(), {m, n}));
    CHECK(y == z);
  }
}

TEST_CASE("versions: parameters of narrow types and with strides are one to all versions") {
  lt::Dim n("n"), m("m");
  lt::Input<lt::f16, 2> X("X", {m, n});
  auto Y = lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.5f; });
  lt::Schedule a(Y), b(Y);
  a.assume(n % 8 == 0);
  a.vectorize(a.split<2>(a.loops<2>(Y)[1], {lt::infer, 8})[1]);
  auto f = lt::jit(lt::versions({a, b}), X, Y);
  for (std::int64_t width : {8, 7}) {
    std::vector<lt::f16> x(60, lt::f16(2.0f)), y(60, lt::f16(0.0f));
    f(lt::View<const lt::f16, 2>(x.data(), {3, width}, {20, 1}),
      lt::View<lt::f16, 2>(y.data(), {3, width}, {20, 1}));
    for (std::int64_t at = 0; at < 60; ++at)
      CHECK(static_cast<float>(y[static_cast<std::size_t>(at)]) == (at % 20 < width ? 3.5f : 0.0f));
  }
}

TEST_CASE("versions: what the last one assumes, every call must meet") {
  Scale k;
  lt::Schedule a(k.Y), b(k.Y);
  a.assume(k.n % 8 == 0);
  b.assume(k.m <= 4);
  auto f = lt::jit(lt::versions({a, b}), k.X, k.Y);
  std::vector<float> x(80), y(80);
  f(lt::view(x, {4, 20}), lt::view(y, {4, 20}));
  f(lt::view(x, {4, 16}), lt::view(y, {4, 16}));
  CHECK(test::error_of([&] {
          f(lt::view(x, {5, 16}), lt::view(y, {5, 16}));
        }).substr(0, 5) == "L0304");
}

TEST_CASE("versions: equal ones share their code, others don't") {
  Scale k;
  lt::Schedule a(k.Y), b(k.Y), c(k.Y);
  a.assume(k.n % 8 == 0);
  c.assume(k.n % 16 == 0);
  const lt::Vec<lt::ProgramParam> params{lt::ProgramParam(k.X), lt::ProgramParam(k.Y)};
  auto f = lt::jit_any(lt::versions({a, b}), params), g = lt::jit_any(lt::versions({a, b}), params),
       h = lt::jit_any(lt::versions({c, b}), params), one = lt::jit_any(b, params);
  if (!f.compiled()) return;
  CHECK(f.code() == g.code());
  CHECK(f.code() != h.code());
  CHECK(f.code() != one.code());
}

TEST_CASE("versions: of another computation, or none, they are refused") {
  Scale k, other;
  CHECK(test::error_of([&] { lt::versions({}); }).substr(0, 5) == "L0315");
  CHECK(test::error_of([&] {
          lt::versions({lt::Schedule(k.Y), lt::Schedule(other.Y)});
        }).substr(0, 5) == "L0315");
}

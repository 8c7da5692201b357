#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <lathe/lathe.hpp>
#include <limits>
#include <support/errors.hpp>

namespace lt = lathe;
using test::error_of;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("a kernel's parameters are views of its tensors") {
  lt::Input<float, 2> X("X", {2, 2});
  lt::Input<double, 0> s("s");
  auto Y = lt::compute("Y", {2, 2},
                       [&](lt::Var i, lt::Var j) { return X(i, j) * lt::cast<float>(s()); });
  auto Z = lt::compute("Z", {}, [&] { return Y(1, 1) + 1; });
  auto f = lt::evaluate(lt::outputs(Y, Z), s, Z, X, Y);
  static_assert(
      std::is_same_v<decltype(f), lt::Kernel<double, lt::View<float, 0>, lt::View<const float, 2>,
                                             lt::View<float, 2>>>);
  std::array<float, 4> x{1, 2, 3, 4}, y{};
  float z = 0;
  f(0.5, z, lt::view(x, {2, 2}), lt::view(y, {2, 2}));
  CHECK(y == std::array<float, 4>{0.5f, 1, 1.5f, 2});
  CHECK(z == 3);
  CHECK(!f.compiled());
}

TEST_CASE("a result takes an input's place where that is declared") {
  lt::Input<float, 1> X("X", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) * X(i); });
  auto f = lt::evaluate(Y, lt::inout(X, Y));
  static_assert(std::is_same_v<decltype(f), lt::Kernel<lt::View<float, 1>>>);
  std::vector<float> x{1, 2, 3, 4};
  f(x);
  CHECK(x == std::vector<float>{1, 4, 9, 16});
}

TEST_CASE("reductions: identities, NaN, ties") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  lt::Reduce r("r", n);
  auto total = lt::compute("total", {}, [&] { return lt::sum(X(r), r); });
  auto top = lt::compute("top", {}, [&] { return lt::reduce_max(X(r), r); });
  auto best = lt::compute("best", {}, [&] { return lt::argmax(X(r), r); });
  auto some = lt::compute("some", {}, [&] { return lt::any(X(r) > 2, r); });
  auto every = lt::compute("every", {}, [&] { return lt::all(X(r) > 2, r); });
  auto f = lt::evaluate(lt::outputs(total, top, best.get<0>(), best.get<1>(), some, every), X,
                        total, top, best.get<0>(), best.get<1>(), some, every);
  float t = 9, m = 9, b = 9;
  std::int64_t at = 9;
  bool any = false, all = false;
  auto run = [&](std::vector<float> x) { f(x, t, m, b, at, any, all); };
  run({});
  CHECK(t == 0);
  CHECK(!std::signbit(t));
  CHECK(m == -kInf);
  CHECK(b == -kInf);
  CHECK(at == INT64_MAX);
  CHECK(!any);
  CHECK(all);
  run({-kInf, -kInf});
  CHECK(at == 0);
  run({1, 3, 3, 2});
  CHECK(t == 9);
  CHECK(m == 3);
  CHECK(at == 1);
  CHECK(any);
  CHECK(!all);
  run({1, kNan, 5, kNan});
  CHECK(std::isnan(m));
  CHECK(std::isnan(b));
  CHECK(at == 1);
}

TEST_CASE("reduce positions of several axes count row-major") {
  lt::Input<int, 2> X("X", {3, 4});
  lt::Reduce r("r", 3), s("s", {1, 3});
  auto best = lt::compute("best", {}, [&] { return lt::argmin(X(r, s), r, s); });
  std::vector<int> x{0, 5, 5, 5, 0, 5, 2, 5, 0, 5, 5, 2};
  int value = 0;
  std::int64_t at = 0;
  lt::evaluate(best, X, best.get<0>(), best.get<1>())(lt::view(x, {3, 4}), value, at);
  CHECK(value == 2);
  CHECK(at == 4);  // row 1, second of the three columns
}

TEST_CASE("ragged and triangular ranges") {
  lt::Dim rows("rows"), ends("ends"), n("n");
  lt::Input<std::int64_t, 1> start("start", {ends});
  lt::Input<float, 1> value("value", {n});
  auto S = lt::compute("S", {rows}, [&](lt::Var i) {
    lt::Reduce r("r", {start(i), start(i + 1) - start(i)});
    return lt::sum(value(r), r);
  });
  std::vector<std::int64_t> starts{0, 2, 2, 5};
  std::vector<float> values{1, 2, 4, 8, 16}, sums(3);
  lt::evaluate(S, start, value, S)(starts, values, sums);
  CHECK(sums == std::vector<float>{3, 0, 28});
  auto T = lt::compute("T", {n}, [&](lt::Var i) {
    lt::Reduce r("r", i + 1);
    return lt::sum(value(r), r);
  });
  std::vector<float> prefix(5);
  lt::evaluate(T, value, T)(values, prefix);
  CHECK(prefix == std::vector<float>{1, 3, 7, 15, 31});
}

TEST_CASE("small types and scalars of them") {
  lt::Input<lt::bf16, 1> X("X", {3});
  lt::Input<std::uint8_t, 0> q("q");
  lt::Input<bool, 0> flip("flip");
  auto Y = lt::compute("Y", {3}, [&](lt::Var i) {
    auto x = lt::cast<float>(X(i)) * lt::cast<float>(q());
    return lt::cast<lt::bf16>(lt::select(flip(), -x, x));
  });
  auto f = lt::evaluate(Y, X, q, flip, Y);
  std::vector<lt::bf16> x{lt::bf16(1.5f), lt::bf16(-2.0f), lt::bf16(0.25f)}, y(3);
  f(x, 255, true, y);
  CHECK(float(y[0]) == -382.0f);  // 382.5 rounds to even
  CHECK(float(y[1]) == 510.0f);
}

TEST_CASE("a typed kernel is made of an untyped one of the same parameters only") {
  lt::Input<float, 2> X("X", {4, 4});
  lt::Input<float, 0> c("c");
  auto Y = lt::compute("Y", {4, 4}, [&](lt::Var i, lt::Var j) { return X(i, j) * c(); });
  const lt::AnyKernel f = lt::jit(Y, X, c, Y).any();
  using In = lt::View<const float, 2>;
  using Out = lt::View<float, 2>;
  std::vector<float> x(16, 2), y(16);
  lt::Kernel<In, float, Out> g(f);
  g(lt::View<const float, 2>(x.data(), {4, 4}), 3, Out(y.data(), {4, 4}));
  CHECK(y[15] == 6);
  CHECK(error_of([&] { lt::Kernel<In, Out>{f}; }) ==
        "L0301 kernel 'Y' takes 3 arguments, but the typed kernel has 2");
  CHECK(error_of([&] { lt::Kernel<lt::View<const float, 3>, float, Out>{f}; }) ==
        "L0301 'X': the typed kernel has rank 3, but the parameter has 2");
  CHECK(error_of([&] { lt::Kernel<lt::View<const int, 2>, float, Out>{f}; }) ==
        "L0301 'X': the typed kernel has elements of i32, but the parameter is f32");
  CHECK(error_of([&] { lt::Kernel<In, double, Out>{f}; }) ==
        "L0301 'c': the typed kernel has elements of f64, but the parameter is f32");
  CHECK(error_of([&] { lt::Kernel<In, lt::View<const float, 0>, Out>{f}; }) ==
        "L0301 'c': the typed kernel has a view, but the parameter is a number");
  CHECK(error_of([&] { lt::Kernel<float, float, Out>{f}; }) ==
        "L0301 'X': the typed kernel has a number, but the parameter is a tensor");
  CHECK(error_of([&] { lt::Kernel<In, float, In>{f}; }) ==
        "L0301 'Y': the typed kernel is read-only, but the parameter is written");
  CHECK_FALSE(bool(lt::Kernel<In, Out>(lt::AnyKernel()).any()));
}

TEST_CASE("a program's parameters are found by identity, then by name") {
  lt::Input<float, 1> X("X", {4}), W("W", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + 1; });
  lt::Program p = lt::program_of(Y);
  std::vector<float> x(4, 1), y(4);
  lt::evaluate(p, Y, X)(y, x);
  CHECK(y[3] == 2);
  lt::evaluate(lt::parse(lt::str(p)), X, Y)(x, y);
  CHECK(error_of([&] { lt::evaluate(p, X, Y, W); }) == "L0310 'W' is no parameter of program 'Y'");
  CHECK(error_of([&] { lt::evaluate(p, X); }) == "L0310 parameter 'Y' of program 'Y' is not given");
}

TEST_CASE("the usual call, and every other, of one kernel") {
  // Views of several ranks and scalars between them: each has its own slots.
  lt::Input<float, 3> A("A", {2, 3, 4});
  lt::Input<float, 0> z("z"), s("s");
  lt::Input<float, 2> B("B", {3, 4});
  auto Y = lt::compute("Y", {2, 3, 4}, [&](lt::Var i, lt::Var j, lt::Var k) {
    return A(i, j, k) * s() + B(j, k) * z();
  });
  std::array<float, 24> a, y;
  std::array<float, 32> wide{};
  std::array<float, 12> b;
  for (int k = 0; k < 24; ++k) a[k] = static_cast<float>(k);
  for (int k = 0; k < 12; ++k) b[k] = static_cast<float>(100 * k);
  auto is_right = [&] {
    bool right = true;
    for (int k = 0; k < 24; ++k) right &= y[k] == a[k] * 0.5f + b[k % 12] * 2.0f;
    y = {};
    return right;
  };
  const auto va = lt::view(a, {2, 3, 4});
  const auto vb = lt::view(b, {3, 4});
  const auto vy = lt::view(y, {2, 3, 4});
  for (int row = 0; row < 3; ++row)
    for (int k = 0; k < 4; ++k) wide[8 * row + k] = b[4 * row + k];
  const float two = 2;
  for (bool compiled : {false, true}) {
    CAPTURE(compiled);
    auto in_order = compiled ? lt::jit(Y, A, z, s, B, Y) : lt::evaluate(Y, A, z, s, B, Y);
    in_order(va, two, 0.5f, vb, vy);
    CHECK(is_right());
    in_order(va, two, 0.5f, lt::View<float, 2>(wide.data(), {3, 4}, {8, 1}), vy);
    CHECK(is_right());
    auto mixed = compiled ? lt::jit(Y, Y, s, B, A, z) : lt::evaluate(Y, Y, s, B, A, z);
    mixed(vy, 0.5f, vb, va, two);
    CHECK(is_right());
    CHECK(error_of([&] {
            in_order(va, two, 0.5f, lt::view(b, {4, 3}), vy);
          }) == "L0302 'B' axis 0: extent is 4, but the kernel was made for 3");
    CHECK(error_of([&] {
            in_order(va, two, 0.5f, lt::View<float, 2>(nullptr, {3, 4}), vy);
          }).starts_with("L0306"));
    CHECK(error_of([&] { in_order(vy, two, 0.5f, vb, vy); }).starts_with("L0308"));
  }
}

TEST_CASE("an argument may be made of what a later one gives") {
  lt::Dim n("n"), m("m");
  lt::Input<float, 1> X("X", {2 * n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(2 * i) + X(2 * i + 1); });
  auto f = lt::evaluate(Y, X, Y);
  std::vector<float> x{1, 2, 3, 4, 5, 6}, y(3);
  f(x, y);
  CHECK(y == std::vector<float>{3, 7, 11});
  CHECK(error_of([&] { f(x, lt::View<float, 1>(nullptr, {3})); }) ==
        "L0306 'Y': the pointer is null");
  CHECK(error_of([&] { f(x, lt::View<float, 1>(y.data(), {2})); }) ==
        "L0303 'X' axis 0: extent is 6, but 2 * n is 4");
  // The stride of A is an extent of B.
  const lt::Program p = lt::parse(
      "program P<n, m>(in A: f32[4, n] strides [m, 1], in B: f32[m], out C: f32[4, n]):\n"
      "  for i in 0..4:\n    for j in 0..n:\n"
      "      block C(vi in 0..4 = i, vj in 0..n = j):\n        C[vi, vj] = A[vi, vj] + B[0]\n");
  const lt::AnyKernel g = lt::evaluate_any(lt::Source(p), {});
  std::vector<float> a(20, 1), b(5, 2), c(8);
  auto call = [&](std::int64_t stride) {
    g(std::vector<lt::AnyView>{lt::View<float, 2>(a.data(), {4, 2}, {stride, 1}), lt::view(b),
                               lt::view(c, {4, 2})});
  };
  call(5);
  CHECK(c[7] == 3);
  CHECK(error_of([&] { call(4); }) == "L0305 'A' axis 0: stride is 4, but the declaration takes 5");
}

TEST_CASE("many arguments use the heap for their slots") {
  std::vector<lt::AnyTensor> inputs;
  std::vector<lt::ProgramParam> params;
  for (int k = 0; k < 70; ++k) {
    inputs.push_back(lt::make_input("X" + std::to_string(k), lt::kF32, {lt::Extent(2)}));
    params.emplace_back(inputs.back());
  }
  auto Y = lt::compute_any("Y", {lt::Extent(2)}, [&](std::span<const lt::VarRef> at) {
    lt::AnyExpr sum = inputs[0].at({lt::AnyExpr(at[0])});
    for (std::size_t k = 1; k < inputs.size(); ++k) sum = sum + inputs[k].at({lt::AnyExpr(at[0])});
    return lt::AnyValue(sum);
  });
  params.emplace_back(Y[0]);
  lt::AnyKernel f = lt::evaluate_any(lt::OutputList{Y}, params);
  std::vector<float> x{1, 2}, y(2);
  std::vector<lt::AnyView> views;
  lt::View<float, 1> in = lt::view(x), out = lt::view(y);
  for (int k = 0; k < 70; ++k) views.emplace_back(in);
  views.emplace_back(out);
  f(views);
  CHECK(y == std::vector<float>{70, 140});
}

TEST_CASE("an empty kernel refuses to be called") {
  lt::Kernel<lt::View<float, 1>> f;
  std::vector<float> x(4);
  CHECK(error_of([&] { f(x); }) == "L0313 an empty kernel is called");
}

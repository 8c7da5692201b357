// Sizes that 64 bits or a machine's memory cannot hold, and memory that runs out.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <lathe/lathe.hpp>
#include <memory>
#include <support/errors.hpp>

namespace lt = lathe;
using test::error_of;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

/// Y[i, j] = X[i, j] + 1 for n by m, with strides as the caller has them.
struct Plus {
  lt::Dim n{"n"}, m{"m"};
  lt::Input<float, 2> X{"X", {n, m}, lt::any_stride};
  lt::Tensor<float, 2> Y =
      lt::compute("Y", {n, m}, [this](lt::Var i, lt::Var j) { return X(i, j) + 1; });
};

/// S = sum over n by m of a product whose inner extent is k: with k = 0 its inputs are empty,
/// whatever n and m are.
struct Folded {
  lt::Dim n{"n"}, m{"m"}, k{"k"};
  lt::Input<float, 2> X{"X", {n, k}}, W{"W", {k, m}};
  lt::Reduce r{"r", k}, p{"p", n}, q{"q", m};
  lt::Tensor<float, 2> C = lt::compute(
      "C", {n, m}, [this](lt::Var i, lt::Var j) { return lt::sum(X(i, r) * W(r, j), r); });
  lt::Tensor<float, 0> S =
      lt::compute("S", {}, [this] { return lt::sum(C(p, q) * C(p, 0), p, q); });
};

}  // namespace

TEST_CASE("views of more memory than there can be") {
  Plus p;
  std::array<float, 4> x{1, 2, 3, 4}, y{};
  const std::int64_t side = std::int64_t{1} << 32;
  for (bool compiled : {false, true}) {
    auto f = compiled ? lt::jit(p.Y, p.X, p.Y) : lt::evaluate(p.Y, p.X, p.Y);
    // The product of the extents is 0 modulo 2^64.
    CHECK(
        error_of([&] {
          f(lt::View<float, 2>(x.data(), {side, side}), lt::View<float, 2>(y.data(), {side, side}));
        }) == "L0314 'X': the view spans more memory than there can be");
    CHECK(error_of([&] {
            f(lt::View<float, 2>(x.data(), {2, 2}, {INT64_MIN, 1}),
              lt::View<float, 2>(y.data(), {2, 2}));
          }) == "L0314 'X': the view spans more memory than there can be");
    CHECK(error_of([&] {
            f(lt::View<float, 2>(x.data(), {3, 2}, {INT64_MAX, 1}),
              lt::View<float, 2>(y.data(), {3, 2}));
          }) == "L0314 'X': the view spans more memory than there can be");
    CHECK(error_of([&] {
            f(lt::View<float, 2>(x.data(), {kHuge, kHuge}, {0, 0}),
              lt::View<float, 2>(y.data(), {kHuge, kHuge}));
          }) == "L0314 'X': the view spans more memory than there can be");
    CHECK(error_of([&] {
            f(lt::View<float, 2>(x.data(), {-1, -3}), lt::View<float, 2>(y.data(), {-1, -3}));
          }) == "L0304 'X' axis 0: extent is -1, but Dim 'n' is at least 0");
    // The stride of an axis with one element means nothing, and neither does any of an empty view.
    f(lt::View<float, 2>(x.data(), {1, 2}, {INT64_MAX, 1}), lt::View<float, 2>(y.data(), {1, 2}));
    CHECK(y[1] == 3);
    f(lt::View<float, 2>(x.data(), {5, 0}, {INT64_MIN, 1}), lt::View<float, 2>(y.data(), {5, 0}));
  }
}

TEST_CASE("strided views of one axis") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n}, lt::any_stride);
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) + 1; });
  std::array<float, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
  for (bool compiled : {false, true}) {
    auto f = compiled ? lt::jit(Y, X, Y) : lt::evaluate(Y, X, Y);
    float y[4] = {};
    lt::View<float, 1> back(x.data() + 3, {4}, {-1});
    f(back, y);
    CHECK(std::vector<float>(y, y + 4) == std::vector<float>{5, 4, 3, 2});
    f(lt::View<const float, 1>(x.data(), {4}, {2}), y);
    CHECK(std::vector<float>(y, y + 4) == std::vector<float>{2, 4, 6, 8});
    const lt::View<float, 1> same(x.data(), {4}, {0});
    f(same, lt::View<float, 1>(y, {4}));
    CHECK(std::vector<float>(y, y + 4) == std::vector<float>{2, 2, 2, 2});
    CHECK(error_of([&] { f(back, lt::View<float, 1>(y, {4}, {-1})); }) ==
          "L0305 'Y' axis 0: stride is -1, but the declaration takes 1");
    CHECK(error_of([&] { f(back, std::span<float>()); }) ==
          "L0303 'Y' axis 0: extent is 0, but Dim 'n' is 4 (taken from 'X')");
    f(std::span<float>(), std::span<float>());
  }
}

TEST_CASE("temporaries of more elements than there can be") {
  Folded p;
  float s = 1;
  auto call = [&](auto& f, std::int64_t n, std::int64_t m) {
    f(lt::View<float, 2>(nullptr, {n, 0}), lt::View<float, 2>(nullptr, {0, m}), s);
  };
  for (bool compiled : {false, true}) {
    auto f = compiled ? lt::jit(p.S, p.X, p.W, p.S) : lt::evaluate(p.S, p.X, p.W, p.S);
    // 2^64 elements, that is 0; and just too many.
    CHECK(error_of([&] { call(f, kHuge, std::int64_t{1} << 24); }) ==
          "L0314 'C' would have more elements than memory can hold, for these arguments");
    CHECK(error_of([&] { call(f, kHuge, (std::int64_t{1} << 16) + 1); }) ==
          "L0314 'C' would have more elements than memory can hold, for these arguments");
    CHECK(error_of([&] { call(f, kHuge, 1 << 16); }) ==
          "L0406 kernel 'S': no memory for its temporaries");
    call(f, 3, 5);
    CHECK(s == 0);
    call(f, 7, 0);
    CHECK(s == 0);
  }
}

TEST_CASE("temporaries of views that are there have a limit, too") {
  lt::Dim n("n");
  lt::Input<std::uint8_t, 1> X("X", {n});
  lt::Reduce i("i", n), j("j", n);
  auto T = lt::compute("T", {n, n}, [&](lt::Var r, lt::Var c) { return X(r) ^ X(c); });
  auto S = lt::compute("S", {}, [&] { return lt::reduce_max(T(i, j), {i, j}); });
  const auto f = lt::jit(lt::Schedule(S), X, S);
  std::uint8_t x[3] = {1, 2, 4}, s = 0;
  f(x, s);
  CHECK(s == 6);
  // Refused before an element is read.
  CHECK(error_of([&] { f(lt::View<const std::uint8_t, 1>(x, {std::int64_t{1} << 29}), s); }) ==
        "L0314 'T' would have more elements than memory can hold, for these arguments");
}

TEST_CASE("extents that are products of dims do not wrap") {
  lt::Dim n("n"), m("m");
  lt::Input<float, 2> A("A", {n, 0}), B("B", {m, 0});
  auto Y = lt::compute("Y", {n * m}, [&](lt::Var) { return lt::Expr<float>(1); });
  auto f = lt::evaluate(Y, A, B, Y);
  const std::int64_t side = std::int64_t{1} << 32;
  std::vector<float> y(6);
  CHECK(error_of([&] {
          f(lt::View<float, 2>(nullptr, {side, 0}), lt::View<float, 2>(nullptr, {side, 0}),
            std::span<float>());
        }) == "L0314 'Y' would have more elements than memory can hold, for these arguments");
  f(lt::View<float, 2>(nullptr, {2, 0}), lt::View<float, 2>(nullptr, {3, 0}), y);
  CHECK(y[5] == 1);
  CHECK(error_of([&] {
          f(lt::View<float, 2>(nullptr, {2, 0}), lt::View<float, 2>(nullptr, {2, 0}), y);
        }) == "L0303 'Y' axis 0: extent is 6, but n * m is 4");
}

TEST_CASE("each allocation of a call may fail") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  lt::Reduce r("r", n), q("q", n);
  auto P = lt::compute("P", {n}, [&](lt::Var i) {
    lt::Reduce t("t", i + 1);
    return lt::sum(X(t), t);
  });
  auto Q = lt::compute("Q", {n}, [&](lt::Var i) { return lt::reduce_max(P(r) - P(i), r); });
  auto S = lt::compute("S", {}, [&] { return lt::sum(P(q) * Q(q), q); });
  int live = 0, left = 0;
  lt::Context context({.threads = 1,
                       .allocate = [&](std::size_t bytes, std::size_t alignment) -> void* {
                         if (left-- == 0) return nullptr;
                         return ++live, std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                                          alignment * alignment);
                       },
                       .deallocate = [&](void* p, std::size_t) { --live, std::free(p); }});
  std::vector<float> x(300, 1);
  for (bool compiled : {false, true}) {
    auto f = compiled ? lt::jit({S, {.context = &context}}, X, S)
                      : lt::evaluate({S, {.context = &context}}, X, S);
    int failures = 0;
    for (bool done = false; !done; ++failures) {
      float s = -1;
      left = failures;
      std::string error = error_of([&] { f(x, s); });
      CHECK(live == 0);
      CHECK(context.bytes_in_use() == 0);
      done = error == "none";
      if (!done) CHECK(error == "L0406 kernel 'S': no memory for its temporaries");
      // Then it works: the sum over i of (i + 1) * (n - 1 - i).
      if (done) CHECK(s == doctest::Approx(300.0 * 299.0 * 301.0 / 6));
    }
    CHECK(failures >= 2);
  }
}

TEST_CASE("what the host's allocator throws comes out of the call") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  lt::Reduce r("r", n);
  auto P = lt::compute("P", {n}, [&](lt::Var i) { return lt::sum(X(r) * X(i), r); });
  auto S = lt::compute("S", {}, [&] { return lt::sum(P(r) * P(n - 1 - r), r); });
  lt::Context context({.threads = 1,
                       .allocate = [](std::size_t, std::size_t) -> void* { throw 42; },
                       .deallocate = [](void*, std::size_t) {}});
  std::vector<float> x(300, 1);
  float s = 0;
  auto f = lt::evaluate({S, {.context = &context}}, X, S);
  auto g = lt::jit({S, {.context = &context}}, X, S);
  CHECK_THROWS_AS(f(x, s), int);
  CHECK_THROWS_AS(g(x, s), int);
}

TEST_CASE("the memory budget holds for the evaluator too") {
  lt::Input<float, 1> X("X", {1 << 16});
  auto P = lt::compute("P", {1 << 16}, [&](lt::Var i) { return X(i) * 2; });
  auto Y = lt::compute("Y", {1 << 16}, [&](lt::Var i) { return P(i) + P((1 << 16) - 1 - i); });
  lt::Context context({.memory_budget = 1000});
  std::vector<float> x(1 << 16), y(1 << 16);
  auto f = lt::evaluate({Y, {.context = &context}}, X, Y);
  try {
    f(x, y);
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(std::string(e.what()).find("the context's memory_budget is 1000 bytes") !=
          std::string::npos);
  }
}

TEST_CASE("empty kernels and views without arrays") {
  lt::AnyKernel none;
  CHECK_FALSE(none.compiled());
  CHECK_FALSE(none.program());
  CHECK_FALSE(none.lowered());
  CHECK(none.assembly() == "");
  CHECK(none.llvm_ir() == "");
  CHECK(error_of([&] { none(std::span<const lt::AnyView>()); }) ==
        "L0313 an empty kernel is called");
  std::uint64_t slots[1] = {};
  CHECK(error_of([&] { lt::Evaluator().run(slots); }) == "L0313 an empty evaluator is run");
  CHECK(error_of([] { lt::Evaluator(lt::Program{}); }) == "L0506 the program is empty");
  Plus p;
  lt::Input<float, 0> s("s");
  auto Z = lt::compute("Z", {2}, [&](lt::Var) { return s(); });
  float x[4] = {}, z[2] = {};
  lt::AnyView bare;
  bare.data = x, bare.rank = 2, bare.element_bytes = 4;
  bare.type = lt::ElementTypeOf<float>::value;
  auto f = lt::evaluate(p.Y, p.X, p.Y).any();
  CHECK(error_of([&] { f(std::array{bare, bare}); }) == "L0301 'X': the view has no extents");
  const std::int64_t extents[] = {2, 2};
  bare.extents = extents;
  CHECK(error_of([&] { f(std::array{bare, bare}); }) == "L0301 'X': the view has no strides");
  auto g = lt::evaluate(Z, s, Z).any();
  bare.data = nullptr, bare.rank = 0;
  lt::View<float, 1> result(z, {2});
  CHECK(error_of([&] {
          g(std::array{bare, lt::AnyView(result)});
        }) == "L0306 's': the pointer is null");
}

TEST_CASE("a Dim of a text that no argument has is refused") {
  const lt::Program p =
      lt::parse("program p<n>(out y: f32[n * 2]):\n  for i in 0..n * 2:\n    y[i] = 1.0\n");
  for (const bool compiled : {false, true})
    CHECK(error_of([&] { compiled ? lt::jit_any(p, {}) : lt::evaluate_any(p, {}); }) ==
          "L0114 Dim 'n' is the extent of no argument, so a call cannot tell its value");
}

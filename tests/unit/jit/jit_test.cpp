#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <lathe/jit/code_cache.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <mutex>
#include <random>
#include <stdexcept>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <thread>

namespace lt = lathe;
using test::error_of;

namespace {

std::vector<float> numbers(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> out(n);
  for (auto& x : out) x = uniform(random);
  return out;
}

bool has_llvm() { return lt::Llvm::find() != nullptr; }

struct Relu {
  lt::Dim m{"m"}, n{"n"}, k{"k"};
  lt::Input<float, 2> A{"A", {m, k}}, B{"B", {k, n}};
  lt::Input<float, 1> bias{"bias", {n}};
  lt::Reduce r{"r", k};
  lt::Tensor<float, 2> C = lt::compute(
      "C", {m, n}, [this](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Tensor<float, 2> D = lt::compute(
      "D", {m, n}, [this](lt::Var i, lt::Var j) { return lt::max(C(i, j) + bias(j), 0.0f); });
};

}  // namespace

TEST_CASE("compiled and interpreted kernels agree") {
  Relu p;
  auto f = lt::jit({p.D, {.strict = true}}, p.A, p.B, p.bias, p.D);
  auto reference = lt::evaluate(p.D, p.A, p.B, p.bias, p.D);
  CHECK(f.compiled() == has_llvm());
  for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{7, 5, 3}, std::array{33, 65, 17},
                         std::array{4, 9, 0}, std::array{0, 4, 4}}) {
    auto a = numbers(static_cast<std::size_t>(m * k)),
         b = numbers(static_cast<std::size_t>(k * n), 2),
         bias = numbers(static_cast<std::size_t>(n), 3);
    std::vector<float> x(static_cast<std::size_t>(m * n), -1), y = x;
    f(lt::view(a, {m, k}), lt::view(b, {k, n}), bias, lt::view(x, {m, n}));
    reference(lt::view(a, {m, k}), lt::view(b, {k, n}), bias, lt::view(y, {m, n}));
    CHECK(x == y);
  }
}

TEST_CASE("padded and transposed views") {
  Relu p;
  lt::Input<float, 2> T("T", {p.k, p.m}, lt::col_major);
  auto E = lt::compute("E", {p.m, p.k}, [&](lt::Var i, lt::Var j) { return T(j, i) * 2; });
  auto f = lt::jit(E, T, E);
  auto t = numbers(12);
  std::vector<float> e(32, -1);
  f(lt::View<float, 2>(t.data(), {4, 3}, {1, 4}), lt::View<float, 2>(e.data(), {3, 4}, {8, 1}));
  CHECK(e[0] == 2 * t[0]);
  CHECK(e[8 + 1] == 2 * t[4 + 1]);
  CHECK(e[4] == -1);
}

TEST_CASE("equal programs share code; other names do not matter, other options do") {
  if (!has_llvm()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  auto make = [&](std::string name, bool strict = false) {
    lt::Input<float, 1> X(name + "_in", {16});
    auto Y = lt::compute(name, {16}, [&](lt::Var i) { return X(i) * X(i) + 1; });
    return lt::jit({Y, {.context = &context, .strict = strict}}, X, Y);
  };
  auto f = make("first"), g = make("second"), h = make("third", true);
  CHECK(f.any().code() == g.any().code());
  CHECK(f.any().code() != h.any().code());
  CHECK(lt::CodeCache::of(context).size() == 2);
  // Messages still speak of each kernel's own names.
  std::vector<float> x(16, 2), y(16), small(3);
  CHECK(error_of([&] { g(small, y); }) ==
        "L0302 'second_in' axis 0: extent is 3, but the kernel was made for 16");
  f(x, y);
  CHECK(y[15] == 5);
}

TEST_CASE("a typed kernel shows what was compiled, as the untyped one does") {
  lt::Input<float, 1> X("X", {64});
  auto H = lt::compute("H", {64}, [&](lt::Var i) { return X(i) + 1; });
  auto Y = lt::compute("Y", {64}, [&](lt::Var i) { return H(i) * 2; });
  auto interpreted = lt::evaluate(Y, X, Y);
  CHECK(interpreted.program().str() == lt::program_of(Y).str());
  CHECK_FALSE(interpreted.scheduled());
  CHECK_FALSE(interpreted.lowered());
  CHECK(interpreted.llvm_ir().empty());
  if (!has_llvm()) LATHE_SKIP("no LLVM here");
  auto f = lt::jit(Y, X, Y);
  CHECK(f.program().str() == interpreted.program().str());
  CHECK(f.scheduled().str() == lt::default_schedule(Y).str());
  CHECK(f.lowered()->stage == lt::Stage::machine);
  CHECK(f.llvm_ir() == f.any().llvm_ir());
  CHECK(f.llvm_ir().find("define") != std::string::npos);
  CHECK(f.assembly() == f.any().assembly());
  CHECK_FALSE(f.assembly().empty());
}

TEST_CASE("without LLVM the evaluator stands in, and the log says so") {
  std::string logged;
  lt::Context context({.log =
                           [&](lt::LogLevel level, std::string_view text) {
                             if (level == lt::LogLevel::warning) logged += text;
                           },
                       .llvm = "off"});
  lt::Input<float, 1> X("X", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return lt::exp(X(i)); });
  auto f = lt::jit({Y, {.context = &context}}, X, Y);
  CHECK(!f.compiled());
  CHECK(logged.find("kernel 'Y' is interpreted: ") == 0);
  std::vector<float> x(4, 1), y(4);
  f(x, y);
  CHECK(y[0] == std::exp(1.0f));
}

TEST_CASE("a target that this machine is not") {
  lt::Input<float, 1> X("X", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i); });
  CHECK(error_of([&] {
          lt::jit({Y, {.target = lt::Target("neoverse-v1")}}, X, Y);
        }).substr(0, 5) == "L0312");
}

TEST_CASE("kernels may be copied, called from many threads, and outlive their makers") {
  lt::Kernel<lt::View<const float, 1>, lt::View<float, 1>> f;
  {
    lt::Dim n("n");
    lt::Input<float, 1> X("X", {n});
    auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) * 3; });
    f = lt::jit(Y, X, Y);
  }
  std::vector<std::thread> threads;
  std::array<bool, 4> good{};
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t, f] {
      good[t] = true;
      for (std::size_t n = 1; n < 200; ++n) {
        std::vector<float> x(n, static_cast<float>(t)), y(n);
        f(x, y);
        for (float v : y) good[t] = good[t] && v == static_cast<float>(3 * t);
      }
    });
  for (auto& t : threads) t.join();
  for (bool b : good) CHECK(b);
}

TEST_CASE("programs are compiled as they are, from any stage") {
  auto p = lt::parse(
      "program P(in X: f32[8], out Y: f32[8]) stage loops:\n"
      "  for i in 0..8:\n"
      "    Y[7 - i] = X[i] + 1.0\n");
  lt::AnyKernel f = lt::jit_any(p, {});
  std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7}, y(8);
  lt::View<float, 1> in = lt::view(x), out = lt::view(y);
  f(std::array{lt::AnyView(in), lt::AnyView(out)});
  CHECK(y == std::vector<float>{8, 7, 6, 5, 4, 3, 2, 1});
  if (!has_llvm()) LATHE_SKIP("no LLVM here");
  CHECK(f.lowered()->stage == lt::Stage::machine);
  CHECK(f.assembly().find("ret") != std::string::npos);
}

TEST_CASE("an assertion of a program reaches the caller") {
  auto p = lt::parse(
      "program P(in X: i64[1], out Y: i64[1]) stage loops:\n"
      "  assert X[0] > 3, \"too small\"\n"
      "  Y[0] = X[0]\n");
  lt::AnyKernel f = lt::jit_any(p, {});
  std::int64_t x = 3, y = 0;
  lt::View<std::int64_t, 1> in(&x, {1}), out(&y, {1});
  CHECK(error_of([&] {
          f(std::array{lt::AnyView(in), lt::AnyView(out)});
        }) == "L0407 kernel 'P': too small");
  x = 4;
  f(std::array{lt::AnyView(in), lt::AnyView(out)});
  CHECK(y == 4);
}

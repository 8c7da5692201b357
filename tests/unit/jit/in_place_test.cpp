// Kernels that write over their input, with a schedule of their own.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <support/errors.hpp>

namespace lt = lathe;
using test::error_of;

namespace {

struct Pipeline {
  lt::Input<float, 1> X{"X", {8}};
  lt::Tensor<float, 1> Z = lt::compute("Z", {8}, [&](lt::Var i) { return X(i) * 2; });
  lt::Tensor<float, 1> S = lt::compute("S", {8}, [&](lt::Var i) { return Z(i) + 1; });
};

template <class F>
std::string help_of(F&& f) {
  try {
    f();
  } catch (const lt::UserError& e) {
    const std::string text = e.what();
    return text.substr(text.find("help: "));
  }
  return "none";
}

}  // namespace

TEST_CASE("a schedule takes lt::inout, alone and among its outputs") {
  Pipeline p;
  lt::Schedule s(lt::inout(p.X, p.Z));
  s.vectorize(s.loops(p.Z)[0]);
  CHECK(s.str() == R"(program Z(inout X: f32[8]) scheduled:
  vectorized for i in 0..8:
    block Z(vi in 0..8 = i):
      X[vi] = X[vi] * 2.0
)");
  std::vector<float> x(8, 3), y(8);
  lt::jit(s, lt::inout(p.X, p.Z))(x);
  CHECK(x == std::vector<float>(8, 6));
  lt::Schedule two(lt::outputs(p.S, lt::inout(p.X, p.Z)));
  lt::jit(two, p.S, lt::inout(p.X, p.Z))(y, x);
  CHECK(x == std::vector<float>(8, 12));
  CHECK(y == std::vector<float>(8, 13));
  lt::evaluate(lt::outputs(p.S, lt::inout(p.X, p.Z)), lt::inout(p.X, p.Z), p.S)(x, y);
  CHECK(y == std::vector<float>(8, 25));
}

TEST_CASE("inout in the schedule and in the call must agree") {
  Pipeline p;
  lt::Schedule plain(p.Z), in_place(lt::inout(p.X, p.Z));
  auto without = [&] { lt::jit(plain, lt::inout(p.X, p.Z)); };
  CHECK(error_of(without) == "L0310 'X' is not declared inout in program 'Z'");
  CHECK(help_of(without) ==
        "help: declare it where the schedule is made: lt::Schedule s(lt::inout(X, Z)), or inside "
        "lt::outputs(…)");
  auto read = [&] { lt::jit(in_place, p.X); };
  CHECK(error_of(read) == "L0310 'X' is written by program 'Z', but is given as an input");
  CHECK(help_of(read) == "help: give lt::inout(X, result)");
  CHECK(error_of([&] { lt::jit(lt::outputs(p.S, lt::inout(p.X, p.Z)), p.S, p.X, p.Z); }) ==
        "L0112 'X' is declared inout among the outputs, but not among the arguments");
  CHECK(error_of([&] { lt::Schedule s(lt::inout(p.X, p.S)); }) ==
        "L0115 inout: 'S' cannot take the place of 'X': 'Z' reads 'X' too");
}

TEST_CASE("an inout that shares memory with another argument") {
  lt::Input<float, 1> X("X", {8}), W("W", {8});
  auto Z = lt::compute("Z", {8}, [&](lt::Var i) { return X(i) + W(i); });
  auto f = lt::evaluate(Z, lt::inout(X, Z), W);
  std::vector<float> x(8);
  CHECK(error_of([&] { f(x, x); }) == "L0308 'X' overlaps 'W' in memory");
  CHECK(help_of([&] { f(x, x); }) ==
        "help: give each argument memory of its own: only the two that lt::inout names share it");
}

TEST_CASE("two arrays that a script changes have memory of their own: code relies on it") {
  const lt::Program p = lt::parse(R"(program P(inout X: f32[8], inout Y: f32[8]):
  for i in 0..8:
    Y[i] = X[i] + Y[i]
)");
  const lt::AnyKernel f = lt::jit_any(p, {});
  std::vector<float> x(8, 1), y(8, 2);
  f(std::vector<lt::AnyView>{lt::view(x, {8}), lt::view(y, {8})});
  CHECK(y[7] == 3);
  CHECK(error_of([&] {
          f(std::vector<lt::AnyView>{lt::view(x, {8}), lt::view(x, {8})});
        }).starts_with("L0308"));
}

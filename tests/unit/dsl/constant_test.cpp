// Tensors of known elements, and inputs whose elements are promised.
#include <doctest/doctest.h>

#include <array>
#include <lathe/dsl/dsl.hpp>
#include <lathe/ir/print.hpp>
#include <support/errors.hpp>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/dsl/impl/layer.ipp>
#endif

namespace lt = lathe;
using test::error_of;

TEST_CASE("a constant is a parameter of programs behind those that are given") {
  std::vector<float> elements{1, 2, 3, 4, 5, 6};
  const auto W = lt::constant("W", elements, {2, 3});
  static_assert(std::is_same_v<decltype(W), const lt::Constant<float, 2>>);
  lt::Input<float, 1> X("X", {2});
  lt::Reduce r("r", 2);
  const auto Y = lt::compute("Y", {3}, [&](lt::Var j) { return lt::sum(X(r) * W(r, j), r); });
  const lt::Program p = lt::program_of(lt::OutputList{{Y}}, {Y, X});
  CHECK(
      p.str().find("out Y: f32[3],\n    in X: f32[2],\n    constant W: f32[2, 3] align 64 hash") !=
      std::string::npos);
  CHECK(p->params[2].content == W.content());
  // It was copied when it was made.
  elements.assign(6, 0.0f);
  CHECK(static_cast<const float*>(W.content()->data())[5] == 6.0f);
}

TEST_CASE("a constant is made of anything with elements in a row, and of views") {
  const std::array<std::int32_t, 4> array{1, 2, 3, 4};
  CHECK(lt::constant("A", array, {2, 2}).dtype() == lt::kI32);
  const double numbers[] = {1, 2, 3};
  CHECK(lt::constant("B", std::span(numbers), {3}).rank == 1);
}

TEST_CASE("refusals of constants") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  CHECK(error_of([&] {
          lt::constant("W", six, {2, 2});
        }) == "L0132 constant 'W' is given 6 elements, but its extents say 4");
  CHECK(error_of([&] { lt::constant("W", six, {2, -3}); }) == "L0102 extent 1 of 'W' is -3");
  CHECK(error_of([&] { lt::constant("2", six, {2, 3}); }) == "L0101 '2' is not a name");
  CHECK(error_of([&] { lt::make_constant("W", lt::kF32, {}, six.data()); }) ==
        "L0132 constant 'W' has no axes");
  const std::array<std::int64_t, 1> extents{3}, none{0};
  CHECK(error_of([&] { lt::make_constant("W", lt::kF32, extents, nullptr); }) ==
        "L0132 constant 'W': the pointer to its elements is null");
  CHECK(error_of([&] { lt::make_constant("W", lt::kF32, none, nullptr); }) == "none");
  CHECK(error_of([] { lt::make_input("s", lt::kF32, {}, {.constant = true}); }) ==
        "L0132 's' is passed by value, and can't be constant");
  CHECK(error_of([] {
          const std::int64_t large[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
          const float one = 1;
          lt::make_constant("W", lt::kF32, large, &one);
        }) == "L0103 'W' has more than 2^56 elements");
}

TEST_CASE("a constant is no argument, and nothing is computed in its place") {
  const std::vector<float> three{1, 2, 3};
  const auto W = lt::constant("W", three, {3});
  lt::Input<float, 1> V("V", {3}, {.constant = true});
  const auto Y = lt::compute("Y", {3}, [&](lt::Var i) { return W(i) + V(i); });
  CHECK(error_of([&] {
          lt::program_of(lt::OutputList{{Y}}, {V, W, Y});
        }) == "L0113 constant 'W' is given as an argument");
  CHECK(error_of([&] { lt::program_of(lt::outputs(lt::inout(V, Y))); }) ==
        "L0115 inout: 'Y' cannot take the place of 'V': 'V' is constant");
  const auto Z = lt::compute("W", {3}, [&](lt::Var i) { return W(i); });
  CHECK(error_of([&] { lt::program_of(Z); }) == "L0111 two tensors are called 'W'");
}

TEST_CASE("an input that is called constant stays an argument, whatever its layout") {
  lt::Input<float, 2> W("W", {2, 3}, {.constant = true}),
      C("C", {2, 3}, {.layout = lt::col_major, .constant = true});
  const auto Y = lt::compute("Y", {2, 3}, [&](lt::Var i, lt::Var j) { return W(i, j) + C(i, j); });
  const std::string text = lt::program_of(Y).str();
  CHECK(text.find("in constant W: f32[2, 3],") != std::string::npos);
  CHECK(text.find("in constant C: f32[2, 3] strides [1, C_s1],") != std::string::npos);
}

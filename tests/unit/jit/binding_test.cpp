// What a call checks of its arguments.
#include <doctest/doctest.h>

#include <array>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <numeric>
#include <support/errors.hpp>

namespace lt = lathe;
using test::error_of;

namespace {

/// out[i, j] = 2 * in[i, j] for n by c matrices, interpreted.
auto doubled() {
  lt::Dim n("n"), c("c", {.min = 1, .max = 64, .multiple_of = 4});
  lt::Input<float, 2> X("X", {n, c});
  auto Y = lt::compute("Y", {n, c}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2; });
  return lt::evaluate(Y, X, Y);
}

}  // namespace

TEST_CASE("calls check extents and dims") {
  auto f = doubled();
  std::vector<float> x(48, 3), y(48);
  f(lt::view(x, {3, 16}), lt::view(y, {3, 16}));
  CHECK(y[47] == 6);
  CHECK(error_of([&] {
          f(lt::view(x, {3, 16}), lt::view(y, {2, 16}));
        }) == "L0303 'Y' axis 0: extent is 2, but Dim 'n' is 3 (taken from 'X')");
  CHECK(error_of([&] {
          f(lt::view(x, {8, 6}), lt::view(y, {8, 6}));
        }) ==
        "L0304 'X' axis 1: extent is 6, but Dim 'c' is at least 1 and at most 64 and a multiple of "
        "4");
  CHECK(error_of([&] {
          f(lt::view(x, {3, 0}), lt::view(y, {3, 0}));
        }) ==
        "L0304 'X' axis 1: extent is 0, but Dim 'c' is at least 1 and at most 64 and a multiple of "
        "4");
  f(lt::View<float, 2>(nullptr, {0, 16}), lt::View<float, 2>(nullptr, {0, 16}));
  lt::Input<float, 1> A("A", {4});
  auto B = lt::compute("B", {4}, [&](lt::Var i) { return A(i); });
  auto g = lt::evaluate(B, A, B);
  CHECK(error_of([&] { g(x, y); }) ==
        "L0302 'A' axis 0: extent is 48, but the kernel was made for 4");
}

TEST_CASE("an error of a call names the line of the call") {
  auto f = doubled();
  std::vector<float> x(48, 3);
  const unsigned line = __LINE__ + 2;
  try {
    f(lt::view(x, {3, 16}), lt::view(x, {3, 16}));
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.where().line == line);
  }
}

TEST_CASE("calls check strides against the declaration") {
  std::vector<float> x(64), y(64);
  auto f = doubled();
  CHECK(error_of([&] {
          f(lt::View<float, 2>(x.data(), {4, 4}, {1, 4}), lt::view(y, {4, 4}));
        }) == "L0305 'X' axis 1: stride is 4, but the declaration takes 1");
  // Outer strides are free, and the stride of an axis with one element means nothing.
  f(lt::View<float, 2>(x.data(), {4, 4}, {16, 1}), lt::View<float, 2>(y.data(), {4, 4}, {8, 1}));
  lt::Dim n("n"), m("m");
  lt::Input<float, 2> A("A", {n, m}, lt::col_major), B("B", {n, m}, lt::dense);
  auto C = lt::compute("C", {n, m}, [&](lt::Var i, lt::Var j) { return A(i, j) - B(i, j); });
  auto g = lt::evaluate(C, A, B, C);
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 1, 1, 1, 1, 1}, c(6);
  g(lt::View<float, 2>(a.data(), {2, 3}, {1, 2}), lt::view(b, {2, 3}), lt::view(c, {2, 3}));
  CHECK(c == std::vector<float>{0, 2, 4, 1, 3, 5});
  try {
    g(lt::view(a, {2, 3}), lt::view(b, {2, 3}), lt::view(c, {2, 3}));
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0305");
    CHECK(e.message() == "'A' axis 0: stride is 3, but the declaration takes 1");
    CHECK(std::string(e.what()).find("help: the default declaration takes it") !=
          std::string::npos);
  }
  CHECK(error_of([&] {
          g(lt::View<float, 2>(a.data(), {2, 2}, {1, 2}),
            lt::View<float, 2>(b.data(), {2, 2}, {3, 1}), lt::view(c, {2, 2}));
        }) == "L0305 'B' axis 0: stride is 3, but the declaration takes 2");
}

TEST_CASE("calls check pointers and overlap") {
  std::vector<float> x(64, 1), y(64);
  auto f = doubled();
  CHECK(error_of([&] {
          f(lt::View<float, 2>(nullptr, {4, 4}), lt::view(y, {4, 4}));
        }) == "L0306 'X': the pointer is null");
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(x.data()) + 2);
  CHECK(error_of([&] {
          f(lt::View<float, 2>(odd, {4, 4}), lt::view(y, {4, 4}));
        }) == "L0307 'X': the address is no multiple of 4 bytes");
  CHECK(error_of([&] {
          f(lt::view(x, {4, 4}), lt::View<float, 2>(x.data() + 15, {4, 4}));
        }) == "L0308 'Y' overlaps 'X' in memory");
  CHECK(error_of([&] {
          f(lt::view(x, {4, 4}), lt::View<float, 2>(y.data(), {4, 4}, {0, 1}));
        }) == "L0309 'Y': its strides put several elements into one place, but it is written");
  // Side by side in one matrix: no element is shared.
  f(lt::View<float, 2>(x.data(), {4, 4}, {8, 1}), lt::View<float, 2>(x.data() + 4, {4, 4}, {8, 1}));
  CHECK(x[4] == 2);
  CHECK(x[31] == 2);
  CHECK(x[32] == 1);
  CHECK(error_of([&] {
          f(lt::View<float, 2>(x.data(), {4, 4}, {8, 1}),
            lt::View<float, 2>(x.data() + 3, {4, 4}, {8, 1}));
        }) == "L0308 'Y' overlaps 'X' in memory");
  // Inputs may share.
  lt::Input<float, 1> A("A", {4}), B("B", {4});
  auto C = lt::compute("C", {4}, [&](lt::Var i) { return A(i) + B(i); });
  std::vector<float> a(4, 1), c(4);
  lt::evaluate(C, A, B, C)(a, a, c);
  CHECK(c[3] == 2);
}

TEST_CASE("calls of the untyped core check rank and type") {
  auto f = doubled();
  std::vector<float> x(16, 1), y(16);
  std::vector<double> wide(16);
  lt::View<float, 2> a(x.data(), {4, 4}), b(y.data(), {4, 4});
  lt::View<double, 2> c(wide.data(), {4, 4});
  lt::View<const float, 2> read_only = b;
  std::array<lt::AnyView, 2> good{lt::AnyView(a), lt::AnyView(b)};
  f.any()(good);
  CHECK(y[15] == 2);
  CHECK(error_of([&] { f.any()(std::array{lt::AnyView(a)}); }) ==
        "L0301 kernel 'Y' takes 2 arguments, but is given 1");
  CHECK(error_of([&] {
          f.any()(std::array{lt::AnyView(c), lt::AnyView(b)});
        }) == "L0301 'X': the view has elements of f64, but the parameter is f32");
  CHECK(error_of([&] {
          f.any()(std::array{lt::AnyView(a), lt::AnyView(read_only)});
        }) == "L0301 'Y': the view is read-only, but the parameter is written");
  CHECK(error_of([&] {
          f.any()(std::array{lt::AnyView(lt::view(x)), lt::AnyView(b)});
        }) == "L0301 'X': the view has rank 1, but the parameter has 2");
}

TEST_CASE("calls of known row-major shape have a plan, others have none") {
  const auto planned = [](const lt::Program& p, std::vector<int> order) {
    return lt::Binding(p, std::move(order)).dense_plan() != nullptr;
  };
  lt::Input<float, 2> X("X", {4, 6});
  auto Y = lt::compute("Y", {4, 6}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
  CHECK(planned(lt::program_of({Y}), {0, 1}));
  CHECK_FALSE(planned(lt::program_of({Y}), {1, 0}));
  CHECK(planned(lt::parse("program p(constant W: f32[4], in X: f32[4], out Y: f32[4]):\n  pass\n"),
                {1, 2}));
  lt::Dim n("n");
  lt::Input<float, 2> D("D", {4, n});
  auto Z = lt::compute("Z", {4, n}, [&](lt::Var i, lt::Var j) { return D(i, j) * 2.0f; });
  CHECK_FALSE(planned(lt::program_of({Z}), {0, 1}));
  lt::Input<float, 2> C("C", {4, 6}, lt::col_major);
  auto W = lt::compute("W", {4, 6}, [&](lt::Var i, lt::Var j) { return C(i, j) * 2.0f; });
  CHECK_FALSE(planned(lt::program_of({W}), {0, 1}));
}

TEST_CASE("a stride may be an extent that the same argument tells") {
  lt::Dim n("n"), m("m");
  lt::Input<float, 2> X("X", {n, m}, lt::dense);
  auto Y = lt::compute("Y", {n, m}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2; });
  auto f = lt::evaluate(Y, X, Y);
  std::vector<float> x{1, 2, 3, 4, 5, 6}, y(6);
  f(lt::view(x, {2, 3}), lt::view(y, {2, 3}));
  CHECK(y == std::vector<float>{2, 4, 6, 8, 10, 12});
  CHECK(error_of([&] {
          f(lt::View<float, 2>(x.data(), {2, 2}, {3, 1}), lt::view(y, {2, 2}));
        }) == "L0305 'X' axis 0: stride is 3, but the declaration takes 2");
}

TEST_CASE("a stride that two axes share is that of the first one, in any call") {
  if (!lt::Llvm::find()) return;
  const lt::Program p = lt::parse(
      "program Y<a, b>(in X: i32[a, b, 4] strides [s, s, 1], out Y: i32[a, b, 4]):\n"
      "  for i in 0..a:\n    for j in 0..b:\n      for k in 0..4:\n"
      "        block Y(vi in 0..a = i, vj in 0..b = j, vk in 0..4 = k):\n"
      "          Y[vi, vj, vk] = X[vi, vj, vk]\n");
  const auto f = lt::jit<lt::View<const int, 3>, lt::View<int, 3>>(p);
  std::vector<int> x(16, 1), y(16);
  const auto call = [&](std::int64_t a) {
    return error_of([&] {
      f(lt::View<const int, 3>(x.data(), {a, 2, 4}), lt::View<int, 3>(y.data(), {a, 2, 4}));
    });
  };
  // What an earlier call has left on the stack does not count.
  for (const std::int64_t a : {2, 1, 2, 2, 2}) CHECK(call(a).starts_with("L0305 'X'"));
}

TEST_CASE("the usual call of machine code takes and refuses what any call does") {
  lt::Dim n("n"), c("c", {.min = 1, .max = 64, .multiple_of = 4});
  lt::Input<float, 2> X("X", {n, c});
  auto Y = lt::compute("Y", {n, c}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2; });
  const auto fast = lt::jit(Y, X, Y);
  const auto slow = lt::evaluate(Y, X, Y);
  std::vector<float> x(64), y(64), expected(64);
  std::iota(x.begin(), x.end(), 1.0f);
  using In = lt::View<const float, 2>;
  using Out = lt::View<float, 2>;
  const auto odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.data()) + 2);
  const In inputs[] = {In(x.data(), {4, 4}),
                       In(x.data(), {4, 4}, {8, 1}),
                       In(x.data(), {1, 4}, {99, 1}),
                       In(x.data(), {0, 4}),
                       In(x.data(), {4, 6}),
                       In(x.data(), {2, 68}),
                       In(x.data(), {4, 4}, {4, 2}),
                       In(x.data() + 12, {4, 4}, {-4, 1}),
                       In(odd, {4, 4}),
                       In(nullptr, {4, 4}),
                       In(nullptr, {0, 4}),
                       In(y.data(), {4, 4}),
                       In(y.data() + 12, {4, 4}),
                       In(x.data(), {std::int64_t{1} << 50, 64})};
  for (const In& in : inputs) {
    const bool large = in.extent(0) > 16;
    const Out out(y.data(), {large ? 4 : in.extent(0), 4}),
        same(expected.data(), {large ? 4 : in.extent(0), 4});
    CAPTURE(&in - inputs);
    y.assign(64, 0), expected.assign(64, 0);
    const bool shares = in.data() >= y.data() && in.data() < y.data() + y.size();
    const std::string refused = error_of([&] { fast(in, out); });
    CHECK(refused == error_of([&] { slow(in, shares ? out : same); }));
    if (refused == "none" && !shares) CHECK(y == expected);
  }
}

TEST_CASE("arguments are refused in their order, extents before strides before memory") {
  auto f = doubled();
  std::vector<float> x(64), y(64);
  const lt::View<float, 2> wrong_stride(x.data(), {4, 4}, {1, 4});
  const lt::View<float, 2> wrong_extent(x.data(), {4, 6}, {1, 4}), null(nullptr, {4, 4});
  CHECK(error_of([&] { f(wrong_stride, null); }).starts_with("L0305 'X'"));
  CHECK(error_of([&] { f(wrong_extent, null); }).starts_with("L0304 'X' axis 1"));
  CHECK(error_of([&] { f(null, wrong_stride); }).starts_with("L0306 'X'"));
}

TEST_CASE("memory does not go round") {
  lt::Input<float, 1> X("X", {8});
  auto Y = lt::compute("Y", {8}, [&](lt::Var i) { return X(i); });
  auto f = lt::evaluate(Y, X, Y);
  std::vector<float> y(8);
  const lt::View<const float, 1> last(reinterpret_cast<const float*>(~std::uintptr_t{15}), {8});
  CHECK(error_of([&] { f(last, y); }) == "L0314 'X': the view spans more memory than there can be");
}

// Inputs that a computation does not read are refused, unless the options say so.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <support/errors.hpp>
#include <vector>

namespace lt = lathe;
using test::error_of;

TEST_CASE("an input that no compute mentions is refused, with what is read and how to allow it") {
  lt::Input<float, 1> X("X", {4}), W("W", {4}), Z("Z", {4});
  lt::Input<float, 0> c("c");
  auto H = lt::compute("H", {4}, [&](lt::Var i) { return X(i) + W(i); });
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return H(i) * 2; });
  CHECK(error_of([&] { lt::evaluate(Y, X, W, Z, Y); }) ==
        "L0316 input 'Z' is not read by program 'Y'");
  CHECK(error_of([&] { lt::jit(Y, X, W, c, Y); }) == "L0316 input 'c' is not read by program 'Y'");
  CHECK(error_of([&] {
          lt::jit_any(lt::outputs(Y, H), {X, W, Z, Y, H});
        }) == "L0316 input 'Z' is not read by program 'Y'");
  try {
    lt::jit(Y, X, Z, W, Y);
  } catch (const lt::UserError& e) {
    CHECK(std::string(e.what()).find("it reads 'X', 'W'\n") != std::string::npos);
    CHECK(std::string(e.what()).find("lt::UnreadInputs::allow") != std::string::npos);
    CHECK(std::string(e.where().file).find("unread_inputs_test.cpp") != std::string::npos);
  }
  // What is missing is told first.
  CHECK(error_of([&] { lt::jit(Y, X, Z, Y); }) ==
        "L0112 input 'W' is read, but is not among the arguments");

  std::vector<float> x(4, 1), w(4, 2), y(4);
  const lt::Source allowed(Y, {.unread_inputs = lt::UnreadInputs::allow});
  lt::jit(allowed, X, Z, W, c, Y)(x, x, w, 5.0f, y);
  CHECK(y == std::vector<float>(4, 6));
  lt::evaluate(allowed, X, Z, W, c, Y)(x, x, x, 5.0f, y);
  CHECK(y == std::vector<float>(4, 4));
}

TEST_CASE("what a compute mentions is read, also where it does not matter") {
  lt::Input<int, 1> X("X", {4}), E("E", {0}), K("K", {4});
  lt::Input<int, 0> c("c");
  lt::Reduce none("none", 0), r("r", 4);
  auto zero = lt::compute("zero", {4}, [&](lt::Var i) { return X(i) * 0; });
  auto product = lt::compute("product", {4}, [&](lt::Var i) { return c() * 0 + lt::cast<int>(i); });
  auto empty = lt::compute("empty", {4}, [&](lt::Var i) { return lt::sum(X(i + none), none); });
  auto border = lt::compute("border", {4}, [&](lt::Var i) { return lt::clamp(E)(i); });
  auto outside = lt::compute("outside", {4}, [&](lt::Var i) { return lt::pad(X, 0)(i + 9); });
  auto never = lt::compute("never", {4}, [&](lt::Var i) { return lt::select(i < 0, X(i), 1); });
  auto nothing = lt::compute("nothing", {0}, [&](lt::Var i) { return X(i); });
  CHECK_NOTHROW(lt::jit(zero, X, zero));
  CHECK_NOTHROW(lt::jit(product, c, product));
  CHECK_NOTHROW(lt::jit(empty, X, empty));
  CHECK_NOTHROW(lt::jit(border, E, border));
  CHECK_NOTHROW(lt::jit(outside, X, outside));
  CHECK_NOTHROW(lt::jit(never, X, never));
  CHECK_NOTHROW(lt::jit(nothing, X, nothing));
  // As an index, in a condition, as a bound, and as memory to write to.
  auto gather =
      lt::compute("gather", {4}, [&](lt::Var i) { return X(lt::cast<std::int64_t>(K(i))); });
  CHECK_NOTHROW(lt::jit(gather, K, X, gather));
  auto some = lt::compute("some", {4}, [&](lt::Var) { return lt::sum(X(r), r).where(K(r) > 0); });
  CHECK_NOTHROW(lt::jit(some, X, K, some));
  auto ones = lt::compute("ones", {4}, [&](lt::Var) { return lt::Expr<int>(1); });
  CHECK_NOTHROW(lt::jit(lt::outputs(lt::inout(X, ones)), lt::inout(X, ones)));
}

TEST_CASE("an input that alone tells a Dim is needed, also unread") {
  lt::Dim n("n"), m("m");
  lt::Input<float, 1> X("X", {n}), Z("Z", {n}), V("V", {m});
  auto twice = lt::compute("twice", {n * 2}, [&](lt::Var i) { return lt::cast<float>(i); });
  CHECK_NOTHROW(lt::jit(twice, X, twice));
  auto count = lt::compute("count", {1}, [&](lt::Var) { return lt::cast<float>(n); });
  CHECK_NOTHROW(lt::jit(count, X, count));
  auto copy = lt::compute("copy", {n}, [&](lt::Var i) { return X(i); });
  CHECK(error_of([&] { lt::jit(copy, X, Z, copy); }) ==
        "L0316 input 'Z' is not read by program 'copy'");
  CHECK(error_of([&] { lt::jit(copy, X, V, copy); }) ==
        "L0316 input 'V' is not read by program 'copy'");
}

TEST_CASE("schedules, scripts and text say their parameters themselves") {
  const lt::Program text = lt::parse(R"(program Y(in X: f32[4], in Z: f32[4], out Y: f32[4]):
  for i in 0..4:
    block Y(vi in 0..4 = i):
      Y[vi] = X[vi]
)");
  CHECK_NOTHROW(lt::jit_any(text, {}));
  CHECK_NOTHROW(lt::jit_any(lt::Schedule(text), {}));
  lt::Script p("copy");
  auto x = p.input<float>("x", {4});
  auto z = p.input<float>("z", {4});
  auto y = p.output<float>("y", {4});
  p.for_("i", 4, [&](lt::Var i) { p.store(y(i), x(i)); });
  CHECK_NOTHROW(lt::jit(p.program(), x, z, y));
}

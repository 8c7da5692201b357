// Reads of elements that surely do not exist are refused at the compute; what may be right is not.
#include <doctest/doctest.h>

#include <lathe/dsl/dsl.hpp>
#include <support/errors.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/dsl/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

/// What a compute over 0..8 gives with this body.
template <class F>
std::string over_8(F body) {
  return test::error_of([&] { lt::compute("Y", {8}, body); });
}

const lt::Input<float, 1> X("X", {8});
const lt::Input<float, 2> M("M", {4, 8});
const lt::Input<std::int64_t, 1> I("I", {8});

}  // namespace

TEST_CASE("a read that is surely outside is refused at the compute") {
  CHECK(
      over_8([](lt::Var i) { return X(i + 1000000000); }) ==
      "L0126 'Y' reads 'X' outside: index 0 runs from 1000000000 to 1000000007, but the extent is "
      "8");
  CHECK(over_8([](lt::Var i) { return X(i) + X(i + 1); }) ==
        "L0126 'Y' reads 'X' outside: index 0 runs from 1 to 8, but the extent is 8");
  CHECK(over_8([](lt::Var i) { return X(i - 1); }) ==
        "L0126 'Y' reads 'X' outside: index 0 runs from -1 to 6, but the extent is 8");
  CHECK(over_8([](lt::Var i) { return M(i, 8 - i); }) ==
        "L0126 'Y' reads 'M' outside: index 0 runs from 0 to 7, but the extent is 4");
  CHECK(over_8([](lt::Var i) { return M(3, 8 - i); }) ==
        "L0126 'Y' reads 'M' outside: index 1 runs from 1 to 8, but the extent is 8");
  CHECK(over_8([](lt::Var) { return X(8); }) ==
        "L0126 'Y' reads 'X' outside: index 0 is 8, but the extent is 8");
  CHECK(over_8([](lt::Var i) { return M(0, i) + M(1, I(i + 1)); }) ==
        "L0126 'Y' reads 'I' outside: index 0 runs from 1 to 8, but the extent is 8");
  CHECK(over_8([](lt::Var i) { return lt::select(i > 0 && X(i - 1) > 0.0f, X(i), 0.0f); }) ==
        "L0126 'Y' reads 'X' outside: index 0 runs from -1 to 6, but the extent is 8");
  lt::Input<float, 1> empty("E", {0});
  CHECK(over_8([&](lt::Var) { return empty(0); }) ==
        "L0126 'Y' reads 'E' outside: index 0 is 0, but the extent is 0");
  const unsigned line = __LINE__ + 2;
  try {
    lt::compute("Y", {8}, [&](lt::Var i) { return X(i + 1); });
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.where().line == line);
    CHECK(std::string(e.what()).find(
              "help: read lt::pad(X, value) or lt::clamp(X), or only where lt::in_bounds(X, …) "
              "holds, in an arm of lt::select (&& and || evaluate both sides)") !=
          std::string::npos);
  }
}

TEST_CASE("reductions: their terms and their ranges") {
  lt::Reduce r("r", 8), shifted("s", {1, 8});
  CHECK(over_8([&](lt::Var i) { return lt::sum(X(i + r), r); }) ==
        "L0126 'Y' reads 'X' outside: index 0 runs from 0 to 14, but the extent is 8");
  CHECK(over_8([&](lt::Var) { return lt::sum(X(shifted), shifted); }) ==
        "L0126 'Y' reads 'X' outside: index 0 runs from 1 to 8, but the extent is 8");
  CHECK(over_8([&](lt::Var) { return lt::sum(X(shifted - 1), shifted); }) == "none");
  CHECK(over_8([](lt::Var i) {
          lt::Reduce row("row", {I(i), I(i + 1) - I(i)});  // of 8 rows 9 offsets
          return lt::sum(X(row), row);
        }) == "L0126 'Y' reads 'I' outside: index 0 runs from 1 to 8, but the extent is 8");
  CHECK(over_8([&](lt::Var) { return lt::sum(X(r), r).where(X(r + 1) > 0.0f); }) ==
        "L0126 'Y' reads 'X' outside: index 0 runs from 1 to 8, but the extent is 8");
}

TEST_CASE("what may be right is not refused") {
  CHECK(over_8([](lt::Var i) { return X(7 - i); }) == "none");
  CHECK(over_8([](lt::Var i) { return lt::select(i > 0, X(i - 1), 0.0f); }) == "none");
  CHECK(over_8([](lt::Var i) { return lt::pad(X, 0.0f)(i - 100); }) == "none");
  CHECK(over_8([](lt::Var i) { return lt::clamp(X)(i - 100); }) == "none");
  CHECK(over_8([](lt::Var i) { return X(lt::max(i - 1, 0)); }) == "none");
  CHECK(over_8([](lt::Var i) { return X(I(i) + 100); }) == "none");
  CHECK(over_8([](lt::Var i) { return X(i * i); }) == "none");
  CHECK(over_8([](lt::Var i) { return X(i + INT64_MAX); }) == "none");  // wraps
  CHECK(test::error_of([] {
          lt::compute("Y", {8, 0}, [](lt::Var i, lt::Var) { return X(i + 1); });
        }) == "none");
  lt::Dim n("n");
  CHECK(test::error_of([&] { lt::compute("Y", {n}, [](lt::Var i) { return X(i + 8); }); }) ==
        "none");
  lt::Input<float, 1> N("N", {n});
  CHECK(over_8([&](lt::Var i) { return N(i + 8); }) == "none");
  lt::Reduce nothing("r", 0), some("s", n), r("t", 8);
  CHECK(over_8([&](lt::Var i) { return lt::sum(X(i + 8), nothing); }) == "none");
  CHECK(over_8([&](lt::Var i) { return lt::sum(X(i + 8), some); }) == "none");
  CHECK(over_8([&](lt::Var) { return lt::sum(X(r + 1), r).where(r < 7); }) == "none");
}

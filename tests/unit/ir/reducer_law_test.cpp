#include <doctest/doctest.h>

#include <lathe/ir/reducer_law.hpp>
#include <limits>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The problem of a reducer over one value.
template <class F>
std::string problem(const AnyExpr& identity, F combine) {
  VarRef a = make_var("a", identity.dtype()), b = make_var("b", identity.dtype());
  return identity_problem(
      ReducerNode("r", {identity}, {a}, {b}, {combine(AnyExpr(a), AnyExpr(b))}));
}
AnyExpr absolute(const AnyExpr& e) { return make_call(CallOp::abs, {e}); }
AnyExpr largest(const AnyExpr& a, const AnyExpr& b) { return make_binary(BinaryOp::max, a, b); }

}  // namespace

TEST_CASE("an identity that changes what folds give") {
  auto sum = [](AnyExpr a, AnyExpr b) { return a + b; };
  CHECK(problem(make_float(kF32, 10), sum) == "combine(identity, 11.0) is 21.0");
  CHECK(problem(make_float(kF64, 10), sum) == "combine(identity, 11.0) is 21.0");
  CHECK(problem(make_int(kU8, 250), sum) == "combine(identity, 251) is 245");
  CHECK(problem(make_int(kI4, 1), sum) == "combine(identity, 2) is 3");
  CHECK(problem(make_float(kF32, 0), sum) == "");
  CHECK(problem(make_int(kIndex, 0), sum) == "");
  CHECK(problem(make_int(kI32, 0), [](AnyExpr a, AnyExpr b) { return a + b * b; }) ==
        "combine(identity, 2) is 4");
  CHECK(problem(make_int(kI32, 0), [](AnyExpr a, AnyExpr b) {
          return a + make_binary(BinaryOp::min, b, make_int(kI32, 1));
        }) == "combine(identity, 2) is 1");  // counts terms, not parts
  CHECK(problem(make_bool(true), [](AnyExpr a, AnyExpr b) {
          return logical_and(a, logical_not(b));
        }) == "combine(identity, false) is true");
}

TEST_CASE("an identity of the folds, if not of the terms") {
  CHECK(problem(make_float(kF32, 0),
                [](AnyExpr a, AnyExpr b) { return largest(absolute(a), absolute(b)); }) == "");
  CHECK(problem(make_float(kF32, 0), largest) == "");
  CHECK(problem(make_float(kF32, -inf), largest) == "");
  CHECK(problem(make_int(kI32, 1), [](AnyExpr a, AnyExpr b) { return a * b % 7; }) == "");
  CHECK(problem(make_bool(true), logical_and) == "");
  CHECK(problem(make_bool(false), logical_or) == "");
}

TEST_CASE("several values, and what does not fold to numbers") {
  auto pair = [](DType t) { return std::vector<VarRef>{make_var("x", t), make_var("y", t)}; };
  std::vector<VarRef> a = pair(kF32), b = pair(kF32);
  AnyExpr n = AnyExpr(a[0]) + b[0];
  auto quotient = [](AnyExpr x, AnyExpr y) { return x / y; };
  AnyExpr mean = quotient(AnyExpr(a[0]) * a[1] + AnyExpr(b[0]) * b[1], n);
  const AnyExpr zero = make_float(kF32, 0), one = make_float(kF32, 1);
  CHECK(identity_problem(ReducerNode("mean", {zero, zero}, a, b, {n, mean})) == "");
  CHECK(identity_problem(ReducerNode("mean", {one, zero}, a, b, {n, mean})) ==
        "combine(identity, (2.0, 0.5)) is (3.0, 0.33333334)");
  AnyExpr top = largest(a[0], b[0]);
  auto scaled = [&](const std::vector<VarRef>& v) {
    return AnyExpr(v[1]) * make_call(CallOp::exp, {AnyExpr(v[0]) - top});
  };
  CHECK(identity_problem(ReducerNode("online", {make_float(kF32, -inf), zero}, a, b,
                                     {top, scaled(a) + scaled(b)})) == "");
}

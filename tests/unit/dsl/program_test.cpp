#include <doctest/doctest.h>

#include <lathe/dsl/dsl.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/dsl/impl/layer.ipp>
#endif

namespace lt = lathe;

TEST_CASE("a product with an epilogue becomes two blocks around an allocation") {
  lt::Dim m("m"), n("n");
  lt::Input<float, 2> A("A", {m, 16}), B("B", {16, n});
  lt::Reduce r("r", 16);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) { return lt::max(C(i, j), 0.0f); });
  lt::Program p = lt::program_of({{D}}, {D, B, A});
  CHECK(lt::str(p) ==
        "program D<m, n>(out D: f32[m, n], in B: f32[16, n], in A: f32[m, 16]):\n"
        "  alloc C: f32[m, n]\n"
        "  for i in 0..m:\n"
        "    for j in 0..n:\n"
        "      for r in 0..16:\n"
        "        block C(vi in 0..m = i, vj in 0..n = j, reduce vr in 0..16 = r) reduce sum init:\n"
        "          C[vi, vj] sum= A[vi, vr] * B[vr, vj]\n"
        "  for i in 0..m:\n"
        "    for j in 0..n:\n"
        "      block D(vi in 0..m = i, vj in 0..n = j):\n"
        "        D[vi, vj] = max(C[vi, vj], 0.0)\n");
}

TEST_CASE("without an order, parameters are the inputs by first use, then the outputs") {
  lt::Input<float, 1> X("X", {4}), Y("Y", {4});
  lt::Input<float, 0> s("s");
  auto Z = lt::compute("Z", {4}, [&](lt::Var i) { return Y(i) * s() + X(i); });
  lt::Program p = lt::program_of(Z);
  REQUIRE(p->params.size() == 4);
  CHECK(p->params[0].name() == "Y");
  CHECK(p->params[1].name() == "X");
  CHECK(p->params[2].name() == "s");
  CHECK(p->params[2].var);
  CHECK(p->params[3].name() == "Z");
  CHECK(p->params[3].access == lt::Access::out);
}

TEST_CASE("layouts become strides of the parameter") {
  lt::Input<float, 2> A("A", {3, 5}, lt::col_major), B("B", {3, 5}, lt::any_stride),
      C("C", {3, 5}, lt::dense);
  lt::Input<float, 1> d("d", {3}), e("e", {3}, lt::any_stride);
  auto Z = lt::compute(
      "Z", {3, 5}, [&](lt::Var i, lt::Var j) { return A(i, j) + B(i, j) + C(i, j) + d(i) + e(i); });
  std::string text = lt::str(lt::program_of(Z));
  for (const char* param :
       {"in A: f32[3, 5] strides [1, A_s1]", "in B: f32[3, 5] strides [B_s0, B_s1]",
        "in C: f32[3, 5] strides [5, 1]", "in d: f32[3],", "in e: f32[3] strides [e_s0]",
        "out Z: f32[3, 5]):"})
    CHECK_MESSAGE(text.find(param) != std::string::npos, param);
}

TEST_CASE("axes are named by position, and reduce axes do not collide with them") {
  lt::Input<float, 1> X("X", {4});
  lt::Reduce i("i", 2);
  auto Y = lt::compute(
      "Y", {1, 1, 1, 1, 1, 2},
      [&](lt::Var, lt::Var, lt::Var, lt::Var, lt::Var, lt::Var f) { return lt::sum(X(f + i), i); });
  std::string text = lt::str(lt::program_of(Y));
  CHECK(text.find("block Y(vi in 0..1 = i, vj in 0..1 = j, vk in 0..1 = k, vl in 0..1 = l, vi4 in "
                  "0..1 = i4, "
                  "vi5 in 0..2 = i5, reduce vi_1 in 0..2 = i_1) reduce sum init") !=
        std::string::npos);
}

TEST_CASE(
    "one reduce axis serves several computes; ranges may start elsewhere and depend on axes") {
  lt::Input<float, 2> X("X", {4, 8});
  lt::Reduce r("r", {2, 6});
  auto S = lt::compute("S", {4}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto T = lt::compute("T", {4}, [&](lt::Var i) {
    lt::Reduce t("t", {i, 8 - i});
    return lt::reduce_max(X(i, t) * S(i), t);
  });
  auto U = lt::compute("U", {4}, [&](lt::Var i) { return lt::sum(X(i, r), r).where(r % 2 == 0); });
  lt::Program p = lt::program_of(lt::outputs(T, U));
  std::string text = lt::str(p);
  CHECK(text.find("block S(vi in 0..4 = i, reduce vr in 2..8 = r) reduce sum init:") !=
        std::string::npos);
  CHECK(text.find("for t in i..8:") != std::string::npos);
  CHECK(text.find("where vr % 2 == 0") != std::string::npos);
  lt::verify(p);
}

TEST_CASE("reduce axes in braces are those behind each other") {
  lt::Input<float, 3> A("A", {2, 3, 4});
  lt::Reduce p("p", 3), q("q", 4);
  const auto text = [&](auto fold) {
    auto Y = lt::compute("Y", {2}, [&](lt::Var i) { return fold(A(i, p, q)); });
    return lt::str(lt::program_of({{Y}}, {A, Y}));
  };
  CHECK(text([&](auto x) {
          return lt::sum(x, {p, q});
        }) == text([&](auto x) { return lt::sum(x, p, q); }));
  CHECK(text([&](auto x) {
          return lt::reduce_max(x, {q, p});
        }) == text([&](auto x) { return lt::reduce_max(x, q, p); }));
  CHECK(text([&](auto x) {
          return lt::any(x > 0.0f, {q, p});
        }) == text([&](auto x) { return lt::any(x > 0.0f, q, p); }));
  CHECK_THROWS_AS(text([&](auto x) { return lt::sum(x, {}); }), lt::UserError);
}

TEST_CASE("several outputs of one block; those that nobody wants are allocated") {
  lt::Input<float, 2> X("X", {4, 8});
  lt::Reduce r("r", 8);
  auto best = lt::compute("best", {4}, [&](lt::Var i) { return lt::argmin(X(i, r), r); });
  auto both = lt::compute("both", {4}, [&](lt::Var i) { return std::tuple(X(i, 0), X(i, 1) * 2); });
  static_assert(std::is_same_v<decltype(best.get<1>()), lt::Tensor<std::int64_t, 1>>);
  static_assert(std::is_same_v<decltype(both), lt::Outputs<1, float, float>>);
  lt::Program p = lt::program_of(lt::outputs(best.get<1>(), both.get<0>(), both.get<1>()));
  std::string text = lt::str(p);
  CHECK(text.find("out best_1: i64[4], out both_0: f32[4], out both_1: f32[4]") !=
        std::string::npos);
  CHECK(text.find("alloc best_0: f32[4]") != std::string::npos);
  CHECK(text.find("both_0[vi] = X[vi, 0]") != std::string::npos);
  lt::verify(p);
}

TEST_CASE("a result takes an input's place") {
  lt::Input<float, 1> X("X", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + 1; });
  auto both = lt::inout(X, Y);
  lt::Program p = lt::program_of({{Y}}, {{both.input, both.result}});
  CHECK(lt::str(p) ==
        "program Y(inout X: f32[4]):\n"
        "  for i in 0..4:\n"
        "    block Y(vi in 0..4 = i):\n"
        "      X[vi] = X[vi] + 1.0\n");
}

TEST_CASE("literals take the type of what they meet") {
  lt::Input<std::uint8_t, 1> q("q", {4});
  lt::Input<double, 1> d("d", {4});
  lt::Input<lt::bf16, 1> b("b", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) {
    return std::tuple(q(i) + 255, d(i) * 0.1, b(i) * 2.5f, i * 2, q(i) > 7 && true,
                      lt::cast<float>(3 - i));
  });
  CHECK(lt::str(Y.get<0>().source().values[0]) == "q[vi] + 255u8");
  CHECK(lt::str(Y.get<0>().source().values[1]) == "d[vi] * 0.1f64");
  CHECK(lt::str(Y.get<0>().source().values[2]) == "b[vi] * 2.5bf16");
  CHECK(lt::str(Y.get<0>().source().values[3]) == "vi * 2");
  CHECK(lt::str(Y.get<0>().source().values[4]) == "q[vi] > 7u8 && true");
  CHECK(lt::str(Y.get<0>().source().values[5]) == "f32(3 - vi)");
  static_assert(std::is_same_v<decltype(Y.get<4>()), lt::Tensor<bool, 1>>);
}

TEST_CASE("borders: padding, clamping, bounds") {
  lt::Input<float, 2> X("X", {4, 5});
  auto Y = lt::compute("Y", {4, 5}, [&](lt::Var i, lt::Var j) {
    return std::tuple(lt::pad(X, 0)(i - 1, j), lt::clamp(X)(i, j + 1), lt::in_bounds(X, i, j));
  });
  const auto& values = Y.get<0>().source().values;
  CHECK(lt::str(values[0]) ==
        "select(0 <= vi - 1 && vi - 1 < 4 && (0 <= vj && vj < 5), X[vi - 1, vj], 0.0)");
  CHECK(lt::str(values[1]) == "X[max(min(vi, 3), 0), max(min(vj + 1, 4), 0)]");
  CHECK(lt::str(values[2]) == "0 <= vi && vi < 4 && (0 <= vj && vj < 5)");
}

TEST_CASE("clamp asks for what is not known of the extents: whether there is an element") {
  lt::Dim m("m"), n("n", {.min = 1}), q("q", {.multiple_of = 8});
  auto clamped = [&](lt::Extent a, lt::Extent b) {
    lt::Input<std::int32_t, 2> X("X", {a, b});
    auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return lt::clamp(X)(0, i); });
    return lt::str(Y.source().values[0]);
  };
  CHECK(clamped(2, n) == "X[max(min(0, 1), 0), max(min(vi, n - 1), 0)]");
  CHECK(clamped(n + 1, n * 2) == "X[max(min(0, n + 1 - 1), 0), max(min(vi, n * 2 - 1), 0)]");
  CHECK(clamped(m, n) == "select(0 < m, X[max(min(0, m - 1), 0), max(min(vi, n - 1), 0)], 0i32)");
  CHECK(clamped(m, q) ==
        "select(0 < m && 0 < q, X[max(min(0, m - 1), 0), max(min(vi, q - 1), 0)], 0i32)");
  CHECK(clamped(0, 3) == "select(0 < 0, X[max(min(0, -1), 0), max(min(vi, 2), 0)], 0i32)");
}

TEST_CASE("the untyped core builds the same programs") {
  lt::AnyTensor X = lt::make_input("X", lt::kF32, {lt::Extent(4)});
  lt::AnyReduce r = lt::make_reduce("r", 0, 4);
  auto S = lt::compute_any("S", {}, [&](std::span<const lt::VarRef>) {
    lt::AnyValue v(X.at({lt::AnyExpr(r.var)}));
    v.reducer = lt::sum_reducer(lt::kF32);
    v.axes = {r};
    return v;
  });
  CHECK(lt::str(lt::program_of(S[0])) ==
        "program S(in X: f32[4], out S: f32[]):\n"
        "  for r in 0..4:\n"
        "    block S(reduce vr in 0..4 = r) reduce sum init:\n"
        "      S[] sum= X[vr]\n");
}

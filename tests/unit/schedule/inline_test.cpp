#include <support/errors.hpp>

#include "kernels.hpp"

using namespace test;

TEST_CASE("compute_inline: a producer read at several places") {
  Blur k(10);
  lt::Schedule start(k.C), s = start;
  s.compute_inline(k.P);
  CHECK(s.str() == R"(program C(in A: f32[12], out C: f32[10]) scheduled:
  for i in 0..10:
    block C(vi in 0..10 = i):
      C[vi] = A[vi] * 2.0 + A[vi + 1] * 2.0 + A[vi + 2] * 2.0
)");
  check_kept(start, s);
}

TEST_CASE("compute_inline: into a reduction, transposed, chains") {
  lt::Input<float, 2> A("A", {6, 4});
  auto T = lt::compute("T", {4, 6}, [&](lt::Var i, lt::Var j) { return A(j, i) + 1.0f; });
  auto U = lt::compute("U", {4, 6}, [&](lt::Var i, lt::Var j) { return T(i, j) * T(i, j); });
  lt::Reduce r("r", 6);
  auto S = lt::compute("S", {4}, [&](lt::Var i) { return lt::sum(U(i, r) + T(i, 5 - r), r); });
  lt::Schedule start(S), s = start;
  s.compute_inline(T);
  s.compute_inline(U);
  CHECK(s.blocks().size() == 1);
  check_kept(start, s);
}

TEST_CASE("compute_inline: a narrow type keeps its rounding") {
  lt::Input<float, 1> A("A", {16});
  auto H = lt::compute("H", {16}, [&](lt::Var i) { return lt::cast<lt::f16>(A(i) / 3.0f); });
  auto B = lt::compute("B", {16}, [&](lt::Var i) { return lt::cast<float>(H(i)); });
  lt::Schedule start(B), s = start;
  s.compute_inline(H);
  check_kept(start, s);
}

TEST_CASE("compute_inline: refusals") {
  Gemm k(8, 8, 4);
  lt::Schedule s(k.D);
  CHECK(refused(s, [&](lt::Schedule& t) { t.compute_inline(k.C); }) ==
        R"(error[L0214] compute_inline: block 'C' is a reduction
  at inline_test.cpp:#
  loops of 'C': i(8) j(8) r:reduce(4)
    for i in 0..8:
      for j in 0..8:
        for r in 0..4:
          block C(vi in 0..8 = i, vj in 0..8 = j, reduce vr in 0..4 = r) reduce sum init:
                ^
            C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  help: move it with compute_at instead)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.compute_inline(k.D); }) == "L0214");
  Blur b(8);
  lt::Schedule u(b.C);
  auto x_loops = u.loops<1>(b.P);
  lt::LoopRef x = x_loops[0];
  u.compute_inline(b.P);
  CHECK(refused_id(u, [&](lt::Schedule& t) { t.compute_inline(b.P); }) == "L0201");
  CHECK(refused_id(u, [&](lt::Schedule& t) { t.parallel(x); }) == "L0201");
}

TEST_CASE("reverse_compute_inline: an elementwise consumer") {
  lt::Input<float, 2> A("A", {5, 6});
  auto P = lt::compute("P", {5, 6}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
  auto C = lt::compute("C", {6, 5}, [&](lt::Var i, lt::Var j) { return P(j, i) + P(j, i); });
  lt::Schedule start(C), s = start;
  auto [i, j] = s.loops<2>(P);
  s.split(j, {lt::infer, 4});
  s.reverse_compute_inline(C);
  CHECK(s.blocks().size() == 1);
  check_kept(start, s);
}

TEST_CASE("reverse_compute_inline: instances that read nothing are stored too") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto C = lt::compute("C", {n}, [&](lt::Var i) { return lt::select(i < 8, 1.0f, X(i)); });
  lt::Schedule s(C);
  s.cache_read(C, X, lt::Scope::global);
  CHECK(s.str().find("for i in 0..n - 8:") != std::string::npos);
  CHECK(refused_id(s, [](lt::Schedule& t) { t.reverse_compute_inline("C"); }) == "L0215");
}

TEST_CASE(
    "reverse_compute_inline: marks of a store go with it, those of the producer's stay behind") {
  const lt::Program given = lt::parse(
      "program C(in A: f32[8], out C: f32[8]):\n  alloc B: f32[8]\n  for i in 0..8:\n"
      "    block B(v in 0..8 = i) @user.of=\"B\":\n      B[v] = A[v] * 2.0\n  for i in 0..8:\n"
      "    block C(v in 0..8 = i) @`stream`=1 @user.by=\"C\":\n      C[v] = B[v] + 1.0\n");
  lt::Schedule start(given), s = start;
  s.reverse_compute_inline("C");
  CHECK(s.str().find("block B(v in 0..8 = i) @user.of=\"B\" @`stream`=1 @user.by=\"C\":") !=
        std::string::npos);
  check_kept(start, s);
}

TEST_CASE("reverse_compute_inline: a consumer that reads another buffer first") {
  lt::Input<float, 1> X("X", {8}), W("W", {8});
  auto T = lt::compute("T", {8}, [&](lt::Var i) { return X(i) * 2.0f; });
  auto Y = lt::compute("Y", {8}, [&](lt::Var i) { return W(7 - i) + T(i); });
  lt::Schedule start(Y), s = start;
  s.reverse_compute_inline(Y);
  CHECK(s.blocks().size() == 1);
  check_kept(start, s);
}

TEST_CASE("reverse_compute_inline: a consumer of a part gets a predicate") {
  lt::Input<float, 1> A("A", {12});
  auto P = lt::compute("P", {12}, [&](lt::Var i) { return A(i) * 2.0f; });
  auto C = lt::compute("C", {7}, [&](lt::Var i) { return P(i + 3) + 1.0f; });
  lt::Schedule start(C), s = start;
  s.reverse_compute_inline(C);
  CHECK(s.str().find(" where ") != std::string::npos);
  check_kept(start, s);
}

TEST_CASE("reverse_compute_inline: a consumer of one row") {
  lt::Input<float, 2> A("A", {5, 6});
  auto P = lt::compute("P", {5, 6}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
  for (int row : {0, 2, 4}) {
    CAPTURE(row);
    auto C = lt::compute("C", {6}, [&](lt::Var j) { return P(row, j) + 1.0f; });
    lt::Schedule start(C), s = start;
    s.reverse_compute_inline(C);
    CHECK(s.str().find(" where ") != std::string::npos);
    check_kept(start, s);
  }
}

TEST_CASE("reverse_compute_inline: an index times a Dim that may be 0") {
  lt::Dim n("n");
  lt::Input<float, 1> A("A", {n * 6});
  auto P = lt::compute("P", {n * 6}, [&](lt::Var i) { return A(i) * 2.0f; });
  auto C = lt::compute("C", {6, n}, [&](lt::Var i, lt::Var j) { return P(i * n + j); });
  lt::Schedule start(C), s = start;
  s.reverse_compute_inline(C);
  CHECK(s.str().find("C[floordiv(vi, n), floormod(vi, n)]") != std::string::npos);
  for (std::int64_t size : {0, 1, 5}) check_kept(start, s, {{"n", size}});
}

TEST_CASE("reverse_compute_inline: every instance of the consumer must read") {
  lt::Input<float, 1> A("A", {4});
  auto P = lt::compute("P", {4}, [&](lt::Var i) { return A(i) * 2.0f; });
  auto C = lt::compute("C", {8}, [&](lt::Var i) { return lt::select(i < 4, P(i), 1.0f); });
  lt::Schedule s(C);
  const lt::Program before = s.program();
  CHECK(test::error_of([&] { s.reverse_compute_inline(C); }) ==
        "L0215 reverse_compute_inline: not every instance of block 'C' surely reads 'P'");
  CHECK(s.program() == before);
}

TEST_CASE("reverse_compute_inline: refusals") {
  Gemm k(8, 8, 4);
  lt::Schedule s(k.D);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.reverse_compute_inline(k.D); }) == "L0215");
  Blur b(8);
  lt::Schedule u(b.C);
  CHECK(refused_id(u, [&](lt::Schedule& t) { t.reverse_compute_inline(b.C); }) == "L0215");
  CHECK(refused_id(u, [&](lt::Schedule& t) { t.reverse_compute_inline(b.P); }) == "L0215");
}

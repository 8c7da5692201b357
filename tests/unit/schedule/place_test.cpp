#include "kernels.hpp"

using namespace test;

namespace {

template <class F>
std::string first_line(lt::Schedule& s, F step) {
  const std::string text = refused(s, step);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("compute_at: a stencil's producer shrinks to the tile and its halo") {
  Blur k(32);
  lt::Schedule start(k.C), s = start;
  auto [x] = s.loops<1>(k.C);
  auto [xo, xi] = s.split(x, {lt::infer, 8});
  s.compute_at(k.P, xo);
  CHECK(s.str() == R"(program C(in A: f32[34], out C: f32[32]) scheduled:
  alloc P: f32[34]
  for io in 0..4:
    for i in 0..10:
      block P(vi in 0..34 = io * 8 + i):
        P[vi] = A[vi] * 2.0
    for ii in 0..8:
      block C(vi in 0..32 = io * 8 + ii):
        C[vi] = P[vi] + P[vi + 1] + P[vi + 2]
)");
  check_kept(start, s);
  s.parallel(xo);
  check_kept(start, s);
}

TEST_CASE("compute_at: clamped windows in a row stay windows") {
  constexpr int n = 32;
  lt::Input<float, 1> A("A", {n});
  auto P = lt::compute("P", {n}, [&](lt::Var x) { return A(x) * 2.0f; });
  auto Q = lt::compute("Q", {n}, [&](lt::Var x) { return lt::clamp(P)(x - 1) + P(x); });
  auto C = lt::compute("C", {n}, [&](lt::Var x) { return lt::clamp(Q)(x - 1) + Q(x); });
  lt::Schedule start(C), s = start;
  auto [x] = s.loops<1>(C);
  auto [xo, xi] = s.split(x, {lt::infer, 8});
  s.compute_at(Q, xo);
  s.compute_at(P, xo);
  CHECK(s.str().find("for i_1 in 0..10:\n"
                     "      block P(vi in 0..32 = max(max(io * 8 - 1, 0) - 1, 0) + i_1):") !=
        std::string::npos);
  CHECK(s.str().find("for i in 0..9:\n"
                     "      block Q(vi in 0..32 = max(io * 8 - 1, 0) + i):") != std::string::npos);
  check_kept(start, s);
}

TEST_CASE("compute_at: tails, every loop") {
  for (std::int64_t n : {1, 5, 8, 13}) {
    Blur k(n);
    lt::Schedule start(k.C);
    for (int at : {0, 1}) {
      lt::Schedule s = start;
      auto [x] = s.loops<1>(k.C);
      auto [xo, xi] = s.split(x, {lt::infer, 4});
      s.compute_at(k.P, at == 0 ? xo : xi);
      check_kept(start, s);
    }
  }
}

TEST_CASE("compute_at: strides 2 and -1, transposed, gather") {
  for (int n : {1, 6, 11}) {
    lt::Input<float, 1> A("A", {2 * n + 2});
    lt::Input<std::int64_t, 1> at("at", {n});
    auto P = lt::compute("P", {2 * n + 2}, [&](lt::Var x) { return A(x) + 1.0f; });
    auto two = lt::compute("two", {n}, [&](lt::Var x) { return P(2 * x) + P(2 * x + 1); });
    auto back = lt::compute("back", {n}, [&](lt::Var x) { return P(n - 1 - x); });
    auto half = lt::compute("half", {n}, [&](lt::Var x) { return P(x / 2); });
    auto gather = lt::compute("gather", {n},
                              [&](lt::Var x) { return P(lt::max(lt::min(at(x), 2 * n + 1), 0)); });
    for (const auto& C : {two, back, half, gather}) {
      lt::Schedule start(C), s = start;
      auto [x] = s.loops<1>(C);
      auto [xo, xi] = s.split(x, {lt::infer, 4});
      s.compute_at(P, xo);
      check_kept(start, s);
    }
  }
}

TEST_CASE("compute_at: a reduction, in its consumer's tiles") {
  for (std::int64_t m : {8, 11}) {
    Gemm k(m, 10, 4);
    lt::Schedule start(k.D), s = start;
    auto [i, j] = s.loops<2>(k.D);
    auto [io, jo, ii, ji] = s.tile(i, j, 4, 8);
    s.compute_at(k.C, jo);
    check_kept(start, s);
    s.vectorize(ji);
    s.parallel(io);
    check_kept(start, s);
    lt::Schedule t = start;
    t.compute_at(k.C, j);
    check_kept(start, t);
  }
}

TEST_CASE("compute_at: symbolic extent") {
  lt::Dim n("n");
  Gemm k(n, n, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  auto [io, ii] = s.split(i, {lt::infer, 4});
  s.compute_at(k.C, io);
  CHECK(s.str().find("for i in 0..4:") != std::string::npos);
  for (std::int64_t v : {0, 1, 3, 4, 5, 9}) check_kept(start, s, {{"n", v}});
}

TEST_CASE("compute_at: chains and several consumers") {
  lt::Input<float, 1> A("A", {20});
  auto P = lt::compute("P", {20}, [&](lt::Var x) { return A(x) * 2.0f; });
  auto Q = lt::compute("Q", {19}, [&](lt::Var x) { return P(x) + P(x + 1); });
  auto R = lt::compute("R", {18}, [&](lt::Var x) { return Q(x) + P(x + 2) + Q(x + 1); });
  lt::Schedule start(R), s = start;
  auto [x] = s.loops<1>(R);
  auto xo_xi_loops = s.split(x, {lt::infer, 4});
  lt::LoopRef xo = xo_xi_loops[0], xi = xo_xi_loops[1];
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.compute_at(P, xo); }) ==
      R"(error[L0211] compute_at: loop 'io'(5) does not hold all readers of block 'P': 'Q' is outside
  at place_test.cpp:#
  loops of 'R': io(5) ii(4)
    for io in 0..5:
        ^^
      for ii in 0..4 @tail="guard":
        block R(vi in 0..18 = io * 4 + ii):
          R[vi] = Q[vi] + P[vi + 2] + Q[vi + 1]
  help: loops that do: none)");
  s.compute_at(Q, xo);
  s.compute_at(P, xo);
  check_kept(start, s);
  s.parallel(xo);
  check_kept(start, s);
}

TEST_CASE("compute_at: refusals") {
  Gemm k(8, 8, 4);
  lt::Schedule s(k.D);
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  auto di_dj_loops = s.loops<2>(k.D);
  lt::LoopRef di = di_dj_loops[0], dj = di_dj_loops[1];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.compute_at(k.D, i); }) == "L0212");
  CHECK(first_line(s, [&](lt::Schedule& t) { t.compute_at(k.C, j); }) ==
        "error[L0211] compute_at: block 'C' is inside loop 'j'(8) already");
  s.parallel(i);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.compute_at(k.C, di); }) == "L0204");
}

TEST_CASE("reverse_compute_at: a reduction that may have no terms does not hang on its producers") {
  for (const char* dims : {"<n, m>", "<n, m in 1..>"}) {
    lt::Schedule s(lt::parse(std::string("program o") + dims +
                             R"((in A: f32[n, m], inout C: f32[n]):
  alloc X: f32[n, m]
  for i in 0..n:
    for r in 0..m:
      block X(v in 0..n = i, w in 0..m = r):
        X[v, w] = A[v, w] * 2.0
  for i in 0..n:
    for r in 0..m:
      block C(v in 0..n = i, reduce w in 0..m = r) reduce sum init:
        C[v] sum= X[v, w]
)"));
    const auto move = [](lt::Schedule& u) { u.reverse_compute_at("C", u.loops(u.block("X"))[0]); };
    if (std::string(dims) == "<n, m>")
      CHECK(refused(s, move).find("surely reads") != std::string::npos);
    else
      CHECK_NOTHROW(move(s));
  }
}

// T runs over a part of its domain; what else it could compute has no inputs.
TEST_CASE("compute_at: a block that leaves out part of its domain") {
  auto with = [](const std::string& x_loop, const std::string& t_block) {
    return lt::parse(
        "program P(in X: f32[13], out Y: f32[5]):\n  alloc S: f32[13]\n"
        "  alloc T: f32[13]\n  for i in 0.." +
        x_loop + R"(:
    block S(vi in 0..13 = i):
      S[vi] = X[vi]
  for i in 0..3:
)" + t_block +
        R"(
  for k in 0..5:
    block Y(vk in 0..5 = k):
      Y[vk] = T[floordiv(vk, 2)] + T[floordiv(4 - vk, 2)]
)");
  };
  const std::string copy = "    block T(vi in 0..13 = i):\n      T[vi] = S[vi]";
  auto move = [](lt::Schedule& s) { s.compute_at("T", s.loops("Y")[0]); };
  lt::Schedule part(with("3", copy));
  CHECK(
      first_line(part, move) ==
      "error[L0211] compute_at: there 'T' would not find what it reads of 'S': not all elements of "
      "'S' that are read are surely written before");
  lt::Schedule late(lt::parse(R"(program P(in X: f32[13], out Y: f32[13]):
  alloc S: f32[13]
  alloc T: f32[13]
  for i in 0..13:
    block S(vi in 2..13 = i):
      S[vi] = X[vi]
  for i in 2..13:
    block T(vi in 0..13 = i):
      T[vi] = S[vi]
  for k in 0..13:
    block Y(vk in 0..13 = k):
      Y[vk] = T[vk]
)"));
  CHECK(first_line(late, move) == first_line(part, move));
  lt::Schedule whole(with("13", copy)), s = whole;
  move(s);
  check_kept(whole, s);
  lt::Schedule sums(with("13",
                         "    for r in 0..2:\n"
                         "      block T(vi in 0..13 = i, reduce vr in 0..13 = r) reduce sum init:\n"
                         "        T[vi] sum= S[vr]"));
  CHECK(first_line(sums, move) ==
        "error[L0212] compute_at: block 'T' is not proved to reduce over all of its domain in the "
        "loops it has");
}

TEST_CASE("reverse_compute_at: a block that leaves out part of its argument") {
  lt::Schedule s(lt::parse(R"(program P(in X: f32[13], inout Y: f32[13]):
  alloc T: f32[13]
  for i in 0..13:
    block T(vi in 0..13 = i):
      T[vi] = X[vi]
  for i in 0..3:
    block Y(vi in 0..13 = i):
      Y[vi] = T[vi]
)"));
  CHECK(first_line(s, [](lt::Schedule& t) { t.reverse_compute_at("Y", t.loops("T")[0]); }) ==
        "error[L0212] reverse_compute_at: block 'Y' is not proved to run over all of its domain in "
        "the loops it has, and writes the parameter 'Y'");
}

TEST_CASE("reverse_compute_at: an epilogue in its producer's tiles") {
  for (std::int64_t m : {1, 8, 11}) {
    Gemm k(m, 10, 4);
    lt::Schedule start(k.D), s = start;
    auto [i, j, r] = s.loops<3>(k.C);
    auto [io, jo, ii, ji] = s.tile(i, j, 4, 8);
    s.reverse_compute_at(k.D, jo);
    check_kept(start, s);
    lt::Schedule t = start;
    t.reverse_compute_at(k.D, j);
    check_kept(start, t);
  }
}

TEST_CASE("reverse_compute_at: a reduction of the rows that were just computed") {
  lt::Input<float, 2> X("X", {5, 6});
  auto P = lt::compute("P", {5, 6}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
  lt::Reduce r("r", 6);
  auto S = lt::compute("S", {5}, [&](lt::Var i) { return lt::sum(P(i, r), r); });
  lt::Schedule start(S), s = start;
  s.reverse_compute_at(S, s.loops(P)[0]);
  CHECK(s.loops(S)[0] == s.loops(P)[0]);
  check_kept(start, s);
}

TEST_CASE("reverse_compute_at: refusals") {
  Gemm k(8, 8, 4);
  lt::Schedule s(k.D);
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.reverse_compute_at(k.D, r); }) ==
      R"(error[L0213] reverse_compute_at: one iteration of loop 'r'(4) does not finish what 'C' reduces
  at place_test.cpp:#
  loops of 'C': i(8) j(8) r:reduce(4)
    for i in 0..8:
      for j in 0..8:
        for r in 0..4:
            ^
          block C(vi in 0..8 = i, vj in 0..8 = j, reduce vr in 0..4 = r) reduce sum init:
            C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  help: take a loop outside its reduction)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.reverse_compute_at(k.C, r); }) == "L0213");
  Blur b(16);
  lt::Schedule u(b.C);
  auto x_loops = u.loops<1>(b.P);
  lt::LoopRef x = x_loops[0];
  CHECK(refused_id(u, [&](lt::Schedule& t) { t.reverse_compute_at(b.C, x); }) == "L0213");
}

TEST_CASE("placement below a parallel loop re-checks its promise") {
  // Each iteration of x stores two elements of P that its neighbours store as well: legal, as P
  // belongs to the iteration.
  Blur k(16);
  lt::Schedule start(k.C), s = start;
  auto [x] = s.loops<1>(k.C);
  s.parallel(x);
  s.compute_at(k.P, x);
  check_kept(start, s);
}

TEST_CASE("compute_at: what is read was updated in place, once or more often") {
  auto updated = [](const char* times) {
    return lt::Schedule(lt::parse(R"(program p(in X: f32[8], out Y: f32[8]):
  alloc T: f32[8]
  alloc P: f32[8]
  for i in 0..8:
    block T(v in 0..8 = i):
      T[v] = X[v]
  for u in 0..)" + std::string(times) +
                                  R"(:
    for i in 0..8:
      block U(v in 0..8 = i):
        T[v] = T[v] * 2.0
  for i in 0..8:
    block P(v in 0..8 = i):
      P[v] = T[v] + 1.0
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = P[v]
)"));
  };
  lt::Schedule once = updated("1"), s = once, twice = updated("2");
  s.compute_at("P", s.loops("Y")[0]);
  check_kept(once, s);
  CHECK(
      first_line(twice, [](lt::Schedule& t) { t.compute_at("P", t.loops("Y")[0]); }) ==
      "error[L0212] compute_at: block 'P' reads 'T', which holds other values in other iterations");
}

TEST_CASE("reverse_compute_at: the order in which operands were written does not decide") {
  const int n = 12;
  lt::Input<float, 2> A("A", {n, n}), b("b", {n, n});
  lt::Reduce r("r", n);
  for (const bool last : {false, true}) {
    auto T = lt::compute("T", {n, n},
                         [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * A(r, j), r); });
    auto V = lt::compute("V", {n, n}, [&](lt::Var i, lt::Var j) { return b(i, j) * 0.5f; });
    auto U = lt::compute("U", {n, n}, [&](lt::Var i, lt::Var j) { return V(i, j) + b(j, i); });
    auto C = lt::compute("C", {n, n}, [&](lt::Var i, lt::Var j) {
      return last ? T(i, j) - U(i, j) : U(i, j) - T(i, j);
    });
    lt::Schedule start(C), s = start;
    s.reverse_compute_at(C, s.loops(T)[1]);
    CHECK(s.loops(C)[1].var == s.loops(T)[1].var);
    check_kept(start, s);
  }
  // A nest between that minds stays where it is.
  lt::Schedule s(lt::parse(
      "program o(in A: i32[8], inout W: i32[8], out C: i32[8]):\n  alloc T: i32[8]\n"
      "  alloc U: i32[8]\n  for i in 0..8:\n    block T(v in 0..8 = i):\n      T[v] = A[v] + W[v]\n"
      "  for i in 0..8:\n    block W(v in 0..8 = i):\n      W[v] = A[v]\n  for i in 0..8:\n"
      "    block U(v in 0..8 = i):\n      U[v] = W[v] * 2i32\n  for i in 0..8:\n"
      "    block C(v in 0..8 = i):\n      C[v] = T[v] - U[v]\n"));
  const lt::LoopRef loop = s.loops("T")[0];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.reverse_compute_at("C", loop); }) == "L0213");
}

// rolling_buffer: iterations of a loop keep the rows of a window that they share.
#include <lathe/jit/jit.hpp>
#include <lathe/lower/pipeline.hpp>
#include <support/errors.hpp>
#include <support/golden.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using namespace test;

namespace {

/// C[y, x] = P[y*step, x] + … + P[y*step + rows - 1, x + 2], where P = A * 2.
struct Rows {
  lt::Input<float, 2> A;
  lt::Tensor<float, 2> P, C;

  template <class N, class M>
  Rows(N n, M m, int rows = 3, int step = 1)
      : A("A", {n * step + rows, m + 2}),
        P(lt::compute("P", {n * step + rows, m + 2},
                      [&](lt::Var y, lt::Var x) { return A(y, x) * 2.0f; })),
        C(lt::compute("C", {n, m}, [&](lt::Var y, lt::Var x) {
          return P(y * step, x) - P(y * step + rows - 1, x + 2);
        })) {}
};

lt::Program rolled(const lt::Schedule& s) {
  return lt::lower_until("roll_buffers", s.program(), lt::host());
}
// All stages agree, and the buffer has one window once it is lowered.
void check_rolled(const lt::Schedule& start, const lt::Schedule& s, const std::string& alloc,
                  const Dims& dims = {}) {
  CHECK(s.str().find("@rolling_buffer=") != std::string::npos);
  check_lowered(start, s, dims);
  CHECK(rolled(s).str().find(alloc) != std::string::npos);
  CHECK(rolled(s).str().find("@rolling_buffer") == std::string::npos);
}

}  // namespace

TEST_CASE("rolling_buffer: rows of a stencil") {
  for (std::int64_t n : {0, 1, 2, 3, 4, 13})
    for (int step : {1, 2}) {
      INFO(n, " ", step);
      Rows k(n, 5, 3, step);
      lt::Schedule start(k.C), s = start;
      auto [y, x] = s.loops<2>(k.C);
      s.compute_at(k.P, y);
      if (n < 2) {  // the whole domain is the smaller one
        error_of([&, y = y] { s.rolling_buffer(k.P, y); });
        check_kept(start, s);
        continue;
      }
      s.rolling_buffer(k.P, y);
      check_rolled(start, s, "alloc P: f32[3, 7]");
      s.vectorize(s.loops(k.P).back());
      check_rolled(start, s, "alloc P: f32[3, 7]");
    }
}

TEST_CASE("rolling_buffer: what it becomes") {
  Rows k(13, 5);
  lt::Schedule s(k.C);
  auto [y, x] = s.loops<2>(k.C);
  s.compute_at(k.P, y);
  s.rolling_buffer(k.P, y);
  CHECK(
      rolled(s).str() ==
      R"(program C(in A: f32[16, 7] strides [A.s0, 1], out C: f32[13, 5] strides [C.s0, 1]) scheduled:
  alloc P: f32[3, 7]
  for i in 0..13:
    for i_1 in min(i * 2, 2)..3:
      for j_1 in 0..7:
        block P(vi in 0..16 = i + i_1, vj in 0..7 = j_1):
          P[floormod(vi, 3), vj] = A[vi, vj] * 2.0
    for j in 0..5:
      block C(vi in 0..13 = i, vj in 0..5 = j):
        C[vi, vj] = P[floormod(vi * 1, 3), vj] - P[floormod(vi * 1 + 3 - 1, 3), vj + 2]
)");

  Rows tiled(10, 16);
  lt::Schedule t(tiled.C);
  auto [a, b] = t.loops<2>(tiled.C);
  auto [ao, bo, ai, bi] = t.tile(a, b, 4, 8);
  t.compute_at(tiled.P, ai);
  t.rolling_buffer(tiled.P, ai);
  t.vectorize(bi);
  t.parallel(ao);
  check_golden("lower/rolling_stencil",
               lt::lower_until("simplify_borders", t.program(), lt::Target("x86-64-v4")).str());
}

TEST_CASE("rolling_buffer: compiled") {
  Rows k(13, 5);
  lt::Schedule s(k.C);
  auto [y, x] = s.loops<2>(k.C);
  s.compute_at(k.P, y);
  s.rolling_buffer(k.P, y);
  std::vector<float> a(16 * 7), c(13 * 5), expected(13 * 5);
  for (std::size_t at = 0; at < a.size(); ++at) a[at] = static_cast<float>(at * 7 % 11);
  lt::jit(s, k.A, k.C)(lt::view(a, {16, 7}), lt::view(c, {13, 5}));
  lt::evaluate(k.C, k.A, k.C)(lt::view(a, {16, 7}), lt::view(expected, {13, 5}));
  CHECK(c == expected);
}

TEST_CASE("rolling_buffer: symbolic extents") {
  lt::Dim n("n"), m("m");
  Rows k(n, m);
  lt::Schedule start(k.C), s = start;
  auto [y, x] = s.loops<2>(k.C);
  s.compute_at(k.P, y);
  s.rolling_buffer(k.P, y);
  for (std::int64_t rows : {0, 1, 2, 3, 5})
    for (std::int64_t columns : {0, 1, 7})
      check_rolled(start, s, "alloc P: f32[3, m + 2]", {{"n", rows}, {"m", columns}});
}

TEST_CASE("rolling_buffer: tiles, with a ragged last one, in parallel") {
  for (std::int64_t n : {5, 8, 13}) {
    INFO(n);
    Rows k(n, 9);
    lt::Schedule start(k.C), s = start;
    auto [y, x] = s.loops<2>(k.C);
    auto [yo, xo, yi, xi] = s.tile(y, x, 4, 4);
    s.compute_at(k.P, yi);
    s.rolling_buffer(k.P, yi);
    check_rolled(start, s, "alloc P: f32[3, 11]");
    s.parallel(yo);
    check_rolled(start, s, "alloc P: f32[3, 11]");
    CHECK(lt::lower_until("compact_buffers", s.program(), lt::host())
              .str()
              .find("      alloc P: f32[3, 6]") != std::string::npos);

    lt::Schedule t = start;  // a window of 6 rows that moves on by 4
    auto [a, b] = t.loops<2>(k.C);
    auto [ao, ai] = t.split(a, {lt::infer, 4});
    t.compute_at(k.P, ao);
    t.rolling_buffer(k.P, ao);
    check_rolled(start, t, "alloc P: f32[6, 11]");
  }
}

TEST_CASE("rolling_buffer: along columns, backwards, with a border") {
  for (std::int64_t n : {3, 7}) {
    lt::Input<float, 2> A("A", {n, 9});
    auto P = lt::compute("P", {n, 9}, [&](lt::Var y, lt::Var x) { return A(y, x) * 2.0f; });
    auto C = lt::compute("C", {n, 9}, [&](lt::Var y, lt::Var x) {
      return lt::select(x > 0, P(y, 9 - x), 1.0f) + P(y, 8 - x) +
             lt::select(x < 8, P(y, 7 - x), 0.0f);
    });
    lt::Schedule start(C), s = start;
    auto [y, x] = s.loops<2>(C);
    s.compute_at(P, x);
    s.rolling_buffer(P, x);
    check_rolled(start, s, "alloc P: f32[" + std::to_string(n) + ", 3]");
    s.parallel(y);
    check_rolled(start, s, "alloc P: f32[" + std::to_string(n) + ", 3]");
  }
}

TEST_CASE("rolling_buffer: a chain of three, with two readers of one") {
  for (std::int64_t n : {4, 11}) {
    lt::Input<float, 2> A("A", {n + 4, 6});
    auto P = lt::compute("P", {n + 4, 6}, [&](lt::Var y, lt::Var x) { return A(y, x) * 2.0f; });
    auto Q = lt::compute("Q", {n + 2, 6},
                         [&](lt::Var y, lt::Var x) { return P(y, x) + P(y + 1, x) - P(y + 2, x); });
    auto C = lt::compute("C", {n, 6}, [&](lt::Var y, lt::Var x) {
      return Q(y, x) * 3.0f + Q(y + 2, x) + P(y + 1, x);
    });
    lt::Schedule start(C), s = start;
    auto [y, x] = s.loops<2>(C);
    s.compute_at(Q, y);
    s.compute_at(P, y);
    lt::Schedule one = s;
    one.rolling_buffer(P, y);
    check_rolled(start, one, "alloc P: f32[5, 6]");
    s.rolling_buffer(Q, y);
    s.rolling_buffer(P, y);
    CHECK(s.str().find("@rolling_buffer=\"Q\" @rolling_buffer=\"P\"") != std::string::npos);
    check_rolled(start, s, "alloc P: f32[5, 6]");
    check_rolled(start, s, "alloc Q: f32[3, 6]");
  }
}

TEST_CASE("rolling_buffer: reductions, one of two values") {
  for (std::int64_t depth : {0, 1, 4}) {
    lt::Input<float, 3> A("A", {9, 5, depth});
    lt::Reduce r("r", depth);
    auto P = lt::compute("P", {9, 5}, [&](lt::Var y, lt::Var x) { return lt::sum(A(y, x, r), r); });
    auto C = lt::compute("C", {7, 5},
                         [&](lt::Var y, lt::Var x) { return P(y, x) + P(y + 1, x) - P(y + 2, x); });
    lt::Schedule start(C), s = start;
    auto [y, x] = s.loops<2>(C);
    s.compute_at(P, y);
    s.rolling_buffer(P, y);
    check_rolled(start, s, "alloc P: f32[3, 5]");
    auto loops = s.loops(P);
    s.reorder({loops[3], loops[2]});
    check_rolled(start, s, "alloc P: f32[3, 5]");
  }
  lt::Input<float, 3> A("A", {9, 5, 4});
  lt::Reduce r("r", 4);
  auto best =
      lt::compute("best", {9, 5}, [&](lt::Var y, lt::Var x) { return lt::argmax(A(y, x, r), r); });
  auto C = lt::compute("C", {7, 5}, [&](lt::Var y, lt::Var x) {
    return best.get<0>()(y, x) + best.get<0>()(y + 2, x) +
           lt::cast<float>(best.get<1>()(y, x) - best.get<1>()(y + 2, x));
  });
  lt::Schedule start(C), s = start;
  auto [y, x] = s.loops<2>(C);
  s.compute_at("best", y);
  s.rolling_buffer("best", y);
  check_rolled(start, s, "[3, 5]");
}

TEST_CASE("rolling_buffer: rows below an iteration's own loops, and versions for a loop outside") {
  Rows k(6, 10);
  lt::Schedule start(k.C), s = start;
  auto [y, x] = s.loops<2>(k.C);
  auto [xo, xi] = s.split(x, {lt::infer, 4});
  s.compute_at(k.P, xo);
  s.rolling_buffer(k.P, y);
  check_rolled(start, s, "alloc P: f32[3, 12]");

  lt::Schedule t = start;
  auto [a, b] = t.loops<2>(k.C);
  auto [ao, ai] = t.split(a, {lt::infer, 3});
  t.compute_at(k.P, ai);
  t.rolling_buffer(k.P, ai);
  t.double_buffer(k.P, ao);
  check_rolled(start, t, "alloc P: f32[3, 12]");
  lt::Program lowered = lt::lower_until("double_buffers", t.program(), lt::host());
  CHECK(lowered.str().find("alloc P: f32[2, 3, 12]") != std::string::npos);
  CHECK(run(lowered) == run(start.program()));
}

TEST_CASE("rolling_buffer: a mark that is not legal in a text is refused") {
  const auto refused = [](const std::string& block) {
    lt::Program p = lt::parse(R"(program p(in A: f32[5], out B: f32[5]):
  alloc T: f32[6]
  block first():
    T[0] = 1.0
  for i in 0..5 @rolling_buffer=")" +
                              block + R"(":
    block next(vi in 0..5 = i):
      T[vi + 1] = T[vi] + A[vi]
    block last(vi in 0..5 = i):
      B[vi] = T[vi]
)");
    return error_of([&] { lt::lower(p, lt::host()); });
  };
  const std::string mark = "L0603 lower: the annotation @rolling_buffer=";
  CHECK(refused("next") ==
        mark +
            "\"next\" of loop 'i'(5) can't be honoured: block 'next' can't leave out "
            "instances: it reads what it writes");
  CHECK(refused("none") ==
        mark + "\"none\" of loop 'i'(5) can't be honoured: there is no block 'none'");
}

TEST_CASE("rolling_buffer: the loop stays as it is, and so does what it promises") {
  Rows k(6, 8);
  lt::Schedule s(k.C);
  auto [y, x] = s.loops<2>(k.C);
  auto [xo, xi] = s.split(x, {2, 4});
  s.compute_at(k.P, xo);
  s.rolling_buffer(k.P, y);
  auto why = [&](auto&& step) {
    lt::Schedule t = s;
    return error_of([&] { step(t); });
  };
  const std::string carries = "loop 'i' carries the annotation 'rolling_buffer'";
  CHECK(why([&, xo = xo, y = y](lt::Schedule& t) {
          t.reorder({xo, y});
        }) == "L0204 reorder: " + carries);
  CHECK(why([&, y = y](lt::Schedule& t) { t.parallel(y); }) == "L0204 parallel: " + carries);
  CHECK(why([&, y = y](lt::Schedule& t) { t.vectorize(y); }) == "L0204 vectorize: " + carries);
  CHECK(why([&, y = y](lt::Schedule& t) { t.unroll(y, 2); }) == "L0204 unroll: " + carries);
  CHECK(why([&, y = y](lt::Schedule& t) { t.split(y, {2, 3}); }) == "L0204 split: " + carries);
  CHECK(why([&, y = y](lt::Schedule& t) { t.loop_partition(y, {2}); }) ==
        "L0204 loop_partition: " + carries);
  CHECK(why([&, xo = xo, y = y](lt::Schedule& t) { t.fuse(y, xo); }) == "L0204 fuse: " + carries);
  const std::string breaks =
      ": would break what the annotation 'rolling_buffer' of loop 'i' promises: ";
  CHECK(why([&, xo = xo](lt::Schedule& t) { t.parallel(xo); }) ==
        "L0225 parallel" + breaks +
            "buffer 'P' belongs to one iteration of the parallel loop 'jo'");
  CHECK(why([&](lt::Schedule& t) { t.split(t.loops(k.P)[2], {1, 3}); }).substr(0, 5) == "L0225");
  CHECK(why([&](lt::Schedule& t) { t.unroll(t.loops(k.P)[2]); }).substr(0, 5) == "L0225");
  CHECK(why([&](lt::Schedule& t) { t.compute_inline(k.P); }) ==
        "L0225 compute_inline" + breaks + "there is no block 'P'");
  CHECK(why([&, xo = xo](lt::Schedule& t) { t.double_buffer(k.P, xo); }) ==
        "L0245 double_buffer: buffer 'P' keeps rows from one iteration of loop 'i' to the next");
  CHECK(why([&](lt::Schedule& t) { t.split(t.loops(k.P)[3], {lt::infer, 2}); }) == "none");
  CHECK(why([&](lt::Schedule& t) { t.vectorize(t.loops(k.P)[3]); }) == "none");
  CHECK(why([&](lt::Schedule& t) { t.parallel(t.loops(k.P)[3]); }) == "none");
}

TEST_CASE("rolling_buffer: refusals") {
  Rows k(6, 8);
  lt::Schedule start(k.C), s = start;
  auto [y, x] = s.loops<2>(k.C);
  auto why = [&](lt::Schedule& t, const lt::BlockName& block, const lt::LoopRef& loop) {
    return error_of([&] { t.rolling_buffer(block, loop); });
  };
  CHECK(why(s, k.P, y) ==
        "L0246 rolling_buffer: block 'P' is not inside loop 'i'(6): compute it at that loop first");
  CHECK(why(s, k.C, y).substr(0, 5) == "L0246");
  CHECK(why(s, k.P, s.loops(k.P)[0]) ==
        "L0246 rolling_buffer: block 'P' computes one row in each iteration of loop 'i'(9)");
  s.compute_at(k.P, y);
  CHECK(why(s, k.P, s.loops(k.P)[1]).substr(0, 5) == "L0246");
  lt::Schedule once = s, doubled = s;
  once.rolling_buffer(k.P, y);
  CHECK(why(once, k.P, y) ==
        "L0246 rolling_buffer: block 'P' keeps rows along loop 'i'(6) already");
  doubled.double_buffer(k.P, y);
  CHECK(why(doubled, k.P, y) ==
        "L0246 rolling_buffer: buffer 'P' has a version for each iteration of loop 'i'");

  Rows apart(6, 8, 3, 3);
  lt::Schedule none(apart.C);
  lt::LoopRef a = none.loops(apart.C)[0];
  none.compute_at(apart.P, a);
  CHECK(
      refused(none, [&](lt::Schedule& t) { t.rolling_buffer(apart.P, a); }) ==
      R"(error[L0246] rolling_buffer: each iteration of loop 'i'(6) moves on by 3 rows of block 'P' and needs 3: there is none to keep
  at rolling_buffer_test.cpp:#
  loops of 'P': i(6) i(3) j_1(10)
    for i in 0..6:
        ^
      for i_1 in 0..3:
        for j_1 in 0..10:
          block P(vi in 0..21 = i * 3 + i_1, vj in 0..10 = j_1):
  help: take a block that was computed at the loop, for a window that moves by less than it holds)");

  // Two rows in the window at once for each column: a diagonal.
  lt::Input<float, 2> A("A", {13, 13});
  auto P = lt::compute("P", {13, 13}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
  auto C =
      lt::compute("C", {8, 4}, [&](lt::Var i, lt::Var j) { return P(i + j, j) + P(i + j + 2, j); });
  lt::Schedule diagonal(C);
  auto [i, j] = diagonal.loops<2>(C);
  diagonal.compute_at(P, j);
  CHECK(why(diagonal, P, i).substr(0, 5) == "L0246");
  CHECK(why(diagonal, P, j).substr(0, 5) == "L0246");

  // Each second row; and rows that say where a row begins.
  const auto rows = [](const char* bindings) {
    return lt::Schedule(lt::parse(
        std::string(
            "program o(in A: f32[20, 20], out C: f32[6]):\n  alloc P: f32[20, 20]\n"
            "  for i in 0..6:\n    for y in 0..3:\n      for x in 0..4:\n        block P(") +
        bindings +
        "):\n          P[v, u] = A[v, u] * 2.0\n    block C(v in 0..6 = i):\n"
        "      C[v] = P[v, 0] + P[v + 2, 0]\n"));
  };
  lt::Schedule second = rows("v in 0..20 = i + y * 2, u in 0..20 = x");
  CHECK(why(second, "P", second.loops(second.block("C"))[0]) ==
        "L0246 rolling_buffer: iterator 'v' of block 'P' is i + y * 2: not 'i' and one loop over "
        "rows");
  lt::Schedule slanted = rows("v in 0..20 = i + y, u in 0..20 = x + y");
  CHECK(why(slanted, "P", slanted.loops(slanted.block("C"))[0]) ==
        "L0246 rolling_buffer: two iterators of block 'P' move with loop 'y'(3)");
}

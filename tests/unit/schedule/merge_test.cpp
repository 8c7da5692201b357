#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

namespace {

/// Y[i] = value after T[i] = X[i] + 1, 8 elements each; T is an output too.
std::string after_T(const std::string& value) {
  return "program P(in X: f32[8], out T: f32[8], out Y: f32[8]):\n"
         "  for i in 0..8:\n"
         "    block T(v in 0..8 = i):\n"
         "      T[v] = X[v] + 1.0\n"
         "  for x in 0..8:\n"
         "    block Y(v in 0..8 = x):\n"
         "      Y[v] = " +
         value + "\n";
}

/// A loop that stores Y, then what `between` says, then a loop that stores Z.
lt::Schedule loops_of_Y_and_Z(const std::string& between = "", const std::string& Z = "X[v]") {
  return schedule_of(
      "program P(in X: f32[8], out Y: f32[8], inout Z: f32[8], inout W: f32[1]):\n"
      "  for i in 0..8:\n"
      "    block Y(v in 0..8 = i):\n"
      "      Y[v] = X[v]\n" +
      (between.empty() ? "" : "  " + between + "\n") +
      "  for z in 0..8:\n"
      "    block Z(v in 0..8 = z):\n"
      "      Z[v] = " +
      Z + "\n");
}
void merge_Y_and_Z(lt::Schedule& s) { s.merge(outermost(s, "Y"), outermost(s, "Z")); }

}  // namespace

TEST_CASE("merge: a matrix product and its epilogue, from outside in") {
  Gemm k(6, 10, 4);
  lt::Schedule start(k.D), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  auto [di, dj] = s.loops<2>(k.D);
  lt::LoopRef rows = s.merge(i, di), columns = s.merge(j, dj);
  CHECK(s.str() ==
        R"(program D(in A: f32[6, 4], in B: f32[4, 10], out D: f32[6, 10]) scheduled:
  alloc C: f32[6, 10]
  for i in 0..6:
    for j in 0..10:
      for r in 0..4:
        block C(vi in 0..6 = i, vj in 0..10 = j, reduce vr in 0..4 = r) reduce sum init:
          C[vi, vj] sum= A[vi, vr] * B[vr, vj]
      block D(vi in 0..6 = i, vj in 0..10 = j):
        D[vi, vj] = max(C[vi, vj], 0.0)
)");
  CHECK(s.loops(k.D) == std::vector<lt::LoopRef>{rows, columns});
  CHECK(s.numerics().empty());
  check_lowered(start, s);
  s.parallel(rows);
  s.split(columns, {lt::infer, 4});
  check_lowered(start, s);
  CHECK(s.trace().cpp().find("auto l5 = s.merge({l1, l3});") != std::string::npos);
}

TEST_CASE("merge: three loops, extents prime, 1, 0 and symbolic") {
  lt::Dim n("n");
  for (lt::Extent extent : {lt::Extent(7), lt::Extent(1), lt::Extent(0), lt::Extent(n)})
    for (std::int64_t size : {0, 1, 13}) {
      lt::Input<float, 1> X("X", {extent});
      auto P = lt::compute("P", {extent}, [&](lt::Var i) { return X(i) * 2.0f; });
      auto Q = lt::compute("Q", {extent}, [&](lt::Var i) { return P(i) + X(i); });
      auto R = lt::compute("R", {extent}, [&](lt::Var i) { return P(i) - Q(i); });
      lt::Schedule start(lt::outputs(Q, R)), s = start;
      lt::LoopRef all = s.merge({s.loops(P)[0], s.loops(Q)[0], s.loops(R)[0]});
      CHECK(s.loops(R) == std::vector<lt::LoopRef>{all});
      check_lowered(start, s, {{"n", size}});
      s.split(all, {lt::infer, 4});
      check_lowered(start, s, {{"n", size}});
    }
}

TEST_CASE("merge: a stencil may look back, not ahead") {
  for (const char* value : {"T[v]", "select(v > 0, T[v - 1], 0.0)", "select(v > 1, T[v - 2], 0.0)",
                            "T[max(v - 1, 0)]", "T[0]", "T[floordiv(v, 2)]"}) {
    CAPTURE(value);
    lt::Schedule start = schedule_of(after_T(value)), s = start;
    s.merge(outermost(s, "T"), outermost(s, "Y"));
    check_lowered(start, s);
  }
  lt::Schedule s = schedule_of(after_T("select(v < 7, T[v + 1], 0.0)"));
  CHECK(
      refused(s, [](lt::Schedule& t) { t.merge(outermost(t, "T"), outermost(t, "Y")); }) ==
      R"(error[L0207] merge: loops 'i'(8) and 'x'(8) can't run in turn: block 'Y' reads T[i + 1] 1 iteration before block 'T' writes T[i]
  at merge_test.cpp:#
  loops of 'Y': x(8)
    for x in 0..8:
        ^
      block Y(v in 0..8 = x):
        Y[v] = select(v < 7, T[v + 1], 0.0)
  help: compute_at computes in each iteration what it needs)");
  for (auto [value, when] :
       {std::array{"select(v < 6, T[v + 2], 0.0)",
                   "block 'Y' reads T[i + 2] 2 iterations before block 'T' writes T[i]"},
        std::array{"T[7 - v]",
                   "block 'Y' reads T[7 - i] in an iteration before block 'T' writes "
                   "T[i]"},
        std::array{"T[7]", "block 'Y' reads T[7] in an iteration before block 'T' writes T[i]"}}) {
    lt::Schedule t = schedule_of(after_T(value));
    CHECK(refused_line(t, [](lt::Schedule& u) { u.merge(outermost(u, "T"), outermost(u, "Y")); }) ==
          "error[L0207] merge: loops 'i'(8) and 'x'(8) can't run in turn: " + std::string(when));
  }
}

TEST_CASE("merge: a private buffer hands values to later iterations") {
  for (const char* value : {"T[max(v - 1, 0)]", "T[0]"}) {
    std::string text = after_T(value);
    text.replace(text.find("out T: f32[8], "), 15, "");
    text.insert(text.find("  for i"), "  alloc T: f32[8]\n");
    lt::Schedule start = schedule_of(text), s = start;
    s.merge(outermost(s, "T"), outermost(s, "Y"));
    check_lowered(start, s);
  }
}

TEST_CASE("merge: what one body keeps for itself in a buffer that another one starts") {
  lt::Schedule start = schedule_of(R"(program P(in X: f32[8], out Y: f32[8]):
  alloc T: f32[8]
  for i in 0..8:
    block first(v in 0..8 = i):
      T[v] = X[v]
  for x in 0..8:
    block sums(v in 0..8 = x):
      T[v] = T[v] + T[max(v - 1, 0)]
  for y in 0..8:
    block Y(v in 0..8 = y):
      Y[v] = T[v]
)");
  lt::Schedule s = start;
  s.merge({outermost(s, "first"), outermost(s, "sums"), outermost(s, "Y")});
  check_lowered(start, s);
}

TEST_CASE("merge: reads of what is written later, and writes to one element") {
  const char* two = R"(program P(inout X: f32[9], inout Z: f32[9]):
  for i in 0..8:
    block A(v in 0..8 = i):
      Z[v] = X[v FIRST]
  for x in 0..8:
    block B(v in 0..8 = x):
      DEST[v] = 3.0
)";
  auto with = [&](const std::string& first, const std::string& dest) {
    std::string text = two;
    text.replace(text.find("v FIRST"), 7, first);
    text.replace(text.find("DEST"), 4, dest);
    return schedule_of(text);
  };
  auto merge = [](lt::Schedule& s) { s.merge(outermost(s, "A"), outermost(s, "B")); };
  for (auto [first, dest] :
       {std::array{"v + 1", "X"}, std::array{"v", "X"}, std::array{"v", "Z"}}) {
    lt::Schedule start = with(first, dest), s = start;
    merge(s);
    check_lowered(start, s);
  }
  lt::Schedule s = with("max(v - 1, 0)", "X");
  CHECK(
      refused_line(s, merge) ==
      "error[L0207] merge: loops 'i'(8) and 'x'(8) can't run in turn: block 'B' writes X[i] in an "
      "iteration before block 'A' reads X[max(i - 1, 0)]");
  lt::Schedule t = with("8 - v", "X");
  CHECK(refused(t, merge).find("\n  help: keep the loops apart") != std::string::npos);
}

TEST_CASE("merge: a gather may look anywhere, and an index that changes too") {
  lt::Schedule s = schedule_of(R"(program P(in I: i64[8], in X: f32[8], out Y: f32[8]):
  alloc T: f32[8]
  for i in 0..8:
    block T(v in 0..8 = i):
      T[v] = X[v]
  for x in 0..8:
    block Y(v in 0..8 = x):
      Y[v] = T[min(max(I[v], 0), 7)]
)");
  CHECK(refused_id(s, [](lt::Schedule& t) { t.merge(outermost(t, "T"), outermost(t, "Y")); }) ==
        "L0207");
  // Both bodies use the same index, but K differs by then.
  lt::Schedule t = schedule_of(R"(program P(inout K: i64[8], inout Y: f32[8]):
  for i in 0..8:
    block A(v in 0..8 = i):
      Y[K[v]] = 1.0
      K[v] = 7 - v
  for x in 0..8:
    block B(v in 0..8 = x):
      Y[K[v]] = 2.0
)");
  CHECK(refused_line(t, [](lt::Schedule& u) { u.merge(outermost(u, "A"), outermost(u, "B")); }) ==
        "error[L0207] merge: loops 'i'(8) and 'x'(8) can't run in turn: block 'B' writes Y[...] "
        "maybe in "
        "an iteration before block 'A' writes Y[...]");
}

TEST_CASE("merge: tiles with tails, tile by tile and point by point") {
  for (std::int64_t n : {1, 4, 13}) {
    Add k(n);
    auto Z = lt::compute("Z", {n}, [&](lt::Var i) { return k.Y(i) * k.Y(i); });
    lt::Schedule start(lt::outputs(k.Y, Z)), s = start;
    auto [yo, yi] = s.split(s.loops(k.Y)[0], {lt::infer, 4});
    auto [zo, zi] = s.split(s.loops(Z)[0], {lt::infer, 4});
    lt::LoopRef tiles = s.merge(yo, zo);
    check_lowered(start, s);
    lt::LoopRef points = s.merge(yi, zi);
    s.vectorize(points);
    s.parallel(tiles);
    check_lowered(start, s);
  }
}

TEST_CASE("merge: inside an outer loop, under its name and bounds") {
  lt::Schedule start = schedule_of(R"(program P<n>(in X: f32[n, n], out Y: f32[n, n]):
  alloc T: f32[n, n]
  for i in 0..n:
    for j in i..n:
      block T(a in 0..n = i, b in 0..n = j):
        T[a, b] = X[a, b]
    for x in i..n:
      for j in 0..1:
        block Y(a in 0..n = i, b in 0..n = x):
          Y[a, b] = T[a, b] + 1.0
    for z in 0..i:
      block Z(a in 0..n = i, b in 0..n = z):
        Y[a, b] = 0.0
)");
  for (std::int64_t n : {0, 1, 5}) {
    lt::Schedule s = start;
    lt::LoopRef merged = s.merge(s.loops("T")[1], s.loops("Y")[1]);
    CHECK(merged.name() == "j_1");
    check_lowered(start, s, {{"n", n}});
  }
  lt::Schedule s = start;
  CHECK(refused_line(s, [](lt::Schedule& t) { t.merge(t.loops("Y")[1], t.loops("Z")[1]); }) ==
        "error[L0230] merge: the bounds 0..i of loop 'z' are not proven to be those of 'x', i..n");
}

TEST_CASE("merge: an extent that is equal only where the loop runs") {
  lt::Schedule start = schedule_of(R"(program P<n>(in X: f32[n], out Y: f32[n], out Z: f32[1]):
  for i in 0..n:
    block Y(v in 0..n = i):
      Y[v] = X[v]
  for z in 0..max(n, 1):
    block Z(v in 0..1 = 0):
      Z[v] = 1.0
)");
  lt::Schedule s = start;
  CHECK(refused_id(s, [](lt::Schedule& t) { t.merge(outermost(t, "Y"), outermost(t, "Z")); }) ==
        "L0230");
}

TEST_CASE("merge: past statements that touch nothing of the loop") {
  // What a statement reads of the first loop stays behind it.
  lt::Schedule s = loops_of_Y_and_Z("block W():\n    W[0] = Y[3] * 2.0", "Y[v] + X[v]");
  const auto wanted = test::run(s.program());
  merge_Y_and_Z(s);
  CHECK(test::run(s.program()) == wanted);
  CHECK(s.loops("Y") == s.loops("Z"));
  lt::Schedule writes = loops_of_Y_and_Z("block W():\n    W[0] = 1.0", "X[v] + W[0]");
  CHECK(refused(writes, merge_Y_and_Z) ==
        R"(error[L0230] merge: loop 'z'(8) can't move past block 'W', which writes 'W'
  at merge_test.cpp:#
  loops of 'Z': z(8)
    for z in 0..8:
        ^
      block Z(v in 0..8 = z):
        Z[v] = X[v] + W[0]
  help: between merged loops may stand what touches nothing of the later one)");
  lt::Schedule reads = loops_of_Y_and_Z("block W():\n    W[0] = Z[3] * 2.0");
  CHECK(refused_line(reads, merge_Y_and_Z) ==
        "error[L0230] merge: loop 'z'(8) can't move past block 'W', which reads 'Z'");
  lt::Schedule ends = loops_of_Y_and_Z("assert W[0] > 0.0, \"none\"");
  CHECK(refused_line(ends, merge_Y_and_Z) ==
        "error[L0230] merge: loop 'z'(8) can't move past an assert");
}

TEST_CASE("merge: three loops with statements between them") {
  lt::Schedule s = schedule_of(
      R"(program P(in X: f32[8], out A: f32[8], out B: f32[8], out C: f32[8], out W: f32[2]):
  for i in 0..8:
    block A(v in 0..8 = i):
      A[v] = X[v]
  block W():
    W[0] = A[2]
  for j in 0..8:
    block B(v in 0..8 = j):
      B[v] = A[v] * 2.0
  block V():
    W[1] = B[4]
  for k in 0..8:
    block C(v in 0..8 = k):
      C[v] = B[v] + 1.0
)");
  const auto wanted = test::run(s.program());
  s.merge({outermost(s, "A"), outermost(s, "B"), outermost(s, "C")});
  CHECK(test::run(s.program()) == wanted);
  CHECK(s.loops("A") == s.loops("C"));
}

TEST_CASE("merge: loops that are not of one sequence, or not in order") {
  lt::Schedule s = loops_of_Y_and_Z();
  CHECK(refused_line(s, [](lt::Schedule& t) { t.merge(outermost(t, "Z"), outermost(t, "Y")); }) ==
        "error[L0230] merge: loop 'i'(8) does not come after loop 'z'(8) in one sequence");
  CHECK(refused_line(s, [](lt::Schedule& t) { t.merge({outermost(t, "Y")}); }) ==
        "error[L0202] merge: needs at least two loops");
  CHECK(refused_line(s, [](lt::Schedule& t) { t.merge(outermost(t, "Y"), outermost(t, "Y")); }) ==
        "error[L0202] merge: loop 'i' is named twice");
  Gemm k(6, 10, 4);
  lt::Schedule g(k.D);
  CHECK(refused_id(g, [&](lt::Schedule& t) { t.merge(t.loops(k.C)[1], t.loops(k.D)[1]); }) ==
        "L0230");
  g.parallel(g.loops(k.C)[0]);
  CHECK(refused_id(g, [&](lt::Schedule& t) { t.merge(t.loops(k.C)[0], t.loops(k.D)[0]); }) ==
        "L0204");
}

TEST_CASE("merge: loops that hold what can't run in turn") {
  lt::Schedule s = schedule_of(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[v]
  for z in 0..8:
    block Z(v in 0..8 = z):
      assert X[v] > -100.0, "small"
      Z[v] = X[v]
)");
  CHECK(refused_line(s, [](lt::Schedule& t) { t.merge(outermost(t, "Y"), outermost(t, "Z")); }) ==
        "error[L0230] merge: loop 'z'(8) holds an assert, which ends the kernel");
  lt::Schedule t = schedule_of(R"(program P(inout N: i64[9], inout Y: f32[8]):
  for i in 0..8:
    block N(v in 0..8 = i):
      N[v] = 0
  for z in 0..8:
    for q in 0..N[8]:
      block Y(v in 0..8 = z):
        Y[v] = 1.0
)");
  CHECK(refused_line(t, [](lt::Schedule& u) { u.merge(outermost(u, "N"), outermost(u, "Y")); }) ==
        "error[L0230] merge: loop 'z'(8) holds or has a bound that is read from memory which is "
        "written below");
}

TEST_CASE("merge: what outer loops promise is tested again") {
  lt::Schedule start = schedule_of(R"(program P(in X: f32[4, 9], out Y: f32[4, 8]):
  alloc T: f32[4, 9]
  vectorized for x in 0..4:
    for i in 0..8:
      block T(a in 0..4 = x, b in 0..8 = i):
        T[a, b] = X[a, b]
    for j in 0..8:
      block Y(a in 0..4 = x, b in 0..8 = j):
        Y[a, b] = select((a > 0) & (b < 7), T[a - 1, b + 1], 0.0)
)");
  lt::Schedule s = start;
  std::string text =
      refused_line(s, [](lt::Schedule& t) { t.merge(t.loops("T")[1], t.loops("Y")[1]); });
  CHECK(text.substr(0, text.find(':', 20)) ==
        "error[L0225] merge: would break what the vectorized loop 'x' promises");
}

TEST_CASE("merge: the loops are consumed") {
  Gemm k(6, 10, 4);
  lt::Schedule s(k.D);
  lt::LoopRef i = s.loops(k.C)[0];
  s.merge(i, s.loops(k.D)[0]);
  std::string text = refused_line(s, [&](lt::Schedule& t) { t.parallel(i); });
  CHECK(text.substr(0, text.find(" at ")) == "error[L0201] parallel: loop 'i' was merged into i");
}

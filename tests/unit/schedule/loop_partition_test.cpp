#include <lathe/lower/pipeline.hpp>

#include "loop_partitions.hpp"

using namespace test;

namespace {

/// The scheduled program keeps its results, also lowered.
void check_lowered(const lt::Schedule& start, const lt::Schedule& s, const Dims& dims = {}) {
  check_kept(start, s, dims);
  INFO(s.str());
  auto expected = run(start.program(), dims);
  CHECK(run(lt::lower_until("lower_blocks", s.program(), lt::host()), dims) == expected);
  CHECK(run(lt::lower_until("unroll", s.program(), lt::host()), dims, false) == expected);
}

}  // namespace

TEST_CASE("loop_partition: borders apart from the inside, which then needs no condition") {
  lt::Dim n("n", {.min = 2});
  Border k(n);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  auto [first, inside, last] = s.loop_partition(i, {1, n - 1});
  CHECK(s.str() == R"(program Y<n in 2..>(in X: f32[n], out Y: f32[n]) scheduled:
  for i0 in 0..1:
    block Y_0(vi in 0..1 = i0):
      Y[vi] = select(vi > 0 && vi < n - 1, X[max(vi - 1, 0)] + X[vi] + X[min(vi + 1, n - 1)], 0.0)
  for i1 in 0..n - 2:
    block Y_1(vi in 1..+n - 2 = 1 + i1):
      Y[vi] = select(vi > 0 && vi < n - 1, X[max(vi - 1, 0)] + X[vi] + X[min(vi + 1, n - 1)], 0.0)
  for i2 in 0..1:
    block Y_2(vi in n - 1..+1 = n - 1 + i2):
      Y[vi] = select(vi > 0 && vi < n - 1, X[max(vi - 1, 0)] + X[vi] + X[min(vi + 1, n - 1)], 0.0)
)");
  for (std::int64_t v : {2, 3, 4, 17}) check_lowered(start, s, {{"n", v}});
  auto [io, ii] = s.split(inside, {lt::infer, 8});
  s.vectorize(ii);
  s.parallel(io);
  s.unroll(first);
  s.unroll(last);
  for (std::int64_t v : {2, 3, 4, 9, 10, 11, 17}) check_lowered(start, s, {{"n", v}});
  std::string whole = lt::lower_until("unroll", start.program(), lt::host()).str();
  std::string parts = lt::lower_until("unroll", s.program(), lt::host()).str();
  CHECK(whole.find("select") != std::string::npos);
  CHECK(parts.find("select") == std::string::npos);
}

TEST_CASE("loop_partition: every extent at every point, and a split of each part") {
  for (std::int64_t n : {2, 3, 7, 13})
    for (std::int64_t p = 1; p < n; ++p) {
      Add k(n);
      lt::Schedule start(k.Y), s = start;
      auto [i] = s.loops<1>(k.Y);
      auto [a, b] = s.loop_partition(i, {p});
      check_lowered(start, s);
      s.split(a, {lt::infer, 4});
      s.split(b, {lt::infer, 3});
      check_lowered(start, s);
    }
}

TEST_CASE("loop_partition: loops of a guarded split, whose parts are split again") {
  for (std::int64_t n : {9, 13, 16}) {
    Add k(n);
    lt::Schedule start(k.Y), s = start;
    auto [i] = s.loops<1>(k.Y);
    auto io_ii = s.split(i, {lt::infer, 4});
    auto [o0, o1] = s.loop_partition(io_ii[0], {2});
    check_lowered(start, s);
    for (const auto& block : s.blocks()) {
      auto [i0, i1] = s.loop_partition(s.loops(block)[1], {1});
      check_lowered(start, s);
      s.split(i1, {lt::infer, 2});
      check_lowered(start, s);
    }
    CHECK(s.blocks().size() == 4);
    s.split(o1, {lt::infer, 5});
    check_lowered(start, s);
  }
}

TEST_CASE("loop_partition: parts that Dims make empty") {
  lt::Dim n("n"), m("m", {.min = 8, .multiple_of = 4});
  Add k(n), four(m);
  lt::Schedule start(k.Y), border = start, tiles = start;
  border.loop_partition(border.loops(k.Y)[0], {lt::min(n, 3), lt::max(lt::min(n, 3), n - 2)});
  auto [full, rest] = tiles.loop_partition(tiles.loops(k.Y)[0], {n / 8 * 8});
  auto [io, ii] = tiles.split(full, {lt::infer, 8}, lt::Tail::exact);
  tiles.vectorize(ii);
  for (std::int64_t v : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 21}) {
    check_lowered(start, border, {{"n", v}});
    check_lowered(start, tiles, {{"n", v}});
  }
  lt::Schedule other(four.Y), half = other;
  auto parts = half.loop_partition_any(half.loops(four.Y)[0], {4, m / 2 + 2});
  CHECK(parts.size() == 3);
  for (std::int64_t v : {8, 12, 20}) check_lowered(other, half, {{"m", v}});
}

TEST_CASE("loop_partition: spatial loops of a reduction, each part with its init") {
  for (std::int64_t depth : {0, 1, 5}) {
    Gemm k(7, 6, depth);
    lt::Schedule start(k.D), s = start;
    auto [i, j, r] = s.loops<3>(k.C);
    s.reorder({r, i, j});
    auto [j0, j1] = s.loop_partition(j, {5});
    check_lowered(start, s);
    auto [i0, i1, i2] = s.loop_partition(i, {2, 6});
    check_lowered(start, s);
    CHECK(s.numerics().empty());
    s.vectorize(s.loops("C_0_1").back());
    check_lowered(start, s);
    auto rf = s.loop_partition(s.loops(k.D)[1], {1});
    check_lowered(start, s);
  }
}

TEST_CASE("loop_partition: a reduce loop after its init was separated") {
  for (std::int64_t depth : {2, 5, 8}) {
    Gemm k(3, 4, depth);
    lt::Schedule start(k.D), s = start;
    auto [i, j, r] = s.loops<3>(k.C);
    CHECK(refused(s, [&, loop = r](lt::Schedule& t) { t.loop_partition(loop, {1}); }) ==
          "error[L0231] loop_partition: loop 'r'(" + std::to_string(depth) +
              ") feeds the reduction of block 'C', which each part would start anew" +
              R"(
  at loop_partition_test.cpp:#
  loops of 'C': i(3) j(4) r:reduce()" +
              std::to_string(depth) + R"()
    for i in 0..3:
      for j in 0..4:
        for r in 0..)" +
              std::to_string(depth) + R"(:
            ^
          block C(vi in 0..3 = i, vj in 0..4 = j, reduce vr in 0..)" +
              std::to_string(depth) + R"( = r) reduce sum init:
            C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  help: decompose_reduction at loop 'r' first: the parts then add to one sum)");
    s.decompose_reduction(k.C, i);
    auto [r0, r1] = s.loop_partition(r, {1});
    check_lowered(start, s);
    CHECK(s.numerics().empty());
    auto [ro, ri] = s.split(r1, {lt::infer, 2});
    check_lowered(start, s);
    s.rfactor(ri);
    check_lowered(start, s);
    auto [i0, i1] = s.loop_partition(i, {2});
    check_lowered(start, s);
  }
}

TEST_CASE("loop_partition: all that a loop holds is copied") {
  Blur k(12);
  lt::Schedule start(k.C), s = start;
  auto [x] = s.loops<1>(k.C);
  auto [xo, xi] = s.split(x, {lt::infer, 5});
  s.compute_at(k.P, xo);
  auto [o0, o1] = s.loop_partition(xo, {2});
  CHECK(s.str() == R"(program C(in A: f32[14], out C: f32[12]) scheduled:
  alloc P: f32[14]
  for io0 in 0..2:
    for i in 0..7:
      block P_0(vi in 0..14 = io0 * 5 + i):
        P[vi] = A[vi] * 2.0
    for ii in 0..5 @tail="guard":
      block C_0(vi in 0..12 = io0 * 5 + ii):
        C[vi] = P[vi] + P[vi + 1] + P[vi + 2]
  for io1 in 0..1:
    for i in 0..7:
      block P_1(vi in 0..14 = (2 + io1) * 5 + i):
        P[vi] = A[vi] * 2.0
    for ii in 0..5 @tail="guard":
      block C_1(vi in 0..12 = (2 + io1) * 5 + ii):
        C[vi] = P[vi] + P[vi + 1] + P[vi + 2]
)");
  check_lowered(start, s);
  // What two parts write in turn belongs to no iteration of one of them.
  CHECK(refused_id(s, [&, loop = o0](lt::Schedule& t) { t.parallel(loop); }) == "L0207");
}

TEST_CASE("loop_partition: several outputs, and loops that are marked below") {
  lt::Input<float, 2> X("X", {5, 9});
  lt::Reduce r("r", 9);
  auto best = lt::compute("best", {5}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  lt::Schedule start(lt::outputs(best.get<0>(), best.get<1>())), s = start;
  auto loops = s.loops("best");
  s.unroll(loops[1], 2);
  s.loop_partition(loops[0], {2});
  check_lowered(start, s);
  CHECK(s.str().find("for r in 0..9 @unroll_explicit=2:") != std::string::npos);
  lt::Schedule t = start;
  t.decompose_reduction("best", loops[1]);
  t.loop_partition(loops[1], {4, 8});
  check_lowered(start, t);
}

TEST_CASE("loop_partition: a loop that starts elsewhere, and one whose bound another gives") {
  lt::Program p = lt::parse(R"(program p(in X: f32[8, 8], inout Y: f32[8, 8]):
  for i in 2..8:
    for j in i..8:
      block Y(vi in 0..8 = i, vj in 0..8 = j):
        Y[vi, vj] = (let t = X[vi, vj] in t * t)
)");
  lt::Schedule start(p), s = start;
  auto [i, j] = s.loops<2>("Y");
  auto [i0, i1] = s.loop_partition(i, {3});
  CHECK(s.str() == R"(program p(in X: f32[8, 8], inout Y: f32[8, 8]) scheduled:
  for i0 in 0..1:
    for j in 2 + i0..8:
      block Y_0(vi in 2..3 = 2 + i0, vj in 0..8 = j):
        Y[vi, vj] = (let t = X[vi, vj] in t * t)
  for i1 in 0..5:
    for j in 3 + i1..8:
      block Y_1(vi in 3..8 = 3 + i1, vj in 0..8 = j):
        Y[vi, vj] = (let t = X[vi, vj] in t * t)
)");
  check_lowered(start, s);
  // Of the inner loop only its last value is in it for every i.
  lt::Schedule t = start;
  CHECK(refused_points(t, j, {5}) ==
        "error[L0231] loop_partition: points {5}: part i..5 may end before it begins");
  t.loop_partition(j, {7});
  check_lowered(start, t);
}

TEST_CASE("loop_partition: statements in no block, and opaque blocks") {
  lt::Program p = lt::parse(R"(program p(in X: f32[8], inout Y: f32[8], inout Z: f32[8]):
  for i in 0..8:
    if X[i] > 0.0:
      let t = X[i] * 2.0
      Z[i] = t
    block Y(opaque v in 0..8 = i) reads X[v..+1], Y[max(v - 1, 0)..+1] writes Y[v..+1]:
      Y[v] = Y[max(v - 1, 0)] + X[v]
)");
  lt::Schedule start(p), s = start;
  auto [i] = s.loops<1>("Y");
  s.loop_partition(i, {3, 4});
  check_lowered(start, s);
  CHECK(s.str().find("block Y_1(opaque v in 3..4 = 3 + i1)") != std::string::npos);
}

TEST_CASE("loop_partition: what was consumed says so") {
  Add k(16);
  lt::Schedule s(k.Y);
  auto i_o_i = s.split(s.loops(k.Y)[0], {4, 4});
  lt::LoopRef io = i_o_i[0], ii = i_o_i[1];
  lt::BlockRef block = s.block(k.Y);
  s.loop_partition(io, {1, 2});
  CHECK(first_line(refused(s, [&](lt::Schedule& t) { t.unroll(io); })) ==
        "error[L0201] unroll: loop 'io' was partitioned into io0, io1, io2 at "
        "loop_partition_test.cpp:#");
  CHECK(first_line(refused(s, [&](lt::Schedule& t) { t.unroll(ii); })) ==
        "error[L0201] unroll: loop 'ii' was copied when 'io' was partitioned into io0, io1, io2 at "
        "loop_partition_test.cpp:#");
  CHECK(first_line(refused(s, [&](lt::Schedule& t) { t.compute_inline(block); })) ==
        "error[L0201] compute_inline: block 'Y' was copied into Y_0, Y_1, Y_2 at "
        "loop_partition_test.cpp:#");
}

TEST_CASE("loop_partition: copies that share a buffer stay where they are") {
  Blur k(12);
  lt::Schedule start(k.C), s = start;
  auto p0_p1 = s.loop_partition(s.loops(k.P)[0], {7});
  auto c0_c1 = s.loop_partition(s.loops(k.C)[0], {4});
  lt::LoopRef p1 = p0_p1[1], c0 = c0_c1[0];
  auto line = [&](auto step) { return first_line(refused(s, step)); };
  CHECK(line([&](lt::Schedule& t) { t.compute_at("P_0", c0); }) ==
        "error[L0212] compute_at: block 'P_0' is not the only writer of its output");
  CHECK(line([&](lt::Schedule& t) { t.reverse_compute_at("C_1", p1); }) ==
        "error[L0212] reverse_compute_at: block 'C_1' is not the only writer of its output");
  CHECK(line([&](lt::Schedule& t) { t.compute_inline("P_1"); }) ==
        "error[L0214] compute_inline: block 'P_1' is not the only writer of 'P'");
  CHECK(line([&](lt::Schedule& t) { t.reverse_compute_inline("C_0"); }) ==
        "error[L0215] reverse_compute_inline: block 'C_0' is not the only writer of 'C'");
  CHECK(line([&](lt::Schedule& t) { t.cache_write("C_0", lt::Scope::local); }) ==
        "error[L0217] cache_write: block 'C_0' is not the only writer of 'C'");
  // Both copies of the producer together fill what is read.
  s.cache_read("C_1", "P", lt::Scope::global);
  check_lowered(start, s);
}

TEST_CASE("loop_partition: a consumer does not follow one of several copies") {
  lt::Input<float, 1> A("A", {12});
  auto P = lt::compute("P", {12}, [&](lt::Var x) { return A(x) * 2.0f; });
  auto C = lt::compute("C", {12}, [&](lt::Var x) { return P(x) + 1.0f; });
  lt::Schedule start(C), s = start;
  auto p0_p1 = s.loop_partition(s.loops(P)[0], {5});
  lt::LoopRef p0 = p0_p1[0], p1 = p0_p1[1];
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.reverse_compute_at(C, p1); }) ==
      R"(error[L0213] reverse_compute_at: block 'P_0', which loop 'i1'(7) does not hold, writes a part of 'P' too
  at loop_partition_test.cpp:#
  loops of 'P_0': i0(5)
    for i0 in 0..5:
      block P_0(vi in 0..5 = i0):
            ^^^
        P[vi] = A[vi] * 2.0
  help: move block 'C' before loops are partitioned)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.reverse_compute_at(C, p0); }) == "L0213");
  // An update writes all that its init does: the consumer may follow it.
  RowSum k(6, 4);
  auto D = lt::compute("D", {6}, [&](lt::Var i) { return k.S(i) + 1.0f; });
  lt::Schedule sums(D), t = sums;
  auto i_r = t.loops(k.S);
  t.decompose_reduction(k.S, i_r[0]);
  lt::Schedule cut = t;
  t.reverse_compute_at(D, i_r[0]);
  check_lowered(sums, t);
  auto [i0, i1] = cut.loop_partition(i_r[0], {4});
  CHECK(refused_id(cut, [&, loop = i1](lt::Schedule& x) { x.reverse_compute_at(D, loop); }) ==
        "L0213");
  check_lowered(sums, cut);
}
